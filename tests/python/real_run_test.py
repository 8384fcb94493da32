"""Schedules carried out for real."""

import os
import unittest.mock

import numpy as np
import slackline
from package_case import CHAIN, PackageCase, main


def own_schedule(value=0):
    b = slackline.Schedule.builder(ranks=2, title="of one's own")
    here, there, way = b.buffer(0, "4KiB"), b.buffer(1, "4KiB"), b.channel(0, 1)
    b.send(way, here)
    b.recv(way, there)
    b.pre(here, value=0)
    b.post(there, value=value)
    return b.build()


class RealRuns(PackageCase):
    def test_a_pattern(self):
        for transport in ("shm", "tcp"):
            with self.subTest(transport=transport):
                run = slackline.compile(CHAIN).run(transport, iterations=3)
                self.assertTrue(run.bytes_proved)
                self.assertEqual(run.engine, "run:" + run.transport)
                self.assertEqual(len(run.makespans_s), 3)
                self.assertIn(run.makespan_s, run.makespans_s)
                self.assertEqual(run.done_s.max(), run.makespan_s)
                self.assertFalse(run.done_s.flags.writeable)
                self.assertEqual(run.rank_finish_s.tolist(), run.figures["rank_finish_s"])
                self.assertIn("run over " + run.transport, run.report())
                self.assertEqual(run.processor_wait_share.shape, (3,))
                known = run.processor_wait_share[~np.isnan(run.processor_wait_share)]
                self.assertTrue(((known >= 0) & (known <= 1)).all())
                self.assertRaises(slackline.Unsupported, run.slack)

    def test_a_schedule_of_ones_own_with_delays(self):
        s = own_schedule().prove()
        run = s.run("shm", delays=[slackline.Delay(op=0, by="20ms")])
        self.assertGreater(run.done_s[1], 20e-3)  # no sooner than the delay lets it
        run.write(self.folder / "trace")
        self.assertEqual(slackline.read_run(self.folder / "trace", s).makespan_s, run.makespan_s)

    def test_a_run_beside_a_simulation(self):
        s = slackline.compile(CHAIN)
        self.assertIn("run over shm", s.simulate().report(beside=s.run("shm")))

    def test_what_does_not_go(self):
        s = own_schedule()
        for kind, text, work in (
                (slackline.InputError, "transport", lambda: s.run("nonsense")),
                (slackline.InputError, "--nonsense", lambda: s.run(options=["--nonsense"])),
                (slackline.InputError, "broken", own_schedule(value=1).run),
                (slackline.InputError, "iterations", lambda: s.run(iterations=0))):
            self.assertRaisesRegex(kind, text, work)

    def test_without_the_program(self):
        with unittest.mock.patch.dict(os.environ, SLACKLINE_PROGRAM="/no/such/program"):
            self.assertRaises(slackline.EnvironmentError, own_schedule().run)
        self.assertTrue(os.access(slackline.program(), os.X_OK))


if __name__ == "__main__":
    main()
