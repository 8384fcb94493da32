"""What is written of the package is true: its docstrings, its stubs, its page and its examples."""

import ast
import doctest
import importlib
import inspect
import json
import os
import pathlib
import pkgutil
import re
import subprocess
import sys

import slackline
from package_case import SOURCE, PackageCase, main, needs, program
from slackline import _native

MODULES = [slackline] + [importlib.import_module(f"slackline.{module.name}")
                         for module in pkgutil.iter_modules(slackline.__path__)]


class Version(PackageCase):
    def test_it_is_the_programs(self):
        self.assertEqual(program("--version").split()[1].decode(), slackline.__version__)


class Docstrings(PackageCase):
    def test_their_examples(self):
        tried = 0
        for module in MODULES:
            if module is _native:
                continue
            failed, count = doctest.testmod(module)
            self.assertEqual(failed, 0, module.__name__)
            tried += count
        self.assertGreater(tried, 30)

    def test_whatever_is_public_has_one(self):
        for name in dir(slackline):
            thing = getattr(slackline, name)
            if name.startswith("_") or not (inspect.isclass(thing) or inspect.isfunction(thing)):
                continue
            self.assertTrue(thing.__doc__, name)
            for member, value in vars(thing).items() if inspect.isclass(thing) else ():
                if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                    self.assertTrue(inspect.getdoc(value), f"{name}.{member}")


class Stubs(PackageCase):
    def test_the_stub_names_what_the_module_has(self):
        stub = SOURCE / "python/slackline/_native.pyi"
        tree = ast.parse(stub.read_text(encoding="utf-8"))
        named, members = set(), {}
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                members[node.name] = {entry.name if isinstance(entry, ast.FunctionDef)
                                      else entry.target.id for entry in node.body
                                      if isinstance(entry, (ast.FunctionDef, ast.AnnAssign))}
                named.add(node.name)
            elif isinstance(node, ast.FunctionDef):
                named.add(node.name)
            elif isinstance(node, ast.AnnAssign):
                named.add(node.target.id)
        self.assertEqual({n for n in vars(_native) if not n.startswith("__")}, named)
        for name, stubbed in members.items():
            found = {n for n in vars(getattr(_native, name)) if not n.startswith("_")}
            self.assertEqual(found, {n for n in stubbed if not n.startswith("_")}, name)

    def test_the_package_says_that_it_is_typed(self):
        self.assertTrue((pathlib.Path(slackline.__file__).parent / "py.typed").exists())


class Pages(PackageCase):
    def run_here(self, script):
        done = subprocess.run([sys.executable, str(script)], cwd=self.folder, text=True,
                              capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def check_page(self, name, least):
        """The blocks of Python run one after the other, and print what a block of text that follows
        at once shows. What stands there as a file is one."""
        page = (SOURCE / "docs" / name).read_text(encoding="utf-8")
        blocks = re.findall(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", page, re.M | re.S)
        script, expected = [], []
        for (language, file, text), following in zip(blocks, [*blocks[1:], ("", "", "")]):
            if file:
                (self.folder / file).write_text(text, encoding="utf-8")
            elif language == "python":
                script.append(text)
                if following[0] == "text":
                    expected.append(following[2])
        (self.folder / "page.py").write_text("\n".join(script), encoding="utf-8")
        self.assertGreaterEqual(len(script), least)
        self.assertEqual(self.run_here(self.folder / "page.py"), "".join(expected))

    def test_the_page(self):
        self.check_page("python.md", 6)

    def test_the_tutorial(self):
        self.check_page("tutorial.md", 1)

    def test_the_examples(self):
        scripts = sorted((SOURCE / "examples/python").glob("*.py"))
        self.assertTrue(scripts)
        for script in scripts:
            with self.subTest(script=script.name):
                self.assertIn("proved", self.run_here(script))

    @needs("nbconvert")
    @needs("ipykernel")
    @needs("pandas")
    def test_the_notebook(self):
        notebook = SOURCE / "examples/python/slack.ipynb"
        subprocess.run([sys.executable, "-Xfrozen_modules=off", "-m", "nbconvert", "--to",
                        "notebook", "--execute", "--stdout",
                        "--ExecutePreprocessor.startup_timeout=240", str(notebook)],
                       cwd=self.folder, check=True, capture_output=True,
                       env=dict(os.environ, HOME=str(self.folder)))
        self.assertEqual([cell["outputs"] for cell in json.loads(notebook.read_text())["cells"]
                          if cell["cell_type"] == "code" and cell["outputs"]], [])


if __name__ == "__main__":
    main()
