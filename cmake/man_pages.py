"""Writes a man page for the program, and one for each of its commands, from what they say of themselves.

usage: man_pages.py PROGRAM FOLDER

FOLDER is made anew: slackline.1.gz, and slackline-COMMAND.1.gz for each command that `PROGRAM --help`
lists. The same program gives the same bytes. Ends with 1, and says why, if help is not in the form that
is read here: then a page would lack something.
"""

import gzip
import pathlib
import re
import shutil
import subprocess
import sys

COMMAND = re.compile(r"^  ([a-z]+)  +(.*)$")
VERSION = re.compile(r"\S+ \S+")
# Where help has its explanations (cli/arguments.cc).
COLUMN = 30
# Headings under which options stand that several commands share.
GROUPS = ("How the schedule is made", "Delays and failures", "How the ranks meet")


class Unreadable(Exception):
    """Help is not in the form that is read here."""


def said(*command):
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout


def roff(text):
    """The text as it is, for roff: a minus is no hyphen, and no line is a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.M)


def bold(text):
    return f"\\fB{roff(text)}\\fR"


def italic(text):
    return f"\\fI{roff(text)}\\fR"


def title(name, version):
    # The left margin alone is straight, and no word is broken: specs would be misread.
    return f'.TH {roff(name.upper())} 1 "" "{version}" "Slackline"\n.nh\n.ad l'


def split_help(text):
    """What `COMMAND --help` says: its words on itself, its usage, and sections by their heading."""
    words, found, rest = text.partition("Usage: ")
    if not found:
        raise Unreadable("no 'Usage: '")
    usage, *lines = rest.splitlines()
    sections, heading = {}, None
    for line in lines:
        if re.fullmatch(r"[A-Z][a-z ]+:", line):
            heading = line[:-1]
            sections[heading] = []
        elif line and heading is None:
            raise Unreadable(f"'{line}' stands under no heading")
        elif line:
            sections[heading].append(line)
    return words.strip().splitlines(), usage, sections


def entries(lines):
    """Pairs of a name and its explanation, which stands at COLUMN, or alone on the next line."""
    pairs = []
    for line in lines:
        if line.startswith(" " * COLUMN):
            pairs[-1][1].append(line.strip())
        elif not re.match(r"  \S", line):
            raise Unreadable(f"'{line}' is no entry")
        elif len(line) > COLUMN and line[COLUMN - 1] == " ":
            pairs.append((line[:COLUMN].strip(), [line[COLUMN:].strip()]))
        else:
            pairs.append((line.strip(), []))
    return [(name, " ".join(explained)) for name, explained in pairs]


def option(name):
    """`-p,--platform PLATFORM` with names bold, and what is to be put in their place in italics."""
    names, _, value = name.partition(" ")
    text = ", ".join(bold(one) for one in names.split(","))
    return f"{text} {italic(value)}" if value else text


def positional(name):
    return italic(name.removesuffix(" REQUIRED"))


def listed(pairs, shown):
    lines = []
    for name, explained in pairs:
        lines += [".TP", shown(name), roff(explained)]
    return lines


def example_lines(lines):
    return [".nf", *(roff(line.strip()) for line in lines), ".fi"]


def synopsis(usage):
    words = usage.split(" ")
    named = 1 if words[1] == "COMMAND" else 2
    return " ".join([bold(" ".join(words[:named])), *(italic(word) for word in words[named:])])


def command_page(command, version, text):
    (summary, *more), usage, sections = split_help(text)
    if not {"Options"} <= set(sections) <= {"Positionals", "Options", "Examples", *GROUPS}:
        raise Unreadable(f"headings {', '.join(sections)}; expected Positionals, Options, "
                         f"{', '.join(GROUPS)}, Examples")
    name = f"slackline-{command}"
    lines = [title(name, version), ".SH NAME", f"{roff(name)} \\- {roff(summary)}",
             ".SH SYNOPSIS", synopsis(usage)]
    lines += [roff(line) for line in more]
    if "Positionals" in sections:
        lines += [".SH ARGUMENTS", *listed(entries(sections["Positionals"]), positional)]
    lines += [".SH OPTIONS", *listed(entries(sections["Options"]), option)]
    for group in sections:
        if group in GROUPS:
            lines += [f".SS {roff(group)}", *listed(entries(sections[group]), option)]
    if "Examples" in sections:
        lines += [".SH EXAMPLES", *example_lines(sections["Examples"])]
    lines += [".SH SEE ALSO", ".BR slackline (1),", "which has the exit codes.",
              ".PP", "The package slackline\\-doc has a page on this command:",
              roff(f"/usr/share/doc/slackline/docs/commands/{command}.md")]
    return lines


def program_page(version, text):
    """The page of the program itself, and what its commands are."""
    paragraphs = text.strip().split("\n\n")
    if len(paragraphs) != 5:
        raise Unreadable(f"{len(paragraphs)} paragraphs of --help; expected 5")
    what, usage, table, schedule, codes = paragraphs
    commands = [COMMAND.match(line) for line in table.splitlines()]
    if not all(commands):
        raise Unreadable("not every line of the third paragraph is a command")
    pairs = [found.groups() for found in commands]
    summary = what.partition(": ")[2].rstrip(".")
    heading, found, codes = " ".join(codes.split()).partition("exit codes: ")
    if heading or not found or not summary:
        raise Unreadable("no summary, or no 'exit codes: '")
    lines = [title("slackline", version), ".SH NAME", f"slackline \\- {roff(summary)}",
             ".SH SYNOPSIS", synopsis(usage.removeprefix("usage: ")),
             ".SH COMMANDS", *listed(pairs, lambda name: f"\\fBslackline\\-{name}\\fR(1)"),
             ".SH SCHEDULES", roff(schedule), ".SH EXIT STATUS"]
    lines += listed([code.split(" ", 1) for code in codes.split(", ")], bold)
    lines += [".SH SEE ALSO", "The package slackline\\-doc has a tutorial and a user guide:",
              roff("/usr/share/doc/slackline/docs/tutorial.md"), "and", roff("user-guide.md.")]
    return [name for name, _ in pairs], lines


def write_page(path, lines):
    # Without a time and a name, so that the bytes are the same.
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), 9, mtime=0))


def write_pages(program, folder):
    version = VERSION.match(said(program, "--version")).group()
    commands, lines = program_page(version, said(program, "--help"))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for command in commands:
        try:
            page = command_page(command, version, said(program, command, "--help"))
        except Unreadable as error:
            raise Unreadable(f"{command}: {error}") from None
        write_page(folder / f"slackline-{command}.1.gz", page)
    write_page(folder / "slackline.1.gz", lines)


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__.split("\n\n")[1])
    try:
        write_pages(arguments[0], pathlib.Path(arguments[1]))
    except Unreadable as error:
        sys.exit(f"man_pages.py: help of {arguments[0]}: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
