"""Tables of pandas and graphs of NetworkX."""

import io
import sys
import unittest.mock

import slackline
from package_case import CHAIN, PIPELINE, PackageCase, main, needs


class Frames(PackageCase):
    @needs("pandas")
    def test_a_run_is_a_table(self):
        run = slackline.compile(PIPELINE).simulate()
        frame = run.to_pandas()
        self.assertEqual(len(frame), len(run.schedule))
        self.assertEqual(frame.done_s.max(), run.makespan_s)
        self.assertEqual(frame.groupby("rank").done_s.max().tolist(), run.rank_finish_s.tolist())
        self.assertEqual(frame.kind.tolist(), run.schedule.ops.kind.tolist())
        self.assertEqual(frame.bytes[frame.kind == "send"].sum(), 15 * 8 * 2**20)
        self.assertEqual(run.slack().to_pandas().total_float_s.min(), 0)

    @needs("pandas")
    def test_samples_are_a_table(self):
        noise = [slackline.Noise("exponential", mean="1us")]
        samples = slackline.compile(CHAIN).samples(count=4, delays=noise)
        frame = samples.to_pandas()
        self.assertEqual(frame.shape, (4, 4))
        self.assertEqual(frame.finish_s_2.tolist(), samples.rank_finish_s[:, 2].tolist())

    def test_a_package_that_is_missing_is_named_with_its_cure(self):
        run = slackline.compile(CHAIN).simulate()
        tables = (run, run.slack(), run.schedule, run.schedule.samples(count=1))
        calls = [("pandas", table.to_pandas) for table in tables]
        for package, call in [*calls, ("networkx", run.schedule.to_networkx)]:
            with unittest.mock.patch.dict(sys.modules, {package: None}):
                with self.assertRaises(slackline.EnvironmentError) as raised:
                    call()
            self.assertRegex(str(raised.exception),
                             rf"^{package} cannot be imported: .*\(Debian: python3-{package}\)$")

    @needs("networkx")
    def test_a_schedule_is_a_graph(self):
        import networkx

        s = slackline.compile(CHAIN)
        ours = s.to_networkx()
        theirs = networkx.read_graphml(io.BytesIO(s.export("graphml").encode()),
                                       force_multigraph=True)
        self.assertEqual(len(ours), len(theirs))
        named = [(f"n{a}", f"n{b}", kind) for a, b, kind in ours.edges(data="kind")]
        self.assertEqual(sorted(named), sorted(theirs.edges(data="kind")))
        for op, data in ours.nodes(data=True):
            there = theirs.nodes[f"n{op}"]
            for key in ("kind", "rank", "step", "lane", "channel", "bytes"):
                self.assertEqual(data[key], there[key])
        self.assertEqual(ours.graph["digest"], s.digest)


class Bars(PackageCase):
    @needs("tqdm")
    def test_a_bar_is_shown_if_it_is_wanted(self):
        import contextlib

        noise = [slackline.Noise("exponential", mean="1us")]
        for wanted in (True, False, None):  # None: only on a terminal
            shown = io.StringIO()
            with contextlib.redirect_stderr(shown):
                slackline.compile(CHAIN).samples(count=30, delays=noise, progress=wanted)
            self.assertEqual("30/30" in shown.getvalue(), wanted is True)

    @needs("tqdm")
    def test_what_a_bar_raises_arrives(self):
        from slackline import _native

        s = slackline.compile(CHAIN)

        def told(_):
            raise KeyError("given up")

        with self.assertRaises(KeyError):
            noise = slackline.DelayPlan([slackline.Noise("exponential", mean="1us")])
            _native.samples(s._native, slackline.Platform()._native, noise._native, "flow",
                            "in-order", 0, 100, 2, told)


if __name__ == "__main__":
    main()
