"""scripts/check-links finds what is pointed to and not there, and nothing else.

Called with the path of the script.
"""

import pathlib
import runpy
import subprocess
import sys
import tempfile
import unittest

SCRIPT = CHECKER = None

THERE = {
    "docs/a.md": '# A page\n\n## One, two\n\n## With `code`\n\n## Twice\n\n## Twice\n',
    "docs/sub/b.md": "# B\n",
    "hw/x.h": "",
}

# (file, text, what is said of it: nothing, or a line)
CASES = [
    ("README.md", "[a](docs/a.md) [b](docs/sub/b.md#b) [web](https://x.org/y#z) [up](docs)", None),
    ("README.md", "a\n[a](docs/c.md)",
     "README.md:2: link to docs/c.md, and there is no docs/c.md"),
    ("README.md", "[a](docs/sub/../a.md#one-two) [b](docs/a.md#with-code)", None),
    ("README.md", "[a](docs/a.md#twice) [a](docs/a.md#twice-1)", None),
    ("README.md", "[a](docs/a.md#twice-2)",
     "README.md:1: link to docs/a.md#twice-2, and docs/a.md has no heading of that name"),
    ("README.md", "[a](hw/x.h#l1)",
     "README.md:1: link to hw/x.h#l1, and hw/x.h has no heading of that name"),
    ("README.md", "# Here\n[here](#here)", None),
    ("README.md", "# Here\n[here](#there)",
     "README.md:2: link to #there, and README.md has no heading of that name"),
    ("docs/sub/c.md", "[a text of\ntwo lines](../a.md)", None),
    ("docs/sub/c.md", "[a](a.md)", "docs/sub/c.md:1: link to a.md, and there is no docs/sub/a.md"),
    ("docs/sub/c.md", "[`a`](../../docs/a.md)", None),
    ("README.md", "```text\n[a](docs/c.md) docs/c.md\n# no heading\n```\n`[a](docs/c.md)`", None),
    ("README.md", "`hw/x`, `hw/x.h`, `hw/NAME.h` and `hw`", None),
    ("README.md", "see `hw/y`", "README.md:1: there is no hw/y"),
    ("README.md", "see `hw/y.h`", "README.md:1: there is no hw/y.h"),
    ("README.md", "see hw/y.h.", "README.md:1: there is no hw/y.h"),
    ("hw/y.h", "// See docs/a.md and hw/x.h, /usr/hw/z.h and <hw.h>.", None),
    ("hw/y.h", "int i;\n// See docs/c.md.", "hw/y.h:2: there is no docs/c.md"),
    ("hw/y.h", "/* a\n   docs/c.md */", "hw/y.h:2: there is no docs/c.md"),
    ("hw/y.h", 'const char* kPath = "docs/c.md // docs/c.md";', None),
    ("hw/y.h", "// x.h has it", None),
    ("hw/y.h", "// z.h has it", "hw/y.h:1: there is no file z.h"),
    ("hw/y.h", '// docs/a.md, "One, two" and "Twice": all', None),
    ("hw/y.h", '/// docs/a.md, "One,\n/// two".', None),
    ("hw/y.h", '// "Twice" of\n// docs/a.md', None),
    ("hw/y.h", '\n// See\n// docs/a.md, "Three".', 'hw/y.h:3: docs/a.md has no section "Three"'),
    ("hw/y.h", '// docs/a.md, "Twice" and "Three"', 'hw/y.h:1: docs/a.md has no section "Three"'),
    ("hw/y.h", '// "Three" of docs/a.md', 'hw/y.h:1: docs/a.md has no section "Three"'),
    ("docs/c.md", 'docs/a.md, "Three"', 'docs/c.md:1: docs/a.md has no section "Three"'),
    ("CMakeLists.txt", 'set(x "docs/c.md")  \n  # docs/a.md', None),
    ("CMakeLists.txt", "# docs/c.md", "CMakeLists.txt:1: there is no docs/c.md"),
    ("build/README.md", "docs/c.md", None),
]


class CheckLinks(unittest.TestCase):
    def check(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return CHECKER(pathlib.Path(folder)).check()

    def test_each_case(self):
        for name, text, breach in CASES:
            with self.subTest(name=name, text=text):
                self.assertEqual(self.check({**THERE, name: text}), [breach] if breach else [])

    def test_a_breach_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "a.md").write_text("[b](b.md)")
            done = subprocess.run([sys.executable, SCRIPT, folder], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "a.md:1: link to b.md, and there is no b.md\n")

    def test_this_checkout(self):
        done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_folder_that_is_not_there(self):
        done = subprocess.run([sys.executable, SCRIPT, "/no/such/folder"], capture_output=True)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    SCRIPT = sys.argv.pop(1)
    CHECKER = runpy.run_path(SCRIPT)["Checker"]
    unittest.main()
