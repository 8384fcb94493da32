"""The tests that see a change: which there are, what each costs, likely ones first."""

import concurrent.futures
import ctypes
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import tempfile
import threading
import time

from mutation.build import Failed, output_of

QUICK_S = 0.1  # a test up to here is run before the slower ones of any program
SHARD_S = 2  # a run up to here is never made in parts
LOOK_S = 0.2  # how often a part looks whether another one has failed
MEASURE_LIMIT_S = 3600
LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
MOST_FILTER = 400  # tests named one by one; gtest compares each with each


def limited():
    """A changed program may ask for anything: no core files, no more memory than there is. It ends
    with whoever started it, since it may run for ever."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (pages, pages))


def ended(process, limit_s, stop):
    """The exit code, or None if it took too long or `stop` was set."""
    end = time.monotonic() + limit_s
    while not stop.is_set() and (left := end - time.monotonic()) > 0:
        try:
            return process.wait(min(left, LOOK_S))
        except subprocess.TimeoutExpired:
            pass
    return None


def run(command, folder, limit_s, environment=None, stop=threading.Event()):
    """(exit code or None if it took too long or `stop` was set, what it printed); its processes
    are gone after."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=said,
                                   stderr=subprocess.STDOUT, env=environment,
                                   start_new_session=True, preexec_fn=limited)
        code = ended(process, limit_s, stop)
        try:
            os.killpg(process.pid, signal.SIGKILL)  # its own session: the process and its children
        except ProcessLookupError:
            pass
        process.wait()
        said.seek(max(0, said.seek(0, 2) - 20000))
        return code, said.read().decode(errors="replace")


def told(words, binary):
    """A command's words, or an environment, with the program's path where it belongs."""
    if isinstance(words, dict):
        return {key: value.replace("@PROGRAM@", str(binary)) for key, value in words.items()}
    return [word.replace("@PROGRAM@", str(binary)) for word in words]


class Run:
    """One run that may notice a change: some tests of a program, or a script that runs one."""

    def __init__(self, program, cost_s, tests=None, name=None, command=None, environment=None):
        self.program, self.cost_s, self.tests = program, cost_s, tests
        self.name = name or program
        self.command, self.environment = command, environment

    def parts(self, shards):
        """The run as so many runs of about the same cost."""
        if not self.tests or self.cost_s <= SHARD_S:
            return [self]
        # The tests stand in the order of their cost.
        return [Run(self.program, self.cost_s / shards, part)
                for part in (self.tests[k::shards] for k in range(shards)) if part]

    def notices(self, binary, folder, patience_s, shards=1):
        """What noticed the change, or None; `binary` is the changed program. Its time-out is ten
        times what the run takes unchanged, and `patience_s`. The first part that fails ends the
        others."""
        parts, stop = self.parts(shards), threading.Event()
        with concurrent.futures.ThreadPoolExecutor(len(parts)) as pool:
            at_once = []
            for k, part in enumerate(parts):
                place = pathlib.Path(folder, str(k))
                place.mkdir()
                at_once.append(pool.submit(part.notices_alone, binary, place, patience_s, stop))
            for done in concurrent.futures.as_completed(at_once):
                if done.result() and not stop.is_set():
                    stop.set()
                    what = done.result()
        return what if stop.is_set() else None

    def notices_alone(self, binary, folder, patience_s, stop):
        if self.command is None:
            flags = pathlib.Path(folder, "flags")
            flags.write_text("--gtest_fail_fast\n--gtest_brief=1\n"
                             + (f"--gtest_filter={':'.join(self.tests)}\n" if self.tests else ""))
            command, environment = [binary, f"--gtest_flagfile={flags}"], None
        else:
            command = told(self.command, binary)
            environment = os.environ | told(self.environment, binary)
        code, said = run(command, folder, patience_s + 10 * self.cost_s, environment,
                         stop)
        if code == 0 or code == 77 and self.command:
            return None
        found = re.search(r"\[  FAILED  \] (\S+?)[,\s]", said)
        what = found.group(1) if found else "" if self.command is None else self.name
        how = "" if found else "took too long" if code is None else f"ended with {code}"
        return " ".join(word for word in (self.program, what, how) if word)


class Tests:
    """The tests of a build folder, with what they cost unchanged (kept in BUILD/mutate/)."""

    def __init__(self, build, wanted, say, shards=1):
        self.build, self.say, self.shards = build, say, shards
        self.kept = build.folder / "mutate"
        self.kept.mkdir(exist_ok=True)
        self.programs = {}  # name: {test: (file, seconds)}
        self.scripts = []
        for program in build.programs:
            words = build.link_words(program)
            # The guest's run in the guest alone; soak is one long run, and has no tests.
            if (not any("gtest" in word for word in words)
                    or program.startswith(("tests/guest", "tests/soak"))):
                continue
            name = pathlib.Path(program).name
            if wanted and name not in wanted:
                continue
            if not (build.folder / program).exists():
                say(f"{program} is not built: its tests are left out")
                continue
            self.programs[program] = None
        self.wanted = wanted

    def refresh(self, path_list):
        """Builds the programs that see the files, and measures them."""
        seen = [p for p in self.programs if any(self.build.sees(p, path) for path in path_list)]
        self.programs = {p: None for p in seen}
        scripts = self.script_tests()
        self.build.refresh(seen + sorted({program for program, *_ in scripts}))
        for program in seen:
            self.programs[program] = self.measured(program)
        for program, name, command, environment in scripts:
            cost_s = self.measured_script(program, name, command, environment)
            if cost_s is not None:
                self.scripts.append(Run(program, cost_s, None, name, command, environment))
        blind = [path for path in path_list if not self.runs_for(path)]
        if blind:
            raise Failed(f"{blind[0]}: no test program that sees it is built in {self.build.folder}")

    def state_of(self, program):
        stat = (self.build.folder / program).stat()
        return [stat.st_mtime_ns, stat.st_size]

    def remembered(self, name, state, make):
        file = self.kept / (re.sub(r"\W", "_", name) + ".json")
        if file.exists():
            known = json.loads(file.read_text())
            if known["state"] == state:
                return known["found"]
        found = make()
        file.write_text(json.dumps({"state": state, "found": found}))
        return found

    def measured(self, program):
        """{test: (file, seconds)} of a gtest program; without the tests that fail as they are."""
        def make():
            self.say(f"measuring {program} unchanged")
            found = {}
            with concurrent.futures.ThreadPoolExecutor(self.shards) as pool:
                for suites in pool.map(lambda k: self.measured_part(program, k),
                                       range(self.shards)):
                    for test in (test for suite in suites for test in suite["testsuite"]):
                        name = f"{test['classname']}.{test['name']}"
                        if "failures" in test:
                            self.say(f"{program}: {name} fails unchanged, and is left out")
                        elif test["result"] == "COMPLETED":
                            found[name] = [test["file"], float(test["time"].rstrip("s"))]
            return found
        return self.remembered(program, self.state_of(program), make)

    def measured_part(self, program, k):
        """What gtest says of the suites of the program's k-th part."""
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "tests.json")
            part = {"GTEST_TOTAL_SHARDS": str(self.shards), "GTEST_SHARD_INDEX": str(k)}
            code, said = run([self.build.folder / program, f"--gtest_output=json:{out}",
                              "--gtest_brief=1"], folder, MEASURE_LIMIT_S, os.environ | part)
            if out.exists():
                return json.loads(out.read_text())["testsuites"]
        # Not one of gtest's: the program as a whole.
        if code != 0:
            raise Failed(f"{program} ends with {code} unchanged: {said[-300:]}")
        return []

    def script_tests(self):
        """(program, name, command, environment) of ctest's tests that are told a program."""
        try:
            known = json.loads(output_of(["ctest", "--show-only=json-v1"], self.build.folder))
        except (Failed, json.JSONDecodeError, OSError):
            return []
        binaries = {str(self.build.folder / p): p for p in self.build.programs}
        found = []
        for test in known["tests"]:
            words = test.get("command", [])
            if not words or words[0] in binaries or test["name"].startswith(("guest.", "install.")):
                continue
            lines = next((p["value"] for p in test["properties"] if p["name"] == "ENVIRONMENT"), [])
            environment = dict(line.split("=", 1) for line in lines)
            ours = sorted(binaries.keys() & {*words, *environment.values()})
            if len(ours) != 1 or not pathlib.Path(ours[0]).exists():
                continue
            program = binaries[ours[0]]
            if self.wanted and not self.wanted & {test["name"], pathlib.Path(program).name}:
                continue

            def swap(text):
                return "@PROGRAM@" if text == ours[0] else text

            found.append((program, test["name"], [swap(w) for w in words],
                          {key: swap(value) for key, value in environment.items()}))
        return found

    def measured_script(self, program, name, command, environment):
        def make():
            self.say(f"measuring {name} unchanged")
            binary = str(self.build.folder / program)
            begin = time.monotonic()
            with tempfile.TemporaryDirectory() as folder:
                code, _ = run(told(command, binary), folder, MEASURE_LIMIT_S,
                              os.environ | told(environment, binary))
            if code != 0:
                self.say(f"{name} ends with {code} unchanged, and is left out")
            return time.monotonic() - begin if code == 0 else None
        return self.remembered(name, self.state_of(program), make)

    def likeness(self, path, file):
        """How likely a file of tests is to look at a source: 2, 1 or 0."""
        stem, test = pathlib.Path(path).stem, pathlib.Path(file).stem.removesuffix("_test")
        header = path.removesuffix(".cc").removesuffix(".h") + ".h"
        if stem == test or stem in test or test in stem:
            return 2
        try:
            text = (self.build.folder / file).read_text()
        except OSError:
            return 0
        if f'"{header}"' in text:
            return 2
        folder = pathlib.Path(path).parent.as_posix()
        words = set(stem.split("_")) & set(test.split("_")) - {"test"}
        return 1 if words or folder.count("/") and f'"{folder}/' in text else 0

    def runs_for(self, path):
        """The runs that see a file, likely ones first, and of equally likely ones the cheapest."""
        order = []
        for program, tests in self.programs.items():
            if not self.build.sees(program, path):
                continue
            if not tests:
                order.append((1, 0, Run(program, 10)))
                continue
            likely = {file: self.likeness(path, file) for file, _ in tests.values()}
            groups = {}
            for name, (file, cost_s) in tests.items():
                groups.setdefault((2 - likely[file], cost_s > QUICK_S), []).append((cost_s, name))
            for (distance, slow), members in groups.items():
                members.sort()
                for k in range(0, len(members), MOST_FILTER):
                    part = members[k:k + MOST_FILTER]
                    cost_s = sum(cost for cost, _ in part)
                    order.append((distance + slow, cost_s,
                                  Run(program, cost_s, [name for _, name in part])))
        order += [(3, script.cost_s, script) for script in self.scripts
                  if self.build.sees(script.program, path)]
        return [each for _, _, each in sorted(order, key=lambda one: one[:2])]
