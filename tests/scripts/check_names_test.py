"""scripts/check-names finds two types of one name, and nothing else.

Called with the path of the script.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = None


def in_namespace(*lines, name="slackline::hw"):
    return "\n".join([f"namespace {name} {{", *lines, f"}}  // namespace {name}", ""])


# (one file, another, whether both may stand there)
CASES = [
    (in_namespace("struct A {", "};"), in_namespace("struct A {", "};"), False),
    (in_namespace("struct A {", "};"), in_namespace("class A final : public B {", "};"), False),
    (in_namespace("enum class A { kOne };"), in_namespace("class A", "    : public B {", "};"), False),
    (in_namespace("enum class A : std::uint8_t {", "};"), in_namespace("struct A {};"), False),
    (in_namespace("struct A {", "};"), in_namespace("struct A;", "class B {", "};"), True),
    (in_namespace("struct A {", "};"),
     in_namespace("namespace {", "struct A {", "};", "}  // namespace"), True),
    (in_namespace("class A {", "  struct B {", "  };", "};"),
     in_namespace("class C {", "  struct B {", "  };", "};"), True),
    (in_namespace("class A {", "};"), in_namespace("class A::Part {", "};"), True),
    (in_namespace("namespace {", "}  // namespace", "struct A {", "};"),
     in_namespace("struct A {", "};"), False),
]


class CheckNames(unittest.TestCase):
    def check(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return subprocess.run([sys.executable, SCRIPT, folder], capture_output=True, text=True)

    def test_each_case(self):
        for one, other, allowed in CASES:
            with self.subTest(one=one, other=other):
                done = self.check({"hw/one.h": one, "hw/deep/other.cc": other})
                self.assertEqual(done.returncode, 0 if allowed else 1, done)
                if not allowed:
                    self.assertEqual(done.stdout, "check-names: A is defined as slackline::hw::A in "
                                     "hw/deep/other.cc and as slackline::hw::A in hw/one.h\n")

    def test_rooms_share_no_name_but_tests_may(self):
        ours = in_namespace("struct A {", "};")
        for folder, code in {"cli": 1, "tests": 0, "bench": 0, "examples": 0}.items():
            other = in_namespace("struct A {", "};", name=f"slackline::{folder}")
            done = self.check({"hw/one.h": ours, f"{folder}/other.h": other})
            self.assertEqual(done.returncode, code, done)
        self.assertEqual(self.check({"hw/one.h": ours, "tests/one.h": ours}).returncode, 0)

    def test_what_is_built_does_not_count(self):
        text = in_namespace("struct A {", "};")
        self.assertEqual(self.check({"a.h": text, "build/a.h": text, "a.txt": text}).returncode, 0)

    def test_this_checkout(self):
        done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    SCRIPT = sys.argv.pop(1)
    unittest.main()
