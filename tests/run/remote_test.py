"""Ranks that one process starts on several hosts: by a program in ssh's place, which starts what it
is given here, and by a real sshd on hosts made of network namespaces.
"""

import json
import os
import pathlib
import random
import re
import signal
import stat
import subprocess
import time

from program_case import PROGRAM, main, stat_of
from rank_case import PATIENCE_S, RankCase, with_patience

SPEC = "binomial-pipeline:ranks=4,bytes=1MiB,block=64KiB"
LONG = ("--iterations", "100000000", "--failure-timeout", "4s")

# Takes ssh's place: leaves what it was given, its number and its folder of the host, then does it.
FAKE_SSH = """#!/bin/sh
while [ "$1" != -- ]; do options="$options $1"; shift; done
host="$2"
printf '%s\\n' "$options" > "FOLDER/options.$host"
printf '%s\\n' "$3" > "FOLDER/command.$host"
echo $$ > "FOLDER/pid.$host"
cd FOLDER
HOST="$host"
DO
"""


class RemoteCase(RankCase):
    def fake_ssh(self, do='exec sh -c "$3"'):
        path = self.folder / "fake-ssh"
        path.write_text(FAKE_SSH.replace("FOLDER", str(self.folder)).replace("DO", do))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def hosts(self, *lines):
        return self.write("hosts.txt", "".join(f"{line}\n" for line in lines))

    def descendants_gone(self, before):
        """Waits until no process runs this test's program that did not before."""
        end = time.monotonic() + PATIENCE_S
        while True:
            left = self.programs() - before
            if not left:
                return
            self.assertLess(time.monotonic(), end, f"processes left: {left}")
            time.sleep(0.02)

    def programs(self):
        """Processes of the program whose command line has this test's folder."""
        found = set()
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                cwd = os.readlink(path / "cwd")
                exe = os.readlink(path / "exe")
            except OSError:
                continue
            if exe == str(PROGRAM) and cwd == str(self.folder) and (
                    stat_of(path.name) or "Z")[0] not in "ZX":
                found.add(int(path.name))
        return found


class FakeSsh(RemoteCase):
    def test_one_answer_from_two_hosts(self):
        self.hosts("one slots=2 address=127.0.0.1  # here", "two slots=2 user=me")
        for order in ("fill", "cycle"):
            for transport in ("auto", "tcp"):
                document = self.document("run", SPEC, "--hosts", "hosts.txt", "--ssh",
                                         self.fake_ssh(), "--place", order, "--transport",
                                         transport)
                self.assertTrue(document["bytes_proved"])
                self.assertEqual(len(document["rank_finish_s"]), 4)
        self.assertEqual(self.read("options.one"), " -o BatchMode=yes\n")
        self.assertEqual(self.read("options.two"), " -o BatchMode=yes -l me\n")
        self.assertIn("run --agent --host 127.0.0.1 ", self.read("command.one"))
        self.descendants_gone(set())

    def test_hosts_that_are_not_needed_are_left_alone(self):
        self.hosts("one slots=4", "two slots=4")
        self.assertTrue(self.document("run", SPEC, "--hosts", "hosts.txt", "--ssh",
                                      self.fake_ssh())["bytes_proved"])
        self.assertFalse((self.folder / "pid.two").exists())

    def test_what_people_read_and_traces(self):
        self.hosts("one slots=3 address=127.0.0.1", "two slots=1")
        text = self.good("run", SPEC, "--hosts", "hosts.txt", "--ssh", self.fake_ssh(), "--trace",
                         "it's a trace", "-t", "tcp")
        self.assertIn("proved at every rank", text)
        self.assertEqual(json.loads(self.read("it's a trace"))["engine"], "run:net")
        trace = self.good("run", SPEC, "--hosts", "hosts.txt", "--ssh", self.fake_ssh(), "--trace",
                          "-", "-t", "tcp")
        self.assertEqual(json.loads(trace)["engine"], "run:net")

    def test_calibrate_and_validate(self):
        self.hosts("one address=127.0.0.1", "two")
        ssh = self.fake_ssh()
        self.good("calibrate", "--hosts", "hosts.txt", "--ssh", ssh, "--repeats", 1, "-o",
                  "two.toml")
        self.assertTrue((self.folder / "two.toml").exists())
        done = self.run_program("validate", "chain:ranks=2,bytes=64KiB,block=16KiB", "--on", "run",
                                "--hosts", "hosts.txt", "--ssh", ssh, "--ops", 2, "--repeats", 1,
                                "--json")
        # Whether so few runs agree with their prediction is not what is asked here.
        self.assertIn(done.code, (0, 1), done)
        self.assertEqual(json.loads(done.out)["on"], "run:shm", done)

    def test_shells_that_greet(self):
        self.hosts("one slots=2 address=127.0.0.1", "two slots=2")
        ssh = self.fake_ssh('echo Welcome; printf "no line feed"; echo hm >&2; exec sh -c "$3"')
        self.assertTrue(self.document("run", SPEC, "--hosts", "hosts.txt", "--ssh",
                                      ssh)["bytes_proved"])

    def test_the_secret_goes_by_standard_input_alone(self):
        self.hosts("one slots=2 address=127.0.0.1", "two slots=2")
        heard = 'tee "FOLDER/heard.$HOST" | sh -c "$3"'.replace("FOLDER", str(self.folder))
        run = subprocess.Popen([PROGRAM, "run", SPEC, *LONG, "--hosts", "hosts.txt", "--ssh",
                                self.fake_ssh(heard)], cwd=self.folder, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(run.stdout.close)
        self.addCleanup(run.stderr.close)
        secrets = self.until(lambda: [
            re.search(r"^secret ([0-9a-f]{64})\ngo\n", path.read_text(), re.M)
            for path in sorted(self.folder.glob("heard.*"))], lambda found: len(found) == 2
            and all(found), run)
        secret = secrets[0].group(1)
        self.assertEqual(secrets[1].group(1), secret)
        looked = 0
        for pid in self.programs() | {run.pid}:
            for name in ("cmdline", "environ"):
                try:
                    self.assertNotIn(secret.encode(),
                                     pathlib.Path(f"/proc/{pid}/{name}").read_bytes())
                    looked += 1
                except FileNotFoundError:
                    pass
        self.assertGreater(looked, 4)
        self.assertNotIn(secret, self.read("command.one"))
        run.send_signal(signal.SIGTERM)
        out, err = run.communicate(timeout=PATIENCE_S)
        self.assertNotIn(secret.encode(), out + err)
        self.descendants_gone(set())

    def until(self, look, good, run):
        end = time.monotonic() + PATIENCE_S
        while True:
            found = look()
            if good(found):
                return found
            self.assertLess(time.monotonic(), end)
            self.assertIsNone(run.poll(), run.stderr.read() if run.poll() is not None else "")
            time.sleep(0.02)

    def refused(self, do, code=3, hosts=("one slots=2 address=127.0.0.1", "two slots=2"), *more):
        self.hosts(*hosts)
        ssh = self.fake_ssh(do)
        done = self.run_program("run", SPEC, "--hosts", "hosts.txt", "--ssh", ssh, *more)
        self.assertEqual((done.code, done.out, done.err.count("\n")), (code, "", 1), done)
        self.descendants_gone(set())
        return done.err

    ON_TWO = '[ "$HOST" = two ] || exec sh -c "$3"\n'

    def test_a_host_that_cannot_be_reached(self):
        said = self.refused(self.ON_TWO + 'echo "a banner" >&2; echo "ssh: connect to host two '
                            'port 22: No route to host" >&2; exit 255')
        self.assertEqual(said, "slackline: host two cannot be reached: ssh: connect to host two "
                         "port 22: No route to host\n")

    def test_a_host_without_the_program(self):
        said = self.refused('exec sh -c "$3"', 3, ("one slots=4",), "--remote-program",
                            "/no/such/slackline")
        self.assertIn("host one has no program /no/such/slackline: ", said)
        self.assertIn("not found; expected --remote-program PATH", said)

    def test_a_host_with_another_version(self):
        said = self.refused(self.ON_TWO + 'echo "slackline-agent 1 0.0.9"; exec cat > /dev/null')
        self.assertRegex(said, r"host two has slackline 0\.0\.9, and this host \d+\.\d+\.\d+; "
                         r"expected one version")

    def test_a_host_without_the_schedule(self):
        self.compiled(SPEC, "x.sched")
        self.hosts("one slots=2 address=127.0.0.1", "two slots=2")
        ssh = self.fake_ssh('[ "$HOST" = one ] || { mkdir -p empty; cd empty; '
                            'exec sh -c "${3#cd*; }"; }\nexec sh -c "$3"')
        done = self.run_program("run", "x.sched", "--hosts", "hosts.txt", "--ssh", ssh)
        self.assertEqual((done.code, done.out, done.err.count("\n")), (2, "", 1), done)
        self.assertIn("host two: ", done.err)
        self.assertIn("x.sched", done.err)

    def test_a_host_with_another_schedule(self):
        ssh = self.ON_TWO + 'exec sh -c "$(printf %s "$3" | sed s/bytes=1MiB/bytes=2MiB/)"'
        said = self.refused(ssh, 2)
        self.assertIn("schedule", said)

    def test_words_of_no_agent(self):
        said = self.refused(self.ON_TWO + 'echo "slackline-agent 1 VERSION"; echo nonsense; '
                            'exec cat > /dev/null'.replace("VERSION", self.version()))
        self.assertIn("host two: what it says is no word of an agent: an unknown line", said)

    def version(self):
        return self.good("--version").split()[1]

    def test_a_host_that_says_nothing_is_waited_for_as_long_as_said(self):
        self.hosts("one slots=2 address=127.0.0.1", "two slots=2")
        ssh = self.fake_ssh(self.ON_TWO + "exec cat > /dev/null")

        def wait_for_it(more):
            return [self.run_program("run", SPEC, "--hosts", "hosts.txt", "--ssh", ssh,
                                     "--join-timeout", f"{more}s")]

        more, (done,) = with_patience(wait_for_it, "host one ")
        self.assertEqual((done.code, done.out, done.err.count("\n")), (3, "", 1), done)
        self.assertIn(f"host two did not answer within {more} s: it said nothing", done.err)
        self.descendants_gone(set())

    def test_no_ssh(self):
        self.hosts("one slots=4")
        said = self.bad("run", SPEC, "--hosts", "hosts.txt", "--ssh", "/no/such/ssh", code=3)
        self.assertIn("/no/such/ssh cannot be started: No such file or directory", said)

    def start(self, transport="auto"):
        """A run that lasts, with ranks on two hosts; once they run."""
        self.hosts("one slots=2 address=127.0.0.1", "two slots=2")
        run = subprocess.Popen(
            [PROGRAM, "run", SPEC, *LONG, "--hosts", "hosts.txt", "--ssh", self.fake_ssh(),
             "--transport", transport], cwd=self.folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(run.stdout.close)
        self.addCleanup(run.stderr.close)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        # This process, two agents and four ranks; and who removes what they leave in shared memory.
        processes = 9 if transport == "auto" else 7
        self.until(self.programs, lambda found: len(found) >= processes, run)
        return run

    def test_whatever_ends_this_process_ends_the_ranks(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
            for transport in ("auto", "tcp"):
                since = time.time()
                run = self.start(transport)
                processes = list(self.programs())
                time.sleep(random.choice((0, 0.2)))
                run.send_signal(number)
                out, err = run.communicate(timeout=PATIENCE_S)
                self.assertEqual((run.returncode, out), (-number, b""), err)
                self.assertEqual(err.count(b"\n"), 0 if number == signal.SIGKILL else 1, err)
                self.descendants_gone(set())
                self.until(lambda: self.segments_of(processes, since), lambda left: not left, Gone)

    def test_an_ssh_that_is_killed_ends_the_run(self):
        for number in (signal.SIGKILL, signal.SIGTERM):
            run = self.start()
            # With exec all the way, the agent has the number of what took ssh's place.
            os.kill(int(self.read("pid.two")), number)
            out, err = run.communicate(timeout=PATIENCE_S)
            self.assertEqual((run.returncode, out, err.count(b"\n")), (1, b"", 1), err)
            self.assertIn(b"two is lost" if number == signal.SIGKILL else b"ended by signal 15", err)
            self.descendants_gone(set())

    def test_a_rank_that_is_killed_is_named(self):
        run = self.start()
        agents = {int(self.read(f"pid.{host}")) for host in ("one", "two")}

        def ranks_there():
            # Who removes what they leave goes to a session of its own, but not at birth.
            return sorted(pid for pid in self.programs()
                          if stat_of(pid)[1] in agents and os.getsid(pid) != pid)

        ranks = self.until(ranks_there, lambda found: len(found) == 4, run)
        os.kill(ranks[-1], signal.SIGKILL)
        out, err = run.communicate(timeout=PATIENCE_S)
        self.assertEqual((run.returncode, out, err.count(b"\n")), (1, b"", 1), err)
        self.assertRegex(err, rb"rank [0-3] was ended by signal 9")
        self.descendants_gone(set())


class Gone:
    """A run that has ended, for until()."""

    @staticmethod
    def poll():
        return None


if __name__ == "__main__":
    main()
