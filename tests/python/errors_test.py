"""Each error is the exception of its kind, with one line that says what was expected."""

import subprocess
import sys

import slackline
from package_case import CHAIN, PackageCase, main


class Errors(PackageCase):
    def test_kinds(self):
        for kind in (slackline.InputError, slackline.Unsupported, slackline.EnvironmentError,
                     slackline.InternalError, slackline.RunFailed):
            self.assertTrue(issubclass(kind, slackline.Error))
        self.assertTrue(issubclass(slackline.InputError, ValueError))
        self.assertEqual(slackline.InputError.exit_code, 2)
        self.assertEqual(slackline.EnvironmentError.exit_code, 3)

    def test_pythons_own_name_is_not_hidden(self):
        script = ("import builtins; from slackline import *; InputError, Schedule\n"
                  "assert EnvironmentError is OSError and compile is builtins.compile")
        subprocess.run([sys.executable, "-c", script], check=True)

    def refused(self, kind, text, work):
        with self.assertRaises(kind) as caught:
            work()
        self.assertIs(type(caught.exception), kind)
        self.assertRegex(str(caught.exception), text)
        self.assertNotIn("\n", str(caught.exception))

    def test_bad_input(self):
        s = slackline.compile(CHAIN)
        run = s.simulate()
        chosen = slackline.Noise
        for text, work in (
                ("unknown pattern", lambda: slackline.compile("nonsense:ranks=3")),
                ("ranks", lambda: slackline.compile("chain:ranks=0,bytes=1")),
                ("no such preset", lambda: s.simulate("nonsense")),
                ("engine: 'nonsense'", lambda: s.simulate(engine="nonsense")),
                ("policy 'nonsense'", lambda: s.simulate(policy="nonsense")),
                ("op 999", lambda: s.simulate(delays=[slackline.Delay(op=999, by="1us")])),
                (r"Delay\(op=1, by='1'", lambda: s.simulate(delays=[slackline.Delay(1, "1")])),
                (r"Delay\(op=1, by=-1", lambda: s.simulate(delays=[slackline.Delay(1, -1)])),
                ("Straggler", lambda: s.simulate(delays=[slackline.Straggler(0, by="x")])),
                ("slowdown", lambda: s.simulate(delays=[slackline.Straggler(0, slowdown=0.5)])),
                ("mean is no figure", lambda: s.simulate(delays=[chosen("constant", mean=1)])),
                ("values is no figure", lambda: s.simulate(delays=[chosen("constant", by=1, values=["1us"])])),
                ("mean", lambda: s.simulate(delays=[chosen("exponential")])),
                ("nonsense", lambda: s.simulate(delays=[chosen("nonsense")])),
                ("format 'nonsense'", lambda: s.export("nonsense")),
                ("op 999", lambda: s.describe(999)),
                ("op 999", lambda: run.slopes([999])),
                ("wire 'nonsense'", lambda: run.slack("nonsense")),
                ("no/such/file", lambda: slackline.read("no/such/file")),
                ("no/such/file", lambda: slackline.read_run("no/such/file")),
                ("no/such/file", lambda: slackline.DelayPlan.read("no/such/file")),
                ("no/such/file", lambda: s.write("no/such/file")),
                ("no/such/file", lambda: run.write("no/such/file")),
                ("no/such/file", lambda: run.report("no/such/file")),
                ("bytes", lambda: slackline.Schedule.from_transfers(2, [], bytes="1Q")),
                ("count: 0 is out of range; expected 1", lambda: s.samples(count=0)),
                ("count: -1", lambda: s.samples(count=-1)),
                ("nothing in this run is drawn", lambda: s.samples(count=2)),
                ("jobs: 0", lambda: s.samples(count=2, jobs=0)),
                ("sends_in_flight: -1", lambda: s.simulate(sends_in_flight=-1)),
                ("seed: -1", lambda: s.simulate(seed=-1)),
                ("seed: ", lambda: s.simulate(seed=2**64)),
                (r"Delay\(op=-1, .*: op: -1", lambda: s.simulate(delays=[slackline.Delay(-1, 0)])),
                ("rank: -2", lambda: s.simulate(delays=[slackline.Failure(rank=-2)])),
                ("op: -1", lambda: run.slopes([-1])),
                ("ranks: -1", lambda: slackline.Schedule.builder(-1)),
                ("transfer: -1", lambda: slackline.Schedule.from_transfers(
                    3, [(-1, 0, 1, 0)], bytes="1MiB"))):
            with self.subTest(text=text):
                self.refused(slackline.InputError, text, work)

    def test_a_trace_of_another_schedule(self):
        slackline.compile(CHAIN).simulate().write(self.folder / "trace")
        other = slackline.compile("chain:ranks=4,bytes=1MiB")
        self.refused(slackline.InputError, "expected one of",
                     lambda: slackline.read_run(self.folder / "trace", other))

    def test_what_nobody_handles(self):
        dynamic = slackline.compile("hash-table:ranks=3")
        self.assertIsNotNone(dynamic.dynamic_reason)
        self.refused(slackline.Unsupported, "op ", dynamic.check)
        run = slackline.compile(CHAIN).simulate(engine="event")
        self.refused(slackline.Unsupported, "flow", run.slopes)

    def test_bytes_that_are_no_text(self):
        path = self.folder / "bad.sched"
        path.write_bytes(b"slackline schedule 1\n\xff\xfe\n")
        self.refused(slackline.InputError, "bad.sched:2", lambda: slackline.read(path))

    def test_wrong_types_are_pythons_own_error(self):
        for work in (lambda: slackline.compile(3), lambda: slackline.Delay(op="x", by=1) and
                     slackline.compile(CHAIN).simulate(delays=[slackline.Delay("x", "1us")])):
            self.assertRaises(TypeError, work)


if __name__ == "__main__":
    main()
