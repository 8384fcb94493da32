"""Other threads of Python go on while one simulates; and Ctrl-C ends what takes long."""

import subprocess
import sys
import threading
import time

import slackline
from package_case import PIPELINE, PackageCase, main

# Its work takes seconds, and would be done if nothing ended it. The signal comes while it goes on:
# once it has had a processor for a while, which a busy machine may keep from it at first.
# How it ended is printed.
ENDED = """
import os, signal, threading, time, traceback
import slackline
s = slackline.compile({spec!r})
started = threading.Event()
def end():
    started.wait()
    {wait}
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=end, daemon=True).start()
try:
    begin = time.process_time()
    started.set()
    {work}
    print("done")
except KeyboardInterrupt as error:
    print("ended in", traceback.extract_tb(error.__traceback__)[-1].name)
"""
NOISE = "delays=[slackline.Noise('exponential', mean='1us')]"
LARGE = "binomial-pipeline:ranks=64,bytes=8GiB,block=1MiB"


class Threads(PackageCase):
    def while_others_count(self, work):
        """Whether another thread counts while `work` goes on: it can only then, since nobody else
        gives up the interpreter's lock.
        """
        count, stop = [0], threading.Event()

        def counter():
            while not stop.is_set():
                count[0] += 1
                time.sleep(0)  # gives up the lock

        thread = threading.Thread(target=counter)
        before_interval = sys.getswitchinterval()
        sys.setswitchinterval(1000)
        self.addCleanup(sys.setswitchinterval, before_interval)
        thread.start()
        self.addCleanup(lambda: (stop.set(), thread.join()))
        before = count[0]
        for _ in range(1000):
            work()
            if count[0] > before:
                return True
        return False

    def test_a_simulation(self):
        s = slackline.compile(PIPELINE)
        self.assertTrue(self.while_others_count(s.simulate))

    def test_a_proof(self):
        s = slackline.compile(PIPELINE)
        self.assertTrue(self.while_others_count(s.check))

    def test_work_that_keeps_the_lock_shows(self):
        self.assertFalse(self.while_others_count(lambda: sum(range(100))))

    def test_several_threads_simulate_at_once(self):
        s = slackline.compile(PIPELINE)
        expected, found = s.simulate().makespan_s, []
        threads = [threading.Thread(target=lambda: found.append(s.simulate().makespan_s))
                   for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [expected] * 8)

    def ending(self, spec, work, wait="while time.process_time() - begin < 0.1: time.sleep(0.01)"):
        script = ENDED.format(spec=spec, work=work, wait=wait)
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        return done.stdout.strip() or done.stderr

    def test_ctrl_c_ends_a_run(self):
        self.assertEqual(self.ending(LARGE, "s.simulate(engine='event')"), "ended in simulate")

    def test_ctrl_c_ends_samples(self):
        for engine in ("flow", "simgrid"):
            if engine in slackline.engines():
                work = f"s.samples(count=1000000, engine={engine!r}, {NOISE})"
                self.assertEqual(self.ending(PIPELINE, work), "ended in sampled")

    def test_ctrl_c_ends_a_real_run(self):
        work = "s.run('shm', iterations=1000000000)"
        # The ranks are processes of their own.
        self.assertRegex(self.ending("chain:ranks=2,bytes=1KiB", work, wait="time.sleep(0.1)"),
                         "^ended in ")


if __name__ == "__main__":
    main()
