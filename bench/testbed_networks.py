"""The networks on which predictions are held against runs: a star, and two racks of hosts."""

import dataclasses
import itertools


@dataclasses.dataclass(frozen=True)
class Network:
    name: str
    ranks: tuple         # how many of them run
    rate: str            # of a host's cable, such as 100Mbps
    hosts: int = 0       # of a rack; 0: a star
    over: int = 1        # how much less an uplink carries than the hosts below it
    placement: str = "packed"

    def spec(self, rate=None):
        if self.hosts == 0:
            return f"star:rate={rate or self.rate}"
        return (f"two-level:racks=2,hosts={self.hosts},oversubscription={self.over},"
                f"rate={rate or self.rate},placement={self.placement}")

    def rack(self, rank):
        if self.hosts == 0:
            return 0
        return rank % 2 if self.placement == "round-robin" else rank // self.hosts

    def links(self, src, dst):
        """What a message passes."""
        across = self.rack(src) != self.rack(dst)
        return [("out", src), ("in", dst)] + across * [("up", self.rack(src)),
                                                       ("down", self.rack(dst))]

    def share(self, link):
        """How many cables of hosts this link carries as much as."""
        return self.hosts / self.over if link[0] in ("up", "down") else 1

    def slow_file(self, slow, half_latency):
        """The same network as a file of SimGrid's, but for host `slow`, whose cable has half the
        rate."""
        racks = 1 if self.hosts == 0 else 2
        hosts = self.hosts or max(self.ranks)
        value = float(self.rate.removesuffix("Mbps"))
        lines = ['<?xml version="1.0"?>',
                 '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
                 '<platform version="4.1">', '<zone id="all" routing="Full">']
        for rack in range(racks):
            lines.append(f'<zone id="rack-{rack}" routing="Floyd">')
            own = range(rack * hosts, (rack + 1) * hosts)
            lines += [f'<host id="host-{host}" speed="1Gf"/>' for host in own]
            lines.append(f'<router id="switch-{rack}"/>')
            for host in own:
                rate = value / 2 if host == slow else value
                lines.append(f'<link id="cable-{host}" bandwidth="{rate}Mbps" '
                             f'latency="{half_latency}" sharing_policy="SPLITDUPLEX"/>')
            for host in own:
                lines.append(f'<route src="host-{host}" dst="switch-{rack}">'
                             f'<link_ctn id="cable-{host}" direction="UP"/></route>')
            lines.append("</zone>")
        if racks == 2:
            uplink = value * hosts / self.over
            lines += [f'<link id="trunk-{rack}" bandwidth="{uplink}Mbps" latency="0us" '
                      'sharing_policy="SPLITDUPLEX"/>' for rack in range(2)]
            for src, dst in ((0, 1), (1, 0)):
                lines.append(f'<zoneRoute src="rack-{src}" dst="rack-{dst}" '
                             f'gw_src="switch-{src}" gw_dst="switch-{dst}" symmetrical="NO">'
                             f'<link_ctn id="trunk-{src}" direction="UP"/>'
                             f'<link_ctn id="trunk-{dst}" direction="DOWN"/></zoneRoute>')
        return "\n".join([*lines, "</zone>", "</platform>", ""])


def networks(options):
    """Of virtual machines, as many as two cores emulate."""
    some, all_of_them = ((2, 4), (2, 3, 4, 6)) if options.guests else ((2, 4, 8), (2, 3, 4, 6, 8))
    yield Network("star", some if options.quick else all_of_them, options.rate)
    per_rack = 2 if options.guests else 4
    ranks = (2 * per_rack,) if options.quick or options.guests else all_of_them
    for over, placement in itertools.product((2, 4), ("packed", "round-robin")):
        yield Network(f"2 racks, {over}:1, {placement}", ranks, options.rate, per_rack, over, placement)
