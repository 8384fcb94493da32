"""A group whose member is killed, in simulation: `slackline group`."""

from program_case import ProgramCase, main

# A byte takes 1 ns, and a word between three members 72 ns.
STAR = "star:rate=8Gbps,latency=10us,o_post=1us,o_complete=2us,gap=0,copy_rate=8Gbps"
SPEC = "sequential:ranks=3,bytes=1000B,block=1000B,ready=none"


class Group(ProgramCase):
    def group(self, *arguments):
        return self.document("group", SPEC, "-p", STAR, *arguments)

    def test_survivors(self):
        found = self.group("--kill", "rank=1,at=3us")
        self.assertEqual(found["killed_rank"], 1)
        self.assertAlmostEqual(found["killed_s"], 3e-6)
        members = found["members"]
        self.assertEqual([m["fate"] for m in members], ["failed", "killed", "failed"])
        self.assertAlmostEqual(members[0]["knew_s"], 13e-6)
        self.assertAlmostEqual(members[0]["closed_s"], 27.072e-6)
        self.assertAlmostEqual(members[2]["closed_s"], 28.072e-6)
        self.assertEqual([m["failed_rank"] for m in members], [1, None, 1])
        self.assertIsNone(members[1]["closed_s"])
        text = self.good("group", SPEC, "-p", STAR, "--kill", "rank=1,at=3us")
        self.assertIn("rank 1 at 3 us", text)
        self.assertIn("its process ended, as rank 0 saw", text)

    def test_relay_and_detection(self):
        members = self.group("--kill", "rank=1,at=3us,detect=1ms,seen-by=0")["members"]
        self.assertAlmostEqual(members[0]["knew_s"], 1.013e-3)
        self.assertAlmostEqual(members[2]["knew_s"], 1.026072e-3)
        members = self.group("--kill", "rank=1,at=3us,seen-by=nobody", "--timeout", "2s")["members"]
        self.assertGreaterEqual(members[0]["knew_s"], 2)

    def test_delivery(self):
        kill = "rank=0,at=5us,detect=100us"
        found = self.group("--kill", kill)
        self.assertEqual([m["messages"] for m in found["members"]], [0, 1, 0])
        self.assertEqual(found["messages"],
                         [{"message": 0, "bytes": 1000, "goes_by": "blocks", "members_with_it": 1,
                           "members_complete": 1, "complete_everywhere_s": None}])
        found = self.group("--kill", kill, "--atomic")
        self.assertEqual([m["messages"] for m in found["members"]], [0, 0, 0])
        self.assertEqual([m["messages_here"] for m in found["members"]], [0, 1, 0])
        self.assertLess(found["members"][1]["settled_s"], 1e-3)

    # A write of 976 bytes and a trailer of 24 takes 1 us on the wire. The root is killed when it
    # has written the message to rank 1, and not to 2.
    def test_small_messages(self):
        spec = "sequential:ranks=3,bytes=976B,block=16KiB,ready=none"
        kill = ("--kill", "rank=0,after=2,detect=100us")
        for atomic, complete in (((), [0, 1, 0]), (("--atomic",), [0, 0, 0])):
            found = self.document("group", spec, "-p", STAR, "--small-bytes", "10KiB", *kill, *atomic)
            self.assertEqual((found["small_bytes"], found["small_slots"]), (10240, 16))
            self.assertAlmostEqual(found["killed_s"], 1.976e-6, 12)
            members = found["members"]
            self.assertEqual([m["messages"] for m in members], complete)
            self.assertEqual([m["messages_here"] for m in members], [0, 1, 0])
            self.assertAlmostEqual(members[1]["knew_s"], 111.976e-6, 12)
            self.assertEqual(found["messages"], [{
                "message": 0, "bytes": 976, "goes_by": "slot", "members_with_it": 1,
                "members_complete": sum(complete), "complete_everywhere_s": None}])

    def test_sizes_by_turns(self):
        spec = "sequential:ranks=2,bytes=976B,block=50000B,ready=none"
        mix = ("-p", STAR, "--then", "20000,976", "--small-bytes", "10KiB")
        found = self.document("group", spec, *mix)
        self.assertEqual([m["goes_by"] for m in found["messages"]], ["slot", "blocks", "slot"])
        for message, everywhere_us in zip(found["messages"], (15.952, 77.976, 83.928)):
            self.assertAlmostEqual(message["complete_everywhere_s"], everywhere_us * 1e-6, 12)
        text = self.good("group", spec, *mix, "--count", "4")
        self.assertIn("4 of 976B, 20000B, 976B by turns", text)
        self.assertIn("up to 10 KiB, by 16 slots", text)
        # The switch.
        found = self.document("group", spec, "--then", "10240,10241,0", "--small-bytes", "10240")
        self.assertEqual([m["goes_by"] for m in found["messages"]], ["slot", "slot", "blocks", "slot"])
        found = self.document("group", spec, "--then", "10240,0")
        self.assertEqual({m["goes_by"] for m in found["messages"]}, {"blocks"})
        self.assertIsNone(found["small_slots"])

    def test_nobody_is_killed(self):
        for kill in ((), ("--kill", "rank=1,at=1s")):
            found = self.group("--count", "3", *kill)
            self.assertIsNone(found["killed_s"])
            self.assertEqual(found["killed_rank"], 1 if kill else None)
            self.assertEqual([(m["fate"], m["messages"]) for m in found["members"]], 3 * [("delivered", 3)])
        self.assertIn("nobody", self.good("group", SPEC, "--kill", "rank=1,at=1s"))

    def test_refusals(self):
        for arguments, said in (
                ((SPEC, "--kill", "rank=1"), "expected either at=… or after=…"),
                ((SPEC, "--kill", "rank=1,at=1us,after=2"), "expected either at=… or after=…"),
                ((SPEC, "--kill", "rank=3,at=1us"), "rank 3 is no member; expected 0 to 2"),
                ((SPEC, "--kill", "rank=1,at=1us,seen-by=1"), "cannot see that rank 1 is gone"),
                ((SPEC, "--kill", "rank=1,at=1us,seen-by=x"), "seen-by"),
                ((SPEC, "--fail", "rank=1,at=1us"), "expected a kill, and no failure beside"),
                ((SPEC + ",root=1",), "expected no more"),
                ((SPEC.replace("none", "write"),), "groups cannot take write; expected send or none"),
                ((SPEC, "--small-slots", "4"), "expected --small-bytes, too"),
                ((SPEC, "--small-bytes", "2MiB"), "--small-bytes: '2MiB' is more than a slot takes; expected at most 1MiB"),
                ((SPEC, "--small-bytes", "1KiB", "--small-slots", "0"), "not a whole number from 1 to 65536"),
                ((SPEC, "--then", "1KiB,x"), "--then"),
                (("circulant:ranks=3,bytes=1KiB",), "groups cannot take circulant")):
            self.assertIn(said, self.bad("group", *arguments))


if __name__ == "__main__":
    main()
