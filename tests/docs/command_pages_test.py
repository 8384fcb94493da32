"""Each command has a page in docs/commands, which the user guide's index names, and each of its
options is named there or on a page that it links to: by its long name or its short one.

Called with the program and the root of the repository.
"""

import pathlib
import re
import subprocess
import sys
import unittest

PROGRAM = ROOT = None
# What every command has, and what no user gives: ranks on other hosts are started with --agent.
COMMON = {"--help", "--json", "--agent"}


def help_of(*command):
    return subprocess.run([PROGRAM, *command, "--help"], capture_output=True, text=True,
                          check=True).stdout


def commands():
    return re.findall(r"^  ([a-z]+)  ", help_of(), re.M)


def page_of(command):
    return ROOT / "docs/commands" / f"{command}.md"


class CommandPages(unittest.TestCase):
    def test_there_are_commands(self):
        self.assertIn("simulate", commands())

    def test_each_command_has_its_page(self):
        index = (ROOT / "docs/user-guide.md").read_text(encoding="utf-8")
        for command in commands():
            with self.subTest(command=command):
                self.assertTrue(page_of(command).is_file())
                self.assertIn(f"[`{command}`](commands/{command}.md)", index)

    def test_no_page_is_of_a_command_that_is_not_there(self):
        self.assertEqual({page.stem for page in (ROOT / "docs/commands").glob("*.md")},
                         set(commands()))

    def test_each_option_is_named_on_the_page_or_where_it_leads(self):
        for command in commands():
            page = page_of(command)
            text = page.read_text(encoding="utf-8")
            for link in set(re.findall(r"\]\(([\w./-]+\.md)", text)):
                text += (page.parent / link).read_text(encoding="utf-8")
            options = re.findall(r"^  (?:(-[a-z]),)?(--[a-z][a-z-]+)", help_of(command), re.M)
            named = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text)) | COMMON
            self.assertIn(("-h", "--help"), options)
            with self.subTest(command=command):
                self.assertEqual([names for names in options if not named & set(names)], [])


if __name__ == "__main__":
    PROGRAM, ROOT = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
    unittest.main()
