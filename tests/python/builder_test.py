"""Schedules of one's own are those that patterns and files make."""

import slackline
from package_case import CHAIN, PackageCase, main


def one_message(post=True):
    b = slackline.Schedule.builder(ranks=2, title="one message")
    here, there = b.buffer(0, "4KiB"), b.buffer(1, "4KiB")
    way = b.channel(0, 1)
    b.recv(way, there)
    b.send(way, here)
    b.pre(here, value=0)
    if post:
        b.post(there, value=0)
    return b


class Builders(PackageCase):
    def test_a_schedule_is_built_again_from_its_parts(self):
        text = slackline.compile("chain:ranks=3,bytes=2MiB,block=1MiB,ready=none").export("text")
        (self.folder / "chain.sched").write_text(text)
        original = slackline.read(self.folder / "chain.sched")
        b = slackline.Schedule.builder(ranks=3)
        b.message_bytes("2MiB")
        buffers = [b.buffer(rank, "2MiB") for rank in range(3)]
        channels = [b.channel(0, 1), b.channel(1, 2)]
        handles = {}
        ops, edges = original.ops, original.edges
        for op in range(len(original)):
            after = [handles[p] for p, s in zip(edges.pred.tolist(), edges.succ.tolist())
                     if s == op]
            channel = channels[ops.channel[op]]
            memory = buffers[ops.rank[op]]
            block = sum(1 for other in range(op) if (ops.kind[other], ops.rank[other]) ==
                        (ops.kind[op], ops.rank[op]))
            piece = memory[block * 2**20:(block + 1) * 2**20]
            add = b.send if ops.kind[op] == "send" else b.recv
            handles[op] = add(channel, piece, step=int(ops.step[op]), after=after)
        b.pre(buffers[0], value=0)
        for memory in buffers:
            b.post(memory, value=0)
        self.assertEqual(b.build().digest, original.digest)

    def test_transfers_are_a_pattern(self):
        chain = [(step, rank, rank + 1, block) for block in range(2) for rank in range(2)
                 for step in [block + rank]]
        for options, spec in (({}, CHAIN), ({"lower": "put", "ready": "write", "window": 2},
                                            CHAIN + ",lower=put,ready=write,window=2"),
                              ({"lockstep": True}, CHAIN + ",order=lockstep"),
                              ({"ready": "none", "in_flight": 0},
                               CHAIN + ",ready=none,in-flight=0")):
            own = slackline.Schedule.from_transfers(3, chain, bytes="2MiB", **options)
            self.assertEqual(own, slackline.compile(spec), spec)
            own.prove()

    def test_transfers_of_what_nobody_has_are_found(self):
        for transfers in ([(0, 1, 2, 0)], [(0, 0, 1, 0), (0, 1, 2, 0)]):
            with self.assertRaisesRegex(slackline.InputError, "rank 1 has no block 0"):
                slackline.Schedule.from_transfers(3, transfers, bytes="1MiB")
        # Not all ranks get it.
        s = slackline.Schedule.from_transfers(3, [(0, 0, 1, 0)], bytes="1MiB")
        self.assertEqual({found.code for found in s.check()}, {"post"})
        self.assertRaisesRegex(slackline.InputError, "post", s.prove)
        for transfer in ((0, 0, 0, 0), (0, 0, 3, 0), (0, 0, 1, 1), (0, 7, 1, 0)):
            with self.assertRaisesRegex(slackline.InputError, r"transfer \("):
                slackline.Schedule.from_transfers(3, [transfer], bytes="1MiB")

    def test_what_is_of_another_builder_is_refused(self):
        b, other = slackline.Schedule.builder(2), slackline.Schedule.builder(2)
        way, here = b.channel(0, 1), b.buffer(0, 8)
        send = b.send(way, here)
        others_way, others = other.channel(0, 1), other.buffer(1, 8)
        others_send = other.send(others_way)
        for kind, work in (("buffer", lambda: b.send(way, others)),
                           ("buffer", lambda: b.pre(others, value=0)),
                           ("channel", lambda: b.send(others_way, here)),
                           ("channel", lambda: b.channel(1, 0, credit_on=others_way)),
                           ("operation", lambda: b.send(way, here, after=others_send)),
                           ("operation", lambda: b.send(way, here, after=others_send.issued)),
                           ("operation", lambda: b.wait(send, others_send)),
                           ("operation", lambda: b.wait(others_send, send))):
            self.assertRaisesRegex(slackline.InputError, f"{kind} of another builder", work)
        b.recv(way)
        b.build()
        # It begins anew.
        self.assertRaisesRegex(slackline.InputError, "channel of another builder",
                               lambda: b.send(way))

    def test_ids_are_known_once_it_is_built(self):
        b = slackline.Schedule.builder(ranks=2)
        way = b.channel(0, 1)
        there = b.recv(way)
        here = b.send(way)
        self.assertRaises(slackline.InputError, lambda: here.id)
        s = b.build()
        self.assertEqual([here.id, there.id], [0, 1])
        self.assertEqual(s.ops.kind[here], "send")
        late = s.simulate(delays=[slackline.Delay(op=here.id, by="5us")])
        self.assertAlmostEqual(late.makespan_s - s.simulate().makespan_s, 5e-6, delta=1e-9)

    def test_defects_are_found(self):
        self.assertEqual(one_message().build().check(), [])
        b = one_message(post=False)
        b.post(b.buffer(1, 16), value=0)
        found = b.build().check()
        self.assertEqual([(f.code, f.is_error, f.op) for f in found], [("post", True, None)])

    def test_every_kind(self):
        b = slackline.Schedule.builder(ranks=2)
        a, c = b.buffer(0, 64), b.buffer(1, 64)
        way, back = b.channel(0, 1), b.channel(1, 0)
        b.pre(a[0:16], value=0)
        b.pre(c[48:56], value=1)
        put = b.put(way, a[0:8], c[0:8], notify="flag")
        b.poll(c[7:8], sees=put)
        imm = b.put(way, a[0:8], c[8:16], notify="imm", after=put)
        b.recv(way)
        got = b.get(way, c[48:56], a[16:24], after=imm)
        add = b.fetch_add(way, c[56:64], a[24:32], operand=5, after=[imm, got])
        swap = b.compare_swap(way, c[56:64], a[32:40], compare=5, swap=9, after=add)
        copy = b.copy(a[0:8], a[40:48], after=swap)
        b.reduce([a[0:8], a[8:16]], a[48:56], after=copy)
        b.calc(0, "1us", lane=1, after=copy.issued)
        wait = b.delay(1, 1e-6)
        last = b.join(1, after=wait)
        b.wait(b.send(back), after=last)
        b.recv(back)
        b.post(a[40:48], value=0)
        s = b.build().prove()
        self.assertEqual(set(s.ops.kind), set(slackline.KINDS) - {"flush", "fetch_and", "fetch_or",
                                                                  "fetch_xor"})
        self.assertTrue(s.simulate().complete)
        s.write(self.folder / "all.sched")
        self.assertEqual(slackline.read(self.folder / "all.sched"), s)

    def test_results_are_operands(self):
        b = slackline.Schedule.builder(ranks=2)
        here, there = b.buffer(0, 64), b.buffer(1, 64)
        way = b.channel(0, 1)
        ticket = b.fetch_add(way, there[0:8], here[0:8], operand=1)
        b.pre(here[8:16], value=0)
        b.put(way, here[8:16], there[8:16], after=ticket,
              offset=slackline.Result(ticket, times=8, modulo=48))
        s = b.build()
        self.assertIn("result:0*8%48", s.export("text"))
        self.assertTrue(s.simulate().complete)

    def test_retries_are_dynamic(self):
        b = slackline.Schedule.builder(ranks=2)
        here, there = b.buffer(0, 8), b.buffer(1, 8)
        lock = b.compare_swap(b.channel(0, 1), there[:], here[:], compare=0, swap=1)
        b.retry(lock, lock, attempts=3)
        s = b.build()
        self.assertIn("region", s.export("text"))
        self.assertEqual(s.simulate().attempts.tolist(), [1])

    def test_what_does_not_fit(self):
        for text, work in (
                ("0 <= begin", lambda b, m, w: m[0:5000]),
                ("begin:end", lambda b, m, w: m[::2]),
                ("notify", lambda b, m, w: b.put(w, m, m, notify="x")),
                ("rank 7", lambda b, m, w: (b.buffer(7, 8), b.build())),
                ("rank", lambda b, m, w: (b.calc(5, "1us"), b.build())),
                ("", lambda b, m, w: (b.send(w, after=b.recv(w)), b.build()))):
            b = slackline.Schedule.builder(ranks=2)
            memory, way = b.buffer(0, 8), b.channel(0, 1)
            with self.subTest(text=text):
                self.assertRaisesRegex(slackline.InputError, text, work, b, memory, way)


if __name__ == "__main__":
    main()
