"""Arrays show the memory of a run or a schedule: nobody writes it, and it stays while they do."""

import gc
import weakref

import numpy as np

import slackline
from package_case import CHAIN, PackageCase, main


def columns_of(run):
    ops, edges, slack = run.schedule.ops, run.schedule.edges, run.slack()
    for owner, names in (
            (run, ("ready_s", "issued_s", "wire_s", "done_s", "attempts", "cause",
                   "rank_finish_s")),
            (ops, ("kind", "kind_code", "rank", "step", "lane", "channel", "match", "bytes",
                   "peer")),
            (edges, ("pred", "succ", "on_done")),
            (slack, ("total_float_s", "free_float_s", "message_float_s", "critical_path"))):
        for name in names:
            yield name, owner, getattr(owner, name)


class Views(PackageCase):
    def test_nobody_writes(self):
        for name, _, array in columns_of(slackline.compile(CHAIN).simulate()):
            with self.subTest(name=name):
                self.assertFalse(array.flags.writeable)
                with self.assertRaises(ValueError):
                    array[0] = array[1]
                with self.assertRaises(ValueError):
                    array.flags.writeable = True

    def test_nothing_is_copied(self):
        run = slackline.compile(CHAIN).simulate()
        for name in ("ready_s", "issued_s", "wire_s", "done_s", "attempts", "cause"):
            first, second = getattr(run, name), getattr(run, name)
            self.assertIs(first.base, second.base)
            self.assertEqual(first.ctypes.data, second.ctypes.data)
            self.assertEqual(first.strides, (40,))  # the run's own table
        self.assertEqual(run.issued_s.ctypes.data - run.ready_s.ctypes.data, 8)

    def test_an_array_keeps_what_it_shows(self):
        expected = slackline.compile(CHAIN).simulate().done_s.copy()
        held = []
        for _ in range(50):
            run = slackline.compile(CHAIN).simulate()
            slack = run.slack()
            held.append((run.done_s, run.schedule.ops.rank, slack.total_float_s))
            del run, slack
        gc.collect()
        for done_s, rank, float_s in held:
            self.assertEqual(done_s.tolist(), expected.tolist())
            self.assertEqual(rank.tolist(), held[0][1].tolist())
            self.assertEqual(float_s.tolist(), held[0][2].tolist())

    def test_what_nobody_needs_goes(self):
        run = slackline.compile(CHAIN).simulate()
        array, gone = run.done_s, weakref.ref(run)
        del run
        gc.collect()
        self.assertIsNone(gone())
        self.assertIsNotNone(array.base)

    def test_columns_say_what_operations_are(self):
        s = slackline.compile("chain:ranks=3,bytes=1MiB")
        ops = s.ops
        self.assertEqual(len(ops), len(s))
        self.assertEqual(ops.kind.tolist(), [slackline.KINDS[code] for code in ops.kind_code])
        for op in range(len(s)):
            self.assertEqual(s.describe(op), f"op {op} ({ops.kind[op]}, rank {ops.rank[op]})")
        matched = np.flatnonzero(ops.match >= 0)
        self.assertTrue((ops.match[ops.match[matched]] == matched).all())
        self.assertTrue((ops.rank[ops.match[matched]] == ops.peer[matched]).all())
        edges = s.edges
        self.assertTrue((ops.rank[edges.pred] == ops.rank[edges.succ]).all())

    def test_a_schedule_without_operations(self):
        s = slackline.compile("chain:ranks=1,bytes=1MiB")
        run = s.simulate()
        self.assertEqual((len(s), run.makespan_s, len(run.done_s), len(run.slack().total_float_s)),
                         (0, 0, 0, 0))


if __name__ == "__main__":
    main()
