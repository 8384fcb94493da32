"""A study's shares under launchers: mpirun's processes, and the tasks of a real Slurm's array."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import unittest

from ports import free_port
from program_case import PROGRAM, ProgramCase, main

PATIENCE_S = 120
STUDY = """
schedule = ["chain:ranks={ranks},bytes=1MiB", "sequential:ranks={ranks},bytes=1MiB",
            "nothing:ranks={ranks}"]
engine = ["analytic", "flow"]
[values]
ranks = { from = 2, to = 12 }
"""
POINTS = 3 * 2 * 11
SLURM = ("slurmctld", "slurmd", "munged", "sbatch")
WHY_NO_SLURM = next((f"no {name} (Debian: slurmctld, slurmd, slurm-client, munge)"
                     for name in SLURM
                     if shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin") is None), None)
if WHY_NO_SLURM is None and os.geteuid() != 0:
    WHY_NO_SLURM = "not root: a Slurm of one's own needs it"


class Shares(ProgramCase):
    def setUp(self):
        super().setUp()
        (self.folder / "study.toml").write_text(STUDY)
        self.document("sweep", "study.toml", "-o", "local", code=1)

    def results(self, out):
        return (self.folder / out / "results.sqlite").read_bytes()

    @unittest.skipIf(shutil.which("mpirun") is None, "no mpirun (Debian: openmpi-bin)")
    def test_of_mpirun(self):
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        done = subprocess.run(["mpirun", "--oversubscribe", "-np", "2", PROGRAM, "sweep",
                               "study.toml", "-o", "out", "--shard", "auto", "--json"],
                              cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=PATIENCE_S)
        self.assertEqual(done.returncode, 0, done)
        shares = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(sum(share["answered_now"] for share in shares), POINTS)
        merged = self.document("sweep", "study.toml", "-o", "out", "--merge", code=1)
        self.assertEqual((merged["left"], merged["failed"]), (0, POINTS // 3))
        self.assertEqual(self.results("out"), self.results("local"))

    @unittest.skipIf(WHY_NO_SLURM, WHY_NO_SLURM)
    def test_of_slurm(self):
        environment = self.start_slurm()
        done = subprocess.run([PROGRAM, "sweep", "study.toml", "-o", "out", "--submit", "slurm",
                               "--shards", "4", "--json"], cwd=self.folder, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(json.loads(done.stdout)["shards"], 4)
        said = self.folder / "out" / "merge.txt"
        end = time.monotonic() + PATIENCE_S
        while not (said.exists() and "results" in said.read_text()):
            self.assertLess(time.monotonic(), end, self.what_slurm_said())
            time.sleep(0.1)
        self.assertEqual(self.results("out"), self.results("local"))
        for shard in range(4):
            self.assertIn("answered", (self.folder / "out" / f"share-{shard}.txt").read_text())

    def what_slurm_said(self):
        return "\n".join(path.read_text(errors="replace")[-2000:]
                         for path in self.folder.glob("*.log"))

    def start_slurm(self):
        """munged, slurmctld and slurmd of one host, unprivileged but for their user; the
        environment of their clients. All of them end with the test."""
        host = socket.gethostname().split(".")[0]
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        self.folder.chmod(0o755)
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        controller, node = free_port(), free_port()
        (self.folder / "slurm.conf").write_text(f"""
ClusterName=here
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={self.folder}/munge.socket
CredType=cred/munge
SlurmctldPort={controller}
SlurmdPort={node}
StateSaveLocation={self.folder}/state
SlurmdSpoolDir={self.folder}/spool
SlurmctldPidFile={self.folder}/slurmctld.pid
SlurmdPidFile={self.folder}/slurmd.pid
SlurmctldLogFile={self.folder}/slurmctld.log
SlurmdLogFile={self.folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=10 State=UP
""")
        environment = dict(os.environ, SLURM_CONF=f"{self.folder}/slurm.conf",
                           PATH=os.environ["PATH"] + ":/usr/sbin")
        self.start(environment, "munged", "-F", "--force", *(
            f"--{name}-file={self.folder}/munge.{name}" for name in ("key", "pid", "log", "seed")),
            f"--socket={self.folder}/munge.socket")
        self.wait_until(lambda: (self.folder / "munge.socket").exists())
        self.start(environment, "slurmctld", "-D")
        self.start(environment, "slurmd", "-D")

        def is_idle():
            said = subprocess.run(["sinfo", "-h", "-o", "%t"], env=environment, capture_output=True,
                                  text=True, timeout=PATIENCE_S)
            return said.stdout.strip() == "idle"
        self.wait_until(is_idle)
        return environment

    def start(self, environment, *command):
        with open(self.folder / f"{command[0]}.out.log", "wb") as out:
            process = subprocess.Popen(command, cwd=self.folder, env=environment,
                                       stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=subprocess.STDOUT, start_new_session=True)

        def end():
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.addCleanup(end)

    def wait_until(self, is_so):
        end = time.monotonic() + PATIENCE_S
        while not is_so():
            self.assertLess(time.monotonic(), end, self.what_slurm_said())
            time.sleep(0.05)


if __name__ == "__main__":
    main()
