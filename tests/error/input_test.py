"""What is wrong with the user's input ends with 2 and one line: what, where, what was expected.

Nothing reaches standard output, and no file is left behind (ProgramCase.bad sees to both).
"""

import json
import os
import re
import subprocess

from program_case import CHAIN, PIPELINE, PROGRAM, ProgramCase, main

DRAWN = ["--noise", "exponential,mean=1us"]
USES = (["compile"], ["check"], ["export", "--to", "csv"], ["simulate"], ["slack"])


class Specs(ProgramCase):
    def test_specs(self):
        for spec, part in (
                ("chian:ranks=2,bytes=1MiB", "did you mean 'chain'"),
                ("nonesuch:ranks=2,bytes=1MiB", "unknown pattern 'nonesuch'"),
                ("chain", "ranks: missing"),
                ("chain:", "ranks: missing"),
                ("chain:ranks=2", "bytes: missing"),
                ("chain:ranks=0,bytes=1MiB", "from 1 to"),
                ("chain:ranks=-1,bytes=1MiB", "from 1 to"),
                ("chain:ranks=1.5,bytes=1MiB", "from 1 to"),
                ("chain:ranks=4294967296,bytes=1MiB", "from 1 to"),
                ("chain:ranks=99999999999999999999999,bytes=1MiB", "from 1 to"),
                ("chain:ranks=2,bytes=-1", "bytes: "),
                ("chain:ranks=2,bytes=1MB,bytes=2MB", "bytes: given twice"),
                ("chain:ranks=2,bytes=1XB", "bytes: "),
                ("chain:ranks=2,bytes=0.3", "bytes: "),
                ("chain:ranks=2,bytes=9223372036854775808", "bytes: "),
                ("chain:ranks=2,bytes=99999999999GiB", "bytes: "),
                ("chain:ranks=2,bytes=1e30GiB", "bytes: "),
                ("chain:ranks=2,bytes=16TiB", "bytes: '16TiB' is not a size"),
                ("chain:ranks=2,bytes=1e300", "bytes: '1e300' is not a size"),
                ("chain:ranks=3,bytes=4611686018427387904,block=4611686018427387904",
                 "messages carry 2^63 bytes or more in all"),
                ("chain:ranks=2,bytes=1MiB,block=0", "block: "),
                ("chain:ranks=2,bytes=1MiB,block=-4", "block: "),
                ("chain:ranks=2,bytes=4000000000GiB,block=1", "block: "),
                ("chain:ranks=16777216,bytes=1024GiB,block=1", "block: "),
                ("chain:ranks=4,bytes=1MiB,root=4", "from 0 to 3"),
                ("chain:ranks=4,bytes=1MiB,root=-1", "from 0 to 3"),
                ("chain:ranks=4,bytes=1MiB,colour=red", "colour"),
                ("chain:ranks=4,bytes=1MiB,root", "root: no value"),
                ("chain:ranks=4,bytes=1MiB,root=", "root: no value"),
                ("chain:ranks=4,bytes=1MiB,", "comma"),
                ("chain:ranks=4,,bytes=1MiB", "comma"),
                ("chain:ranks=4 ,bytes=1MiB", "ranks"),
                ("chain:ranks=4,bytes=1MiB,window=0", "window"),
                ("chain:ranks=4,bytes=1MiB,lower=pot", "send or put"),
                ("chain:ranks=4,bytes=1MiB,racks=2", "hybrid takes it"),
                ("hybrid:ranks=4,bytes=1MiB,racks=5", "racks"),
                ("hybrid:ranks=4,bytes=1MiB,rack-map=nowhere", "nowhere"),
                ("chain:ranks=4\nbytes=1MiB", "ranks"),
                ("chain:ranks=4,bytes=1MiB,root=\x1b[31m", "root")):
            for use in USES:
                line = self.bad(use[0], spec, *use[1:])
                self.assertIn(part, line, f"{use} {spec}")
                self.assertTrue(line.isprintable(), line)
        self.bad("compile", "")

    def test_options_of_a_spec(self):
        for option, value, part in (("--lower", "x", "send or put"), ("--window", "0", "window"),
                                    ("--ready", "maybe", "send or write or none"),
                                    ("--start", "x", "pairwise or all"),
                                    ("--first-block", "x", "direct or copy"),
                                    ("--in-flight", "-1", "in-flight")):
            self.assertIn(part, self.bad("compile", CHAIN, option, value))
        line = self.bad("compile", f"{CHAIN},lower=put", "--lower", "send")
        self.assertIn("--lower send: the spec says lower=put", line)


class CommandLines(ProgramCase):
    def test_hosts(self):
        self.write("few", "node1 slots=2\n")
        self.write("three", "node1\nnode2 slots=2 device=mlx5_0\n")
        self.write("bad", "node1 slots=x\n")
        self.write("option", "-oProxyCommand=x\n")
        self.write("twice", "node1\nnode1\n")
        self.write("none", "# nobody\n")
        for arguments, part in (
                (["--hosts", "missing"], "missing"),
                (["--hosts", "bad"], "bad:1: 'slots=x': expected a whole number from 1 to 4096"),
                (["--hosts", "option"], "option:1: '-oProxyCommand=x': no name for a host"),
                (["--hosts", "twice"], "twice:2: 'node1' stands twice"),
                (["--hosts", "none"], "none: no host; expected lines HOST [slots=N]"),
                (["--hosts", "few"], "few: 2 slots on 1 host for 3 ranks; expected as many slots"),
                (["--hosts", "three", "--place", "spread"], "--place: 'spread'; expected fill or cycle"),
                (["--hosts", "three", "--device", "x", "-t", "verbs"],
                 "--device or --device-map beside device=mlx5_0 of node2 in three; expected one of"),
                (["--hosts", "three", "--rank", "0"], "--rank beside --hosts"),
                (["--hosts", "three", "--root", "a:1"], "--root beside --hosts"),
                (["--hosts", "three", "--host", "a"], "--host beside --hosts"),
                (["--hosts", "three", "--ssh", ""], "--ssh: empty"),
                (["--place", "fill"], "--place without --hosts; expected both"),
                (["--ssh", "x"], "--ssh without --hosts; expected both"),
                (["--remote-program", "x"], "--remote-program without --hosts; expected both")):
            line = self.bad("run", CHAIN, *arguments)
            self.assertIn(part, line, arguments)
        self.good("compile", CHAIN, "-o", "x.sched")
        self.assertIn("SCHEDULE - beside --hosts: other hosts cannot read it",
                      self.bad("run", "-", "--hosts", "three", stdin=self.read("x.sched")))
        self.assertIn("--hosts without --on run",
                      self.bad("validate", CHAIN, "--hosts", "three"))
        self.write("points.csv", "kind,bytes,messages,seconds\n")
        self.assertIn("--hosts beside --points",
                      self.bad("calibrate", "--points", "points.csv", "--hosts", "three"))

    def test_what_an_agent_is_told(self):
        for order, part in (("", "standard input ended before its order"),
                            ("go\n", "says nothing that --hosts does: no order of this version"),
                            ("x" * 70_000, "no order on standard input"),
                            ("slackline-order 1\nranks 3\ngo\n", "no ranks of the run")):
            done = self.run_program("run", CHAIN, "--agent", stdin=order)
            self.assertEqual((done.code, done.err.count("\n")), (2, 1), done)
            self.assertIn(part, done.err)

    def test_command_lines(self):
        for arguments, part in (
                (["compile"], "SCHEDULE is required"),
                (["compile", CHAIN, "more"], "'more'"),
                (["compile", CHAIN, "--nonesuch"], "'--nonesuch'"),
                (["compile", CHAIN, "-o"], "--output: no value"),
                (["compile", CHAIN, "-o", ""], "--output: empty"),
                (["compile", CHAIN, "-o", "a", "-o", "b"], "--output stands twice"),
                (["compile", CHAIN, "--format", "xml"], "text or json"),
                (["compile", CHAIN, "--json=maybe"], "compile: --json takes no value"),
                (["check", CHAIN, "--limit", "0"], "--limit"),
                (["export", CHAIN], "no --to"),
                (["export", CHAIN, "--to", "pdf"], "unknown format 'pdf'"),
                (["list", "colours"], "unknown topic 'colours'"),
                (["list", "formats", "chain"], "list: 'chain' is not an argument of it; see `slackline list --help`"),
                (["list", "options", "quue"], "unknown pattern 'quue': did you mean 'queue'"),
                (["list", "figures", "tours"], "unknown network or platform 'tours': did you mean 'torus'"),
                (["convert", "t"], "no --to"),
                (["convert", "t", "--to", "otf2"], "unknown format 'otf2'"),
                (["simulate", CHAIN, "--engine", "ns3"], "simgrid, flow, fluid, analytic or event"),
                (["simulate", CHAIN, "--policy", "random"], "in-order, ready or least-slack"),
                (["simulate", CHAIN, "--samples", "0"], "--samples"),
                (["simulate", CHAIN, "--samples", "-3"], "--samples"),
                (["simulate", CHAIN, "--samples", "0"], "--samples"),
                (["simulate", CHAIN, "--seed", "x"], "--seed"),
                (["simulate", CHAIN, "--seed", "18446744073709551616"], "--seed"),
                (["simulate", CHAIN, "--prove", "--no-proof"], "--prove")):
            self.assertIn(part, self.bad(*arguments))
            self.assertIn(part, self.bad(arguments[0], "--json", *arguments[1:]))

    def test_platforms(self):
        self.write("broken.toml", "schema = 1\n[nic\n")
        self.write("newer.toml", "schema = 99\n")
        for platform, part in (("nowhere", "nowhere"), ("nowhere.toml", "nowhere.toml"),
                               ("ring:rate=1Gbps", "ring"), ("star:rate=fast", "rate"),
                               ("star:rate=0Gbps", "rate"), ("star:rate=-1Gbps", "rate"),
                               ("star:latency=1", "latency"), ("star:latency=-1us", "latency"),
                               ("star:colour=1us", "colour"), ("star:rate=1Gbps,rate=1Gbps", "twice"),
                               ("broken.toml", "broken.toml:"), ("newer.toml", "newer.toml:"),
                               (".", "'.'")):
            for command in ("simulate", "slack"):
                self.assertIn(part, self.bad(command, CHAIN, "--platform", platform))

    def test_delays(self):
        self.write("broken.toml", "schema = 1\n[[delay]\n")
        self.write("newer.toml", "schema = 99\n")
        self.write("far.toml", 'schema = 1\n[[delay]]\nop = 99\nby = "1us"\n')
        for delays, part in (("nowhere", "nowhere"), (".", "'.'"), ("broken.toml", "broken.toml:"),
                             ("newer.toml", "newer.toml:"), ("far.toml", "op 99 does not exist")):
            self.assertIn(part, self.bad("simulate", CHAIN, "--delays", delays))
        for delay, part in (("op=1", "no by"), ("by=1us", "op=…"), ("op=1,by=1", "by"),
                            ("op=1,by=-1us", "by"), ("op=-1,by=1us", "op"), ("op=x,by=1us", "op"),
                            ("op=99,by=1us", "op 99 does not exist"),
                            ("op=4294967295,by=1us", "op"), ("op=1,by=1us,of=all", "op or lane"),
                            ("op=1,op=2,by=1us", "twice"), ("colour=1,by=1us", "colour"),
                            ("op=1,step=1,by=1us", "either"), ("rank=1,by=1us", "either"),
                            ("op=1,rank=9,by=1us", "rank"), ("rank=9,step=0,by=1us", "rank 9"),
                            ("rank=0,step=99,by=1us", "step 99"), ("op=1,,by=1us", "''"),
                            ("", "--delay"), ("op=1,by=", "by")):
            self.assertIn(part, self.bad("simulate", CHAIN, "--delay", delay))
        for pair, part in (("src=0,dst=1", "no rate"), ("src=0,rate=1Gbps", "no dst"),
                           ("src=0,dst=9,rate=1Gbps", "rank 9"), ("src=0,dst=1,rate=0Gbps", "rate"),
                           ("src=0,dst=1,rate=1", "rate"), ("src=0,dst=1,speed=1Gbps", "speed")):
            self.assertIn(part, self.bad("simulate", CHAIN, "--slow-pair", pair))


# What each bad platform or plan is told, whole: --platform, then the line.
COUNT = "is not a whole number from 1 to 1048576"
RATE = ("is not a rate: expected a number above 0 with bps, Kbps, Mbps, Gbps, Tbps, KBps, MBps or "
        "GBps, up to 9e9Gbps, such as 100Gbps")
TIME = ("is not a time: expected a number of at least 0 with ps, ns, us, ms or s, up to 106 days, "
        "as 1.5us")
NO_ROOM = "3 ranks on 2 hosts; expected no more ranks than hosts"
FEW = "too many hosts; expected at most 1048576"
LINKS = "too many links between switches; expected at most 8388608"
D2 = "dragonfly:groups=2,chassis=2,routers=2,hosts=2"
PLATFORMS = (
    # A rank without a host.
    ("two-level:racks=1,hosts=2", NO_ROOM),
    ("fat-tree:down=2,up=1", NO_ROOM),
    ("dragonfly:groups=1,chassis=1,routers=1,hosts=2", NO_ROOM),
    ("torus:dims=2", NO_ROOM),
    # Rates and times.
    ("star:rate=0Gbps", f"rate: '0Gbps' {RATE}"),
    ("star:rate=-1Gbps", f"rate: '-1Gbps' {RATE}"),
    ("star:rate=1us", f"rate: '1us' {RATE}"),
    ("star:rate=1GB", f"rate: '1GB' {RATE}"),
    ("star:rate=nan", f"rate: 'nan' {RATE}"),
    ("star:rate=99999999999Gbps", f"rate: '99999999999Gbps' {RATE}"),
    ("star:latency=-1us", f"latency: '-1us' {TIME}"),
    ("star:latency=1Gbps", f"latency: '1Gbps' {TIME}"),
    ("star:latency=99999999s", f"latency: '99999999s' {TIME}"),
    ("torus:dims=3,link_rate=0Gbps", f"link_rate: '0Gbps' {RATE}"),
    (f"{D2},green_rate=-1Gbps", f"green_rate: '-1Gbps' {RATE}"),
    ("two-level:racks=2,hosts=2,uplink=0Gbps", f"uplink: '0Gbps' {RATE}"),
    # Shapes.
    ("two-level:racks=2", "hosts is missing; expected a whole number from 1 to 1048576"),
    ("two-level:racks=0,hosts=2", f"racks: '0' {COUNT}"),
    ("two-level:racks=1000000,hosts=1000000", FEW),
    ("two-level:racks=2,hosts=2,oversubscription=0",
     "oversubscription: '0' is no oversubscription; expected a number above 0 such as 3.5"),
    ("two-level:racks=2,hosts=2,oversubscription=1e300",
     "an oversubscription of 1e+300 leaves the racks no rate; expected an uplink of 1 bps to "
     "9e+18 bps"),
    ("fat-tree:arity=3", "arity: 3 is odd; expected an even number of ports"),
    ("fat-tree:arity=162", "arity: '162' is not a whole number from 2 to 160"),
    ("fat-tree:up=1x2",
     "down is missing; expected down and up such as 4x4 and 1x2, or arity"),
    ("fat-tree:down=4x4,up=1",
     "up has 1 numbers and down has 2; expected one for each level of switches"),
    ("fat-tree:down=4x4,up=2x2", "up begins with 2; expected 1, as a NIC has one cable"),
    ("fat-tree:down=4x4,up=1x0", f"up: '0' {COUNT}"),
    ("fat-tree:down=4096x4096,up=1x1", FEW),
    ("fat-tree:down=1024x1024,up=1x1048576", LINKS),
    ("dragonfly:groups=2", "chassis is missing; expected a whole number from 1 to 1048576"),
    ("dragonfly:groups=5,chassis=2,routers=2,hosts=2",
     "5 groups of 4 routers cannot be joined all to all; expected at most as many groups as a "
     "group has routers"),
    ("dragonfly:groups=1024,chassis=32,routers=32,hosts=2", FEW),
    ("dragonfly:groups=1,chassis=1,routers=1000000,hosts=1", LINKS),
    (f"{D2},blue=0", f"blue: '0' {COUNT}"),
    ("torus", "dims is missing; expected sizes such as 4x4x2"),
    ("torus:dims=3x0", f"dims: '0' {COUNT}"),
    ("torus:dims=3xx3", f"dims: '' {COUNT}"),
    ("torus:dims=18446744073709551617", f"dims: '18446744073709551617' {COUNT}"),
    ("torus:dims=1024x1024x2", FEW),
    ("torus:dims=1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x9",
     "dims: too many numbers; expected at most 20"),
    # Keys.
    ("star:colour=1us", "unknown key 'colour'; expected one that `slackline list figures star` shows"),
    ("star:racks=2", "star takes no key 'racks'; expected one that `slackline list figures star` shows"),
    ("torus:dims=3,dims=3", "dims stands twice; expected it once"),
    ("two-level:racks=2,hosts=2,oversubscription=2,uplink=1Gbps",
     "uplink and oversubscription both stand here; expected one of them"),
    ("fat-tree:arity=4,down=4x4", "arity and down both stand here; expected one of them"),
    ("simgrid:file=net.xml,rate=1Gbps",
     "simgrid takes no key 'rate'; expected one that `slackline list figures simgrid` shows"),
    ("simgrid", "file is missing; expected the path of a SimGrid platform file"),
    ("star:nic=both", "nic: 'both' is no discipline of a NIC; expected serial or fair"),
    ("star:placement=everywhere",
     "placement: 'everywhere' is no placement; expected packed, round-robin, random:SEED or "
     "file:PATH"),
    ("star:placement=random:x",
     "placement: 'x' is not a whole number from 0 to 18446744073709551615"),
)

# An option of the plan, its value, and the whole line after "slackline: "; {} is the option with its
# value.
NO_LINK = "delay plan: the platform has no link 'nowhere'; expected one of 6 such as host-2.in"
CHANCE = "is no chance; expected a number from 0 to 1, or a percentage such as 1%"
NO_RANK = "rank 9 does not exist; expected 0 to 2"
SIGMA = "is no sigma; expected a number of at least 0"
SLOWDOWN = "is no slowdown; expected a number of at least 1"
PLANS = (
    ("--link-rate", "link=nowhere,rate=1Gbps", NO_LINK),
    ("--link-rate", "link=host-0.out,rate=0Gbps", f"{{}}: rate: '0Gbps' {RATE}"),
    ("--link-rate", "link=host-0.out,rate=-1Gbps", f"{{}}: rate: '-1Gbps' {RATE}"),
    ("--link-rate", "link=host-0.out,rate=1us", f"{{}}: rate: '1us' {RATE}"),
    ("--link-rate", "link=host-0.out", "{}: no rate; expected rate=…"),
    ("--link-rate", "rate=1Gbps", "{}: no link; expected link=…"),
    ("--link-rate", "link=,rate=1Gbps", "{}: link: is empty; expected the name of a link"),
    ("--link-rate", "link=host-0.out,rate=1Gbps,at=-1us", f"{{}}: at: '-1us' {TIME}"),
    ("--link-rate", "link=host-0.out,rate=1Gbps,colour=3",
     "{}: 'colour=3' is none of its values; expected key=value with link, rate, at"),
    ("--link-rate", "", "--link-rate: empty; expected a value"),
    ("--fail", "link=nowhere,at=1us", NO_LINK),
    ("--fail", "rank=9,at=1us", f"delay plan: failure of rank 9: {NO_RANK}"),
    ("--fail", "at=1us", "{}: expected either link=… or rank=…"),
    ("--fail", "link=host-0.out,rank=1", "{}: expected either link=… or rank=…"),
    ("--fail", "rank=1,at=1us,at=2us", "{}: at given twice"),
    ("--fail", "rank=1,at=3", f"{{}}: at: '3' {TIME}"),
    ("--noise", "gaussian,mean=1us",
     "{}: 'gaussian' is no distribution; expected constant, uniform, exponential, lognormal or "
     "trace"),
    ("--noise", "uniform", "{}: no low; expected low=…"),
    ("--noise", "uniform,low=2us,high=1us",
     "{}: low is 2us and high is 1us; expected low at most high"),
    ("--noise", "uniform,low=-1us,high=1us", f"{{}}: low: '-1us' {TIME}"),
    ("--noise", "exponential,mean=-1us", f"{{}}: mean: '-1us' {TIME}"),
    ("--noise", "exponential,mean=1us,low=1us",
     "{}: 'low=1us' is none of its values; expected key=value with mean, rank, chance, of"),
    ("--noise", "lognormal,median=1us", "{}: no sigma; expected sigma=…"),
    ("--noise", "lognormal,median=1us,sigma=-1", f"{{}}: sigma: '-1' {SIGMA}"),
    ("--noise", "lognormal,median=1us,sigma=nan", f"{{}}: sigma: 'nan' {SIGMA}"),
    ("--noise", "constant,by=1us,chance=1.5", f"{{}}: chance: '1.5' {CHANCE}"),
    ("--noise", "constant,by=1us,chance=-0.1", f"{{}}: chance: '-0.1' {CHANCE}"),
    ("--noise", "constant,by=1us,chance=101%", f"{{}}: chance: '101%' {CHANCE}"),
    ("--noise", "constant,by=1us,rank=9", f"delay plan: noise 0: {NO_RANK}"),
    ("--noise", "constant,by=1us,of=all",
     "{}: of: 'all' can not be delayed; expected op or lane"),
    ("--noise", "trace,file=nowhere",
     "{}: file: noise file 'nowhere': cannot be read; expected a file of times, one on each line"),
    ("--noise", "trace,file=empty", "{}: a trace of 0 times; expected 1 to 524288"),
    ("--straggler", "rank=1", "{}: expected slowdown=…, by=… or both"),
    ("--straggler", "slowdown=2", "{}: no rank; expected rank=…"),
    ("--straggler", "rank=1,slowdown=0.5", f"{{}}: slowdown: '0.5' {SLOWDOWN}"),
    ("--straggler", "rank=1,slowdown=inf", f"{{}}: slowdown: 'inf' {SLOWDOWN}"),
    ("--straggler", "rank=9,slowdown=2", f"delay plan: straggler 9: {NO_RANK}"),
    ("--slow-pair", "src=0,dst=1,rate=-1Gbps", f"{{}}: rate: '-1Gbps' {RATE}"),
    ("--slow-pair", "src=0,dst=9,rate=1Gbps", f"delay plan: slow pair 0 to 9: {NO_RANK}"),
    ("--slow-pair", "src=1,dst=1,rate=1Gbps",
     "delay plan: slow pair 1 to 1: the schedule has no messages from rank 1 to itself; expected "
     "two ranks"),
)

# The same in a file d.toml: its text after "schema = 1", and the line.
NOISE = "[[noise]]\ndistribution = "
PLAN_FILES = (
    (NOISE + '"uniform"\nlow = "2us"\nhigh = "1us"',
     "d.toml:2: noise: low is 2us and high is 1us; expected low at most high"),
    (NOISE + '"gaussian"',
     "d.toml:3: noise.distribution: 'gaussian' is no distribution; expected constant, uniform, "
     "exponential, lognormal or trace"),
    (NOISE + '"lognormal"\nmedian = "1us"\nsigma = -1', f"d.toml:5: noise.sigma: '-1' {SIGMA}"),
    (NOISE + '"lognormal"\nmedian = "1us"\nsigma = 1\nmean = "0.5us"',
     "d.toml:6: unknown key 'mean' in [noise]: did you mean 'median'?; expected one of ranks, "
     "distribution, median, sigma, chance, of"),
    (NOISE + '"constant"\nby = "1us"\nchance = 1.5', f"d.toml:5: noise.chance: '1.5' {CHANCE}"),
    (NOISE + '"constant"\nby = 1',
     'd.toml:4: noise.by: a whole number stands here; expected a time such as "10us"'),
    (NOISE + '"constant"\nby = "1us"\nranks = [1, 1]',
     "delay plan: noise 0: rank 1 stands twice; expected it once"),
    (NOISE + '"trace"\nfile = "empty"\nvalues = ["1us"]',
     "d.toml:2: noise: both values and file stand here; expected either values or file"),
    ('[[link_rate]]\nlink = "nowhere"\nrate = "1Gbps"', NO_LINK),
    ('[[link_rate]]\nlink = "host-0.out"\nrate = "0Gbps"',
     f"d.toml:4: link_rate.rate: '0Gbps' {RATE}"),
    ('[[failure]]\nlink = "nowhere"', NO_LINK),
    ('[[failure]]\nat = "1us"',
     "d.toml:2: failure: neither link nor rank stands here; expected either link or rank"),
    ('[[straggler]]\nrank = 1\nslowdown = 2\n[[straggler]]\nrank = 1\nby = "1us"',
     "delay plan: straggler 1 stands twice; expected one slowdown for it"),
    ('[[slow_pair]]\nsrc = 0\ndst = 1\nrate = "1Gbps"\n'
     '[[slow_pair]]\nsrc = 0\ndst = 1\nrate = "2Gbps"',
     "delay plan: slow pair 0 to 1 stands twice; expected one rate for it"),
    ('[[fail]]\nlink = "host-0.out"',
     "d.toml:2: unknown key 'fail': did you mean 'failure'?; expected one of schema, seed, delay, "
     "slow_pair, straggler, noise, link_rate, failure"),
    ("seed = -1", "d.toml:2: seed: '-1' is not a whole number from 0 to 18446744073709551615"),
)


class WholeLines(ProgramCase):
    def line(self, *arguments):
        line = self.bad("simulate", CHAIN, *arguments)
        self.assertTrue(line.isprintable(), line)
        return line.removeprefix("slackline: ")

    def test_platforms(self):
        for platform, line in PLATFORMS:
            self.assertEqual(self.line("-p", platform), f"platform '{platform}': {line}")
        # Whoever is asked, and however often.
        for more in (["-e", "analytic"], [*DRAWN, "--samples", "3"], ["--policy", "least-slack"],
                     ["--trace", "t", "--links", "l"]):
            self.assertEqual(self.line("-p", "torus:dims=2", *more),
                             f"platform 'torus:dims=2': {NO_ROOM}")

    def test_placement_files(self):
        self.write("few", "host-0\nhost-1\n")
        self.write("other", "host-0\nhost-9\nhost-1\n")
        self.write("twice", "host-0\n\nhost-0\nhost-1\n")
        for file, line in (
                ("nowhere", "placement file 'nowhere': cannot be read; expected a host per line"),
                ("few", "placement file 'few': 2 hosts for 3 ranks; expected a host for each rank, "
                 "one per line"),
                ("other", "'other':2: 'host-9' is no host; expected host-0 … host-2 or a number "
                 "below 3"),
                ("twice", "'twice':3: 'host-0' stands twice; expected one rank on a host")):
            self.assertEqual(self.line("-p", f"star:placement=file:{file}"), line)

    def test_plans(self):
        self.write("empty", "")
        for option, value, line in PLANS:
            self.assertEqual(self.line(option, value), line.format(f"{option} {value}"))
        for more in (["-e", "analytic"], [*DRAWN, "--samples", "3"], ["--policy", "least-slack"],
                     ["--trace", "t", "--links", "l"]):
            self.assertEqual(self.line("--link-rate", "link=nowhere,rate=1Gbps", *more), NO_LINK)
        self.assertEqual(self.line("--straggler", "rank=1,by=1us", "--straggler",
                                   "rank=1,slowdown=2"),
                         "delay plan: straggler 1 stands twice; expected one slowdown for it")
        self.assertEqual(self.line("--link-rate", "link=host-0.out,rate=1Gbps", "--link-rate",
                                   "link=host-0.out,rate=2Gbps"),
                         "delay plan: link 'host-0.out' has two rates from 0 on; expected one")

    def test_plan_files(self):
        self.write("empty", "")
        for text, line in PLAN_FILES:
            self.write("d.toml", f"schema = 1\n{text}\n")
            self.assertEqual(self.line("--delays", "d.toml"), line)

    def test_places_for_output(self):
        both = "both go to x; expected a place for each"
        for arguments, line in (
                (["--links", "x", "--trace", "x"], f"--trace and --links {both}"),
                (["--links", "-", "--json"], "--links -: with --json the document is alone on "
                 "standard output; expected a file"),
                (["--links", "x", "--trace", "nowhere/x"], "--trace: nowhere/x: cannot write: No such "
                 "file or directory; expected a place that can be written to")):
            self.assertEqual(self.line(*arguments), line)

    # Beyond some hours a double has no picoseconds; runs end all the same.
    def test_what_takes_days_is_no_error(self):
        for more in (["--straggler", "rank=1,slowdown=1e13"], ["--noise", "constant,by=9000000s"],
                     ["-p", "star:latency=9000000s"], ["-p", "star:rate=1bps"]):
            runs = [self.document("simulate", CHAIN, "-e", engine, *more)["makespan_s"]
                    for engine in ("analytic", "simgrid")[:1 + self.has_simgrid()]]
            self.assertGreater(runs[0], 1e6)
            self.assertAlmostEqual(runs[0], runs[-1], delta=1e-9 * runs[0])

    def test_what_no_time_holds_is_refused(self):
        for engine in ("analytic", "event", "simgrid")[:2 + self.has_simgrid()]:
            for more, part in (
                    (["--straggler", "rank=1,slowdown=1e300"], "delays of 106 days or more"),
                    (["--delay", "op=1,by=9000000s", "--delay", "op=1,by=9000000s"],
                     "delay plan: op 1 "),
                    (["--noise", "lognormal,median=1s,sigma=1000"], "draws stay below 106 days")):
                line = self.bad("simulate", CHAIN, "-e", engine, *more)
                self.assertIn(part, line)

    def has_simgrid(self):
        return "with SimGrid" in self.good("--version")


class Files(ProgramCase):
    def schedules(self, name, part):
        for use in USES:
            self.assertIn(part, self.bad(use[0], name, *use[1:]), f"{use} {name}")

    def test_files_that_are_not_there_or_no_schedules(self):
        (self.folder / "folder").mkdir()
        self.write("empty", "")
        self.write("prose", "It was a dark and stormy night.\n")
        self.write("list", "[1, 2]")
        self.schedules("nowhere.sched", "nowhere.sched: ")
        self.schedules("folder/nowhere", "folder/nowhere: ")
        self.schedules("folder", "folder: ")
        for name in ("empty", "prose", "list"):
            self.schedules(name, f"{name}: not a schedule")
        self.assertIn("not a schedule", self.bad("check", "-", stdin="prose"))

    def test_truncated_files(self):
        for format in ("text", "json"):
            whole = self.good("compile", CHAIN, "-o", "-", "--format", format).encode()
            for cut in range(0, len(whole) - 2, max(1, len(whole) // 20)):
                (self.folder / "cut").write_bytes(whole[:cut])
                self.assertIn("cut", self.bad("check", "cut"))
        goal = self.good("export", CHAIN, "--to", "goal").encode()
        for cut in range(0, len(goal) - 3, max(1, len(goal) // 20)):
            (self.folder / "cut").write_bytes(goal[:cut])
            self.assertIn("cut", self.bad("check", "cut"))

    def test_files_with_other_contents(self):
        text = self.good("compile", CHAIN, "-o", "-")
        as_json = self.good("compile", CHAIN, "-o", "-", "--format", "json")
        newer = json.dumps(dict(json.loads(as_json), schema=99))
        for name, contents, part in (
                ("version.sched", text.replace("schedule 1", "schedule 99", 1), "version.sched:1"),
                ("version.json", newer, "version.json: schema"),
                ("digest.sched", re.sub("(?m)^digest .", "digest f0"[:8], text), "digest"),
                ("changed.sched", text.replace("step 1", "step 2", 1), "digest"),
                ("binary.sched", text.replace("rank 0\n", "rank 0\n\0\x01\x02\n", 1),
                 "binary.sched:"),
                ("huge.sched", "slackline schedule 1\nranks 4294967295\n", "huge.sched:"),
                ("op.sched", re.sub("after done:[0-9]+", "after done:4000000000", text, 1),
                 "op.sched:")):
            self.assertNotEqual(contents, text, name)
            self.write(name, contents)
            self.schedules(name, part)

    def test_traces(self):
        self.good("simulate", CHAIN, "--trace", "t")
        whole = self.read("t")
        trace = json.loads(whole)
        for name, contents in (("empty", ""), ("prose", "once"), ("list", "[]"),
                               ("newer", json.dumps(dict(trace, schema=99))),
                               ("short", json.dumps(dict(trace, cause=[]))),
                               ("negative", json.dumps(dict(trace, done_s=[-1.0] * 16))),
                               ("cut", whole[:len(whole) // 2]),
                               ("far", json.dumps(dict(trace, cause=[99] * len(trace["cause"]))))):
            self.write(name, contents)
            for command in (["convert", name, "--to", "csv"], ["slack", CHAIN, "--trace", name]):
                self.assertIn(name, self.bad(*command))
        for name in ("nowhere", "."):
            self.assertIn(name, self.bad("convert", name, "--to", "chrome"))
            self.assertIn(name, self.bad("slack", CHAIN, "--trace", name))
        for key, value in (("platform", "ring:"), ("delays", "[[")):
            self.write("odd", json.dumps(dict(trace, **{key: value})))
            self.bad("slack", CHAIN, "--trace", "odd")

    def test_output_that_cannot_be_written(self):
        (self.folder / "folder").mkdir()
        self.write("file", "as it was")
        self.good("simulate", CHAIN, "--trace", "t")
        for place in ("nowhere/x", "folder", "folder/", "file/x", "x" * 300, "/dev/full"):
            for command in (["compile", CHAIN, "-o", place], ["compile", CHAIN, "--json", "-o", place],
                            ["export", CHAIN, "--to", "dot", "-o", place],
                            ["simulate", CHAIN, "--trace", place],
                            ["convert", "t", "--to", "csv", "-o", place]):
                line = self.bad(*command)
                self.assertIn(f"{place}: cannot write: ", line)
        self.assertEqual(self.read("file"), "as it was")


class Unsupported(ProgramCase):
    def test_what_a_format_cannot_say_names_the_operation(self):
        line = self.bad("export", f"{PIPELINE},first-block=copy,ready=write", "--to", "goal")
        self.assertRegex(line, r"op \d+")

    def test_dynamic_schedules_name_the_operation(self):
        text = re.sub(r"\ndigest .*", "", self.good("compile", CHAIN, "-o", "-"))
        self.write("retry", text.replace("\npre ", "\nregion retry entry 2 count 1 p 1000000\npre ", 1))
        for use in USES:
            if use[0] in ("compile", "simulate"):  # they go on, and say what was not proved
                done = self.run_program(use[0], "retry", *use[1:], "--engine", "event"
                                        ) if use[0] == "simulate" else self.run_program(*use, "retry")
                self.assertEqual(done.code, 0, done)
                self.assertRegex(done.err, r"^slackline: note: retry: not proved: .*op 2\b.*\n$")
            else:
                self.assertRegex(self.bad(use[0], "retry", *use[1:]), r"op 2\b")
        self.assertIn("retry", self.good("compile", "retry", "--no-proof", "-o", "-"))


class Extremes(ProgramCase):
    def test_a_long_line_is_not_echoed(self):
        for text in ("slackline schedule 1\n" + "x" * 5_000_000, "num_ranks " + "9" * 5_000_000,
                     "slackline schedule 1\nranks 1\ntitle " + "x" * 5_000_000,
                     '{"schema": "' + "x" * 5_000_000 + '"}'):
            self.write("x.sched", text)
            self.assertLess(len(self.bad("check", "x.sched")), 5_000)
        self.write("x.toml", "x" * 5_000_000)
        self.assertLess(len(self.bad("simulate", CHAIN, "-p", "x.toml")), 5_000)
        self.assertLess(len(self.bad("simulate", CHAIN + "," + "x" * 100_000)), 5_000)

    def test_a_mark_before_utf8_is_passed_over(self):
        self.good("compile", CHAIN, "-o", "x.sched")
        for form in ("text", "json"):
            self.good("compile", CHAIN, "-o", "x.sched", "--format", form)
            self.write("marked", "\ufeff" + self.read("x.sched"))
            self.good("check", "marked")
        self.write("x.toml", "\ufeffschema = 1\n")
        self.good("simulate", CHAIN, "-p", "x.toml")
        self.good("offload", CHAIN, "-o", "x.queues")
        self.write("marked", "\ufeff" + self.read("x.queues"))
        self.good("offload", "marked", "--schedule", CHAIN)
        self.good("simulate", CHAIN, "--trace", "x.trace")
        self.write("marked", "\ufeff" + self.read("x.trace"))
        self.good("slack", CHAIN, "--trace", "marked")
        (self.folder / "x.sched").write_bytes(self.read("x.sched").encode("utf-16"))
        self.assertIn("it is UTF-16; expected UTF-8", self.bad("check", "x.sched"))

    def test_values_of_options_that_have_nothing_to_do(self):
        for arguments in (["slack", CHAIN, "--samples", "3", "-e", "simgrid"],
                          ["simulate", CHAIN, "--samples", "3"],
                          ["validate", CHAIN, "--on", "simgrid", "--choose", "most"]):
            self.assertIn("--jobs: 'xyz'", self.bad(*arguments, "--jobs", "xyz"))

    def test_a_transport_that_is_none_meets_those_that_are(self):
        line = self.bad("run", CHAIN, "--transport", "autos")
        self.assertIn("transport: no 'autos': did you mean 'auto'?; expected one of auto, shm, tcp", line)

    def test_bindings(self):
        for command in (["run", CHAIN], ["validate", CHAIN, "--on", "run"], ["calibrate"]):
            self.assertIn("--bind: 'socket'; expected core, numa or none",
                          self.bad(*command, "--bind", "socket"))
        self.assertIn("--bind beside --points",
                      self.bad("calibrate", "--points", "x", "--bind", "core"))

    def test_sizes_and_durations(self):
        for arguments, part in (
                (["--sizes", "x"], "--sizes: 'x' is not a size"),
                (["--sizes", ""], "--sizes: "),
                (["--sizes", "0..4"], "'0..4'; expected a range from 1 byte or more"),
                (["--sizes", "8KiB..4KiB"], "'8KiB..4KiB'; expected a range"),
                (["--sizes", "1..8:x1"], "--sizes: x: '1' is not a whole number from 2 to 1024"),
                (["--sizes", "1," * 100 + "1"], "--sizes: more than 100 sizes"),
                (["--sizes", "1KiB", "--trace", "t"],
                 "--trace beside --sizes: a trace is of one run; expected one of them"),
                (["--duration", "0"], "--duration: '0'; expected a time from 1 ms to 600 s"),
                (["--duration", "601s"], "--duration: '601s'; expected a time"),
                (["--duration", "1"], "--duration: "),
                (["--duration", "1s", "--iterations", "3"], "--duration beside --iterations")):
            self.assertIn(part, self.bad("run", CHAIN, *arguments))
        self.good("compile", CHAIN, "-o", "x.sched")
        self.assertIn("--sizes: x.sched is a file, whose messages have one size; expected a spec",
                      self.bad("run", "x.sched", "--sizes", "1KiB"))
        self.assertIn("--sizes: barrier has no bytes",
                      self.bad("run", "barrier:ranks=2", "--sizes", "1KiB"))
        self.assertIn("did you mean 'chain'", self.bad("run", "chian:ranks=2", "--sizes", "1KiB"))
        # The largest is looked at before the smallest runs.
        self.assertIn("block: ", self.bad("run", "chain:ranks=2,block=1", "--sizes",
                                          "1KiB,4000000000GiB"))

    def test_options_of_verbs_are_in_range_and_stand_beside_verbs(self):
        for option, value, part in (
                ("--device", "mlx5_0:0", "--device: 'mlx5_0:0'; expected NAME or NAME:PORT"),
                ("--device-map", "mlx5_0,,mlx5_1", "--device-map: ''; expected NAME"),
                ("--device-map", "mlx5_0:x", "--device-map: 'mlx5_0:x'"),
                ("--device-map", "auto,mlx5_0", "expected auto alone"),
                ("--gid-index", "256", "--gid-index: '256'"),
                ("--gid-index", "x", "--gid-index: 'x'"),
                ("--traffic-class", "256", "--traffic-class: '256'"),
                ("--service-level", "16", "--service-level: '16'"),
                ("--pkey", "0x10000", "--pkey: '0x10000'; expected a key from 0x1 to 0xffff"),
                ("--pkey", "0x8000", "--pkey: '0x8000'"),
                ("--pkey", "0x", "--pkey: '0x'"),
                ("--pkey", "-1", "--pkey: '-1'"),
                ("--pkey", "65536", "--pkey: '65536'"),
                ("--mtu", "1500", "--mtu: '1500'; expected 256, 512, 1024, 2048 or 4096"),
                ("--mtu", "8KiB", "--mtu: '8KiB'"),
                ("--qp-timeout", "0s", "--qp-timeout: '0s'; expected a time above 0"),
                ("--qp-timeout", "3h", "--qp-timeout: '3h'"),
                ("--qp-timeout", "9000s", "--qp-timeout: '9000s'"),
                ("--retry", "8", "--retry: '8'")):
            line = self.bad("run", CHAIN, "--transport", "verbs", f"{option}={value}")
            self.assertIn(part, line)
            self.assertIn(f"{option}: tcp has no RDMA ports",
                          self.bad("run", CHAIN, "--transport", "tcp", f"{option}={value}"))
        self.assertIn("--device beside --device-map", self.bad(
            "run", CHAIN, "-t", "verbs", "--device", "a", "--device-map", "b"))
        self.assertIn("--mtu beside --points", self.bad("calibrate", "--points", "x", "--mtu", "256"))

    def test_memory_is_asked_for_before_the_work(self):
        for arguments in (["compile", "chain:ranks=2,bytes=500MB,block=1"],
                          ["simulate", "chain:ranks=2,bytes=1,messages=100000000", "-e", "event"],
                          ["check", "chain:ranks=16777216,bytes=64"],
                          ["compile", "repeat.sched", "--unroll", "1"]):
            self.write("repeat.sched", """slackline schedule 1
ranks 1
message 8
buffer 0 rank 0 bytes 16
rank 0
  0 copy reads 0[0+8] writes 0[8+8]
region repeat entry 0 count 1 attempts 100000000
pre 0[0+8] value 0
""")
            line = self.bad(*arguments, "--memory", "1GB", code=3)
            self.assertRegex(line, r"takes about [0-9.]+ GiB of memory, and --memory allows 953\.7 MiB")
        self.write("repeat.sched", self.read("repeat.sched").replace("100000000", "4294967295"))
        self.assertIn("expected fewer attempts", self.bad("compile", "repeat.sched", "--unroll", "1"))
        self.assertIn("--memory", self.bad("compile", CHAIN, "--memory", "x"))
        self.good("compile", CHAIN, "--memory", "1MiB")

    def peak_mib(self, *arguments):
        with subprocess.Popen([PROGRAM, *arguments], cwd=self.folder,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
            _, status, usage = os.wait4(program.pid, 0)
            program.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(program.returncode, 0, arguments)
        return usage.ru_maxrss / 1024

    def test_a_pattern_takes_what_is_asked_for(self):
        nothing_mib = self.peak_mib("compile", CHAIN, "-o", "x")
        for spec in ("table-multicast:ranks=400,bytes=1000",
                     "ring-buffer:ranks=200,bytes=1000,messages=300",
                     "hash-table:ranks=32,operations=1000", "queue:ranks=32,operations=1000,op=push",
                     "queue:ranks=32,operations=1000,via=am", "one-sided:ranks=64,operations=1000",
                     "call:ranks=100,bytes=64,messages=300", "random-access:ranks=8,accesses=2000",
                     "tree-search:ranks=8,depth=6", "reduce:ranks=64,bytes=64MiB,block=256KiB",
                     "reduce-scatter:ranks=256,bytes=64KiB", "alltoall:ranks=256,bytes=64KiB",
                     "allreduce:ranks=64,bytes=64MiB,block=256KiB,by=ring", "barrier:ranks=2048",
                     "binomial-pipeline:ranks=64,bytes=64MiB,block=64KiB"):
            with self.subTest(spec=spec):
                said = self.bad("compile", spec, "--memory", "1KiB", code=3)
                asked_mib = float(re.search(r"takes about ([0-9.]+) MiB", said).group(1))
                took_mib = self.peak_mib("compile", spec, "-o", "x") - nothing_mib
                self.assertLess(took_mib, 1.25 * asked_mib)

    def test_memory_is_asked_for_by_what_a_command_does(self):
        spec = "chain:ranks=2,bytes=10MB,block=50"
        self.good("compile", spec, "-o", "chain.sched", "--memory", "300MB")
        for schedule in (spec, "chain.sched"):
            for arguments in (["export", schedule, "--to", "dot", "-o", "x"],
                              ["compile", schedule, "--format", "json", "-o", "x"],
                              ["simulate", schedule, "-e", "event", "--trace", "x"],
                              ["validate", schedule, "--ops", "1"],
                              ["slack", schedule]):
                line = self.bad(*arguments, "--memory", "300MB", code=3)
                self.assertRegex(line, r"takes about [0-9.]+ [MG]iB of memory, and --memory allows 286\.1 MiB")
        self.assertIn("it is a device",
                      self.bad("compile", "hybrid:ranks=4,bytes=1,rack-map=/dev/zero"))


if __name__ == "__main__":
    main()
