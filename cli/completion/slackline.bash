# Completes `slackline` in bash, by what the program says of itself: nothing is listed here.

_slackline_ask() { "$program" "$@" 2>/dev/null; }
_slackline_commands() { _slackline_ask --help | sed -nE 's/^  ([a-z]+)  .*/\1/p'; }
_slackline_list() { _slackline_ask list "$@" | sed -E 's/ .*//'; }
_slackline_options() { _slackline_ask "$command" --help | sed -nE 's/^  (-[a-z],)?(--[a-z-]+).*/\2/p'; }

# What the option takes, as help has it: PLATFORM, send|put, FILE; nothing for one that takes nothing.
_slackline_value_of() {
  _slackline_ask "$command" --help | sed -nE "s/^  (-[a-z],)?(--[a-z-]+)( ([^ ]+))?.*/\1 \2 \4/p" |
    sed -nE "s/^(.*[ ,])?$1[ ,]+(--[a-z-]+ +)?([^- ].*)?\$/\3/p"
}

_slackline_files() {
  compgen -f -- "$word" | while read -r file; do
    if [ -d "$file" ]; then echo "$file/"; else echo "$file"; fi
  done
}

# A spec, PATTERN:KEY=VALUE,KEY=…, or a file.
_slackline_schedules() {
  case "$word" in
    *:*) _slackline_list options "${word%%:*}" | sed "s/^/${word%"${word##*[:,]}"}/; s/\$/=/" ;;
    *) _slackline_list patterns | sed 's/$/:/'; _slackline_files ;;
  esac
}

# A platform, NAME:KEY=VALUE,KEY=…, or a file.
_slackline_platforms() {
  case "$word" in
    *:*) _slackline_list figures "${word%%:*}" | sed "s/^/${word%"${word##*[:,]}"}/; s/\$/=/" ;;
    *) _slackline_list platforms; _slackline_list networks | sed 's/$/:/'; _slackline_files ;;
  esac
}

_slackline_values() {  # _slackline_values OPTION
  local value
  value="$(_slackline_value_of "$1")"
  case "$value" in
    "") return 1 ;;
    PLATFORM) _slackline_platforms ;;
    FILE | FOLDER | DIR | PATH | PROGRAM) _slackline_files ;;
    *\|*) tr '|' '\n' <<<"$value" ;;
    *) case "$1" in
         -t | --transport) _slackline_list transports ;;
         --to) _slackline_list formats ;;
       esac ;;
  esac
  return 0
}

_slackline_arguments() {
  case "$command" in
    help) _slackline_commands ;;
    list)
      case "${words[*]:2}" in
        "options "*) _slackline_list patterns ;;
        "figures "*) _slackline_list networks; _slackline_list platforms ;;
        *) _slackline_list ;;
      esac ;;
    reproduce) echo list; echo facts; _slackline_ask reproduce list | sed -nE 's/^ *([a-z0-9-]+)  .*/\1/p' ;;
    *) if _slackline_ask "$command" --help | grep -q '^  SCHEDULE'; then
         _slackline_schedules
       else
         _slackline_files
       fi ;;
  esac
}

_slackline() {
  local program="$1" line="${COMP_LINE:0:COMP_POINT}" words command word found one
  # bash's own words end at : and =, which stand in specs.
  read -ra words <<<"$line"
  [[ $line != *[[:space:]] ]] || words+=("")
  command="${words[1]:-}" word="${words[-1]}"
  if [ ${#words[@]} -eq 2 ]; then
    found="$(echo help; _slackline_commands)"
  elif [[ $word == -* ]]; then
    found="$(_slackline_options)"
  else
    found="$(_slackline_values "${words[-2]}" || _slackline_arguments)"
  fi
  COMPREPLY=()
  while read -r one; do
    [[ -z $one || $one != "$word"* ]] || COMPREPLY+=("${one//[; ()&]/\\&}")
  done <<<"$found"
  [[ ${COMPREPLY[*]} != *[=:/] ]] || compopt -o nospace 2>/dev/null
  COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*[:=]}"}"}")
}
complete -F _slackline slackline
