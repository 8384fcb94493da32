"""Ranks that launchers start and tell where to meet: by their exchange of keys, so that no port is
guessed and no file of a secret is needed.
"""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import threading
import unittest

from ports import free_port
from program_case import PROGRAM, Done, main
from rank_case import PATIENCE_S, RankCase, with_patience

SPEC = "binomial-pipeline:ranks={},bytes=1MiB,block=64KiB"


class LauncherCase(RankCase):
    def setUp(self):
        super().setUp()
        # Where the user's own secret would be made, were it asked for.
        self.config = self.folder / "config"
        self.config.mkdir()
        self.environment = dict(os.environ, XDG_CONFIG_HOME=str(self.config),
                                OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

    def launch(self, *arguments):
        done = subprocess.run(list(map(str, arguments)), cwd=self.folder, env=self.environment,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S)
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def assert_proved(self, done, runs=1):
        self.assertEqual(done.code, 0, done)
        lines = done.out.splitlines()
        self.assertEqual(len(lines), runs, done)
        for line in lines:
            self.assertTrue(json.loads(line)["bytes_proved"], line)

    def assert_no_file_of_a_secret(self):
        self.assertEqual(list(self.config.rglob("*")), [])

    def assert_joined_by_keys(self, *launcher):
        for transport in ("shm", "tcp"):
            self.assert_proved(self.launch(*launcher, PROGRAM, "run", SPEC.format(4), "--transport",
                                           transport, "--json"))
        self.assert_no_file_of_a_secret()

    def assert_runs_one_after_the_other(self, *launcher):
        """A launcher that the machine lets stand still for a while may lose a rank of the second
        exchange (docs/guide/launching.md). So not every attempt need succeed: one must.
        """
        run = f'"$0" run {SPEC.format(3)} --json --join-timeout 10s'
        for _ in range(4):
            done = self.launch(*launcher, "sh", "-c", f"{run} && {run}", PROGRAM)
            if done.code != 3 or not any(lost in done.err for lost in
                                         ("exchange of keys failed", "did not come within")):
                break
        self.assert_proved(done, runs=2)

    def assert_by_hand_comes_first(self, *launcher):
        secret = self.folder / "secret"
        secret.write_bytes(b"known to us alone")
        secret.chmod(0o600)
        # Of a root by hand nothing is told: the user's own secret is used.
        root = f"127.0.0.1:{free_port()}"
        self.assert_proved(self.launch(*launcher, PROGRAM, "run", SPEC.format(4), "--json",
                                       "--secret", secret))
        self.assert_no_file_of_a_secret()
        self.assert_proved(self.launch(*launcher, PROGRAM, "run", SPEC.format(4), "--json",
                                       "--root", root))
        self.assertEqual([path.name for path in self.config.rglob("*") if path.is_file()],
                         ["secret"])


@unittest.skipIf(shutil.which("mpirun.openmpi") is None, "no Open MPI (Debian: openmpi-bin)")
class OpenMpi(LauncherCase):
    def mpirun(self, ranks):
        return "mpirun.openmpi", "--oversubscribe", "-np", ranks

    def test_tells_ranks_where_to_meet(self):
        self.assert_joined_by_keys(*self.mpirun(4))

    def test_runs_one_after_the_other(self):
        self.assert_runs_one_after_the_other(*self.mpirun(3))

    def test_by_hand_comes_first(self):
        self.assert_by_hand_comes_first(*self.mpirun(4))

    def test_without_its_keys_its_variables_serve(self):
        self.assert_proved(self.launch(*self.mpirun(4), "env", "-u", "PMIX_RANK", PROGRAM, "run",
                                       SPEC.format(4), "--json"))


@unittest.skipIf(shutil.which("mpiexec.hydra") is None, "no Hydra (Debian: mpich)")
class Hydra(LauncherCase):
    def mpiexec(self, ranks):
        return "mpiexec.hydra", "-n", ranks

    def test_tells_ranks_where_to_meet(self):
        self.assert_joined_by_keys(*self.mpiexec(4))

    def test_a_second_run_needs_a_root(self):
        command = f'"$0" run {SPEC.format(3)} --json && "$0" run {SPEC.format(3)} --json'
        done = self.launch(*self.mpiexec(3), "sh", "-c", command, PROGRAM)
        self.assertEqual((done.code, len(done.out.splitlines())), (2, 1), done)
        self.assertIn("mpiexec does not say where rank 0 runs; expected --root HOST:PORT", done.err)
        self.assertIn("(the launcher's exchange of keys, which it gives once, has ended)", done.err)

    def test_by_hand_comes_first(self):
        self.assert_by_hand_comes_first(*self.mpiexec(4))

    def test_without_its_keys_its_variables_serve(self):
        self.assert_proved(self.launch(*self.mpiexec(4), "env", "-u", "PMI_FD", PROGRAM, "run",
                                       SPEC.format(4), "--json"))


class FakeFlux:
    """Serves ranks as Flux's RFC 13 says; `spoil` may change an answer."""

    def __init__(self, ranks, spoil=lambda rank, name, answer: answer):
        self.values = {}
        self.spoil = spoil
        self.barrier = threading.Barrier(ranks)
        self.ends = [socket.socketpair() for _ in range(ranks)]
        # What looks at the ranks while they wait for each other.
        self.look = lambda: None
        for rank in range(ranks):
            threading.Thread(target=self.serve, args=(rank,), daemon=True).start()

    def serve(self, rank):
        came = False
        with self.ends[rank][1] as end, end.makefile("rw", newline="\n") as file:
            try:
                for line in file:
                    words = dict(word.split("=", 1) for word in line.split())
                    answer = self.spoil(rank, words["cmd"], self.answer(rank, words))
                    came = came or words["cmd"] == "barrier_in"
                    if answer is None:
                        return
                    file.write(answer)
                    file.flush()
            except (OSError, threading.BrokenBarrierError, ValueError):
                # Of those that came, one may not have woken yet, and must not see it broken.
                if not came:
                    self.barrier.abort()

    def answer(self, rank, words):
        name = words["cmd"]
        if name == "put":
            self.values[words["key"]] = words["value"]
            return "cmd=put_result rc=0\n"
        if name == "barrier_in":
            if self.barrier.wait(PATIENCE_S) == 0:
                self.look()
            self.barrier.wait(PATIENCE_S)
            return "cmd=barrier_out rc=0\n"
        if name == "get":
            return f"cmd=get_result rc=0 value={self.values[words['key']]}\n"
        return {"init": "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n",
                "get_maxes": "cmd=maxes rc=0 kvsname_max=64 keylen_max=64 vallen_max=1024\n",
                "get_my_kvsname": "cmd=my_kvsname rc=0 kvsname=f7\n",
                "finalize": "cmd=finalize_ack rc=0\n"}[name]


class Flux(LauncherCase):
    """Flux itself is in no package of Debian 12."""

    def start(self, flux, ranks, *arguments):
        processes = []
        for rank in range(ranks):
            mine = flux.ends[rank][0]
            environment = dict(
                self.environment, FLUX_TASK_RANK=str(rank), FLUX_JOB_SIZE=str(ranks),
                FLUX_JOB_NNODES="2", FLUX_JOB_ID="f1", PMI_RANK=str(rank), PMI_SIZE=str(ranks),
                PMI_FD=str(mine.fileno()))
            process = subprocess.Popen(
                [PROGRAM, "run", SPEC.format(ranks), "--json", *arguments], cwd=self.folder,
                env=environment, pass_fds=[mine.fileno()], stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            mine.close()
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            processes.append(process)
        return processes

    def ends(self, processes):
        ends = []
        for process in processes:
            out, err = process.communicate(timeout=PATIENCE_S)
            ends.append(Done(process.returncode, out.decode(), err.decode()))
        return ends

    def test_tells_ranks_where_to_meet_and_nobody_else(self):
        flux = FakeFlux(3)
        seen = []

        def look():
            for process in processes:
                for name in ("cmdline", "environ"):
                    seen.append(pathlib.Path(f"/proc/{process.pid}/{name}").read_bytes())

        flux.look = look
        processes = self.start(flux, 3, "--host", "127.0.0.1")
        ends = self.ends(processes)
        self.assert_proved(ends[0])
        self.assertEqual([(end.code, end.out) for end in ends[1:]], [(0, "")] * 2, ends)
        self.assert_no_file_of_a_secret()
        word = flux.values["slackline.rank0"]
        self.assertRegex(word, r"^slackline1/127\.0\.0\.1:\d+/[0-9a-f]{64}$")
        secret = word.rpartition("/")[2]
        self.assertEqual(len(seen), 6)
        for place in (*seen, *(text.encode() for end in ends for text in (end.out, end.err))):
            self.assertNotIn(secret.encode(), place)

    def test_what_it_says_wrongly_is_one_line(self):
        for name, answer, part in (
                ("init", "cmd=response_to_init rc=1\n", "\"init\" is none of PMI-1: its rc is 1"),
                ("get", "x" * 5000 + "\n", "\"get\" is none of PMI-1: it is too long"),
                ("get", "cmd=get_result rc=0 value=slackline1/127.0.0.1:1/abc\n",
                 "is not what a rank of this version puts there"),
                ("barrier_in", None, "ended the exchange of keys in its middle"),
                ("finalize", "", "did not answer \"finalize\" within {} s")):
            def spoil(rank, said, right, name=name, answer=answer):
                return answer if said == name else right

            def join(more, spoil=spoil):
                return self.ends(self.start(FakeFlux(2, spoil), 2, "--host", "127.0.0.1",
                                            "--join-timeout", f"{500 * more}ms"))

            # Each other answer comes once both ranks have come.
            more, ends = with_patience(join, "did not answer \"(?!finalize)")
            for rank, end in enumerate(ends):
                self.assertEqual((end.code, end.out, end.err.count("\n")), (3, "", 1),
                                 (name, rank, end))
                self.assertIn(part.format(f"{0.5 * more:g}"), end.err)

    def test_a_rank_that_never_comes_is_waited_for_as_long_as_said(self):
        def join(more):
            flux = FakeFlux(3, lambda rank, name, answer: "" if name == "barrier_in" else answer)
            flux.barrier = threading.Barrier(1)
            return self.ends(self.start(flux, 3, "--host", "127.0.0.1", "--join-timeout",
                                        f"{500 * more}ms"))

        more, ends = with_patience(join, "did not answer \"(?!barrier_in)")
        for end in ends:
            self.assertEqual((end.code, end.out, end.err.count("\n")), (3, "", 1), end)
            self.assertIn(f"\"barrier_in\" within {0.5 * more:g} s, for which all ranks must come",
                          end.err)


if __name__ == "__main__":
    main()
