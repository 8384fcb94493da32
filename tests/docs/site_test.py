"""scripts/site builds a site without a warning, whose links all lead somewhere, and which asks the network
for nothing.

Called with the script and the build folder. Without Sphinx and what else the script needs, it is skipped.
"""

import html.parser
import pathlib
import runpy
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

import browser  # first: it may go on with another Python

SCRIPT = BUILD = None
SKIPPED = 3  # what the script ends with where a package is missing
# Elements and attributes of which a browser fetches what they name.
FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "object": "data"}


class Page(html.parser.HTMLParser):
    """Its anchors, where its links lead, and what a browser fetches with it."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.fetched = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.anchors |= {named[key] for key in ("id", "name") if named.get(key)}
        if tag == "a" and named.get("href"):
            self.links.append(named["href"])
        if named.get(FETCHED.get(tag)) and named.get("rel") not in ("index", "search", "next", "prev"):
            self.fetched.append(named[FETCHED[tag]])


def broken(root):
    """The links of all pages under a folder that lead nowhere, and what they fetch from elsewhere."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in root.rglob("*.html")}
    found = []
    for path, page in pages.items():
        place = path.relative_to(root).as_posix()
        for link in page.fetched:
            if urllib.parse.urlsplit(link).netloc:
                found.append(f"{place} fetches {link}")
        for link in page.links + page.fetched:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            anchor = urllib.parse.unquote(parts.fragment)
            if not target.is_file():
                found.append(f"{place}: {link} leads to nothing")
            elif anchor and target in pages and anchor not in pages[target].anchors:
                found.append(f"{place}: {link} has no such anchor")
    return found


class Links(unittest.TestCase):
    def test_what_is_broken_is_found(self):
        cases = {
            '<a href="b.html#x">': [], '<a href="#here"><p id="here">': [],
            '<a href="https://example.org/y#z">': [], '<img src="b.html">': [],
            '<a href="c.html">': ["a.html: c.html leads to nothing"],
            '<a href="b.html#y">': ["a.html: b.html#y has no such anchor"],
            '<a href="#y">': ["a.html: #y has no such anchor"],
            '<img src="c.png">': ["a.html: c.png leads to nothing"],
            '<script src="//example.org/a.js">': ["a.html fetches //example.org/a.js"],
        }
        for text, said in cases.items():
            with self.subTest(text=text), tempfile.TemporaryDirectory() as folder:
                root = pathlib.Path(folder).resolve()
                (root / "a.html").write_text(text)
                (root / "b.html").write_text('<p id="x">')
                self.assertEqual(broken(root), said)


class PagesOfFiles(unittest.TestCase):
    """Links to files that are no pages."""

    def setUp(self):
        self.site = runpy.run_path(SCRIPT)

    def test_they_lead_to_pages_of_them(self):
        text = "[`op`](../sched/{}) [page](trust.md#x) [web](https://a.b/c.h) `[a](../no.h)` [s]({})\n"
        self.assertEqual(self.site["with_pages_of_files"](
            "docs/a.md", text.format("op.h", "../engines/engines.cc"), ["docs/trust.md"], ["sched/op.h"]),
            (text.format("op.h", "../engines/engines.cc.md").replace("../sched", "../api/sched")
             .replace("op.h", "op.h.md"), {"engines/engines.cc"}))

    def test_what_is_no_file_is_refused(self):
        for target in ("../sched", "../sched/no.h"):
            with self.subTest(target=target), self.assertRaisesRegex(Exception, "docs/a.md: link to"):
                self.site["with_pages_of_files"]("docs/a.md", f"[a]({target})", [], [])


class Folders(unittest.TestCase):
    def test_what_is_no_site_is_not_overwritten(self):
        with tempfile.TemporaryDirectory() as folder:
            kept = pathlib.Path(folder) / "kept"
            kept.touch()
            done = subprocess.run([SCRIPT, "--build", BUILD, "--out", folder], capture_output=True,
                                  encoding="utf-8")
            self.assertNotEqual(done.returncode, 0)
            self.assertTrue(kept.exists())


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name).resolve() / "site"
        done = subprocess.run([SCRIPT, "--build", BUILD, "--out", cls.root], capture_output=True,
                              encoding="utf-8")
        if done.returncode == SKIPPED:
            raise unittest.SkipTest(done.stderr.strip())
        if done.returncode:
            raise AssertionError(done.stdout + done.stderr)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_no_link_is_broken_and_nothing_is_fetched(self):
        self.assertEqual(broken(self.root), [])

    def test_no_style_fetches_anything(self):
        for path in self.root.rglob("*.css"):
            with self.subTest(path=path):
                self.assertNotRegex(path.read_text(encoding="utf-8"),
                                    r"""(url\(\s*['"]?|@import\s+['"]?)(https?:)?/""")

    def test_each_public_header_has_its_page(self):
        headers = (pathlib.Path(BUILD) / "public_headers.txt").read_text(encoding="utf-8").split()
        self.assertIn("sched/verify.h", headers)
        for header in headers:
            self.assertTrue((self.root / f"api/{header}.html").is_file(), header)
        page = (self.root / "api/sched/verify.h.html").read_text(encoding="utf-8")
        for said in ("Proves or refutes", "VerifyOptions", "Stop after this many errors"):
            self.assertIn(said, page)

    @unittest.skipIf(browser.why_none(), f"a browser is needed: {browser.why_none()}")
    def test_no_line_of_text_ends_beyond_the_window(self):
        window = browser.Browser()
        try:
            for width in (1400, 1200, 1000, 700, 500):
                window.driver.set_window_size(width, 800)
                window.driver.get((self.root / "docs/concepts.html").as_uri())
                beyond = window.driver.execute_script(
                    "return Math.max(...[...document.querySelectorAll('article p')].map("
                    "  line => line.getBoundingClientRect().right)) - document.documentElement.clientWidth")
                self.assertLessEqual(beyond, 0, width)
        finally:
            window.close()

    @unittest.skipIf(browser.why_none(), f"a browser is needed: {browser.why_none()}")
    def test_it_opens_from_files_alone(self):
        window = browser.Browser()
        try:
            window.driver.get((self.root / "index.html").as_uri())
            self.assertIn("RDMA", window.text("h1 ~ p"))
            # The search needs its index, which is a script.
            window.driver.get((self.root / "search.html").as_uri() + "?q=deadlock")
            window.wait_for("return document.querySelector('#search-results li a') !== null")
            window.look()
        finally:
            window.close()
        self.assertEqual([url for url in window.requests
                          if not url.startswith(("data:", self.root.as_uri()))], [])


if __name__ == "__main__":
    SCRIPT, BUILD = sys.argv.pop(1), sys.argv.pop(1)
    ended = unittest.main(exit=False).result
    if not ended.wasSuccessful():
        sys.exit(1)
    # Without a site the test as a whole counts as skipped.
    sys.exit(77 if any("missing here" in why for _, why in ended.skipped) else 0)
