"""slackline run: schedules carried out by real processes, on one host."""

import csv
import json
import os
import shutil
import signal
import socket
import subprocess
import time
import unittest

from ports import free_port
from program_case import BLOCK_PATTERNS, PROGRAM, main
from rank_case import PATIENCE_S, RankCase, with_patience

TRANSPORTS = ("shm", "net")


class Run(RankCase):
    def test_every_pattern_on_every_transport(self):
        for transport in TRANSPORTS:
            for pattern in BLOCK_PATTERNS:
                spec = f"{pattern}:ranks=4,bytes=100001,block=16KiB"
                document = self.document("run", spec, "--transport", transport)
                self.assertEqual(document["engine"], "run", spec)
                self.assertEqual(document["answered_by"], f"run:{transport}", spec)
                self.assertTrue(document["bytes_proved"], spec)
                self.assertGreater(document["makespan_s"], 0)
                self.assertEqual(len(document["rank_finish_s"]), 4)
                self.assertAlmostEqual(max(document["rank_finish_s"]), document["makespan_s"],
                                       delta=1e-9)

    def test_a_rank_that_does_nothing_is_not_late(self):
        document = self.document("run", "barrier:ranks=1", "--iterations", 3)
        self.assertEqual((document["makespans_s"], document["late_start_s"]), ([0, 0, 0], 0))

    def test_the_digest_is_that_of_what_is_simulated(self):
        spec = "binomial-pipeline:ranks=3,bytes=1MiB,block=64KiB"
        digests = {self.document(command, spec, *more)["digest"]
                   for command, *more in (("run",), ("simulate",), ("compile", "-o", "x.sched"))}
        self.assertEqual(len(digests), 1)

    def test_files_are_run_too(self):
        name = self.compiled("chain:ranks=3,bytes=10000,block=1000")
        self.assertTrue(self.document("run", name)["proved"])

    def test_auto_on_one_host_is_shared_memory(self):
        for spec in ("chain:ranks=3,bytes=10000,block=1000", "chain:ranks=1,bytes=1000,block=100"):
            document = self.document("run", spec, "--transport", "auto")
            self.assertEqual((document["transport"], document["bytes_proved"]), ("shm", True))

    def test_what_cannot_be_multicast_is_refused_before_the_run(self):
        spec = "switch-multicast:ranks=4,bytes=64KiB,block=16KiB"
        for transport in (*TRANSPORTS, "tcp", "auto"):
            self.assertIn(f"multicast: transport {transport} has no datagrams",
                          self.bad("run", spec, "--transport", transport, "--multicast", "ud"))
        for other in ("chain:ranks=4,bytes=64KiB,block=16KiB",
                      "switch-allreduce:ranks=4,bytes=64KiB,block=16KiB"):
            for size in ((), ("--sizes", "64KiB")):
                self.assertIn("--multicast ud: no rank of this schedule only copies",
                              self.bad("run", other, "-t", "verbs", "--multicast", "ud", *size))
        self.assertIn("expected ud or none", self.bad("run", spec, "--multicast", "rc"))
        self.assertTrue(self.document("run", spec, "--multicast", "none")["bytes_proved"])

    def test_one_rank_alone(self):
        self.assertTrue(self.document("run", "chain:ranks=1,bytes=1000,block=100")["bytes_proved"])

    @unittest.skipUnless(shutil.which("taskset"), "needs `taskset`")
    def test_whether_ranks_had_a_processor_is_told(self):
        core = min(os.sched_getaffinity(0))
        spec = "chain:ranks=3,bytes=64KiB,block=16KiB"

        def on_one_core(*more):
            done = subprocess.run(["taskset", "-c", str(core), PROGRAM, "run", spec,
                                   "--iterations", "20", *more], cwd=self.folder,
                                  stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=PATIENCE_S)
            self.assertEqual(done.returncode, 0, done)
            return done.stdout.decode()

        document = json.loads(on_one_core("--json"))
        self.assertEqual((document["ranks_on_host"], document["cores_on_host"]), (3, 1))
        self.assertEqual(len(document["preemptions"]), 3)
        shares = document["processor_wait_share"]
        if None not in shares:  # the kernel counts
            # Of three that poll on one core, two wait for it.
            self.assertGreater(sum(shares), 0)
            self.assertTrue(all(0 <= share <= 1 for share in shares), shares)
        self.assertRegex(on_one_core(), r"processor   rank \d waited for one [0-9.]+ % of the "
                                        r"time; 3 ranks on 1 core\n")
        sweep = on_one_core("--sizes", "1KiB,2KiB")
        self.assertRegex(sweep, r"\n  processor  at \d KiB: rank \d waited for one [0-9.]+ % of")

    def test_iterations(self):
        document = self.document("run", "chain:ranks=2,bytes=64KiB,block=16KiB", "--iterations", 5,
                                 "--warm-up", 2)
        self.assertEqual(len(document["makespans_s"]), 5)
        self.assertEqual(document["makespan_s"], sorted(document["makespans_s"])[2])

    def test_a_run_that_is_as_expected(self):
        call = ("run", "chain:ranks=2,bytes=64KiB,block=16KiB", "--iterations", 5)
        saved = self.document(*call)
        self.write("saved.json", json.dumps(saved))
        # A billion times slower is none.
        found = self.document(*call, "--expect", "1e9", "--of", "saved.json")
        self.assertEqual((found["expected_s"], found["expected_from"], found["expected_within"]),
                         (saved["makespan_s"], "saved.json", 1e9))
        self.assertAlmostEqual(found["slower_by_s"], found["makespan_s"] - saved["makespan_s"])
        self.assertTrue(found["as_expected"])
        out = self.good(*call, "--expect", "1e11%", "--of", "saved.json")
        self.assertEqual(len([line for line in out.splitlines() if "expected" in line]), 1)
        self.assertIn("; not slower by more than 1e+11 %", out)
        # The machine model's prediction, of a machine that takes an hour for each message.
        slow = "star:latency=3600s"
        predicted = self.document("simulate", call[1], "--platform", slow)["makespan_s"]
        found = self.document(*call, "--expect", "0%", "--platform", slow)
        self.assertEqual((found["expected_s"], found["expected_from"], found["as_expected"]),
                         (predicted, f"simulated on {slow}", True))

    def test_a_run_that_is_slower_than_expected(self):
        call = ("run", "chain:ranks=2,bytes=64KiB,block=16KiB", "--iterations", 5)
        saved = self.document(*call)
        saved["makespan_s"] = 1e-12
        self.write("saved.json", json.dumps(saved))
        found = self.document(*call, "--expect", "10%", "--of", "saved.json", code=1)
        self.assertFalse(found["as_expected"])
        self.assertTrue(found["bytes_proved"])
        out = self.run_well(*call, "--expect", "0.1", "--of", "saved.json", code=1)
        self.assertIn("expected 1 ps (saved.json): +", out)
        self.assertIn("; slower by more than 10 %", out)
        done = self.run_program(*call, "--expect", "10%", "--of", "saved.json", "--trace", "-")
        self.assertEqual(done.code, 1)
        self.assertIn("note: measured ", done.err)
        self.assertIn("done_s", json.loads(done.out))

    def test_what_cannot_be_expected(self):
        call = ("run", "chain:ranks=2,bytes=64KiB")
        self.assertIn("expected the machine that this one is like", self.bad(*call, "--expect", "5%"))
        self.assertIn("--of without --expect", self.bad(*call, "--of", "x.json"))
        for share in ("-1%", "ten", "", "nan", "inf"):
            self.assertIn("expected a share of the expected makespan",
                          self.bad(*call, f"--expect={share}", "-p", "fractus"))
        self.assertIn("--sizes", self.bad(*call, "--expect", "5%", "-p", "fractus", "--sizes", "1KiB"))
        self.assertIn("x.json", self.bad(*call, "--expect", "5%", "--of", "x.json"))
        other = self.document("simulate", "chain:ranks=2,bytes=32KiB")
        self.write("x.json", json.dumps(other))
        self.assertIn("expected a run of this one", self.bad(*call, "--expect", "5%", "--of", "x.json"))
        mine = self.document("simulate", call[1])
        for makespan, said in ((None, "the run never ended"), (-1, "expected a time"), ("1", "x.json")):
            self.write("x.json", json.dumps({**mine, "makespan_s": makespan}))
            self.assertIn(said, self.bad(*call, "--expect", "5%", "--of", "x.json"))
        self.write("x.json", "[")
        self.assertIn("x.json", self.bad(*call, "--expect", "5%", "--of", "x.json"))

    def test_unproved_runs_say_so(self):
        document = self.document("run", "chain:ranks=2,bytes=64KiB,block=16KiB", "--no-proof")
        self.assertFalse(document["bytes_proved"])

    def test_the_trace_is_one_that_other_commands_read(self):
        spec = "binomial-pipeline:ranks=4,bytes=1MiB,block=256KiB"
        self.good("run", spec, "--trace", "run.trace")
        self.good("convert", "run.trace", "--to", "csv", "-o", "run.csv")
        self.assertGreater(len(self.read("run.csv").splitlines()), 20)

    def test_a_page_that_cannot_be_is_refused_before_the_run(self):
        # A rank that nobody joins: it is not waited for.
        said = self.bad("run", "chain:ranks=5,bytes=8", "-p", "two-level:racks=2,hosts=2",
                        "--report", "r.html", "--rank", 0, "--ranks", 5, "--root",
                        f"127.0.0.1:{free_port()}", "--join-timeout", "200ms")
        self.assertIn("5 ranks", said)

    def test_a_delay_is_there(self):
        spec = "chain:ranks=2,bytes=64KiB,block=64KiB"
        document = self.document("run", spec, "--delay", "rank=0,step=0,by=80ms")
        self.assertGreaterEqual(document["makespan_s"], 0.08)

    def test_what_cannot_be_delayed_is_refused(self):
        plan = self.write("plan.toml", 'schema = 1\n[[pair]]\nsrc = 0\ndst = 1\nrate = "1Gbps"\n')
        self.bad("run", "chain:ranks=2,bytes=1KiB,block=1KiB", "--delays", plan)

    def test_ranks_that_are_started_one_by_one(self):
        spec = "circulant:ranks=3,bytes=100000,block=10000"
        since = time.time()
        ranks = self.start_ranks(3, spec, "--json")
        done = [rank.wait() for rank in ranks]
        self.assertEqual([d.code for d in done], [0, 0, 0], done)
        self.assertTrue(json.loads(done[0].out)["bytes_proved"])
        # One answer is enough.
        self.assertEqual([d.out for d in done[1:]], ["", ""])
        self.assert_gone([rank.pid for rank in ranks], since)


class Contents(RankCase):
    def test_what_operations_leave_is_looked_at(self):
        for transport in ("shm", "net"):
            for spec in ("queue:ranks=3,operations=20", "hash-table:ranks=3,operations=20",
                         "hash-table:ranks=3,operations=20,via=am",
                         "random-access:ranks=3,accesses=20,by=fetch-add",
                         "tree-search:ranks=3,depth=3", "call-return:ranks=3,bytes=8,messages=9"):
                document = json.loads(self.good("run", spec, "--transport", transport, "--json"))
                self.assertEqual((document["contents_checked"], document["contents_findings"]),
                                 (True, []), (spec, transport))


    def test_what_is_not_proved_begins_anew_in_each_iteration(self):
        for spec in ("random-access:ranks=3,accesses=20,by=fetch-add", "queue:ranks=3,operations=20",
                     "hash-table:ranks=3,operations=20"):
            document = json.loads(self.good("run", spec, "--no-proof", "--iterations", 3, "--json"))
            self.assertEqual((document["contents_checked"], document["contents_findings"]),
                             (True, []), spec)


class Dynamic(RankCase):
    """Schedules of which only a run tells what they do."""

    # Rank 0 tries until it succeeds, then counts as often as a repeat says, at both ranks.
    TEXT = """slackline schedule 1
ranks 2
buffer 0 rank 0 bytes 16
buffer 1 rank 1 bytes 64
channel 0 from 0 to 1
channel 1 from 1 to 1
rank 0
  0 put on 0 reads 0[0+8] writes 1[0+8]
  1 fetch_add on 0 reads 1[16+8] writes 1[16+8] operand attempt:0+1 after done:0
  2 compare_swap on 0 reads 1[24+8] writes 1[24+8] operand result:1 compare 0 after done:1
rank 1
  3 fetch_xor on 1 reads 1[32+8] writes 1[32+8] operand 5
region retry entry 0 count 1 attempts 1000 p 200000
region repeat entry 1 count 1 attempts 4
region alt entry 3 count 1 p 500000
pre 0[0+16] value 1
post 1[0+8] value 1
"""

    def trace(self, *arguments):
        self.good(*arguments, "--trace", "out.trace")
        return json.loads(self.read("out.trace"))

    def test_it_draws_and_fetches_what_the_simulation_does(self):
        name = self.write("d.sched", self.TEXT)
        seen = set()
        for seed in range(3):
            simulated = self.trace("simulate", name, "--no-proof", "--seed", seed)
            for transport in TRANSPORTS:
                run = self.trace("run", name, "--transport", transport, "--seed", seed)
                self.assertEqual(run["attempts"], simulated["attempts"])
                self.assertEqual(run["results"], simulated["results"])
            seen.add(tuple(run["attempts"]))
        self.assertGreater(len(seen), 1)

    def test_its_bytes_are_proved_all_the_same(self):
        name = self.write("d.sched", self.TEXT)
        document = self.document("run", name, "--iterations", 3)
        self.assertTrue(document["bytes_proved"])
        self.assertFalse(document["proved"])
        wrong = self.write("w.sched", self.TEXT.replace("post 1[0+8] value 1",
                                                        "post 1[0+8] value 2"))
        self.assertIn("byte 0 of buffer 1", self.bad("run", wrong, code=1))
        self.assertIn("static schedules only", self.bad("run", name, "--prove"))

    def test_what_cannot_succeed_is_reported(self):
        text = self.TEXT.replace("attempts 1000 p 200000", "attempts 3 p 0 backoff 1ms")
        name = self.write("d.sched", text)
        for transport in TRANSPORTS:
            said = self.bad("run", name, "--transport", transport)
            self.assertIn("region 0 (retry, from op 0 (put, rank 0)) has failed all of its 3 "
                          "attempts", said)
        ranks = self.start_ranks(2, name)
        for rank in ranks:
            done = rank.wait()
            self.assertEqual(done.code, 2, done)
            self.assertIn("has failed all of its 3 attempts", done.err)


class PartialTraces(RankCase):
    SPEC = "chain:ranks=3,bytes=64KiB,block=4KiB"

    def lose_rank_1(self, after_s):
        """Returns when the survivors have left."""
        # The root stops half-way for longer than the test waits: all that came before is done.
        ranks = self.start_ranks(3, self.SPEC, "--warm-up", 0, "--delay", "rank=0,step=8,by=200s",
                                 "--failure-timeout", "30s", "--trace", "run.trace")
        time.sleep(after_s)
        self.assertEqual([rank.process.poll() for rank in ranks], [None] * 3)
        ranks[1].signal(signal.SIGKILL)
        ends = [ranks[rank].wait() for rank in (0, 2)]
        self.assertEqual([done.code for done in ends], [1, 1], ends)

    def rows_of(self, name, done=False):
        """The operations of a trace; only those that are done."""
        self.good("convert", name, "--to", "csv", "-o", "rows.csv")
        rows = csv.DictReader(self.read("rows.csv").splitlines())
        return [row for row in rows if not done or row["done_s"] not in ("", "inf")]

    def test_survivors_keep_what_they_saw(self):
        spec = self.SPEC
        # Until all have come half-way: how soon they do is the machine's affair.
        traces = [self.folder / f"run.trace.rank{rank}" for rank in (0, 2)]
        for after_s in (2, 4, 8, 16, 32):
            self.lose_rank_1(after_s)
            if all(trace.exists() and self.rows_of(trace.name, done=True) for trace in traces):
                break
            for trace in traces:
                trace.unlink(missing_ok=True)
        for rank in (0, 2):
            name = f"run.trace.rank{rank}"
            rows = self.rows_of(name)
            self.assertEqual(len(rows), self.document("compile", spec, "-o", "x.sched")["ops"])
            done_by = [int(row["rank"]) for row in rows if row["done_s"] not in ("", "inf")]
            self.assertEqual(set(done_by), {rank}, name)
            of_rank = sum(int(row["rank"]) == rank for row in rows)
            self.assertTrue(0 < len(done_by) < of_rank, (name, len(done_by), of_rank))
        self.assertFalse((self.folder / "run.trace").exists())
        self.assertFalse((self.folder / "run.trace.rank1").exists())


class Wrong(RankCase):
    SPEC = "chain:ranks=2,bytes=1KiB,block=1KiB"

    def test_arguments(self):
        for arguments, part in (
                (["--transport", "ether"], "ether"),
                (["--iterations", "0"], "--iterations"),
                (["--rank", "0"], "--ranks"),
                (["--rank", "2", "--ranks", "2", "--root", "127.0.0.1:1"], "--rank"),
                (["--rank", "0", "--ranks", "3", "--root", "127.0.0.1:1"], "2"),
                (["--rank", "0", "--ranks", "2"], "--root"),
                (["--rank", "0", "--ranks", "2", "--root", "nowhere"], "host:port"),
                (["--completion", "prayer"], "--completion"),
                (["--device", "xyz"], "--device"),
                (["--transport", "auto", "--device", "xyz"], "--device"),
                (["--failure-timeout", "0"], "--failure-timeout"),
        ):
            self.assertIn(part, self.bad("run", self.SPEC, *arguments))

    def test_more_ranks_than_shared_memory_joins(self):
        said = self.bad("run", "chain:ranks=257,bytes=1KiB,block=1KiB")
        self.assertIn("257 ranks", said)
        self.assertIn("at most 256", said)
        self.assertIn("--transport tcp", said)

    def test_a_port_in_use(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            said = self.bad("run", self.SPEC, "--rank", 0, "--ranks", 2, "--root",
                            f"127.0.0.1:{port}", code=3)
            self.assertIn(str(port), said)

    def test_a_rank_that_never_comes(self):
        def wait_for_it(more):
            return [rank.wait() for rank in self.start_ranks(
                2, "chain:ranks=3,bytes=1KiB,block=1KiB", "--join-timeout", f"{more}s", ranks=3)]

        for done in with_patience(wait_for_it, "rank 0 (did not come|fell silent)|ranks 1, 2 ")[1]:
            self.assertEqual(done.code, 1, done)
            self.assertEqual(done.err.count("\n"), 1, done)
            self.assertIn("rank 2", done.err)

    def test_ranks_with_different_schedules(self):
        ranks = self.start_ranks(
            2, of_rank=lambda rank: (f"chain:ranks=2,bytes={rank + 1}KiB,block=1KiB",))
        for rank in ranks:
            done = rank.wait()
            self.assertEqual(done.code, 2, done)
            self.assertEqual(done.err.count("\n"), 1, done)
            self.assertIn("rank 0", done.err)
            self.assertIn("rank 1", done.err)

    # Rank 0 speaks for all: of bytes that a rank did not prove, of times that it did not take.
    def test_ranks_that_are_told_to_run_otherwise(self):
        spec = "chain:ranks=2,bytes=1KiB,block=1KiB"
        for options, theirs, ours in (
                (("--no-proof",), "bytes: not proved", "bytes: proved"),
                (("--no-timestamps",), "times of operations: not taken",
                 "times of operations: taken"),
                (("--policy", "ready"), "policy: ready", "policy: in-order"),
                (("--sends-in-flight", 2), "sends in flight: 2", "sends in flight: 0"),
                (("--straggler", "rank=1,slowdown=2"), "delays: ", "delays: none")):
            started = self.start_ranks(2, spec, of_rank=lambda rank: options if rank else ())
            for rank in started:
                done = rank.wait()
                self.assertEqual((done.code, done.out, done.err.count("\n")), (2, "", 1), done)
                self.assertIn(f"ranks disagree: rank 0 has {ours}, rank 1 has {theirs}", done.err)


@unittest.skipIf(shutil.which("mpirun") is None, "no mpirun (Debian: openmpi-bin)")
class UnderMpirun(RankCase):
    def test_joins_the_ranks_that_mpirun_started(self):
        spec = "binomial-pipeline:ranks=4,bytes=1MiB,block=64KiB"
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        for transport in TRANSPORTS:
            done = subprocess.run(
                ["mpirun", "--oversubscribe", "-np", "4", PROGRAM, "run", spec, "--transport",
                 transport, "--json"], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                capture_output=True, timeout=PATIENCE_S)
            self.assertEqual(done.returncode, 0, done)
            document = json.loads(done.stdout)
            self.assertTrue(document["bytes_proved"])
            self.assertEqual(len(document["rank_finish_s"]), 4)


if __name__ == "__main__":
    main()
