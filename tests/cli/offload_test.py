"""slackline offload"""

import json

from program_case import BLOCK_PATTERNS, CHAIN, PIPELINE, ProgramCase, main

MODES = ("sq-wait", "mq-enable", "rdmc-mq")


class Offload(ProgramCase):
    def test_every_pattern_in_every_mode(self):
        for pattern in BLOCK_PATTERNS:
            spec = f"{pattern}:ranks=5,bytes=10000,block=3000"
            for mode in MODES:
                document = self.document("offload", spec, "--mode", mode, "--emulate", "--timings", "8")
                self.assertIs(document["ok"], True, document)
                self.assertIs(document["emulated_sound"], True)
                self.assertEqual(document["diagnostics"], [])
                self.assertEqual(document["mode"], mode)
                self.assertEqual(document["timings"], 8)
                self.assertEqual(len(document["ranks"]), 5)
                self.assertGreater(document["offload_makespan_s"], 0)
                self.assertGreater(document["software_makespan_s"], 0)

    def test_published_costs(self):
        spec = "binomial-pipeline:ranks=16,bytes=256KiB,block=1KiB"
        for mode, expected in (("sq-wait", (257, 0, 259)), ("mq-enable", (255, 259, 259)),
                               ("rdmc-mq", (513, 513, 259))):
            ranks = self.document("offload", spec, "--mode", mode)["ranks"]
            worst = tuple(max(r[key] for r in ranks) for key in ("waits", "enables", "data"))
            self.assertEqual(worst, expected)

    def test_software_pays_for_its_cpu_and_is_preempted(self):
        def times(*more):
            document = self.document("offload", PIPELINE, "--emulate", "--timings", "1", *more)
            return document["offload_makespan_s"], document["software_makespan_s"]

        cheap = times("-p", "star:o_post=0,o_complete=0")
        dear = times("-p", "star:o_post=1us,o_complete=2us")
        preempted = times("-p", "star:o_post=1us,o_complete=2us", "--noise", "constant,by=50us")
        self.assertEqual(cheap[0], dear[0])
        self.assertEqual(dear[0], preempted[0])
        self.assertLess(cheap[1], dear[1])
        self.assertLess(dear[1], preempted[1])

    def test_inside_simgrid_links_are_shared(self):
        spec = "chain:ranks=8,bytes=4MiB,block=256KiB"

        def document(platform, engine):
            done = self.run_program("offload", spec, "--emulate", "--timings", "1", "-p", platform,
                                    "--engine", engine, "--json")
            if engine == "simgrid" and done.code == 3:
                self.skipTest("built without SimGrid")
            self.assertEqual(done.code, 0, done)
            return json.loads(done.out)

        star = "star:rate=100Gbps,latency=1us"
        alone, inside = (document(star, engine) for engine in ("analytic", "simgrid"))
        self.assertEqual(inside["engine"], "simgrid")
        self.assertAlmostEqual(inside["offload_makespan_s"] / alone["offload_makespan_s"], 1, 9)
        racks = "two-level:racks=2,hosts=4,oversubscription=4,placement=round-robin"
        alone, inside = (document(racks, engine) for engine in ("analytic", "simgrid"))
        self.assertGreater(inside["offload_makespan_s"], 1.5 * alone["offload_makespan_s"])
        self.assertLess(inside["offload_makespan_s"], inside["software_makespan_s"])
        by_flow = document(racks, "flow")
        for key in ("offload_makespan_s", "software_makespan_s"):
            self.assertAlmostEqual(by_flow[key] / inside[key], 1, 6)
        self.assertIn("with shared links", self.good("offload", spec, "--emulate", "--timings", "1",
                                                     "-p", star, "--engine", "flow"))
        self.assertIn("inside SimGrid", self.good("offload", spec, "--emulate", "--timings", "1",
                                                  "-p", star, "--engine", "simgrid"))

    def test_egress_matters_to_trees(self):
        def makespan(egress):
            return self.document("offload", "binomial-tree:ranks=16,bytes=16MiB,block=1MiB",
                                 "--mode", "mq-enable", "--emulate", "--timings", "1", "--egress",
                                 egress)["offload_makespan_s"]

        self.assertLess(1.5 * makespan("least-slack"), makespan("fifo"))

    def test_encoding(self):
        out = self.good("offload", CHAIN, "--encode", "wqe", "-o", "x.queues", "--dot", "x.dot")
        self.assertIn("wrote wqe", out)
        manifest = json.loads(self.read("wqe/manifest.json"))
        self.assertEqual(manifest["digest"], self.document("compile", CHAIN, "-o", "c")["digest"])
        self.assertEqual(self.read("wqe/program.queues"), self.read("x.queues"))
        self.assertIn(f"digest {manifest['program_digest']}", self.read("x.queues"))
        self.assertTrue(self.read("x.dot").startswith("digraph"))
        self.assertEqual([f["file"] for f in manifest["files"]],
                         ["rank-0.txt", "rank-1.txt", "rank-2.txt"])
        # The relay: each block's wait right before its send, in one queue.
        relay = self.read("wqe/rank-1.txt").splitlines()
        begin = next(i for i, line in enumerate(relay) if " send data " in line)
        entries = []
        for line in relay[begin + 1:]:
            if not line.startswith("  "):
                break
            entries.append(bytes.fromhex(line.split("#")[0].replace(" ", "")))
        self.assertEqual([len(e) for e in entries], [64] * len(entries))
        self.assertEqual([e[3] for e in entries], [0x0f, 0x0f, 0x0a, 0x0f, 0x0a])
        self.assertEqual([int.from_bytes(e[1:3], "big") for e in entries], [0, 1, 2, 3, 4])
        # Waits for one and for two blocks are indices 0 and 1.
        self.assertEqual([int.from_bytes(entries[i][24:28], "big") for i in (1, 3)], [0, 1])

    def test_a_written_program_is_read_back(self):
        for mode in MODES:
            first = self.document("offload", PIPELINE, "--lower", "put", "--mode", mode, "-o",
                                  "x.queues", "--emulate", "--timings", "8")
            again = self.document("offload", "x.queues", "-o", "y.queues", "--emulate",
                                  "--timings", "8")
            self.assertEqual(first, again)
            self.assertEqual(self.read("x.queues"), self.read("y.queues"))
        self.bad("offload", "x.queues", "--mode", "sq-wait")
        self.bad("offload", "x.queues", "--lower", "send")
        self.bad("offload", PIPELINE, "--schedule", PIPELINE)

    def test_a_written_program_that_is_wrong(self):
        self.good("offload", CHAIN, "-o", "x.queues")
        lines = [line for line in self.read("x.queues").splitlines(keepends=True)
                 if not line.startswith("digest ")]
        # Waiting for another completion: the relay sends what it may not hold.
        wrong = "".join(lines).replace(" count 2", " count 1")
        self.assertNotEqual(wrong, "".join(lines))
        self.write("wrong.queues", wrong)
        document = self.document("offload", "wrong.queues", "--emulate", code=1)
        self.assertIs(document["ok"], False)
        self.assertIn("hold", [d["code"] for d in document["diagnostics"]])
        self.assertIn("emulated_sound", document)
        # Of nobody's schedule, or another's.
        untitled = "".join(line for line in lines if not line.startswith("title "))
        self.write("untitled.queues", untitled)
        self.assertIn("expected --schedule", self.bad("offload", "untitled.queues"))
        self.assertIs(self.document("offload", "untitled.queues", "--schedule", CHAIN)["ok"], True)
        self.assertIn("its digest is",
                      self.bad("offload", "untitled.queues", "--schedule", PIPELINE))
        self.write("cut.queues", untitled[:200])
        self.assertIn("cut.queues", self.bad("offload", "cut.queues"))

    def test_splitting(self):
        spec = "binomial-pipeline:ranks=8,bytes=100KiB,block=1KiB"
        self.assertIs(self.document("offload", spec, "--depth", "32")["ok"], True)
        self.assertIn("splitting is off", self.bad("offload", spec, "--depth", "32", "--no-split"))

    def test_what_cannot_be_offloaded(self):
        self.assertIn("(copy, rank 1)", self.bad("offload", CHAIN, "--first-block", "copy"))
        self.assertIn("op 0 (put, rank 0)", self.bad("offload", "ring-buffer:ranks=3,bytes=64"))
        self.assertIn("nic=serial", self.bad("offload", CHAIN, "--emulate", "-p", "star:nic=fair"))

    def test_a_run_on_a_nic_says_what_is_missing(self):
        for path in ("raw", "devx"):
            done = self.run_program("offload", CHAIN, "--run", path)
            if done.code == 0:
                self.skipTest("this machine has a ConnectX")
            self.assertEqual(done.code, 3, done)
            self.assertTrue(done.err.startswith("slackline: offload: "), done)
            self.assertEqual(done.err.count("\n"), 1, done)
            self.bad("offload", CHAIN, "--run", path, "--device", "nowhere0", code=3)
        self.bad("offload", CHAIN, "--run", "x")
        self.bad("offload", CHAIN, "--device", "mlx5_0")

    def test_queues_that_only_devx_makes(self):
        for arguments in (["--mode", "mq-enable"], ["--mode", "rdmc-mq"],
                          ["--readiness", "window"]):
            said = self.bad("offload", CHAIN, *arguments, "--run", "raw")
            self.assertIn("is managed", said)
            self.assertIn("(cd_master)", said)
            self.assertIn("--run devx", said)

    def test_bad_options(self):
        for arguments in (["--mode", "x"], ["--readiness", "x"], ["--egress", "x", "--emulate"],
                          ["--ahead", "2"], ["--depth", "3"], ["--timings", "3"], ["-p", "fractus"],
                          ["--mode", "rdmc-mq", "--readiness", "handshake"]):
            self.bad("offload", CHAIN, *arguments)
        self.write("file", "")
        self.assertIn("--encode file", self.bad("offload", CHAIN, "--encode", "file"))


if __name__ == "__main__":
    main()
