"""Fair shares of links on top of the machine model, from docs/architecture.md and docs/simulation.md.

Times are fractions of picoseconds: so what one engine rounds is exact here.
"""

import heapq
from fractions import Fraction

from machine_model import Model


class TwoLevel:
    """Racks of hosts, each rack (or with optimized rails each rail of one) with links up and down."""

    def __init__(self, hosts_of_rack, rails, optimized, hop, byte_of_port, byte_of_uplink):
        self.hosts_of_rack, self.rails, self.optimized = hosts_of_rack, rails, optimized
        self.hop, self.byte_of_port, self.byte_of_uplink = hop, byte_of_port, byte_of_uplink

    def leaf(self, nic):
        return nic[0] // self.hosts_of_rack, nic[1] if self.optimized else 0

    def route(self, src, dst):
        """The links between two NICs, which are (host, number)."""
        up, down = self.leaf(src), self.leaf(dst)
        between = [] if up == down else [("up",) + up, ("down",) + down]
        return [("out",) + src] + between + [("in",) + dst]

    def byte(self, link):
        return self.byte_of_uplink if link[0] in ("up", "down") else self.byte_of_port

    def hops(self, src, dst):
        return 0 if self.leaf(src) == self.leaf(dst) else 2 * self.hop


class FlowModel(Model):
    """Large messages are flows, which share links max-min fairly; NICs are serial, or fair."""

    def __init__(self, ops, channels, figures, plan, network, fair):
        self.network, self.fair = network, fair
        self.flows, self.shared_at, self.changed = {}, Fraction(0), False
        super().__init__(ops, channels, figures, plan)

    def nic(self, rank, channel):
        return self.node(rank), self.rail(rank, channel)

    def latency(self, src, dst, channel):
        time = super().latency(src, dst, channel)
        if self.in_memory(src, dst):
            return time
        return time + self.network.hops(self.nic(src, channel), self.nic(dst, channel))

    def links(self, op, src, dst, time_alone, size_on_wire):
        """Each link of a message's way with its rate, and what bounds this message or its pair."""
        nics = self.nic(src, op.channel), self.nic(dst, op.channel)
        rates = {link: Fraction(1) / self.network.byte(link) for link in self.network.route(*nics)}
        if (src, dst) in self.plan["pair"]:
            rates["pair", src, dst, nics] = Fraction(1, self.plan["pair"][src, dst])
        # By the way's ports alone a message takes what the machine model says; PCIe is in it.
        rates["message", op.id] = size_on_wire / time_alone
        return rates

    def size_on_wire(self, size):
        f = self.f
        packets = -(-size // f["mtu"]) if f["mtu"] else 1
        return Fraction((size + packets * f["packet_overhead"]) * f["coding"][0], f["coding"][1])

    def start(self, empty):
        started = False
        for into in sorted(self.rivals):
            while self.rivals[into] and (self.fair or into not in self.in_busy):
                first = min(self.rivals[into])
                _, i, out, _, time, what, src, dst = first
                if empty and time:
                    break
                started = True
                self.rivals[into].remove(first)
                self.heading.discard(out)
                self.out_busy.add(out)
                if time and not self.fair:
                    self.in_busy.add(into)
                op, small = self.ops[i], out[2]
                size = self.size_on_wire(
                    self.f["ack"] if what == "ack" else op.bytes) if time else 0
                rates = self.links(op, src, dst, time, size) if time else {}
                if time and not small:
                    self.flows[i] = [size, rates, 0, self.now, out, into, (what, src, dst)]
                    self.changed = True
                    if self.fair:
                        self.at(self.now + self.f["gap"], i, "out_free", out)
                else:
                    time = size / min(rates.values()) if time else 0
                    self.free_later(i, self.now, self.now + time, out, into, bool(time))
                    self.at(self.now + time, i, "left", what, src, dst)
                if not empty:
                    break
        return started

    def free_later(self, i, begin, end, out, into, has_bytes):
        if has_bytes and not self.fair:
            self.at(end, i, "in_free", into)
        gap_ends = begin + self.f["gap"]
        self.at(gap_ends if self.fair else max(gap_ends, end), i, "out_free", out)

    def fill(self):
        """Rates grow together; whoever meets a full link keeps what it has."""
        for flow in self.flows.values():
            flow[0] -= flow[2] * (self.now - self.shared_at)
        self.shared_at, self.changed = Fraction(self.now), False
        users, room = {}, {}
        for i, flow in self.flows.items():
            for link, rate in flow[1].items():
                users.setdefault(link, set()).add(i)
                room[link] = rate
        while users:
            level, link = min(((room[link] / len(of), link) for link, of in users.items()),
                              key=lambda each: each[0])
            for i in sorted(users[link]):
                self.flows[i][2] = level
                for passed in self.flows[i][1]:
                    room[passed] -= level
                    users[passed].discard(i)
                    if not users[passed]:
                        del users[passed]

    def end_of(self, flow):
        return self.shared_at + flow[0] / flow[2]

    def run(self):
        for op in self.ops:
            if self.waits_for[op.id] == 0:
                self.release(op.id)
        self.settle()
        while self.events or self.flows:
            if self.changed:
                self.fill()
            ends = [self.end_of(flow) for flow in self.flows.values()]
            self.now = min(ends + ([self.events[0][0]] if self.events else []))
            self.settle()
        return self

    def settle(self):
        while True:
            ending = []
            if not self.changed:
                ending = [(self.now, i, -1, "flow_ended", ()) for i, flow in self.flows.items()
                          if self.end_of(flow) < self.now + 1]
            while self.events and self.events[0][0] < self.now + 1:
                ending.append(heapq.heappop(self.events))
            for _, op, _, kind, more in sorted(ending, key=lambda e: e[1:3]):
                getattr(self, "when_" + kind)(op, *more)
            if not ending and not (
                    self.serve_lanes() or self.start(empty=True) or self.start(empty=False)):
                return

    def when_flow_ended(self, i):
        for flow in self.flows.values():
            flow[0] -= flow[2] * (self.now - self.shared_at)
        self.shared_at = Fraction(self.now)
        _, _, _, begin, out, into, message = self.flows.pop(i)
        self.changed = True
        if not self.fair:
            self.free_later(i, begin, self.now, out, into, True)
        self.when_left(i, *message)
