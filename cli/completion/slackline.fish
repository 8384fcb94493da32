# Completes `slackline` in fish, by what the program says of itself: nothing is listed here.

function __slackline_words
    commandline --tokenize --cut-at-cursor --current-process
end

# Lines "NAME  what it is" as fish wants them.
function __slackline_list
    slackline list $argv 2>/dev/null | string replace --regex '^(\S+) +' '$1\t'
end

function __slackline_commands
    slackline --help | string match --regex '^  [a-z]+  .*' |
        string replace --regex '^  ([a-z]+) +' '$1\t'
end

function __slackline_help
    set -l words (__slackline_words)
    test (count $words) -ge 2; and slackline $words[2] --help 2>/dev/null
end

function __slackline_options
    __slackline_help | string replace --filter --regex '^  (?:-[a-z],)?(--[a-z-]+)(?: \S+)? *(.*)' '$1\t$2'
end

# What the option before the cursor takes, as help has it: PLATFORM, send|put, FILE.
function __slackline_value
    set -l words (__slackline_words)
    __slackline_help | string replace --filter --regex "^  (?:.*,)?$words[-1](?:,--[a-z-]+)? (\S+).*" '$1'
end

function __slackline_files
    __fish_complete_path (commandline --current-token)
end

function __slackline_arguments
    set -l words (__slackline_words)
    set -l value
    string match --quiet -- '-*' $words[-1]; and set value (__slackline_value)
    switch "$value"
        case PLATFORM
            __slackline_platforms
        case '*|*'
            string split '|' $value
        case NAME FORMAT
            switch $words[-1]
                case -t --transport
                    __slackline_list transports
                case --to
                    __slackline_list formats
            end
        case ''
            __slackline_positional $words
        case '*'
            __slackline_files
    end
end

function __slackline_positional
    switch $argv[2]
        case help
            __slackline_commands
        case list
            if test (count $argv) -eq 2
                __slackline_list
            else if test $argv[3] = options
                __slackline_list patterns
            else if test $argv[3] = figures
                __slackline_list networks
                __slackline_list platforms
            end
        case '*'
            __slackline_help | string match --quiet --regex '^  SCHEDULE'; and __slackline_schedules
            __slackline_files
    end
end

# A spec, PATTERN:KEY=VALUE,KEY=…
function __slackline_schedules
    set -l word (commandline --current-token)
    if string match --quiet '*:*' $word
        set -l begun (string replace --regex '[^:,]*$' '' $word)
        __slackline_list options (string split ':' $word)[1] | string replace --regex '^(\S+)\t' "$begun\$1=\t"
    else
        __slackline_list patterns | string replace --regex '^(\S+)\t' '$1:\t'
    end
end

# A platform, NAME:KEY=VALUE,KEY=…, or a file.
function __slackline_platforms
    set -l word (commandline --current-token)
    if string match --quiet '*:*' $word
        set -l begun (string replace --regex '[^:,]*$' '' $word)
        __slackline_list figures (string split ':' $word)[1] | string replace --regex '^(\S+)\t' "$begun\$1=\t"
    else
        __slackline_list platforms
        __slackline_list networks | string replace --regex '^(\S+)\t' '$1:\t'
        __slackline_files
    end
end

complete --command slackline --no-files
complete --command slackline --condition 'test (count (__slackline_words)) -eq 1' \
    --arguments '(printf "help\n"; __slackline_commands)'
complete --command slackline --condition 'test (count (__slackline_words)) -ge 2; and string match --quiet -- "-*" (commandline --current-token)' \
    --arguments '(__slackline_options)'
complete --command slackline --condition 'test (count (__slackline_words)) -ge 2; and not string match --quiet -- "-*" (commandline --current-token)' \
    --arguments '(__slackline_arguments)'
