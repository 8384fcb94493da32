"""Where the program writes: before the work it says what cannot be written, and it leaves nothing half."""

import os

from program_case import CHAIN, ProgramCase, main

# Each command with an option that names a file, and input that is refused once it is looked at.
WRITERS = (
    ("compile", "x.sched", "-o"), ("export", "x.sched", "--to", "csv", "-o"),
    ("simulate", "x.sched", "--trace"), ("simulate", "x.sched", "--links"),
    ("simulate", "--workload", "x.sched", "--messages"), ("slack", "x.sched", "--heat-map"),
    ("slack", "x.sched", "--chrome"), ("slack", "x.sched", "--report"),
    ("simulate", "x.sched", "--report"), ("validate", "x.sched", "--report"), ("run", "x.sched", "--report"),
    ("report", "x.sched", "-o"), ("validate", "x.sched", "--plot"), ("validate", "x.sched", "--csv"),
    ("offload", "x.sched", "-o"), ("offload", "x.sched", "--dot"), ("offload", "x.sched", "--encode"),
    ("convert", "x.sched", "--to", "chrome", "-o"), ("compare", "x.sched", "x.sched", "--chrome"),
    ("calibrate", "--points", "x.sched", "-o"), ("calibrate", "--points", "x.sched", "--residuals"),
    ("run", "x.sched", "--trace"))


class Files(ProgramCase):
    def test_what_cannot_be_written_is_said_before_the_work(self):
        self.write("x.sched", "of no use")
        self.write("protected", "mine")
        os.chmod(self.folder / "protected", 0o444)
        for writer in WRITERS:
            place = "x.sched/below" if writer[-1] == "--encode" else "none/x"
            self.assertIn("cannot write", self.bad(*writer, place))
            if writer[-1] == "--encode":
                continue
            self.assertIn("write-protected (mode 444)", self.bad(*writer, "protected"))
            self.assertEqual(self.read("protected"), "mine")

    def test_drawings_do_not_pass_for_other_pictures(self):
        for command in (("slack", CHAIN, "--heat-map"), ("validate", CHAIN, "--plot"), ("sweep", "x.toml", "--plot"),
                        ("advise", "--ranks", "2", "--bytes", "1KiB", "--plot"),
                        ("simulate", CHAIN, "--samples", "3", "--plot")):
            option = command[-1]
            self.assertIn(f"{option}: 'x.png': drawings are SVG; expected a name such as 'x.svg'",
                          self.bad(*command, "x.png"))
            self.assertFalse((self.folder / "x.png").exists())

    def test_a_link_to_nothing_is_followed(self):
        os.symlink("there", self.folder / "link")
        self.good("compile", CHAIN, "-o", "link")
        self.assertTrue((self.folder / "link").is_symlink())
        self.assertIn("slackline schedule", self.read("there"))


if __name__ == "__main__":
    main()
