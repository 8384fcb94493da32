"""Names that a stranger may have chosen: of platforms, files, links. They are shown, and obeyed by none."""

import json

from program_case import CHAIN, ProgramCase, main

ORDER = "`touch PWNED`"
ESCAPES = "a\x1b[2J\x9b\u202eb"


class Strangers(ProgramCase):
    def platform(self, name):
        return self.write("platform.toml", f'schema = 1\nname = {json.dumps(name)}\n')

    def test_a_platform_orders_nothing(self):
        platform = self.platform(f"lab {ORDER}")
        before = self.files()
        self.good("validate", CHAIN, "-p", platform, "--choose", "most", "--delay", "1us", "--plot", "v.svg")
        self.assertEqual(self.files(), sorted([*before, "v.svg"]))
        self.assertIn(f"lab {ORDER}", self.read("v.svg"))

    def test_a_file_orders_nothing(self):
        name = self.compiled(CHAIN, f"{ORDER}.sched")
        before = self.files()
        self.good("slack", name, "--heat-map", "map.svg")
        self.assertEqual(self.files(), sorted([*before, "map.svg"]))
        self.assertIn(ORDER, self.read("map.svg"))

    def test_a_terminal_sees_no_escapes(self):
        name = f"{ESCAPES}\n.sched"
        self.compiled(CHAIN, name)
        for command in ("simulate", "slack", "compile"):
            out = self.good(command, name)
            self.assertIn("a\\x1b[2J\\u009b\\u202eb\\x0a.sched", out)
            for bad in "\x1b\x9b\u202e":
                self.assertNotIn(bad, out)
        for arguments in (["simulate", f"./{ESCAPES}"], ["simulate", CHAIN, "-p", ESCAPES],
                          ["simulate", f"{ESCAPES}:ranks=2"], [ESCAPES], ["simulate", CHAIN, f"--{ESCAPES}"],
                          ["compile", CHAIN, "-o", f"{ESCAPES}/x"]):
            line = self.bad(*arguments)
            for bad in "\x1b\x9b\u202e":
                self.assertNotIn(bad, line)

    def test_json_holds_a_name_without_commands(self):
        platform = self.platform("a\u009b\u202eb")
        out = self.run_well("simulate", CHAIN, "-p", platform, "--json")
        self.assertEqual(json.loads(out)["platform"], "a\u009b\u202eb")
        self.assertNotIn("\u009b", out)
        self.assertNotIn("\u202e", out)

    def test_a_spreadsheet_sees_no_formula(self):
        self.write("w.toml", """ranks = 2
[[group]]
name = "=cmd()"
ranks = [0, 1]
schedule = "chain:block=100KB"
bytes = "1MB"
messages = 2
""")
        self.good("simulate", "--workload", "w.toml", "--messages", "m.csv")
        self.assertIn(",'=cmd(),", self.read("m.csv"))


if __name__ == "__main__":
    main()
