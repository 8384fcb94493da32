"""What other simulators are given of a schedule and a platform, and what is made of their answers."""

import json
import os
import shutil

from program_case import ProgramCase, main

CHAIN = "chain:ranks=3,bytes=2MiB,ready=none"
STAR = "star:rate=100Gbps,latency=3us,o_post=200ns"
RACKS = "two-level:racks=2,hosts=4,oversubscription=2,rate=100Gbps,latency=2us,hop_latency=500ns"

# How each is asked, behind the program's name.
ASKED = {
    "loggopsim": (r"-b -f \S+\.bin -L \d+ -o \d+ -g \d+ -G \d+ -O 0 -S 1000000000",
                  "Maximum finishing time at host 1: 150000000 (0.15 s)", 1.5e-6),  # of 10 fs
    "htsim": (r"-goal \S+\.bin -topo \S+\.topo -nodes 3 -linkspeed 100000 -lgs_o 200 -strat ecmp_host "
              r"-paths 128 -mtu 4096 -seed 1 -o \S+\.log",
              "Host 0: 7\nMaximum finishing time at host 1: 1500 (1.5e-06 s)", 1.5e-6),
    "astra-sim": (r"--workload-configuration=\S+ --system-configuration=\S+\.system\.json "
                  r"--remote-memory-configuration=\S+\.memory\.json "
                  r"--network-configuration=\S+\.network\.yml --logging-folder=\S+\.log",
                  "[t] [workload] [info] sys[1] finished, 1500 cycles, exposed communication 1500 "
                  "cycles.\nsys[0] finished, 9 cycles, exposed\nsys[2] finished, 1499 cycles, x",
                  1.5e-6),
}
PROGRAM = {"loggopsim": "LogGOPSim", "htsim": "htsim_uec",
           "astra-sim": "AstraSim_Analytical_Congestion_Aware"}


class StandIn(ProgramCase):
    def ask(self, name, answer, code=0, ending="", spec=CHAIN, platform=STAR):
        """Programs in the simulators' place, of which one keeps what it was given."""
        bin_folder = self.folder / "bin"
        bin_folder.mkdir(exist_ok=True)
        program = bin_folder / PROGRAM[name]
        (self.folder / "answer").write_text(answer + "\n")
        program.write_text(f"#!/bin/sh\necho \"$@\" > {self.folder}/asked\n"
                           "for word in \"$@\"; do case \"$word\" in *=*) word=${word#*=};; esac\n"
                           f"cp \"$word\"* {self.folder}/ 2>/dev/null; done\n"
                           f"cat {self.folder}/answer\nexit 0{ending}\n")
        program.chmod(0o755)
        done = self.run_program(
            "compare", spec, "--with", name, "-p", platform, "--json",
            environment=dict(os.environ, PATH=f"{bin_folder}:{os.environ['PATH']}"))
        self.assertEqual(done.code, code, done)
        return done

    def test_each_is_asked_and_heard(self):
        for name, (asked, answer, makespan_s) in ASKED.items():
            said = json.loads(self.ask(name, answer).out)["simulators"][0]
            self.assertAlmostEqual(said["makespan_s"], makespan_s, 15, name)
            self.assertTrue(said["remark"])
            self.assertRegex(self.read("asked"), f"^{asked}$", name)
            # What each goes by of the platform; none goes by what a completion takes.
            said = json.loads(self.ask(name, answer, platform=f"{STAR},o_complete=1ns").out)
            self.assertTrue(said["simulators"][0]["remark"].endswith(
                "; without o_post, o_complete" if name == "astra-sim" else "; without o_complete"))

    # What a run gives it is what export writes.
    def test_export_writes_the_same(self):
        for name, (asked, answer, _) in ASKED.items():
            self.ask(name, answer)
            document = self.document("export", CHAIN, "--to", name, "-p", STAR, "-o", "out/x")
            files = sorted(file.name for file in (self.folder / "out").glob("x*"))
            self.assertEqual(document["files"], len(files))
            for file in files:
                self.assertEqual((self.folder / "out" / file).read_bytes(),
                                 (self.folder / f"program{file[1:]}").read_bytes(), file)
            self.assertRegex(document["command"], f"^{PROGRAM[name]} {asked}$")
            self.assertIn("out/x", document["command"])
            self.assertTrue(document["remark"])
            for file in files:
                (self.folder / "out" / file).unlink()

    def setUp(self):
        super().setUp()
        (self.folder / "out").mkdir()

    def tearDown(self):
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        super().tearDown()

    def test_an_answer_from_elsewhere(self):
        for name, (_, answer, makespan_s) in ASKED.items():
            self.write("told.txt", answer)
            said = self.document("compare", CHAIN, "--with", f"event,{name}:told.txt", "-p", STAR)
            self.assertEqual([one["simulator"] for one in said["simulators"]],
                             ["event", f"{name}:told.txt"])
            self.assertAlmostEqual(said["simulators"][1]["makespan_s"], makespan_s, 15, name)
            refused = self.document("compare", CHAIN, "--with", f"{name}:told.txt", "-p",
                                    "star:ranks_per_node=2")["simulators"][0]
            self.assertEqual((refused["makespan_s"], refused["remark"]),
                             (None, f"refused: {name}: ranks_per_node, which it has no figure for; "
                              "expected a platform without"))
            self.write("told.txt", "nothing")
            self.assertEqual(
                self.bad("compare", CHAIN, "--with", f"{name}:told.txt", "-p", STAR),
                f"slackline: told.txt: it does not say when hosts finished; expected what "
                f"{PROGRAM[name]} printed")
            self.assertIn("other.txt", self.bad("compare", CHAIN, "--with", f"{name}:other.txt"))
        self.assertIn("--with: 'event:told.txt'; expected a list of",
                      self.bad("compare", CHAIN, "--with", "event:told.txt"))

    def test_who_does_not_say(self):
        for name, (_, answer, _) in ASKED.items():
            self.assertIn(f"{PROGRAM[name]} did not say when its hosts finished; put {PROGRAM[name]}",
                          self.ask(name, "hello", code=3).err)
            self.assertIn(f"put {PROGRAM[name]}", self.ask(name, answer, code=3, ending="7").err)
        # A rank that never ended.
        self.assertIn("did not say", self.ask("astra-sim", "sys[0] finished, 9 cycles", code=3).err)

    def test_the_networks(self):
        self.good("export", CHAIN, "--to", "htsim", "-p", RACKS, "-o", "out/x")
        topology = (self.folder / "out" / "x.topo").read_text()
        self.assertTrue(topology.startswith("Nodes 8\nTiers 2\nPodsize 8\n"), topology)
        self.assertIn("Radix_Up 2\nOversubscribed 2\n", topology)
        self.good("export", CHAIN, "--to", "astra-sim", "-p", "star:rate=8589934592bps,latency=3us",
                  "-o", "out/y")
        self.assertEqual((self.folder / "out" / "y.network.yml").read_text(),
                         "topology: [ Switch ]\nnpus_count: [ 3 ]\nbandwidth: [ 1 ]\n"
                         "latency: [ 1500 ]\n")
        for file in ("system", "memory"):
            json.loads((self.folder / "out" / f"y.{file}.json").read_text())

    def test_refusals(self):
        for name, platform, why in (
                ("htsim", "torus:dims=4", "htsim: torus; expected a star, two-level or a fat tree"),
                ("astra-sim", RACKS, "astra-sim: two-level; expected a star"),
                ("loggopsim", RACKS, "loggopsim: hop_latency=500ns, and it has one latency for all ranks; "
                 "expected 0"),
                ("astra-sim", "star:nic=fair", "astra-sim: nic=fair, and its links carry one message"),
                ("astra-sim", "star:ranks_per_node=2", "astra-sim: ranks_per_node, which it has no figure for"),
                ("htsim", "star:rate=1500Mbps", "htsim: rate=1500Mbps; expected whole Gb/s")):
            self.assertIn(why, self.bad("export", CHAIN, "--to", name, "-p", platform, "-o", "x"))
            # In a comparison it refuses, and the others answer.
            said = self.document("compare", CHAIN, "--with", f"event,{name}", "-p", platform)
            self.assertIsNone(said["simulators"][1]["makespan_s"])
            self.assertIn(f"refused: {why}", said["simulators"][1]["remark"])
        self.assertIn("a message without bytes; expected none, as with ready=none",
                      self.bad("export", "chain:ranks=3,bytes=2MiB", "--to", "astra-sim", "-p", STAR,
                               "-o", "x"))
        self.assertIn("expected less than 2 GiB",
                      self.bad("export", "chain:ranks=2,bytes=2GiB,block=2GiB", "--to", "htsim", "-p",
                               STAR, "-o", "x"))
        self.assertIn("50 s, at which its clock ends",
                      self.bad("export", "chain:ranks=9,bytes=1GiB,block=256MiB", "--to", "htsim", "-p",
                               "star:rate=1Gbps", "-o", "x"))
        self.assertIn("--rails: of htsim the platform says how many NICs there are; expected "
                      "--platform", self.bad("export", CHAIN, "--to", "htsim", "-o", "x", "--rails", "2"))
        self.write("nics.goal", "num_ranks 2\nrank 0 {\nsend 99b to 1 nic 1\n}\nrank 1 {\n"
                   "recv 99b from 0 nic 1\n}\n")
        self.assertIn("--nics 2: the platform has rails=1,rail=rank; expected rails=2,rail=channel",
                      self.bad("export", "nics.goal", "--nics", "2", "--to", "loggopsim", "-p", STAR,
                               "-o", "x"))
        self.assertEqual("slackline: --to: htsim is several files; expected the beginning of their "
                         "names, --output PREFIX", self.bad("export", CHAIN, "--to", "htsim"))
        self.assertIn("--platform: csv is of a schedule alone; expected one of loggopsim, htsim, "
                      "astra-sim", self.bad("export", CHAIN, "--to", "csv", "-p", STAR))

    def test_the_command_is_one_for_a_shell(self):
        self.assertRegex(self.good("export", CHAIN, "--to", "loggopsim", "-p", STAR, "-o", "out/a b"),
                         r"run +LogGOPSim -b -f 'out/a b\.bin' -L ")


if __name__ == "__main__":
    main()
