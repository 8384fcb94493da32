"""The user's own SimGrid platform file, in whatever takes a platform."""

import csv
import pathlib

from program_case import CHAIN, PIPELINE, ProgramCase, main

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
RACKS = "simgrid:file=two_racks.xml"
GENERATED = ("two-level:racks=2,hosts=3,rate=100Gbps,uplink=150Gbps,latency=1us,"
             "hop_latency=250ns")
SPEC = "binomial-pipeline:ranks=6,bytes=4MiB,block=256KiB"
DOCTYPE = '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'


class SimgridFile(ProgramCase):
    def setUp(self):
        super().setUp()
        if "with SimGrid" not in self.good("--version"):
            self.skipTest("built without SimGrid")
        self.write("two_racks.xml", (DATA / "two_racks.xml").read_text())

    def both(self, command, *arguments):
        """What it says of the file and of the generated network, but for how they are called."""
        for platform in (RACKS, GENERATED):
            document = self.document(command, SPEC, "-p", platform, *arguments)
            for key in ("platform", "platform_nodes", "platform_spec", "links",
                        "of_frozen_run_only_because"):
                document.pop(key, None)
            yield document

    def equal(self, a, b):
        self.assertEqual(a.keys(), b.keys())
        for key, value in a.items():
            if isinstance(value, float):
                self.assertAlmostEqual(value, b[key], delta=1e-9 * abs(value) + 1e-18, msg=key)
            elif isinstance(value, list):
                for x, y in zip(value, b[key], strict=True):
                    if x is None:
                        self.assertIsNone(y, key)
                        continue
                    self.assertAlmostEqual(x, y, delta=1e-9 * abs(x) + 1e-15, msg=key)
            else:
                self.assertEqual(value, b[key], key)

    def test_it_is_the_network_that_it_describes(self):
        for more in ([], ["-e", "analytic"], ["-e", "analytic", "--policy", "ready"],
                     ["--policy", "least-slack"],
                     ["--noise", "exponential,mean=5us", "--samples", "4"],
                     ["-e", "analytic", "--noise", "exponential,mean=5us", "--samples", "4"],
                     ["--link-rate", "link=rack-1.down,rate=10Gbps,at=50us"]):
            self.equal(*self.both("simulate", *more))
        self.equal(*self.both("slack"))
        self.equal(*self.both("slack", "-e", "simgrid"))

    def test_links_go_by_their_names(self):
        self.good("simulate", SPEC, "-p", RACKS, "--links", "links.csv")
        names = {row["link"] for row in csv.DictReader(self.read("links.csv").splitlines())}
        self.assertIn("cable-5_DOWN", names)
        self.assertIn("core", names)
        failed = self.document("simulate", SPEC, "-p", RACKS, "--fail", "link=core,at=1us", code=1)
        self.assertFalse(failed["complete"])
        line = self.bad("simulate", SPEC, "-p", RACKS, "--link-rate", "link=rack-0.up,rate=1Gbps")
        self.assertIn("the platform has no link 'rack-0.up'; expected one of 17 such as uplink-0_UP",
                      line)

    def test_a_trace_is_read_with_its_platform(self):
        self.good("simulate", SPEC, "-p", f"{RACKS},o_post=1us", "--trace", "t")
        fresh = self.document("slack", SPEC, "-p", f"{RACKS},o_post=1us", "-e", "simgrid")
        kept = self.document("slack", SPEC, "--trace", "t")
        self.assertEqual(fresh["total_float_s"], kept["total_float_s"])

    def test_a_platform_file_may_name_it(self):
        self.write("p.toml", 'schema = 1\n[nic]\ndiscipline = "fair"\n[network]\n'
                   'topology = "simgrid"\nfile = "two_racks.xml"\n[cpu]\no_post = "1us"\n')
        self.assertEqual(
            self.document("simulate", SPEC, "-p", "p.toml")["makespan_s"],
            self.document("simulate", SPEC, "-p", f"{RACKS},nic=fair,o_post=1us")["makespan_s"])
        self.write("q.toml", '[nic]\nrate = "1Gbps"\n[network]\ntopology = "simgrid"\nfile = "x"\n')
        self.assertTrue(self.bad("simulate", SPEC, "-p", "q.toml").startswith(
            "slackline: q.toml:2: nic: simgrid takes no key 'rate'; expected one that "))

    def test_bad_files_get_one_line(self):
        self.write("prose.xml", "It was a dark and stormy night.\n")
        self.write("twice.xml", DOCTYPE + "<platform version='4.1'><zone id='z' routing='Full'>\n"
                   "<link id='l' bandwidth='1Bps' latency='0s'/>"
                   "<link id='l' bandwidth='1Bps' latency='0s'/></zone></platform>\n")
        hosts = "".join(f"<host id='{name}' speed='1f'/>" for name in "abc")
        zone = DOCTYPE + "<platform version='4.1'><zone id='z' routing='Full'>\n{}</zone></platform>\n"
        self.write("apart.xml", zone.format(hosts))
        self.write("off.xml", zone.format(hosts + "\n<link id='l' bandwidth='1Bps' latency='0s' "
                                          "state_file='s'/>"))
        for file, line in (
                ("nowhere.xml",
                 "platform file 'nowhere.xml': cannot be read; expected a SimGrid platform file"),
                (".", "platform file '.': cannot be read; expected a SimGrid platform file"),
                ("prose.xml", "'prose.xml':1: SimGrid refuses it: Invalid XML (XML input line 1, "
                 "state 1): Unexpected character `I' in prolog; expected a SimGrid platform file"),
                ("twice.xml", "'twice.xml': SimGrid refuses it: Link 'l' declared several times in "
                 "the platform; expected a SimGrid platform file"),
                ("apart.xml", "'apart.xml': no route from 'a' to 'b'; expected one, as their ranks "
                 "have messages for each other"),
                ("off.xml", "'off.xml':4: link 'l' has a state_file; expected no profiles: what "
                 "changes in time stands in a delay plan")):
            for command in (["simulate"], ["simulate", "-e", "analytic"], ["slack"],
                            ["simulate", "--noise", "constant,by=1us,chance=50%", "--samples", "2"]):
                said = self.bad(command[0], CHAIN, "-p", f"simgrid:file={file}", *command[1:])
                self.assertEqual(said, f"slackline: {line}")
        for command in ("simulate", "slack"):
            self.assertEqual(self.bad(command, PIPELINE, "-p", RACKS),
                             f"slackline: platform '{RACKS}': 16 ranks on 6 hosts; expected no more "
                             "ranks than hosts")
        self.write("hosts", "node-0\nnode-9\n")
        self.assertEqual(self.bad("simulate", CHAIN, "-p", f"{RACKS},placement=file:hosts"),
                         "slackline: 'hosts':2: 'node-9' is no host; expected node-0 … node-5 or a "
                         "number below 6")


if __name__ == "__main__":
    main()
