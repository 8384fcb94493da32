"""A real browser for the tests of report pages: headless Chromium by chromedriver.

Debian's packages chromium, chromium-driver and python3-selenium. Without them tests are skipped.
"""

import json
import os
import shutil
import sys
import time

DEBIAN_PYTHON = "/usr/bin/python3"  # which has python3-selenium, where another is first in PATH

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
except ImportError:
    webdriver = None
    if os.path.realpath(sys.executable) != os.path.realpath(DEBIAN_PYTHON) and \
            os.path.isdir("/usr/lib/python3/dist-packages/selenium"):
        os.execv(DEBIAN_PYTHON, [DEBIAN_PYTHON, *sys.argv])

# For what takes a second on a quiet machine: only that it ends is asked for.
PATIENCE_S = 120


def why_none():
    """What a browser lacks here; nothing if there is one."""
    if webdriver is None:
        return "no python3-selenium"
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            return f"no {program}"
    return None


class Browser:
    """One window. What a page says on its console and asks the network for is noted."""

    def __init__(self, width=1200, height=800):
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                         "--disable-dev-shm-usage", "--disable-background-networking",
                         f"--window-size={width},{height}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        service = Service(shutil.which("chromedriver"))
        self.driver = webdriver.Chrome(service=service, options=options)
        self.requests = []
        self.complaints = []

    def close(self):
        self.driver.quit()

    def open(self, path, dark=False):
        """Opens a file, waits until its page is ready; how long that took, by its clock in ms."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        self.driver.get(path.as_uri())
        self.wait_for("return document.documentElement.dataset.ready")
        return float(self.root("loadMs") or -1)

    def wait_for(self, script, *arguments):
        """What the script answers once that is something."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            if answer := self.driver.execute_script(script, *arguments):
                return answer
            time.sleep(0.02)
        raise AssertionError(f"nothing within {PATIENCE_S} s: {script}")

    def root(self, name):
        """A word of what the page says of itself: ready, view, loadMs, redrawMs."""
        script = "return document.documentElement.dataset[arguments[0]]"
        return self.driver.execute_script(script, name)

    def show(self, view):
        """Goes to a view by its tab and waits until it is there."""
        self.driver.find_element("id", f"tab-{view}").click()
        self.wait_for_view(view)

    def wait_for_view(self, view):
        """Waits until a view is there."""
        self.wait_for("return document.documentElement.dataset.view === arguments[0]", view)

    def text(self, selector="main"):
        return self.driver.find_element("css selector", selector).text

    def redrawn(self, act):
        """Does something after which a timeline draws itself; how long that took, in ms."""
        self.driver.execute_script("delete document.documentElement.dataset.redrawMs")
        act()
        return float(self.wait_for("return document.documentElement.dataset.redrawMs"))

    def look(self):
        """Takes in what the page has said and asked for since the last time."""
        for entry in self.driver.get_log("browser"):
            if entry["level"] == "SEVERE":  # errors, and what the page's policy forbids
                self.complaints.append(entry["message"])
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
