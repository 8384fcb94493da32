"""GOAL programs of any kind: as text and bytes, with eager messages, with several NICs."""

import pathlib

from program_case import CHAIN, ProgramCase, main

# Programs of our own, each of which shows one thing.
PROGRAMS = pathlib.Path(__file__).resolve().parents[1] / "data" / "goal"
# A byte takes a nanosecond, and a message 2.5 us; nothing else takes time.
MACHINE = ("--platform", "star:rate=1GBps,latency=2500ns,o_post=0,o_complete=0,gap=0,interleave=0")


class Goal(ProgramCase):
    def makespan_s(self, *arguments):
        return self.document("simulate", *arguments, *MACHINE, "--engine", "event")["makespan_s"]

    def test_text_to_bytes_to_text(self):
        for program in sorted(PROGRAMS.glob("*.goal")):
            options = ("--eager", "1MiB", "--one-nic")
            text = self.good("export", program, *options, "--to", "goal")
            self.good("export", program, *options, "--to", "goal-bin", "-o", "x.bin")
            self.write("x.goal", text)
            self.assertEqual(self.good("export", "x.bin", "--eager", "1MiB", "--to", "goal"),
                             self.good("export", "x.goal", "--eager", "1MiB", "--to", "goal"))
            for options in ((), ("--eager", "1MiB")):
                ends = [self.run_program("check", f"x.{form}", *options) for form in ("goal", "bin")]
                self.assertEqual(ends[0].out, ends[1].out)
                self.assertEqual(ends[0].code, ends[1].code, ends)

    def test_bytes_go_into_files(self):
        self.assertIn("goal-bin is no text", self.bad("export", CHAIN, "--to", "goal-bin", "--json"))
        document = self.document("export", CHAIN, "--to", "goal-bin", "-o", "x.bin")
        self.assertEqual(document["file_bytes"], (self.folder / "x.bin").stat().st_size)
        self.assertEqual((self.folder / "x.bin").read_bytes()[:8], b"\x7f\x10" + bytes(6))

    def test_an_exchange_needs_a_buffer(self):
        program = PROGRAMS / "exchange.goal"
        # Both send, then receive.
        refused = self.bad("check", program)
        self.assertIn("deadlock: ", refused)
        self.assertIn("or --eager 8192, with which sends of up to so many bytes are buffered",
                      refused)
        self.assertIn("or --eager 8192", self.bad("check", program, "--eager", "8191"))
        self.assertIn("proved 2 ranks", self.good("check", program, "--eager", "8KiB"))
        # Both messages are under way at once.
        for engine in ("event", "flow", "analytic"):
            document = self.document("simulate", program, "--eager", "8KiB", *MACHINE, "--engine",
                                     engine)
            self.assertAlmostEqual(document["makespan_s"], 10.692e-6, 15, engine)

    def test_what_follows_an_eager_send_does_not_wait_for_its_receive(self):
        program = PROGRAMS / "late_receive.goal"
        # The receive is posted at 102.501 us. Then its send is over 2.5 us later, and a calc of 1 us
        # follows; or nothing is left to be done.
        self.assertAlmostEqual(self.makespan_s(program), 106.001e-6, 15)
        self.assertAlmostEqual(self.makespan_s(program, "--eager", "4KiB"), 102.501e-6, 15)
        self.assertEqual(self.makespan_s(program, "--eager", "4095"), self.makespan_s(program))

    def test_sizes_on_both_sides_of_the_limit_meet_in_their_order(self):
        self.write("x.goal", "num_ranks 2\nrank 0 {\na: send 10b to 1\nb: send 9000b to 1\n}\n"
                             "rank 1 {\nc: recv 9000b from 0\nd: recv 10b from 0\n}\n")
        for options in ((), ("--eager", "100")):
            self.assertIn("'a' of rank 0 sends 10 bytes, but 'c' of rank 1 (line 7) receives 9000",
                          self.bad("check", "x.goal", *options))

    def test_several_nics(self):
        # All that a rank sends goes over one, all that it receives over another.
        self.good("check", PROGRAMS / "out_and_in.goal")
        refused = self.bad("check", PROGRAMS / "two_nics.goal")
        self.assertIn("two_nics.goal:6: 'b' is on NIC 1, and 'a' on NIC 0; a rank has one NIC here: "
                      "expected one for all that it sends, --nics N, with which they are the rails of a "
                      "platform, or --one-nic", refused)
        self.good("check", PROGRAMS / "two_nics.goal", "--one-nic")

    def test_the_nics_of_a_program_are_rails(self):
        # 65,536 bytes at a byte a nanosecond on each NIC, and 1 us on the way; or both on one.
        def machine(rails):
            return ("-e", "event", "-p", f"star:rate=1GBps,latency=1us,o_post=0,o_complete=0,gap=0{rails}")
        program = PROGRAMS / "two_nics.goal"
        two = self.document("simulate", program, "--nics", "2", *machine(",rails=2,rail=channel"))
        self.assertAlmostEqual(two["makespan_s"], 65536e-9 + 2e-6, 12)
        one = self.document("simulate", program, "--one-nic", *machine(""))
        self.assertAlmostEqual(one["makespan_s"], 2 * 65536e-9 + 2e-6, 12)
        self.assertIn("--nics 2: the platform has rails=1,rail=rank; expected rails=2,rail=channel",
                      self.bad("simulate", program, "--nics", "2", *machine("")))
        self.assertIn("--nics 2: the platform has rails=2,rail=rank; expected rails=2,rail=channel",
                      self.bad("slack", program, "--nics", "2", *machine(",rails=2")))
        self.assertIn("'b' is on NIC 1; expected 0 to 0, since --nics says 1",
                      self.bad("check", program, "--nics", "1"))
        self.assertIn("--nics stands beside --one-nic",
                      self.bad("check", program, "--nics", "2", "--one-nic"))
        # Written again and read again, as text and as bytes, they are where they were.
        self.good("export", program, "--nics", "2", "--rails", "2", "--to", "goal", "-o", "x.goal")
        self.assertEqual(self.read("x.goal").count(" nic 1"), 2)
        self.good("export", "x.goal", "--nics", "2", "--rails", "2", "--to", "goal-bin", "-o", "x.bin")
        for again in ("x.goal", "x.bin"):
            document = self.document("simulate", again, "--nics", "2", *machine(",rails=2,rail=channel"))
            self.assertEqual(document["makespan_s"], two["makespan_s"])
        self.assertIn("--rails: csv says nothing of NICs; expected goal or goal-bin",
                      self.bad("export", CHAIN, "--to", "csv", "--rails", "2"))

    def test_the_options_are_for_programs(self):
        self.compiled(CHAIN)
        for option in (("--eager", "1KiB"), ("--one-nic",), ("--nics", "2"), ("--chunk", "1KiB")):
            self.assertIn(f"{option[0]}: {CHAIN} is a spec; expected a file of another tool",
                          self.bad("check", CHAIN, *option))
            self.assertIn(f"{option[0]}: x.sched has another form; expected ",
                          self.bad("check", "x.sched", *option))

    def test_what_was_compiled_keeps_them(self):
        self.good("compile", PROGRAMS / "exchange.goal", "--eager", "8KiB", "-o", "x.sched")
        self.assertIn("service eager", self.read("x.sched"))
        self.assertEqual(self.document("check", "x.sched")["digest"],
                         self.document("check", PROGRAMS / "exchange.goal", "--eager",
                                       "8KiB")["digest"])
        self.good("export", "x.sched", "--to", "json", "-o", "x.json")
        self.assertEqual(self.document("check", "x.json")["digest"],
                         self.document("check", "x.sched")["digest"])


if __name__ == "__main__":
    main()
