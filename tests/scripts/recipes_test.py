"""The recipes for Spack and Guix, which nobody has tried: their form is right, and they name the version
and each library that configuring looks for.

Called with the root of the repository.
"""

import ast
import pathlib
import re
import sys
import unittest

ROOT = None

# What configuring looks for, as Spack and Guix call it; nothing for what the compiler brings.
NAMES = {
    "Boost": ("boost", "boost"), "CLI11": ("cli11", "cli11"), "Eigen3": ("eigen", "eigen"),
    "PkgConfig": ("pkgconfig", "pkg-config"), "Python3": ("python", "python"),
    "SQLite3": ("sqlite", "sqlite"), "Threads": None, "ZLIB": ("zlib-api", "zlib"), "fmt": ("fmt", "fmt"),
    "libfabric": ("libfabric", "libfabric"), "libibverbs": ("rdma-core", "rdma-core"),
    "libsodium": ("libsodium", "libsodium"), "nlohmann_json": ("nlohmann-json", "nlohmann-json"),
    "pybind11": ("py-pybind11", "pybind11"), "simgrid": ("simgrid", "simgrid"),
    "tomlplusplus": ("tomlplusplus", "tomlplusplus"),
    "XXHASH_INCLUDE_DIR": ("xxhash", "xxhash"), "PROTOZERO_INCLUDE_DIR": ("protozero", "protozero"),
}
# Headers that are found where all headers are.
BESIDE = {("asio", "asio"), ("py-numpy", "python-numpy")}
LOOKED_FOR = re.compile(r"^\s*(?:find_package|pkg_check_modules|find_path)\((\w+)", re.M)


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def looked_for():
    """By what a build without tests, benchmarks and packages of Debian's is made of."""
    files = [*(ROOT / "cmake").glob("Slackline*.cmake"),
             *(ROOT / folder / "CMakeLists.txt" for folder in ("report", "sweep", "cli", "python"))]
    return {name for path in files for name in LOOKED_FOR.findall(path.read_text(encoding="utf-8"))
            if path.name != "SlacklinePackages.cmake"}


def spack_calls(path):
    """The first argument of each call in a recipe's class, by the function's name."""
    calls = {}
    for node in ast.walk(ast.parse(read(path), path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            calls.setdefault(node.func.id, []).append(ast.literal_eval(node.args[0])
                                                      if isinstance(node.args[0], ast.Constant) else None)
    return calls


def guix_strings(text):
    """Its strings; its brackets must be closed."""
    bare = re.sub(r'"(?:\\.|[^"\\])*"|;[^\n]*', '""', text)
    depth = 0
    for bracket in re.findall(r"[()]", bare):
        depth += 1 if bracket == "(" else -1
        if depth < 0:
            raise ValueError("a bracket is closed that was not opened")
    if depth:
        raise ValueError(f"{depth} brackets are not closed")
    return set(re.findall(r'"((?:\\.|[^"\\])*)"', re.sub(r"^\s*;[^\n]*", "", text, flags=re.M)))


class Recipes(unittest.TestCase):
    def setUp(self):
        self.spack = spack_calls("packaging/spack/packages/slackline/package.py")
        self.guix = guix_strings(read("packaging/guix/slackline.scm"))
        self.version = re.search(r"project\(slackline VERSION (\S+)", read("CMakeLists.txt"))[1]

    def test_their_version(self):
        self.assertEqual(self.spack["version"], [self.version])
        self.assertIn(self.version, self.guix)
        self.assertIn(f"slackline@{self.version}", read("docs/packages.md"))

    def test_each_library_is_named(self):
        self.assertEqual(looked_for(), set(NAMES))
        named = {re.split("[@: +]", one)[0] for one in self.spack["depends_on"]}
        for spack, guix in [*filter(None, NAMES.values()), *BESIDE]:
            self.assertIn(spack, named)
            self.assertIn(guix, self.guix)

    def test_their_options_are_options(self):
        options = set(re.findall(r"SLACKLINE_[A-Z_]+", "".join(
            path.read_text(encoding="utf-8")
            for path in [ROOT / "CMakeLists.txt", *(ROOT / "cmake").glob("*.cmake")])))
        recipes = read("packaging/spack/packages/slackline/package.py") + \
            read("packaging/guix/slackline.scm")
        found = set(re.findall(r"SLACKLINE_[A-Z_]+", recipes))
        self.assertGreater(len(found), 2)
        self.assertLessEqual(found, options)

    def test_all_of_them_are_python(self):
        for path in (ROOT / "packaging/spack").rglob("*.py"):
            self.assertIn("depends_on", spack_calls(path.relative_to(ROOT)))

    def test_they_say_that_nobody_has_tried_them(self):
        for path in [*(ROOT / "packaging").rglob("*.py"), *(ROOT / "packaging").rglob("*.scm")]:
            self.assertIn("Nobody has tried", path.read_text(encoding="utf-8"))

    def test_open_brackets_are_found(self):
        for text in ("(a", "a)", ")("):
            with self.assertRaises(ValueError):
                guix_strings(text)
        self.assertEqual(guix_strings('(a "b(" ; c(\n)'), {"b("})


if __name__ == "__main__":
    ROOT = pathlib.Path(sys.argv.pop(1))
    unittest.main()
