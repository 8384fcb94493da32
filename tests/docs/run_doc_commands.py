#!/usr/bin/env python3
"""Runs every `slackline` command that a document shows; each must end as the document says.

usage: run_doc_commands.py PROGRAM DOCUMENT…

Of each Markdown document, in order of appearance and in one empty folder per document:
- a block fenced as ```LANGUAGE file=NAME is written to the file NAME;
- in a block fenced as ```console, each line `$ slackline …` is run by bash, with PROGRAM as
  `slackline` (`build/release/slackline` is the same). A trailing backslash continues it on the next
  line. It must end with 0, or with the number shown under `$ echo $?` right after it, as bash has
  it: of a pipe, `$?` is the status of the last command. The others of a pipe must end with 0, or
  the first with the number shown under `$ echo ${PIPESTATUS[0]}`. It must print the lines shown
  under it, if there are any: all of them, where a line `…` stands for any others.
  In a block fenced as ```console measured, times, rates and other numbers may be others, since they
  are of the machine that ran it; digests may not;
- `$ mpirun …`, `$ mpiexec …` and `$ srun …` that start `slackline` are run likewise, where there is
  such a launcher (of srun: and a cluster); else they are skipped, and named;
- `$ scripts/…`, `$ cmake …`, `$ ctest …`, `$ git …` and `$ cd …` are skipped: they are not the
  program's. Any other command is an error here, so that none goes unnoticed.

Ends with 0 (every command did), 1 (one did not) or 2 (bad arguments).
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^(```+|~~~+)\s*(\S*)\s*(.*)$")
SKIPPED = ("scripts/", "cmake ", "ctest ", "git ", "cd ")
LAUNCHERS = ("mpirun", "mpiexec", "srun")
# Open MPI as root, and with fewer cores than ranks.
LAUNCHING = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
             "OMPI_MCA_rmaps_base_oversubscribe": "1"}
PROGRAM_NAMES = ("slackline", "build/release/slackline")
TIMEOUT_S = 120
# What a document may ask bash for after a command, and which command of a pipe that is about.
STATUS_OF = {"echo $?": -1, "echo ${PIPESTATUS[0]}": 0}
# Runs the command, then says where told how each command of its (last) pipe ended.
SCRIPT = """%s
echo "${PIPESTATUS[*]}" > "$SLACKLINE_DOC_STATUS"
"""


def is_there(launcher):
    """srun needs a cluster that takes jobs, too."""
    if shutil.which(launcher) is None:
        return False
    return launcher != "srun" or subprocess.run(["sinfo"], capture_output=True).returncode == 0


def blocks(text):
    """The (line number, language, info, lines) of every fenced block."""
    fence, start, language, info, body = None, 0, "", "", []
    for number, line in enumerate(text.splitlines(), start=1):
        found = FENCE.match(line)
        if fence is None and found:
            fence, language, info = found.groups()
            start, body = number, []
        elif fence is not None and line.strip() == fence:
            yield start, language, info, body
            fence = None
        elif fence is not None:
            body.append(line)
    if fence is not None:
        raise ValueError(f"line {start}: the block is never closed")


def commands(start, body):
    """The (line number, command, lines shown under it) of a console block."""
    found, i = [], 0
    while i < len(body):
        line, number = body[i], start + 1 + i
        i += 1
        if line.startswith("$ "):
            command = line[2:]
            while command.endswith("\\") and i < len(body):
                command = command[:-1] + " " + re.sub(r"^>\s?", "", body[i]).strip()
                i += 1
            found.append((number, command.strip(), []))
        elif found:
            found[-1][2].append(line)
    return found


def wrong_status(ended, following):
    """What is wrong with how the commands of a pipe ended, or nothing. All must end with 0, but for
    the one whose status a following `$ echo …` shows."""
    expected = [0] * len(ended)
    if following and following[1] in STATUS_OF and following[2]:
        expected[STATUS_OF[following[1]]] = int(following[2][0])
    if ended == expected:
        return ""
    text = [" | ".join(map(str, statuses)) for statuses in (ended, expected)]
    return f"ended with {text[0]}, expected {text[1]}"


def without_measures(line):
    """The line with one blank for several, and without its numbers and their units."""
    line = re.sub(r"(?<![\w.])[+-]?\d+(\.\d+)?(e[+-]?\d+)?(?![\w.])( ([num]?s|[kKMGT]?b/s|%))?", "#", line)
    return re.sub(r"\s+", " ", line)


def same_lines(shown, got, measured=False):
    """Whether a document's lines are what was printed. A line `…` stands for any lines, a command
    without any shown lines for any output; blank lines at the end do not count."""
    if measured:
        shown, got = map(without_measures, shown), map(without_measures, got)
    shown, got = "\n".join(shown).rstrip(), "\n".join(got).rstrip()
    pieces = [re.escape(piece) for piece in re.split(r"^…$", shown, flags=re.M)]
    return re.fullmatch("(?s:.*)".join(pieces), got) is not None


def run_document(program, document, keep=None):
    """Prints each command and its verdict; returns how many ran and how many failed. What they write
    goes away, unless it is to be kept in a folder."""
    ran = failed = 0

    def fail(number, what):
        nonlocal failed
        failed += 1
        print(f"FAILED {document}:{number}: {what}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "bin").mkdir()
        (root / "bin/slackline").symlink_to(program)
        work = keep or root / "work"
        # build/release/slackline works as it does for somebody at the root of the repository
        (work / "build/release").mkdir(parents=True)
        (work / "build/release/slackline").symlink_to(program)
        statuses = root / "statuses"
        environment = dict(os.environ, PATH=f"{root}/bin:{os.environ['PATH']}", LC_ALL="C.UTF-8",
                           SLACKLINE_DOC_STATUS=str(statuses),
                           XDG_CONFIG_HOME=str(root / "config"), **LAUNCHING)
        for start, language, info, body in blocks(document.read_text(encoding="utf-8")):
            if info.startswith("file="):
                target = work / info.removeprefix("file=").strip()
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text("\n".join(body) + "\n", encoding="utf-8")
            if language != "console":
                continue
            found = commands(start, body)
            if not found:
                fail(start, "a console block without a line `$ …`")
            for i, (number, command, shown) in enumerate(found):
                if command in STATUS_OF or command.startswith(SKIPPED):
                    continue
                words = command.split()
                if words[0] in LAUNCHERS and "slackline" in words:
                    if not is_there(words[0]):
                        print(f"{document.name}:{number}: skipped, no {words[0]}: $ {command}",
                              flush=True)
                        continue
                elif words[0] not in PROGRAM_NAMES:
                    fail(number, f"`{command}` is neither slackline nor skipped")
                    continue
                print(f"{document.name}:{number}: $ {command}", flush=True)
                # Alone: what it leaves open would swallow the line after it.
                if subprocess.run(["bash", "-n", "-c", command], capture_output=True).returncode:
                    fail(number, f"`{command}` is nothing that bash can run")
                    continue
                ran += 1
                statuses.write_text("127")  # if bash cannot make sense of it
                try:
                    done = subprocess.run(["bash", "-c", SCRIPT % command], cwd=work,
                                          env=environment, stdin=subprocess.DEVNULL,
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                          timeout=TIMEOUT_S)
                except subprocess.TimeoutExpired:
                    fail(number, f"took longer than {TIMEOUT_S} s")
                    continue
                ended = [int(status) for status in statuses.read_text().split()]
                wrong = wrong_status(ended, found[i + 1] if i + 1 < len(found) else None)
                if wrong:
                    fail(number, f"{wrong}; it printed:\n" + done.stdout.decode(errors="replace"))
                    continue
                got = done.stdout.decode(errors="replace").splitlines()
                if shown and not same_lines(shown, got, measured=info == "measured"):
                    fail(number, "printed something else:\n" + "\n".join(got))
    return ran, failed


def main(arguments):
    if len(arguments) < 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    program = pathlib.Path(arguments[0]).resolve()
    ran = failed = 0
    for name in arguments[1:]:
        try:
            counts = run_document(program, pathlib.Path(name))
        except (OSError, ValueError) as error:
            print(f"FAILED {name}: {error}")
            counts = (0, 1)
        ran, failed = ran + counts[0], failed + counts[1]
    print(f"{ran} commands run, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
