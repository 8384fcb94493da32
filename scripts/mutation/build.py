"""What a configured build folder knows: how each file is compiled, how each program is linked."""

import json
import pathlib
import re
import shlex
import shutil
import subprocess
import threading

COMPILE_LIMIT_S = 600


class Failed(Exception):
    """A command that should not have failed; the text is its last words."""


def output_of(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        said = done.stderr.strip() or done.stdout.strip()
        raise Failed(f"{shlex.join(map(str, command))}: {said}")
    return done.stdout


def members(unity):
    """The sources that a file of CMake's unity builds includes."""
    included = re.findall(r'^#include "([^"]+)"', unity.read_text(), re.M)
    return [pathlib.Path(unity.parent, path).resolve() for path in included]


class Build:
    """A build folder made by CMake for Ninja, with compile_commands.json."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        try:
            cache = (self.folder / "CMakeCache.txt").read_text()
            entries = json.loads((self.folder / "compile_commands.json").read_text())
        except OSError as error:
            raise Failed(f"{folder}: expected a configured build folder ({error.strerror}: "
                         f"{error.filename})") from error
        home = re.search(r"^CMAKE_HOME_DIRECTORY:\w+=(.*)$", cache, re.M).group(1)
        self.root = pathlib.Path(home).resolve()
        self.entries = {}  # path in the repository: (its object, the command's words)
        self.united = set()  # paths that are compiled as one with others
        for entry in entries:
            file = pathlib.Path(entry["directory"], entry["file"]).resolve()
            if file.is_relative_to(self.folder) and file.parent.name == "Unity":
                self.united |= {path.relative_to(self.root).as_posix() for path in members(file)}
            elif file.is_relative_to(self.root) and not file.is_relative_to(self.folder):
                words = shlex.split(entry["command"])
                if pathlib.Path(words[0]).name in ("ccache", "sccache"):
                    del words[0]
                path = file.relative_to(self.root).as_posix()
                self.entries.setdefault(path, (words[words.index("-o") + 1], words))
        targets = output_of(["ninja", "-t", "targets", "all"], self.folder)
        self.programs = sorted(
            name for name in re.findall(r"^([^/\n][^\n]*): \w+_EXECUTABLE_LINKER__", targets, re.M)
            if "[" not in name)
        self.linker = ["-fuse-ld=lld"] if shutil.which("ld.lld") else []
        self._lock = threading.Lock()
        self._links, self._targets = {}, {}

    def library_of(self, path):
        """What the file's object goes into: its archive, or the program itself."""
        with self._lock:
            if path not in self._targets:
                said = output_of(["ninja", "-t", "query", self.entries[path][0]], self.folder)
                outputs = said.split("outputs:\n", 1)[1].split()
                self._targets[path] = next((o for o in outputs if o.endswith(".a")), outputs[0])
            return self._targets[path]

    def link_words(self, program):
        """The words of the command that links it."""
        with self._lock:
            if program not in self._links:
                said = output_of(["ninja", "-t", "commands", "-s", program], self.folder)
                command = said.strip().splitlines()[-1].removeprefix(": && ").split(" && ")[0]
                self._links[program] = shlex.split(command)
            return self._links[program]

    def sees(self, program, path):
        """Whether the program is linked with the file's object, or with its archive."""
        words = self.link_words(program)
        return self.library_of(path) in words or self.entries[path][0] in words

    def users(self, header):
        """The files of the library that a header stands in which include it, by the last build."""
        room = header.split("/")[0] + "/"
        target = str(self.root / header)
        found = []
        for path in sorted(p for p in self.entries if p.startswith(room)):
            said = output_of(["ninja", "-t", "deps", self.entries[path][0]], self.folder)
            if any(pathlib.Path(self.folder, line.strip()).resolve().as_posix() == target
                   for line in said.splitlines()[1:]):
                found.append(path)
        return found

    def refresh(self, programs):
        """Brings programs up to date."""
        if programs:
            output_of(["ninja", *programs], self.folder)

    def same_names(self, aside):
        """Files are called the same in every object, wherever they stand."""
        return [f"-ffile-prefix-map={aside}=.", f"-ffile-prefix-map={self.root}=."]

    def compile(self, path, source, target, aside, more=()):
        """Compiles `source` as the file `path` would be; false if it does not compile."""
        words = list(self.entries[path][1])
        words[words.index("-o") + 1] = str(target)
        words[words.index("-c") + 1] = str(source)
        # No debug information, unless a header compiled with it comes first.
        plain = ["-g0"] if "-include" not in words else []
        words[1:1] = [f"-I{aside}", *(["-include", str(aside / "first.h")]
                                      if (aside / "first.h.gch").exists() and plain else [])]
        words += ["-w", *plain, *self.same_names(aside), *more]
        try:
            done = subprocess.run(words, cwd=self.folder, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, timeout=COMPILE_LIMIT_S)
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0

    def compile_first(self, path, aside):
        """Compiles the file's leading includes once, for all its changes to begin with."""
        words = list(self.entries[path][1])
        if "-include" in words or "clang" in words[0]:
            return
        heads = []
        for line in (self.root / path).read_text().splitlines():
            if line.startswith("#include"):
                heads.append(line)
            elif line.strip() and not line.startswith("//"):
                break
        (aside / "first.h").write_text("\n".join(heads) + "\n")
        words[words.index("-o") + 1] = str(aside / "first.h.gch")
        words[words.index("-c") + 1] = str(aside / "first.h")
        at = words.index("-c")
        words[at:at] = ["-x", "c++-header", "-w", "-g0", *self.same_names(aside)]
        subprocess.run(words, cwd=self.folder, capture_output=True)

    def link(self, program, objects, out):
        """Links a program with {path: object} in place of what those files are in it."""
        words = list(self.link_words(program))
        words[words.index("-o") + 1] = str(out)
        own = {self.entries[path][0]: str(target) for path, target in objects.items()}
        ahead = [target for replaced, target in own.items() if replaced not in words]
        words = [own.get(word, word) for word in words]
        # Ahead of the archives, whose members for these files are then not asked for.
        words[1:1] = ahead
        for more in (self.linker, []):
            done = subprocess.run([*words, *more, "-Wl,-S"], cwd=self.folder, capture_output=True,
                                  text=True)
            if done.returncode == 0:
                return
        raise Failed(f"{program} does not link: {done.stderr.strip()[-400:]}")


def code_of(target):
    """An object without what is only for debuggers."""
    bare = target.with_suffix(".bare")
    subprocess.run(["strip", "--strip-debug", "-o", str(bare), str(target)], check=True)
    return bare.read_bytes()
