"""slackline calibrate and slackline validate --on run, on this machine.

What they find depends on what else runs here; what they say of it does not.
"""

import csv
import json

from program_case import ProgramCase, main

KINDS = {"post", "pingpong", "send", "get", "stream", "burst", "copy", "behind"}
PIPELINE = "binomial-pipeline:ranks=4,bytes=1MiB,block=64KiB"


class Calibrate(ProgramCase):
    def test_what_was_measured_is_what_is_fitted(self):
        for transport in ("shm", "tcp"):
            here = self.document("calibrate", "-t", transport, "--repeats", "2", "-o", "here.toml",
                                 "--save-points", "points.csv", "--residuals", "residuals.csv")
            self.assertTrue(here["points_file"].startswith("measured on "), here["points_file"])
            with open(self.folder / "points.csv", newline="") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual(len(rows), here["points"])
            kinds = {row["kind"] for row in rows}
            self.assertEqual(kinds - {"atomic"}, KINDS)
            # Every round is the same.
            half = [(row["kind"], row["bytes"], row["messages"]) for row in rows]
            self.assertEqual(half[:len(half) // 2], half[len(half) // 2:])
            self.assertTrue(all(float(row["seconds"]) > 0 for row in rows))
            again = self.document("calibrate", "--points", "points.csv", "-o", "again.toml",
                                  "--residuals", "again.csv")
            self.assertEqual({**again, "points_file": "", "file": ""},
                             {**here, "points_file": "", "file": ""})
            self.assertEqual(self.read("again.csv"), self.read("residuals.csv"))
            run = self.document("simulate", PIPELINE, "-p", "here.toml", "-e", "analytic")
            self.assertGreater(run["makespan_s"], 0)

    def test_copies_are_measured_in_turn(self):
        self.good("calibrate", "--repeats", "3", "--save-points", "points.csv")
        with open(self.folder / "points.csv", newline="") as file:
            copies = [row for row in csv.DictReader(file) if row["kind"] == "copy"]
        by_size = {}
        for row in copies:
            by_size.setdefault(int(row["bytes"]), []).append(float(row["seconds"]))
        # 4 MiB take longer than 4 KiB, however busy the machine.
        self.assertGreater(min(by_size[4 << 20]), min(by_size[4 << 10]))


class ValidateOnRun(ProgramCase):
    def validate(self, *arguments):
        """Whether predictions hold depends on the machine's mood."""
        done = self.run_program("validate", PIPELINE, "--on", "run", *arguments, "--json")
        self.assertIn(done.code, (0, 1), done)
        self.assertEqual(done.err, "")
        document = json.loads(done.out)
        self.assertEqual(document["ok"], done.code == 0)
        return document

    def test_the_document(self):
        for transport in ("shm", "tcp"):
            document = self.validate("-t", transport, "--ops", "3", "--repeats", "2")
            self.assertTrue(document["on"].startswith("run:"), document["on"])
            self.assertEqual(document["checked"], 3)
            self.assertEqual(document["repeats"], 2)
            self.assertEqual(len(document["undelayed_s"]), 6)
            self.assertLessEqual(min(document["undelayed_s"]), document["makespan_s"])
            self.assertGreaterEqual(max(document["undelayed_s"]), document["makespan_s"])
            self.assertGreaterEqual(document["noise_s"], 0)
            self.assertEqual([p["name"] for p in document["predictions"]], ["undelayed runs"])
            for op in document["ops"]:
                self.assertEqual(op["error_s"], op["measured_shift_s"] - op["predicted_shift_s"])
                self.assertEqual(op["predicted_shift_s"],
                                 max(0, op["delay_s"] - op["total_float_s"]))

    def test_early_messages_choose_the_transport_as_in_a_run(self):
        done = self.run_program("validate", "chain:ranks=2,bytes=64KiB,block=16KiB,ready=none", "--on",
                                "run", "-t", "tcp", "--ops", "1", "--repeats", "1", "--json")
        self.assertIn(done.code, (0, 1), done)
        self.assertEqual(json.loads(done.out)["on"], "run:tcp;ofi_rxm")

    def test_a_delay_far_above_all_noise_is_seen(self):
        # The first send of the root waits two seconds, and all wait for it.
        document = self.validate("--choose", "least", "--ops", "1", "--repeats", "1", "--delay",
                                 "2s", "--csv", "v.csv")
        (op,) = document["ops"]
        self.assertGreater(op["measured_shift_s"], 1)
        self.assertLess(op["total_float_s"], 1)
        self.assertEqual(len(self.read("v.csv").splitlines()), 2)

    def test_what_ranks_waited_for_processors_is_not_blamed_on_the_prediction(self):
        document = self.validate("--ops", "20", "--repeats", "1", "--tolerance", "0")
        self.assertGreaterEqual(document["processor_wait_s"], 0)
        self.assertEqual(document["clock_error_s"], 0)  # one host
        noise_s = document["noise_s"]
        errors = [abs(op["error_s"]) for op in document["ops"]]
        beyond = [error for error in errors if error > noise_s + document["processor_wait_s"]]
        self.assertEqual(document["beyond_tolerance"], len(beyond))
        self.assertEqual(document["ok"], not beyond)
        self.assertEqual(document["unjudged"],
                         sum(error > noise_s for error in errors) - len(beyond))

    def test_a_platform_predicts_beside(self):
        document = self.validate("--ops", "1", "--repeats", "1", "-p", "fractus")
        self.assertEqual([p["name"] for p in document["predictions"]],
                         ["undelayed runs", "fractus"])
        done = self.run_program("validate", PIPELINE, "--on", "run", "--ops", "2", "--repeats", "1")
        self.assertIn(done.code, (0, 1), done)
        self.assertIn("run:shm, 1 time each, in turn with undelayed runs", done.out)
        self.assertIn("a trial without delay comes to that", done.out)


if __name__ == "__main__":
    main()
