"""scripts/mutate makes each kind of change, none that says nothing, and tells what became of each.

Called with the path of the script; a toy project stands for the product.
"""

import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(SCRIPT.parent))
from mutation import changes, runs  # noqa: E402

# (a line, what it may become: some of it)
LINES = [
    ("  if (a < b) f();", {"  if (a <= b) f();", "  if (a >= b) f();", "  if (a + 1 < b) f();",
                           "  if (a - 1 < b) f();", "  if (true) f();", "  if (false) f();",
                           "  if (b < a) f();", "  if (a < b) ;"}),
    ("  if (a && !b(c, d)) {", {"  if (true && !b(c, d)) {", "  if (a && true) {",
                                "  if (a || !b(c, d)) {", "  if (a && b(c, d)) {",
                                "  if (a && !b(d, c)) {"}),
    ("  x = y ? 1 : z - w;", {"  x = y ? z - w : 1;", "  x = y ? 1 : w - z;",
                              "  x = y ? 2 : z - w;"}),
    ("  out.push_back(x);", {"  ;"}),
    ("  for (i = 0; i < n; ++i) {", {"  for (i = 1; i < n; ++i) {", "  for (i = 0; i < n; --i) {"}),
    ("  return true;", {"  return false;", "  return {};"}),
    ("  x = std::min(a, b) + 1.5;", {"  x = std::max(a, b) + 1.5;", "  x = std::min(a, b) + 2.5;"}),
]
NOTHING = [
    "// if (a < b) f();", "#include <a < b>", '  const auto x = "a < b";', "  std::vector<int> x;",
    "  x.reserve(n + 1);", '  throw InternalError("x", a + 1);', "  assert(a < b);",
    "using X = std::map<int, int>;", "/* a < b */",
]

HEADER = "#pragma once\nint limited(int x, int most);\nint unseen(int x);\nint counted(int n);\n"
SOURCE = """#include "room/limit.h"

int limited(int x, int most) {
  if (x > most) return most;
  return x;
}

int unseen(int x) {
  x = x + 0;
  return x * 3;
}

int counted(int n) {
  int k = 0;
  while (k < n) ++k;
  return k;
}
"""
TEST = """#include <gtest/gtest.h>

#include "room/limit.h"

TEST(Limit, IsKept) {
  EXPECT_EQ(limited(3, 2), 2);
  EXPECT_EQ(limited(1, 2), 1);
}
TEST(Count, Ends) { EXPECT_EQ(counted(3), 3); }
"""
NINJA = """rule cc
  command = c++ -std=c++20 -I{root} -c $in -o $out
rule ar
  command = ar rcs $out $in
rule CXX_EXECUTABLE_LINKER__toy
  command = : && c++ $in -lgtest_main -lgtest -lpthread -o $out && :
build limit.o: cc {root}/room/limit.cc
build libroom.a: ar limit.o
build test.o: cc {root}/tests/limit_test.cc
build tests/toy: CXX_EXECUTABLE_LINKER__toy test.o libroom.a
build all: phony tests/toy
default all
"""


def become(line):
    source = changes.Source("x.cc", "  ;\n" + line + "\n")
    return {source.applied(change).splitlines()[1] for change in source.changes()}


class Changes(unittest.TestCase):
    def test_of_each_kind(self):
        for line, some in LINES:
            with self.subTest(line=line):
                self.assertLessEqual(some, become(line))

    def test_where_they_say_nothing(self):
        for line in NOTHING:
            with self.subTest(line=line):
                self.assertEqual(become(line), set())

    def test_messages_are_changed_when_asked_for(self):
        text = "  throw InputError(a + 1);\n"
        self.assertEqual(list(changes.Source("x.cc", text).changes()), [])
        self.assertNotEqual(list(changes.Source("x.cc", text, messages=True).changes()), [])

    def test_none_twice_and_each_on_one_line(self):
        source = changes.Source("x.cc", SOURCE)
        texts = [source.applied(change) for change in source.changes()]
        self.assertEqual(len(texts), len(set(texts)))
        for change, text in zip(source.changes(), texts):
            old, new = SOURCE.splitlines(), text.splitlines()
            differing = [k for k, pair in enumerate(zip(old, new), start=1) if pair[0] != pair[1]]
            self.assertEqual((len(old), differing), (len(new), [change.line]))

    def test_a_seed_draws_the_same_again(self):
        sources = [changes.Source("x.cc", SOURCE)]
        draws = [changes.sample(sources, 3, random.Random(seed)) for seed in (1, 1, 2, 3, 4)]
        self.assertEqual(draws[0], draws[1])
        self.assertGreater(len({tuple(draw) for draw in draws}), 1)
        self.assertEqual(len({change.line for change in draws[0]}), 3)


class Parts(unittest.TestCase):
    def test_of_a_slow_run_cost_about_the_same(self):
        slow = runs.Run("toy", 6, list("abcde"))
        self.assertEqual([(part.tests, part.cost_s) for part in slow.parts(2)],
                         [(["a", "c", "e"], 3), (["b", "d"], 3)])
        self.assertEqual([part.tests for part in slow.parts(7)], [[name] for name in "abcde"])

    def test_of_a_quick_run_are_itself(self):
        quick = runs.Run("toy", 1, list("ab"))
        self.assertEqual(quick.parts(2), [quick])

    def test_the_first_that_fails_ends_the_others(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "program")
            program.write_text("#!/bin/sh\ngrep -q bad ${1#*=} || exec sleep 600\n"
                               "echo '[  FAILED  ] Some.bad, so'; exit 1\n")
            program.chmod(0o755)
            slow = runs.Run("toy", 6, ["good", "bad"])
            self.assertEqual(slow.notices(program, folder, 600, 2), "toy Some.bad")


@unittest.skipUnless(shutil.which("ninja") and shutil.which("c++"), "needs ninja and a compiler")
class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name).resolve()
        cls.build = cls.root / "build"
        command = f"c++ -std=c++20 -I{cls.root} -o limit.o -c {cls.root}/room/limit.cc"
        files = {"room/limit.h": HEADER, "room/limit.cc": SOURCE, "tests/limit_test.cc": TEST,
                 "build/build.ninja": NINJA.format(root=cls.root),
                 "build/CMakeCache.txt": f"CMAKE_HOME_DIRECTORY:INTERNAL={cls.root}\n",
                 "build/compile_commands.json": json.dumps([{
                     "directory": str(cls.build), "file": str(cls.root / "room/limit.cc"),
                     "command": command}])}
        for path, text in files.items():
            file = cls.root / path
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
        subprocess.run(["ninja"], cwd=cls.build, check=True, capture_output=True)

    def mutate(self, *arguments):
        done = subprocess.run([sys.executable, SCRIPT, "--build", self.build, "--jobs", "1",
                               *arguments], capture_output=True, text=True)
        self.assertEqual((done.returncode, (self.root / "room/limit.cc").read_text()), (0, SOURCE),
                         done.stderr)
        return done.stdout

    def given(self, line, old, new, *more):
        return self.mutate("--only", f"room/limit.cc:{line}", "--change", old, new, *more)

    def test_what_becomes_of_a_change(self):
        said = self.given(4, "x > most", "x < most")
        self.assertIn("killed by tests/toy Limit.IsKept: room/limit.cc:4: given\n"
                      "    - if (x > most) return most;\n    + if (x < most) return most;\n", said)
        self.assertRegex(said, r"room +1 +0 +0 +1 +0 +100 %")
        self.assertRegex(self.given(10, "3", "4"),
                         r"survived: room/limit.cc:10[^$]*room +1 +0 +0 +0 +1 +0 %")
        self.assertRegex(self.given(4, "most", "least"), r"room +1 +1 +0 +0 +0 +-")
        self.assertRegex(self.given(9, "+ 0", "- 0"), r"room +1 +0 +1 +0 +0 +-")

    def test_a_program_that_does_not_end_has_noticed(self):
        said = self.given(15, "k < n", "true || k < n", "--patience", "1")
        self.assertIn("killed by tests/toy took too long", said)

    def test_all_of_a_file(self):
        said = self.mutate("room", "--count", "4", "--kind", "comparison")
        self.assertRegex(said, r"all +2 +0 +0 +2 +0 +100 %")
        listed = self.mutate("room", "--list", "--count", "4", "--kind", "comparison")
        self.assertEqual(listed.count("    - "), 2)

    def test_parts_at_once_say_the_same(self):
        shutil.rmtree(self.build / "mutate", ignore_errors=True)
        said = self.given(4, "x > most", "x < most", "--shards", "3")
        self.assertIn("killed by tests/toy Limit.IsKept", said)
        self.assertIn("survived", self.given(10, "3", "4", "--shards", "3"))

    def test_bad_input_is_refused_in_its_last_line(self):
        for arguments, why in (
                (["--count", "-1"], "argument --count: '-1'; expected a whole number above 0"),
                (["--jobs", "0"], "argument --jobs: '0'; expected a whole number above 0"),
                (["--patience", "nan"], "argument --patience: 'nan'; expected seconds, at least 0"),
                (["--only", "room/limit.cc:x"],
                 "--only: 'x' is no line's number; expected FILE or FILE:LINE"),
                (["--only", "room/limit.cc:999"], "room/limit.cc:999: there is no change to make"),
                (["--only", "room/limit.cc:999", "--change", "a", "b"],
                 "room/limit.cc:999: expected 'a' in it"),
                (["--change", "a", "b"], "--change: expected --only FILE:LINE with it"),
                (["--kind", "nosuch"], "there is no change of kind nosuch to make"),
                (["--without", "room", "room"],
                 "room: expected a folder or file of the product's source"),
                (["--without", "room,nosuch"],
                 "--without: there is no nosuch; expected folders or files"),
                (["nowhere"], "nowhere: expected a folder or file of the product's source")):
            done = subprocess.run([sys.executable, SCRIPT, "--build", self.build, "--list",
                                   *arguments], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertIn(why, done.stderr.splitlines()[-1])

    def test_sources_compiled_as_one_are_refused_with_the_cure(self):
        build = self.root / "united"
        group = build / "CMakeFiles/room.dir/Unity/unity_room_0_cxx.cxx"
        group.parent.mkdir(parents=True)
        group.write_text(f'/* by CMake */\n\n#include "{self.root}/room/limit.cc"\n'
                         f'#include "{self.root}/room/other.cc"\n')
        alone = self.root / "alone/alone.cc"
        (build / "build.ninja").write_text("")
        (build / "CMakeCache.txt").write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={self.root}\n")
        (build / "compile_commands.json").write_text(json.dumps([
            {"directory": str(build), "file": str(file), "command": f"c++ -o x.o -c {file}"}
            for file in (group, alone)]))
        alone.parent.mkdir()
        alone.write_text(SOURCE)
        for place in (["."], ["room"], ["--only", "room/limit.cc:4"], ["room/limit.h"],
                      ["--headers"]):
            done = subprocess.run([sys.executable, SCRIPT, "--build", build, "--list", *place],
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (2, ""), place)
            self.assertEqual(done.stderr, (
                f"mutate: {build} compiles sources of room in groups (SLACKLINE_UNITE), such as "
                "room/limit.cc; expected a build folder that compiles each alone, configured with "
                "-D SLACKLINE_UNITE= or -D SLACKLINE_UNITE=tests\n"), place)
        done = subprocess.run([sys.executable, SCRIPT, "--build", build, "--list", "alone"],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("alone/alone.cc:", done.stdout)

    def test_what_runs_for_ever_ends_with_who_started_it(self):
        code = ("import sys; sys.path.insert(0, sys.argv[1]); from mutation import runs\n"
                "runs.run(['sh', '-c', 'echo $$ > pid; exec sleep 600'], sys.argv[2], 600)")
        with tempfile.TemporaryDirectory() as folder:
            starter = subprocess.Popen([sys.executable, "-c", code, pathlib.Path(SCRIPT).parent,
                                        folder])
            told = pathlib.Path(folder, "pid")
            while not (told.exists() and told.read_text().endswith("\n")):
                self.assertIsNone(starter.poll())
                time.sleep(0.01)
            starter.kill()
            starter.wait()
            # A process that ended stays as a zombie where nobody waits for it.
            stat = pathlib.Path("/proc", told.read_text().strip(), "stat")
            self.assertTrue(self.ends(stat), "it runs on")

    @staticmethod
    def ends(stat):
        for _ in range(3000):
            try:
                if stat.read_text().rpartition(")")[2].split()[0] == "Z":
                    return True
            except (FileNotFoundError, ProcessLookupError):
                return True
            time.sleep(0.01)
        return False


if __name__ == "__main__":
    unittest.main()
