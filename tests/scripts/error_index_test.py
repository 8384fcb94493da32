"""scripts/error-index finds what sources throw, and holds the page against it.

Called with the script, and with the program if there is one.
"""

import pathlib
import re
import runpy
import subprocess
import sys
import tempfile
import unittest

SCRIPT = INDEX = PROGRAM = None

# (source, its messages)
THROWN = [
    ('throw InputError("a plain one");', ["a plain one"]),
    ('throw Unsupported(fmt::format("{}: of {:.3g} two "\n  "lines{{", a, f(b, "c, d")));',
     ["…: of … two lines{"]),
    ('throw EnvironmentError("no " + name(")") + "; expected \\"x\\"");', ['no …; expected "x"']),
    ('throw InputError(few ? "too few there" : fmt::format("{} too many", n));',
     ["too few there", "… too many"]),
    ('throw slackline::InputError{"in braces (so)"};', ["in braces (so)"]),
    ('// throw InputError("a comment here");\nthrow InternalError("a defect here");', []),
    ('throw PeerLost(rank, fmt::format("rank {} has left", rank));', ["rank … has left"]),
    ('text = "of before";\ntext = fmt::format("first of all {}", x);\ntext += fmt::format(" and {} more", y);\n'
     'throw Stalled(text);', ["first of all …", "and … more"]),
    ('const auto message = fmt::format("put {} before", x);\nthrow InputError(message);',
     ["put … before"]),
    ('constexpr std::string_view kNone = "none of "\n "them";\nvoid f() { throw InputError(kNone); }',
     ["none of them"]),
    # A function that throws what it is told, and one that is told it by another one.
    ('[[noreturn]] void fail(int line, std::string_view what) {\n'
     '  throw InputError(fmt::format("{}: {}", line, what));\n}\n'
     'void g() { fail(3, fmt::format("bad {} here", x)); }', ["…: bad … here"]),
    ('void fail(std::string_view what) const { throw InputError(fmt::format("x: {}", what)); }\n'
     'void fail_expecting(std::string_view e) const { fail(fmt::format("{}; expected {}", t(), e)); }\n'
     'void g() { fail_expecting("a number"); }', ["x: …; expected a number", "x: …; expected …"]),
    # Words that a function returns for others.
    ('std::optional<std::string> why_refused(int a) {\n  if (a) return "it is; too large";\n  return {};\n}\n'
     'void f() { if (const auto why = why_refused(1)) throw Unsupported(*why); }', ["it is; too large"]),
]
# What cannot be followed is said, since the index could lack it.
LOST = 'void f() { throw InputError(somewhere_else(3)); }'

PAGE = """# Index

Words.

## One

<!-- of: base/ -->
What to do.

- `` a plain one ``: the cure
"""


class Messages(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        (self.root / "base").mkdir()

    def tearDown(self):
        self.folder.cleanup()

    def sources(self, text):
        (self.root / "base/a.cc").write_text(text, encoding="utf-8")
        return INDEX["Sources"](self.root)

    def held(self, text, page=PAGE):
        return INDEX["hold"](page, self.sources(text))

    def test_what_is_thrown_is_found(self):
        for text, messages in THROWN:
            with self.subTest(text=text):
                found = self.sources(text)
                self.assertEqual(set(found.messages), set(messages))
                self.assertEqual(found.unfollowed, [])

    def test_what_cannot_be_followed_is_said(self):
        self.assertEqual(self.sources(LOST).unfollowed, ["base/a.cc:1: throws somewhere_else(3)"])
        self.assertIn("cannot follow", self.held(LOST)[1][0])

    def test_a_page_in_order_stays_as_it_is(self):
        self.assertEqual(self.held('throw InputError("a plain one");'), (PAGE, []))

    def test_what_is_missing_is_said_and_written(self):
        page, wrong = self.held('throw InputError("a plain one"); throw InputError("b is new");')
        self.assertEqual(wrong, ["## One: add the line: - `` b is new ``"])
        self.assertEqual(page, PAGE + "- `` b is new ``\n")
        self.assertEqual(self.held('throw InputError("a plain one"); throw InputError("b is new");', page),
                         (page, []))

    def test_what_nobody_throws_goes(self):
        page, wrong = self.held("")
        self.assertEqual(wrong, ["## One: nobody throws it any more, remove: - `` a plain one ``"])
        self.assertNotIn("plain", page)

    def test_each_section_needs_words_and_files(self):
        text = 'throw InputError("a plain one");'
        self.assertIn("no words", self.held(text, PAGE.replace("What to do.\n", ""))[1][0])
        wrong = self.held(text, PAGE.replace("base/", "sched/"))[1]
        self.assertTrue(any("there is no sched/" in line for line in wrong), wrong)
        self.assertTrue(any("no section is for it" in line for line in wrong), wrong)

    def test_the_longest_name_has_a_file(self):
        two = PAGE + "\n## Two\n\n<!-- of: base/a -->\nWords.\n"
        page, _ = self.held('throw InputError("a plain one");', two)
        self.assertTrue(page.endswith("Words.\n\n- `` a plain one ``\n"), page)


class Program(unittest.TestCase):
    """What the program really says is in the page."""

    COMMANDS = [
        "compile chian:ranks=3,bytes=2MiB", "compile chain:ranks=0,bytes=2MiB",
        "compile chain:ranks=3,bytes=2", "compile chain:ranks=3,bytes=2Mib", "compile chain:ranks=3",
        "compile chain:ranks=3,bytes=1MiB,colour=red", "check /nowhere/a.slackline",
        "simulate chain:ranks=3,bytes=2MiB --delay op=99,by=1us",
        "simulate chain:ranks=3,bytes=2MiB --delay rank=1",
        "simulate chain:ranks=3,bytes=2MiB -p star:rate=0", "simulate chain:ranks=3,bytes=2MiB --plot a.svg",
        "advise --ranks 4", "export chain:ranks=3,bytes=2MiB --to x", "list stars", "sweep /nowhere.toml",
        "compile - --format x", "run chain:ranks=3,bytes=2MiB --bind x", "frobnicate",
    ]

    def test_it_is(self):
        if PROGRAM is None:
            self.skipTest("no program")
        page = INDEX["PAGE"].read_text(encoding="utf-8")
        messages = re.findall(r"^- `` (.+?) ``", page, re.M)
        self.assertGreater(len(messages), 800)
        # A file's name and line may stand before, and another message around it.
        known = [re.compile(".*".join(map(re.escape, message.split("…")))) for message in messages
                 if len(re.findall("[A-Za-z]{2,}", message)) > 1]
        for command in self.COMMANDS:
            done = subprocess.run([PROGRAM, *command.split()], capture_output=True, encoding="utf-8",
                                  stdin=subprocess.DEVNULL)
            said = done.stderr.strip().removeprefix("slackline: ")
            with self.subTest(command=command, said=said):
                if done.returncode:
                    self.assertEqual(done.returncode, 2)
                    self.assertTrue(any(one.search(said) for one in known))


if __name__ == "__main__":
    SCRIPT = sys.argv.pop(1)
    INDEX = runpy.run_path(SCRIPT)
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        PROGRAM = sys.argv.pop(1)
    unittest.main()
