"""What the package says is what the program says, to the last bit."""

import numpy as np

import slackline
from package_case import CHAIN, PIPELINE, PackageCase, main, program, program_json

# A spec of each kind of pattern: multicast, collective, call, structure.
SPECS = (PIPELINE, CHAIN, "allreduce:ranks=4,bytes=1MiB", "hash-table:ranks=3",
         "binomial-pipeline:ranks=8,bytes=4MiB,lower=put,ready=write,order=lockstep")
PLATFORMS = ("fractus", "fat-tree:arity=8,rate=100Gbps", "star:nic=fair,rate=40Gbps,latency=2us")


class Values(PackageCase):
    def test_digests_and_sizes(self):
        for spec in SPECS:
            with self.subTest(spec=spec):
                said = program_json("compile", spec, "-o", str(self.folder / "s"))
                s = slackline.compile(spec)
                self.assertEqual(s.digest, said["digest"])
                self.assertEqual(len(s), said["ops"])
                self.assertEqual(s.rank_count, said["ranks"])

    def test_makespans_of_every_engine(self):
        for platform in PLATFORMS:
            for engine in slackline.engines():
                with self.subTest(platform=platform, engine=engine):
                    said = program_json("simulate", PIPELINE, "-p", platform, "-e", engine)
                    r = slackline.compile(PIPELINE).simulate(platform, engine=engine)
                    self.assertEqual(r.makespan_s, said["makespan_s"])
                    self.assertEqual(r.rank_finish_s.tolist(), said["rank_finish_s"])
                    if said["answered_by"] != "stream":  # which makes no schedule
                        self.assertEqual(r.engine, said["answered_by"])
                    self.assertEqual(r.contended, said["contended"])

    def test_figures_are_all_that_a_platform_is(self):
        of_completions = ("star:o_post_recv=1us,o_signal=50ns,o_poll=70ns,o_match=20ns,o_block=30ns,o_callback=2us,"
                          "poll_batch=4,poll_for=50ms,mtu=4KiB,packet_overhead=58")
        for text in (*PLATFORMS, *slackline.platforms(), of_completions):
            platform = slackline.Platform(text)
            again = slackline.Platform(platform.topology, **platform.figures)
            self.assertEqual(again, platform)
        self.assertEqual(platform.figures["poll_batch"], "4")
        self.assertNotIn("o_poll", slackline.Platform("fractus").figures)

    def test_a_trace_is_the_same_file(self):
        program("simulate", PIPELINE, "-e", "flow", "--trace", "theirs", cwd=self.folder)
        r = slackline.compile(PIPELINE).simulate()
        r.write(self.folder / "ours")
        ours, theirs = (self.folder / "ours").read_bytes(), (self.folder / "theirs").read_bytes()
        self.assertEqual(ours, theirs)
        again = slackline.read_run(self.folder / "ours")
        self.assertEqual(again.schedule, r.schedule)
        for column in ("ready_s", "issued_s", "wire_s", "done_s", "attempts", "cause"):
            self.assertTrue((getattr(again, column) == getattr(r, column)).all(), column)

    def test_delays(self):
        delays = [slackline.Delay(op=17, by="100us"), slackline.Delay(op=3, by=2e-6, lane=True),
                  slackline.StepDelay(rank=2, step=1, by="5us"),
                  slackline.SlowPair(src=0, dst=1, rate="20Gbps"),
                  slackline.Straggler(rank=3, slowdown=1.5, by="1us"),
                  slackline.Noise("exponential", mean="1us", chance=0.25, ranks=[1, 2])]
        said = program_json(
            "simulate", PIPELINE, "-e", "flow", "--seed", "7", "--delay", "op=17,by=100us",
            "--delay", "op=3,by=2us,of=lane", "--delay", "rank=2,step=1,by=5us", "--slow-pair",
            "src=0,dst=1,rate=20Gbps", "--straggler", "rank=3,slowdown=1.5,by=1us", "--noise",
            "exponential,mean=1us,chance=0.25,rank=1")
        s = slackline.compile(PIPELINE)
        # The program takes one rank of a noise, a plan's file any.
        plan = slackline.DelayPlan(delays[:-1] + [
            slackline.Noise("exponential", mean="1us", chance=0.25, ranks=[1])], seed=7)
        self.assertEqual(s.simulate(delays=plan).makespan_s, said["makespan_s"])
        self.assertEqual(s.simulate(delays=delays, seed=7).seed, 7)
        self.assertEqual(slackline.DelayPlan.parse(plan.text), plan)

    def test_failures_and_links(self):
        s = slackline.compile(PIPELINE)
        said = program_json("simulate", PIPELINE, "-p", "two-level:racks=4,hosts=4", "-e",
                            "flow", "--link-rate", "link=rack-0.up,rate=20Gbps,at=100us")
        slow = slackline.LinkRate("rack-0.up", "20Gbps", at="100us")
        r = s.simulate("two-level:racks=4,hosts=4", delays=[slow])
        self.assertEqual(r.makespan_s, said["makespan_s"])
        lost = s.simulate(delays=[slackline.Failure(rank=3, at="100us")])
        self.assertFalse(lost.complete)
        self.assertEqual(lost.makespan_s, np.inf)

    def test_policies(self):
        for policy in ("ready", "least-slack"):
            said = program_json("simulate", PIPELINE, "-e", "flow", "--policy", policy,
                                "--sends-in-flight", "2")
            r = slackline.compile(PIPELINE).simulate(policy=policy, sends_in_flight=2)
            self.assertEqual(r.makespan_s, said["makespan_s"])
            self.assertEqual(len(r.slack().total_float_s), len(r.schedule))

    def test_samples(self):
        for engine in ("flow", "simgrid"):
            if engine not in slackline.engines():
                continue
            said = program_json("simulate", CHAIN, "-e", engine, "--samples", "20", "--seed", "5",
                                "--noise", "exponential,mean=3us")
            noise = [slackline.Noise("exponential", mean="3us")]
            samples = slackline.compile(CHAIN).samples(count=20, delays=noise, seed=5,
                                                       engine=engine)
            self.assertEqual(len(samples), 20)
            self.assertEqual(samples.makespan_s.tolist(), said["makespan_samples_s"])
            self.assertEqual(samples.rank_finish_s.shape, (20, 3))
            alone = slackline.compile(CHAIN).simulate(delays=noise, seed=5 + 7, engine=engine)
            self.assertEqual(alone.makespan_s, samples.makespan_s[7])
            self.assertEqual(alone.rank_finish_s.tolist(), samples.rank_finish_s[7].tolist())

    def test_slack(self):
        said = program_json("slack", PIPELINE, "-e", "flow")
        slack = slackline.compile(PIPELINE).simulate().slack()
        self.assertEqual(slack.total_float_s.tolist(), said["total_float_s"])
        self.assertEqual(slack.free_float_s.tolist(), said["free_float_s"])
        self.assertEqual(slack.critical_path.tolist(), said["critical_path"])
        self.assertIsNone(slack.no_promise)
        shared = slackline.compile(PIPELINE).simulate(
            "two-level:racks=4,hosts=4,oversubscription=4").slack()
        self.assertIn("may share links", shared.no_promise)

    def test_slopes_and_prices(self):
        platform = "two-level:racks=2,hosts=2,oversubscription=2"
        said = program_json("slack", CHAIN, "-p", platform, "--slopes")
        r = slackline.compile(CHAIN).simulate(platform)
        slopes = r.slopes()
        self.assertEqual(slopes.slope.tolist(), said["op_slope"])
        self.assertEqual(slopes.at_once_s.tolist(), said["op_at_once_s"])
        self.assertEqual(slopes.up_to_s.tolist(), said["op_slope_up_to_s"])
        for op, price_s in zip((1, 4), r.prices_s("10us", ops=(1, 4))):
            found = r.schedule.simulate(platform, delays=[slackline.Delay(op, "10us", lane=False)])
            self.assertAlmostEqual(price_s, found.makespan_s - r.makespan_s, delta=1e-7)

    def test_exports(self):
        with self.assertRaises(slackline.Unsupported):  # a file of each rank
            slackline.compile(CHAIN).export("chakra")
        for form in set(slackline.formats()) - {"chakra"}:
            with self.subTest(form=form):
                theirs = program("export", CHAIN, "--to", form)
                ours = slackline.compile(CHAIN).export(form)
                self.assertEqual(ours.encode("utf-8", "surrogateescape"), theirs)

    def test_files(self):
        s = slackline.compile(CHAIN)
        for name in ("chain.sched", "chain.json"):
            s.write(self.folder / name)
            self.assertEqual(slackline.read(self.folder / name), s)
            said = program_json("check", str(self.folder / name))
            self.assertEqual(said["digest"], s.digest)

    def test_a_report_is_a_page(self):
        r = slackline.compile(CHAIN).simulate()
        html = r.report(self.folder / "r.html")
        self.assertEqual((self.folder / "r.html").read_text(), html)
        program("simulate", CHAIN, "-e", "flow", "--report", "theirs.html", cwd=self.folder)
        self.assertEqual((self.folder / "theirs.html").read_text(), html)
        noise = [slackline.Noise("exponential", mean="3us")]
        samples = r.schedule.samples(count=5, delays=noise)
        self.assertGreater(len(r.report(beside=r, samples=samples)), len(html))

    def test_a_run_is_drawn_as_the_program_draws_it(self):
        rails = "star:rate=10Gbps,rails=2,rail=channel"
        for platform in ("fractus", rails):
            r = slackline.compile(CHAIN).simulate(platform, engine="flow")
            r.write(self.folder / "ours.trace")
            for form in ("svg", "csv", "perfetto"):
                program("convert", "ours.trace", "--to", form, "-o", "theirs", cwd=self.folder)
                theirs = (self.folder / "theirs").read_bytes()
                self.assertEqual(r.export(form).encode("utf-8", "surrogateescape"), theirs, form)
        self.assertEqual(r._repr_svg_(), r.export("svg"))
        with self.assertRaisesRegex(slackline.InputError, "^unknown format 'svgg': did you mean 'svg'"):
            r.export("svgg")
        large = slackline.compile("chain:ranks=64,bytes=64MiB").simulate(engine="analytic")
        self.assertIsNone(large._repr_svg_())
        self.assertEqual(repr(r.schedule.ops), f"<Ops: {len(r.schedule)} operations>")
        self.assertRegex(repr(r.slack()), r"^<Slack: \d+ of \d+ operations have no float>$")

    def test_lists(self):
        for topic in ("patterns", "platforms", "engines"):
            said = program_json("list", topic)[topic]
            self.assertEqual(list(getattr(slackline, topic)()), [entry["name"] for entry in said])
        said = program_json("list", "options", "chain")["options"]
        self.assertEqual(list(slackline.pattern_options("chain")),
                         [entry["name"] for entry in said])


if __name__ == "__main__":
    main()
