"""The pages of `slackline report` and --report, in a real browser, from a file."""

import json
import os
import re
import sys
import unittest

import browser  # first: it may go on with another Python
from program_case import ProgramCase, main

SPEC = "binomial-pipeline:ranks=8,bytes=8MiB,block=1MiB"
# 1,032,192 operations
LARGE = "binomial-pipeline:ranks=64,bytes=4GiB,block=1MiB"
TAKE = "document.title='taken'"
CHOICE = """slackline schedule 1
title "choice"
ranks 2
buffer 0 rank 0 bytes 65536
buffer 1 rank 1 bytes 65536
channel 0 from 0 to 1
pre 0[0+65536] value 0
rank 0
  0 put on 0 reads 0[0+65536] writes 1[0+65536]
  1 calc for 1us after done:0
region alt entry 0 count 1 p 500000
"""
HOSTILE = f'</script><img src=x onerror="{TAKE}"><script>{TAKE}</script>'
WHY_NONE = browser.why_none()


@unittest.skipIf(WHY_NONE, f"a browser is needed: {WHY_NONE}")
class Report(ProgramCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = browser.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def tearDown(self):
        """No page says that something is wrong, and none asks for anything but itself."""
        self.browser.look()
        complaints, requests = self.browser.complaints, self.browser.requests
        self.browser.complaints, self.browser.requests = [], []
        self.assertEqual(complaints, [])
        self.assertEqual([url for url in requests if not url.endswith("/page.html")], [])

    def open(self, name="page.html", **how):
        load_ms = self.browser.open(self.folder / name, **how)
        self.assertEqual(self.browser.root("ready"), "yes", self.browser.text())
        return load_ms

    def report(self, *arguments):
        self.good("report", *arguments, "-o", "page.html")
        return self.open()

    def run_js(self, script, *arguments):
        return self.browser.driver.execute_script(script, *arguments)

    def press(self, *keys):
        self.browser.driver.switch_to.active_element.send_keys(*keys)

    def find(self, text):
        """Finds by the search box, goes to the first; what the box says."""
        box = self.browser.driver.find_element("id", "search")
        box.clear()
        box.send_keys(text)
        said = self.browser.text("#found")
        box.send_keys("\ue007")  # Enter
        return said

    def ink(self):
        """How many pixels of the first timeline are of another colour than the corner."""
        return self.run_js("""
            const canvas = document.querySelector('.canvas canvas');
            const words = new Uint32Array(canvas.getContext('2d')
              .getImageData(0, 0, canvas.width, canvas.height).data.buffer);
            return words.reduce((count, word) => count + (word !== words[0]), 0);""")

    def test_a_run(self):
        document = self.document("simulate", SPEC, "--trace", "t")
        floats = self.document("slack", SPEC, "--trace", "t")
        self.report("t")
        self.assertIn(SPEC.replace(",block=1MiB", ""), self.browser.text("h1"))
        self.assertEqual(self.browser.driver.title, self.browser.text("h1"))
        self.assertIn("860.3 us", self.browser.text("header"))
        self.assertGreater(self.ink(), 20_000)
        # By its number, by kind and rank, and what is none.
        self.assertEqual(self.find("17"), "1 found")
        self.assertIn("17", self.browser.text("#chosen"))
        self.assertIn("Predecessors", self.browser.text("aside"))
        self.assertIn("total float", self.browser.text("aside"))
        sends = int(self.find("send rank=0").split()[0])
        self.assertGreater(sends, 7)
        self.assertIn("expected", self.find("sned"))
        # Times of a page are whole picoseconds.
        without = sum(round(float_s * 1e12) == 0 for float_s in floats["total_float_s"])
        self.assertGreater(without, 0)
        self.assertEqual(int(self.find("critical").split()[0]), without)
        self.assertAlmostEqual(document["makespan_s"], 0.0008602608, 9)

    def test_what_keys_and_pointer_do(self):
        self.good("simulate", SPEC, "--trace", "t")
        self.report("t")
        driver = self.browser.driver
        canvas = driver.find_element("css selector", ".canvas canvas")
        everything = self.ink()
        for keys in ("+", "+", "\ue014", "\ue012", "\ue015", "\ue013", "]", "[", "-"):  # and arrows
            self.browser.redrawn(lambda: canvas.send_keys(keys))
        self.assertNotEqual(self.ink(), everything)
        self.browser.redrawn(lambda: canvas.send_keys("0"))
        self.assertEqual(self.ink(), everything)
        wheel = """arguments[0].dispatchEvent(new WheelEvent('wheel', {deltaY: arguments[1],
            clientX: 500, clientY: 350, bubbles: true, cancelable: true}))"""
        self.browser.redrawn(lambda: self.run_js(wheel, canvas, -100))
        self.browser.redrawn(lambda: self.run_js(wheel, canvas, 100))
        chain = browser.webdriver.ActionChains(driver)
        self.browser.redrawn(chain.click_and_hold(canvas).move_by_offset(60, 0).release().perform)
        # Only what is there is chosen; Escape lets go of it.
        self.browser.redrawn(lambda: canvas.send_keys("0"))
        self.click_bar()
        self.assertRegex(self.browser.text("#chosen"), r"^(send|recv) \d+$")
        canvas.send_keys("\ue00c")
        self.assertEqual(driver.find_elements("id", "chosen"), [])
        canvas.send_keys("?")
        self.assertIn("Keys", self.browser.text("dialog"))
        self.press("\ue00c")
        for number, view in enumerate(("timeline", "path", "heat", "messages", "links"), 1):
            self.run_js("document.activeElement.blur()")
            driver.find_element("tag name", "body").send_keys(str(number))
            self.browser.wait_for_view(view)

    def click_bar(self):
        """Clicks on the middle of the widest stretch of one colour in the first row of NIC out."""
        x, y = self.run_js("""
            const canvas = document.querySelector('.canvas canvas');
            const box = canvas.getBoundingClientRect();
            const image = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            const words = new Uint32Array(image.data.buffer);
            for (let y = 30; y < canvas.height; ++y) {
              let run = 0;
              for (let x = 140; x < canvas.width; ++x) {
                run = words[y * canvas.width + x] === words[y * canvas.width + x - 1]
                  && words[y * canvas.width + x] !== words[y * canvas.width + canvas.width - 2]
                  ? run + 1 : 0;
                if (run > 25) return [x - 12, y + 2].map((at) => at * box.width / canvas.width);
              }
            }""")
        canvas = self.browser.driver.find_element("css selector", ".canvas canvas")
        size = canvas.size
        chain = browser.webdriver.ActionChains(self.browser.driver)
        chain.move_to_element_with_offset(canvas, x - size["width"] / 2, y - size["height"] / 2)
        chain.click().perform()

    def test_every_view_of_a_run(self):
        self.good("simulate", SPEC, "--trace", "t")
        self.report("t")
        self.browser.show("path")
        self.assertIn("860.3 us", self.browser.text())
        self.assertIn("on the wire", self.browser.text())
        self.browser.show("heat")
        self.assertIn("rank and step", self.browser.text())
        self.browser.show("messages")
        self.assertIn("56 MiB in all", self.browser.text())
        self.browser.show("links")
        self.assertIn("host-0.out", self.browser.text())
        drawn = self.browser.driver.find_element(
            "css selector", "canvas[aria-label='The network with the load of its links']")
        over = browser.webdriver.ActionChains(self.browser.driver)
        # The first row is of ways out, the last of ways in.
        for up, name in ((14 - drawn.size["height"] / 2, ".out: "),
                         (drawn.size["height"] / 2 - 20, ".in: ")):
            over.move_to_element_with_offset(drawn, 20, up).perform()
            tips = self.browser.driver.find_elements("css selector", ".tip")
            self.assertIn(name, " ".join(tip.text for tip in tips))
        self.assertEqual(self.browser.driver.find_elements("id", "tab-samples"), [])
        self.assertEqual(self.browser.driver.find_elements("id", "tab-compare"), [])
        # From a list to the timeline.
        self.browser.show("path")
        self.browser.driver.find_element("css selector", "tbody .link").click()
        self.browser.wait_for_view("timeline")
        self.assertTrue(self.browser.text("#chosen"))

    def test_dark_and_narrow(self):
        self.good("simulate", SPEC, "--trace", "t")
        self.report("t")
        colour = "return getComputedStyle(document.body).backgroundColor"
        light = self.run_js(colour)
        self.open(dark=True)
        self.assertNotEqual(self.run_js(colour), light)
        self.assertGreater(self.ink(), 20_000)
        self.browser.driver.set_window_size(480, 700)
        self.addCleanup(self.browser.driver.set_window_size, 1200, 800)
        self.browser.redrawn(lambda: self.press("+"))
        for view in ("path", "heat", "messages", "links", "timeline"):
            self.browser.show(view)

    def test_two_runs(self):
        self.good("simulate", SPEC, "--trace", "a")
        self.good("simulate", SPEC, "--delay", "rank=3,step=5,by=100us,of=lane", "--trace", "b")
        self.report("a", "b")
        canvases = self.browser.driver.find_elements("css selector", ".canvas canvas")
        self.assertEqual(len(canvases), 2)
        self.browser.show("compare")
        # The delay is where it begins.
        self.assertRegex(self.browser.text("#differing"),
                         r"The first of them is (send|recv) \d+ of rank 3: ready at one time")
        self.assertIn("delays none others\n", self.browser.text())
        self.report("b", "a")
        self.browser.show("compare")
        self.assertIn("delays yes none\n", self.browser.text())
        self.report("a", "a")
        self.browser.show("compare")
        self.assertEqual(self.browser.text("#differing"), "Nothing.")

    def test_a_makespan_of_nothing_has_no_share(self):
        self.good("simulate", "barrier:ranks=1", "--trace", "a")
        self.report("a", "a")
        self.browser.show("compare")
        self.assertIn("makespan 0 s 0 s 0 s\n", self.browser.text())

    def test_what_one_run_passed_over(self):
        self.write("choice.sched", CHOICE)
        for seed in range(9):
            self.good("simulate", "choice.sched", "-e", "event", "--seed", str(seed), "--trace", f"t{seed}")
        makespans = [float(self.document("simulate", "choice.sched", "-e", "event", "--seed", str(seed))["makespan_s"])
                     for seed in range(9)]
        passed_over, ran = (makespans.index(pick(makespans)) for pick in (min, max))
        self.report(f"t{passed_over}", f"t{ran}")
        self.browser.show("compare")
        self.assertRegex(self.browser.text("#differing"),
                         r"it was passed over at 0 s in the first run and issued at 200 ns in the second")
        self.assertIn("passed over 200 ns passed over 6.843 us", self.browser.text())

    def test_slopes_as_colours(self):
        racks = "two-level:racks=4,hosts=4,oversubscription=4,placement=round-robin"
        spec = "binomial-pipeline:ranks=16,bytes=4MiB,block=256KiB"
        slopes = self.document("slack", spec, "-p", racks, "--slopes", "--report", "page.html")
        self.open()
        self.assertIn("Total float", self.browser.text(".legend"))
        by_float = self.ink()
        self.browser.driver.find_element("id", "colours").send_keys("by slope")
        self.assertIn("makes the whole faster", self.browser.text(".legend"))
        # Where slopes are nothing bars are lower than by float, or the other way round.
        self.browser.wait_for("return document.querySelector('#colours').value === 'slope'")
        self.assertNotEqual(self.ink(), by_float)
        chosen = next(op for op, (slope, at_once) in
                      enumerate(zip(slopes["op_slope"], slopes["op_at_once_s"]))
                      if at_once == 0 and slope is not None and slope > 1.5)
        self.find(str(chosen))
        self.assertIn(f"slope\n{slopes['op_slope'][chosen]:.4g}", self.browser.text("aside"))

    def test_a_comparison(self):
        self.good("simulate", SPEC, "--trace", "a")
        self.good("simulate", SPEC, "--delay", "rank=3,step=5,by=100us,of=lane", "--trace", "b")
        self.good("compare", "a", "b", "--report", "page.html")
        self.good("report", "a", "b", "-o", "same.html")
        self.assertEqual((self.folder / "page.html").read_bytes(),
                         (self.folder / "same.html").read_bytes())

    def cells(self, column):
        """A column of the first table that can be sorted, below its head, as it is shown."""
        return self.run_js("""return [...document.querySelector('.sorted table').rows]
            .slice(1).map((row) => row.cells[arguments[0]].textContent)""", column)

    def sort_by(self, name):
        """Clicks on a column's head; which column it is."""
        heads = self.browser.driver.find_element(
            "css selector", ".sorted").find_elements("css selector", "th button")
        place = [head.text.rstrip(" ▲▼") for head in heads].index(name)
        heads[place].click()
        return place

    def test_advice(self):
        document = self.document("advise", "--ranks", "8", "--bytes", "1MiB", "-p",
                                 "two-level:racks=2,hosts=4,oversubscription=4", "--report",
                                 "page.html")
        self.open()
        self.browser.show("answer")
        self.assertIn(document["best_schedule"], self.browser.text())
        # The curves are of patterns; others can be chosen.
        for pattern in {row["pattern"] for row in document["candidates"] if row["block_bytes"]}:
            self.assertIn(pattern, self.browser.text(".legend"))
        choice = self.browser.driver.find_element("css selector", "select[aria-label='Drawn: by']")
        choice.send_keys("placement")
        self.assertIn("round-robin", self.browser.text(".legend"))
        ops = sorted(row["ops"] for row in document["candidates"])
        shown = [int(cell.replace("\u2009", "")) for cell in self.cells(self.sort_by("ops"))]
        self.assertEqual(shown, ops[:len(shown)])
        shown = [int(cell.replace("\u2009", "")) for cell in self.cells(self.sort_by("ops"))]
        self.assertEqual(shown, ops[:-len(shown) - 1:-1])
        # What no row has comes last, either way.
        self.assertIn(None, [row["confirmed_s"] for row in document["candidates"]])
        for _ in range(2):
            confirmed = self.cells(self.sort_by("confirmed"))
            self.assertNotIn("–", confirmed[:document["confirmed"]])
            self.assertEqual(set(confirmed[document["confirmed"]:]), {"–"})

    def test_a_reproduction(self):
        document = self.document("reproduce", "rdmc-fig4", "--quick", "--report", "page.html")
        self.open()
        text = self.browser.text()
        for fact in document["holds"]:
            self.assertIn(fact["fact"], text)
        drawn = self.browser.driver.find_elements("css selector", ".figure canvas")
        self.assertGreaterEqual(len(drawn), len(document["figures"]))
        self.assertIn("near-tautology", text)

    def test_samples(self):
        self.good("simulate", SPEC, "--noise", "exponential,mean=5us,chance=20%", "--samples",
                  "200", "--engine", "analytic", "--report", "page.html")
        self.open()
        self.browser.show("samples")
        self.assertIn("200 runs that differ in their noise", self.browser.text())
        self.assertIn("Cumulative distribution", self.browser.text())

    def test_the_median_of_two_samples_is_their_mean(self):
        self.good("simulate", SPEC, "--noise", "exponential,mean=5us", "--samples", "2",
                  "--engine", "analytic", "--report", "page.html")
        self.open()
        self.browser.show("samples")
        names, times = (
            [cell.text for cell in self.browser.driver.find_elements("css selector", f"main {cell}")]
            for cell in ("th", "td"))
        found = dict(zip(names, times))
        self.assertEqual(found["median"], found["mean"])
        self.assertNotEqual(found["median"], found["min"])

    def test_validation(self):
        self.good("validate", SPEC, "--on", "analytic", "--ops", "20", "--report", "page.html")
        self.open()
        self.browser.show("validation")
        self.assertIn("All are within their tolerance.", self.browser.text())

    def test_what_was_ready_and_never_issued(self):
        self.run_well("simulate", "sequential:ranks=3,bytes=2MiB,block=1MiB", "-p", "star:o_post=10us",
                      "--fail", "rank=0,at=20us", "--report", "page.html", code=1)
        self.open()
        self.find("1")
        self.assertIn("ready\n10 us\nissued\nnever", self.browser.text("aside"))

    def test_delayed_runs_that_never_end(self):
        # The delay lets the host fail while the run still goes on.
        self.run_well("validate", "chain:ranks=3,bytes=64KiB,block=32KiB", "--ops", "5", "--delay", "1ms",
                      "--fail", "rank=2,at=500us", "--report", "page.html", code=1)
        self.open()
        self.browser.show("validation")
        self.assertIn("5 of the runs never ended.", self.browser.text())
        self.assertRegex(self.browser.text(), r"recv 14 2 2 1 ms 1 ms never never beyond")

    def test_a_real_run(self):
        # As `run --trace` writes it: no platform, and who carried it out.
        self.good("simulate", SPEC, "--trace", "t")
        trace = json.loads(self.read("t"))
        trace.update(platform="", engine="run:shm")
        self.write("real", json.dumps(trace))
        self.report("real")
        self.assertIn("times that were seen", self.browser.text("header"))
        self.assertEqual(self.browser.driver.find_elements("id", "tab-path"), [])
        self.assertEqual(self.find("17"), "1 found")
        self.assertIn("total float", self.browser.text("aside"))
        self.browser.show("heat")
        self.browser.show("links")
        self.assertIn("rank-0.out", self.browser.text())
        self.report("t", "real")
        self.browser.show("path")
        for runs, platforms in ((("t", "real"), "as above none"), (("real", "t"), "none as above"),
                                (("real", "real"), "none none"), (("t", "t"), "as above the same")):
            self.report(*runs)
            self.browser.show("compare")
            self.assertIn(f"platform {platforms}\n", self.browser.text())

    def test_links_are_as_busy_as_simulate_says(self):
        """With what packets and line codes add, too."""
        seen = {}
        for more in ("", ",mtu=4KiB,packet_overhead=512B,coding=8/10"):
            arguments = ("simulate", SPEC, "-e", "flow", "-p",
                         "two-level:racks=2,hosts=4,oversubscription=2" + more)
            self.good(*arguments, "--report", "page.html")
            shares = {link["link"]: link["utilisation"]
                      for link in self.document(*arguments)["links"]}
            self.open()
            self.browser.show("links")
            for name, percent in self.loads_drawn(8, 2, 2, 8).items():
                self.assertAlmostEqual(percent / 100, shares[name], delta=1e-3, msg=name)
                seen.setdefault(name, []).append(shares[name])
        # Packets and code are seen in them: the ports are busier beside the same latencies.
        self.assertTrue(seen)
        for without, with_them in seen.values():
            self.assertNotEqual(without, with_them)

    def tip(self, drawn, x, y):
        """What a canvas says at a place, in pixels from its top left corner."""
        over = browser.webdriver.ActionChains(self.browser.driver)
        over.move_to_element_with_offset(
            drawn, x - drawn.size["width"] / 2, y - drawn.size["height"] / 2).perform()
        tips = self.browser.driver.find_elements("css selector", ".tip")
        return " ".join(each.text for each in tips).strip()  # all but one are hidden

    def loads_drawn(self, *links_of_rows):
        """Of the first link of each row of the network its load in %: {name: load}."""
        drawn = self.browser.driver.find_element(
            "css selector", "canvas[aria-label='The network with the load of its links']")
        loads = {}
        for row, links in enumerate(links_of_rows):
            x = 10 + (drawn.size["width"] - 20) / links / 2
            said = self.tip(drawn, x, 19 + 62 * row)
            name, percent = re.search(r"(\S+): .*, (\S+) % of", said).groups()
            loads[name] = float(percent)
        return loads

    def test_shares_are_of_the_rates_that_links_have_then(self):
        """One message, whose link goes at a tenth of its rate after 2 of 10 MB, and then again."""
        self.write("one.slackline", "\n".join((
            "slackline schedule 1", "ranks 2", "buffer 0 rank 0 bytes 10000000",
            "buffer 1 rank 1 bytes 10000000", "channel 0 from 0 to 1", "rank 0",
            "  0 put on 0 reads 0[0+10000000] writes 1[0+10000000]", "")))
        arguments = (
            "simulate", "one.slackline", "--no-proof", "-e", "flow", "-p",
            "two-level:racks=2,hosts=1,rate=80Gbps,latency=0", "--link-rate",
            "link=rack-0.up,rate=40Gbps", "--link-rate", "link=rack-0.up,rate=8Gbps,at=400us",
            "--link-rate", "link=rack-0.up,rate=80Gbps,at=4400us")
        document = self.document(*arguments)
        # 2 MB in 400 us, 4 MB in 4 ms, 4 MB in 400 us.
        self.assertAlmostEqual(document["makespan_s"], 4.8e-3, 12)
        self.good(*arguments, "--report", "page.html")
        self.open()
        self.browser.show("links")
        loads = self.loads_drawn(1, 1, 1, 1)
        self.assertEqual(len(loads), 4)
        for link in document["links"]:
            if link["link"] in loads:
                self.assertAlmostEqual(loads[link["link"]] / 100, link["utilisation"], delta=1e-3)
        grid = self.browser.driver.find_element(
            "css selector", "canvas[aria-label='Use of links over time']")
        of_host, of_rack = {}, {}
        for at in (0.04, 0.5, 0.96):  # of the run
            x = 74 + at * (grid.size["width"] - 104)
            for row, shares in ((0, of_host), (2, of_rack)):
                said = self.tip(grid, x, 40 + 26 * row + 13)
                shares[at] = re.fullmatch(r"(\S+): (\S+ % of \S+ \S+) from .*", said).groups()
        self.assertEqual(of_host, {0.04: ("host-0.out", "50 % of 80 Gb/s"),
                                   0.5: ("host-0.out", "10 % of 80 Gb/s"),
                                   0.96: ("host-0.out", "100 % of 80 Gb/s")})
        self.assertEqual(of_rack, {0.04: ("rack-0.up", "100 % of 40 Gb/s"),
                                   0.5: ("rack-0.up", "100 % of 8 Gb/s"),
                                   0.96: ("rack-0.up", "100 % of 80 Gb/s")})

    def test_links_carry_each_attempt_and_bundles_as_one(self):
        self.write("again.slackline", "\n".join((
            "slackline schedule 1", "ranks 2", "buffer 0 rank 0 bytes 8000",
            "buffer 1 rank 1 bytes 8000", "channel 0 from 0 to 1 bundle trad",
            "channel 1 from 1 to 0", "rank 0",
            "  0 put on 0 reads 0[0+100] writes 1[0+100]",
            "  1 put on 0 reads 0[100+100] writes 1[100+100]",
            "  2 flush on 0 after done:1", "rank 1",
            "  3 put on 1 reads 1[0+8000] writes 0[0+8000]",
            "region repeat entry 3 count 1 attempts 3", "")))
        arguments = (
            "simulate", "again.slackline", "--no-proof", "-e", "flow", "-p",
            "two-level:racks=2,hosts=1,mtu=1KiB,packet_overhead=500B")
        loads = {link["link"]: link["utilisation"] for link in self.document(*arguments)["links"]}
        self.good(*arguments, "--report", "page.html")
        self.open()
        self.browser.show("links")
        drawn = self.loads_drawn(2, 2, 2, 2)
        self.assertEqual(len(drawn), 4)
        for name, load in drawn.items():
            self.assertAlmostEqual(load / 100, loads[name], delta=1e-3, msg=name)

    def test_a_run_that_never_ends(self):
        document = json.loads(self.run_well("simulate", SPEC, "--fail", "rank=3,at=200us", "--report",
                                            "page.html", "--json", code=1))
        self.open()
        self.assertIn("The run never ended", self.browser.text("header"))
        self.assertIn("No slack is known", self.browser.text())
        self.assertEqual(self.browser.driver.find_elements("id", "tab-path"), [])
        self.browser.show("messages")
        # Messages that never began are no bytes from rank to rank.
        total = sum(document["nic_out_bytes"])
        self.assertGreater(document["expected_bytes"], total)
        self.assertIn(f"{total / 2 ** 20:.4g} MiB in all", self.browser.text())
        self.browser.show("links")

    def test_a_lost_message_is_not_drawn_as_if_it_took_no_time(self):
        """Of two messages to a host that fails the second; two other hosts go on for 1 ms."""
        self.write("lost.slackline", "\n".join((
            "slackline schedule 1", "ranks 4", *(f"buffer {rank} rank {rank} bytes 10000000"
                                                for rank in range(4)),
            "channel 0 from 0 to 1", "channel 1 from 2 to 3", "rank 0",
            "  0 put on 0 reads 0[0+1010000] writes 1[0+1010000]",
            "  1 put on 0 reads 0[0+9000000] writes 1[0+9000000]", "rank 2",
            "  2 put on 1 reads 2[0+10000000] writes 3[0+10000000]", "")))
        self.run_well("simulate", "lost.slackline", "--no-proof", "-e", "event", "-p",
                      "star:rate=80Gbps,latency=0", "--fail", "rank=1,at=500us", "--report", "page.html",
                      code=1)
        self.open()
        self.browser.show("links")
        grid = self.browser.driver.find_element(
            "css selector", "canvas[aria-label='Use of links over time']")
        # The second begins at 101 us, in the 25th of 240 parts of 1 ms, of which the first has 24 %.
        said = self.tip(grid, 74 + 24.5 / 240 * (grid.size["width"] - 104), 40 + 13)
        self.assertRegex(said, r"^host-0.out: 24 % of 80 Gb/s from 100 us on; 9.\d+ MiB")

    def test_names_of_anybodys_stay_text(self):
        self.good("simulate", SPEC, "--trace", "t")
        trace = json.loads(self.read("t"))
        trace["engine"] = HOSTILE
        name = HOSTILE.replace("/", "\u2215")  # a file's name has no slash
        self.write(name, json.dumps(trace))
        self.report(name)
        self.assertEqual(self.browser.driver.find_elements("tag name", "img"), [])
        self.assertNotEqual(self.browser.driver.title, "taken")
        self.assertIn(HOSTILE, self.browser.text("header"))
        self.assertIn(name, self.browser.text("header"))

    def test_a_million_operations(self):
        self.good("simulate", LARGE, "--engine", "analytic", "--report", "page.html")
        size = os.path.getsize(self.folder / "page.html")
        load_ms = self.open()
        canvas = self.browser.driver.find_element("css selector", ".canvas canvas")
        redraws = [self.browser.redrawn(lambda key=key: canvas.send_keys(key)) for key in "+]-0"]
        median = sorted(redraws)[len(redraws) // 2]
        print(f"1,032,192 operations: {size / 1e6:.1f} MB, ready after {load_ms:.0f} ms, redrawn "
              f"in {median:.0f} ms (at most {max(redraws):.0f})", file=sys.stderr)
        self.assertEqual(self.find("500000"), "1 found")
        self.assertIn("500000", self.browser.text("#chosen"))
        for view in ("path", "heat", "messages", "links"):
            self.browser.show(view)


if __name__ == "__main__":
    if WHY_NONE:
        print(f"skipped: {WHY_NONE}; scripts/install-packages tests installs it", file=sys.stderr)
    main()
