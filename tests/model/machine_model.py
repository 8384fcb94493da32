"""The machine model of docs/architecture.md once more, written from that page alone.

It shares no line and no idea of a data structure with the engines, and counts in whole picoseconds.
A star with serial NICs, several ranks and NICs a host, static schedules without bundles; framing,
PCIe, acknowledgements, completions that cost, delay plans, policies, bounds of sends.
"""

import collections
import heapq

ATOMICS = ("fetch_add", "fetch_and", "compare_swap")
INITIATORS = ("send", "put", "get") + ATOMICS
WITHOUT_LANE = ("delay", "join", "poll")

# What platforms and plans say, in picoseconds; rates as picoseconds a byte.
DEFAULTS = dict(
    latency=0, o_post=0, o_post_recv=None, o_complete=0, gap=0, atomic_service=0, nic_read=0,
    atomic_service_shared=0, byte=80, copy_byte=100, interleave=4096, o_signal=0, o_poll=0,
    o_match=0, o_block=0, o_callback=0, poll_batch=1, poll_for=None, interrupt_cost=0,
    service=False, switch_cost=0, ack=None, mtu=0, packet_overhead=0, coding=(1, 1),
    pcie_byte=0, pcie_payload=0, pcie_header=0, ranks_per_node=1, threads=1, zones=1,
    threads_per_qp=1, qp_sharer=0, update_sharer=0, numa_hop=0, memory_latency=100_000,
    zone_latency=0, cpu_atomic=0, cpu_atomic_sharer=0, own_memory=False, rails=1, rail="rank",
    policy="in-order", sends_in_flight=0)

# Events of one operation in one instant, in this order.
KINDS = {kind: place for place, kind in enumerate((
    "issue", "posted", "worked", "out_free", "in_free", "left", "request", "served", "completed",
    "done", "seen", "released", "acknowledged"))}


class Op:
    """rank, lane, kind, note (imm, flag), channel, peer, bytes, time, reads, writes, after, match."""

    def __init__(self, **facts):
        self.lane, self.note, self.channel, self.peer, self.match = 0, None, None, None, None
        self.bytes, self.time, self.reads, self.writes, self.after = 0, 0, [], [], []
        self.__dict__.update(facts)


class Lane:
    def __init__(self):
        self.ready, self.completions = [], []
        self.busy, self.polls, self.idle_since, self.looks = False, 0, 0, False


class Model:
    """One run. issued and done have the times of every operation afterwards."""

    def __init__(self, ops, channels, figures, plan=None):
        """channels: (src, dst, service) of each; plan: op, lane, pair, straggler as dictionaries."""
        self.ops, self.channels, self.f = ops, channels, {**DEFAULTS, **figures}
        if self.f["o_post_recv"] is None:
            self.f["o_post_recv"] = self.f["o_post"]
        self.plan = collections.defaultdict(dict, plan or {})
        count = len(ops)
        self.now, self.events = 0, []
        self.ready, self.issued, self.done = [None] * count, [None] * count, [None] * count
        self.arrival = [None] * count
        self.waits_for = [0] * count
        self.behind_issue = [[] for _ in ops]
        self.behind_done = [[] for _ in ops]
        last = {}
        for op in ops:
            if op.channel is not None:
                side = op.channel, op.kind == "recv"
                if side in last:
                    self.waits_for[op.id] += 1
                    self.behind_issue[last[side]].append(op.id)
                last[side] = op.id
        for op in ops:
            for on, before in op.after:
                self.waits_for[op.id] += 1
                (self.behind_done if on == "done" else self.behind_issue)[before].append(op.id)
        self.lanes = {(op.rank, op.lane): Lane() for op in ops}
        self.touched, self.in_flight, self.aside = [], collections.Counter(), {}
        self.queues, self.heading = collections.defaultdict(list), set()
        self.out_busy, self.in_busy = set(), set()
        self.rivals = collections.defaultdict(list)
        self.words, self.lines = {}, collections.defaultdict(set)
        numbers = collections.Counter()
        self.number = []
        for src, dst, _ in channels:
            self.number.append(numbers[src, dst])
            numbers[src, dst] += 1
        f = self.f
        self.service = f["service"] and (f["o_complete"] or f["switch_cost"])
        self.sleeps = f["poll_for"] is not None and f["interrupt_cost"] > 0
        self.looks = (any(f[x] for x in ("o_poll", "o_match", "o_block", "o_callback"))
                      or self.sleeps or self.service)
        self.signals = self.signalled()
        self.blocks_left = collections.Counter(
            self.buffer_of(op) for op in ops if self.buffer_of(op) is not None)

    # Where ranks, their NICs and their messages are.

    def node(self, rank):
        return rank // self.f["ranks_per_node"]

    def zone(self, rank):
        return rank % self.f["ranks_per_node"] * self.f["zones"] // self.f["ranks_per_node"]

    def in_memory(self, a, b):
        if a == b and self.f["ranks_per_node"] == 1:
            return self.f["own_memory"]
        return self.node(a) == self.node(b)

    def rail(self, rank, channel):
        f = self.f
        src, dst, _ = self.channels[channel]
        if f["rail"] == "rank":
            return rank % f["ranks_per_node"] % f["rails"]
        return (self.number[channel] + (src + dst if f["rail"] == "pair" else 0)) % f["rails"]

    def latency(self, src, dst, channel):
        f = self.f
        if self.in_memory(src, dst):
            zones = f["zone_latency"] if self.zone(src) != self.zone(dst) else 0
            return f["memory_latency"] + zones
        hops = sum(self.rail(rank, channel) * f["zones"] // f["rails"] != self.zone(rank)
                   for rank in (src, dst))
        return f["latency"] + hops * f["numa_hop"]

    def wire_time(self, size, src, dst, what):
        f = self.f
        if size == 0:
            return 0
        slow = self.plan["pair"].get((src, dst), 0)
        if self.in_memory(src, dst):
            return size * max(f["copy_byte"], slow)
        packets = -(-size // f["mtu"]) if f["mtu"] else 1
        bits, of = f["coding"]
        time = (size + packets * f["packet_overhead"]) * bits * max(f["byte"], slow) // of
        if what == "ack":
            return time
        parts = -(-size // f["pcie_payload"]) if f["pcie_payload"] else 1
        return max(time, (size + parts * f["pcie_header"]) * f["pcie_byte"])

    # Who makes a completion, and of which message a receive brings a block.

    def signalled(self):
        made, last = set(), {}
        for op in self.ops:
            made.update(before for on, before in op.after if on == "done")
            if op.kind == "recv" or op.kind in ATOMICS or self.is_bounded(op):
                made.add(op.id)
            if op.kind in INITIATORS:
                silent = op.kind in ("put", "get") and op.note != "imm" and op.bytes == 0
                if silent and op.channel in last:
                    made.add(last[op.channel])
                last[op.channel] = op.id
        return made | set(last.values())

    def is_bounded(self, op):
        return (self.f["sends_in_flight"] and op.kind in ("send", "put")
                and op.bytes > self.f["interleave"])

    def buffer_of(self, op):
        if op.kind != "recv" or op.match.bytes == 0:
            return None
        return (op.writes or op.match.writes)[0][0]

    # The clock.

    def at(self, time, op, kind, *more):
        heapq.heappush(self.events, (time, op, KINDS[kind], kind, more))

    def run(self):
        for op in self.ops:
            if self.waits_for[op.id] == 0:
                self.release(op.id)
        self.settle()
        while self.events:
            self.now = self.events[0][0]
            self.settle()
        return self

    def settle(self):
        while True:
            if self.events and self.events[0][0] == self.now:
                ending = []
                while self.events and self.events[0][0] == self.now:
                    ending.append(heapq.heappop(self.events))
                for _, op, _, kind, more in sorted(ending, key=lambda e: e[1:3]):
                    getattr(self, "when_" + kind)(op, *more)
            elif not (self.serve_lanes() or self.start(empty=True) or self.start(empty=False)):
                return

    # Readiness.

    def release(self, i):
        delay = self.plan["op"].get(i, 0)
        if delay:
            self.at(self.now + delay, i, "released")
        else:
            self.when_released(i)

    def when_released(self, i):
        self.ready[i] = self.now
        if self.ops[i].kind in WITHOUT_LANE:
            self.at(self.now, i, "issue")
        else:
            self.offer(i)

    def issue(self, i):
        self.issued[i] = self.now
        for after in self.behind_issue[i]:
            self.one_less(after)

    def one_less(self, i):
        self.waits_for[i] -= 1
        if self.waits_for[i] == 0:
            self.release(i)

    def when_issue(self, i):
        op = self.ops[i]
        self.issue(i)
        if op.kind == "poll":
            self.lanes[op.rank, op.lane].polls += 1
            came = self.arrival[op.match.id]
            if came is not None:
                self.at(max(self.now, came) + self.f["o_complete"], i, "done")
        else:
            self.at(self.now + op.time, i, "done")

    def when_done(self, i):
        op = self.ops[i]
        self.done[i] = self.now
        if op.kind == "poll":
            lane = self.lanes[op.rank, op.lane]
            lane.polls -= 1
            if lane.polls == 0 and not lane.busy:
                lane.idle_since = self.now
        if self.is_bounded(op):
            self.in_flight[op.rank] -= 1
            waiting = self.aside.get(op.rank)
            if waiting:
                self.offer(self.take_first(waiting))
        for after in self.behind_done[i]:
            self.one_less(after)

    # Lanes.

    def offer(self, i):
        key = self.ops[i].rank, self.ops[i].lane
        self.lanes[key].ready.append(i)
        self.touch(key)

    def touch(self, key):
        if key not in self.touched:
            self.touched.append(key)

    def take_first(self, ready):
        old = self.f["policy"] == "ready"
        first = min(ready, key=lambda i: (self.ready[i] if old else 0, i))
        ready.remove(first)
        return first

    def serve_lanes(self):
        served = False
        while self.touched:
            key = self.touched.pop(0)
            lane = self.lanes[key]
            if not lane.busy:
                served = (self.look(key, lane) if lane.completions
                          else self.take(key, lane)) or served
        return served

    def look(self, key, lane):
        f = self.f
        time = f["o_poll"]
        if self.sleeps and not lane.polls and self.now > lane.idle_since + f["poll_for"]:
            time += f["interrupt_cost"]
        if self.service and not lane.looks:
            time += f["switch_cost"]
        lane.looks = True
        seen = lane.completions[:f["poll_batch"]]
        del lane.completions[:f["poll_batch"]]
        for i in seen:
            time += f["o_complete"] if self.service else 0
            if self.ops[i].kind == "recv":
                time += f["o_match"]
                buffer = self.buffer_of(self.ops[i])
                if buffer is not None:
                    self.blocks_left[buffer] -= 1
                    time += f["o_block"] + (f["o_callback"] if not self.blocks_left[buffer] else 0)
        lane.busy = True
        self.at(self.now + time, seen[0], "seen", key, seen)
        return True

    def take(self, key, lane):
        f = self.f
        while lane.ready:
            i = self.take_first(lane.ready)
            op = self.ops[i]
            if self.is_bounded(op):
                if self.in_flight[op.rank] >= f["sends_in_flight"]:
                    self.aside.setdefault(op.rank, []).append(i)
                    continue
                self.in_flight[op.rank] += 1
            time = self.plan["lane"].get(i, 0)
            if self.service and lane.looks:
                time += f["switch_cost"]
                lane.looks = False
            times, of, more = self.plan["straggler"].get(op.rank, (1, 1, 0))
            lane.busy = True
            if op.kind in ("calc", "copy", "reduce"):
                self.issue(i)
                work = op.time if op.kind == "calc" else op.bytes * f["copy_byte"]
                if (op.kind == "reduce" and f["ranks_per_node"] > 1
                        and sum(size for _, _, size in op.writes) <= 64):
                    work += (f["threads"] - 1) * f["update_sharer"]
                self.at(self.now + time + work * times // of + more, i, "worked", key)
                return True
            post = f["o_post_recv"]
            if op.kind != "recv":
                post = f["o_post"]
                time += f["o_signal"] if i in self.signals else 0
                if not self.in_memory(op.rank, op.peer):
                    post += (f["threads_per_qp"] - 1) * f["qp_sharer"]
            self.at(self.now + time + post * times // of + more, i, "posted", key)
            return True
        return False

    def free(self, key):
        self.lanes[key].busy, self.lanes[key].idle_since = False, self.now
        self.touch(key)

    def when_worked(self, i, key):
        self.free(key)
        self.when_done(i)

    def when_seen(self, _, key, seen):
        self.free(key)
        for i in seen:
            self.when_done(i)

    def when_posted(self, i, key):
        op = self.ops[i]
        self.free(key)
        self.issue(i)
        if op.kind == "recv":
            if self.arrival[op.match.id] is not None:
                self.land(op.match)
        elif op.kind in ("send", "put"):
            self.queue(op, op.rank, op.peer, op.bytes, "message")
        else:
            self.queue(op, op.rank, op.peer, 0, "request")

    # NICs.

    def queue(self, op, src, dst, size, what):
        time = self.wire_time(size, src, dst, what)
        if self.in_memory(src, dst):
            self.at(self.now + time, op.id, "left", what, src, dst)
            return
        small = size <= self.f["interleave"] or what == "ack"
        out = self.node(src), self.rail(src, op.channel), small
        into = self.node(dst), self.rail(dst, op.channel), small
        self.queues[out].append((op.id, out, into, time, what, src, dst))
        self.head(out)

    def head(self, out):
        if out not in self.out_busy and out not in self.heading and self.queues[out]:
            message = self.queues[out].pop(0)
            self.heading.add(out)
            self.rivals[message[2]].append((self.now,) + message)

    def start(self, empty):
        started = False
        for into in sorted(self.rivals):
            while self.rivals[into] and into not in self.in_busy:
                first = min(self.rivals[into])
                _, i, out, _, time, what, src, dst = first
                if empty and time:
                    break
                started = True
                self.rivals[into].remove(first)
                self.heading.discard(out)
                self.out_busy.add(out)
                if time:
                    self.in_busy.add(into)
                    self.at(self.now + time, i, "in_free", into)
                self.at(self.now + max(self.f["gap"], time), i, "out_free", out)
                self.at(self.now + time, i, "left", what, src, dst)
                if not empty:
                    break
        return started

    def when_in_free(self, _, into):
        self.in_busy.discard(into)

    def when_out_free(self, _, out):
        self.out_busy.discard(out)
        self.head(out)

    # What becomes of messages.

    def finish(self, i, time):
        if self.looks and i in self.signals:
            self.at(time + (0 if self.service else self.f["o_complete"]), i, "completed")
        else:
            self.at(time + self.f["o_complete"], i, "done")

    def when_completed(self, i):
        key = self.ops[i].rank, self.ops[i].lane
        self.lanes[key].completions.append(i)
        self.touch(key)

    def when_left(self, i, what, src, dst):
        op = self.ops[i]
        time = self.now + self.latency(src, dst, op.channel)
        if what == "request":
            self.at(time + (0 if self.in_memory(src, dst) else self.f["nic_read"]), i, "request")
        elif what != "message":
            self.finish(i, time)
        else:
            self.arrival[i] = time
            if op.kind == "send" or op.note == "imm":
                if op.kind == "send" and self.channels[op.channel][2] != "rc":
                    self.finish(i, self.now)
                if self.issued[op.match.id] is not None:
                    self.land(op)
                return
            if op.note == "flag" and self.issued[op.match.id] is not None:
                self.at(time + self.f["o_complete"], op.match.id, "done")
            self.acknowledge(op, time)

    def land(self, op):
        time = max(self.arrival[op.id], self.issued[op.match.id])
        self.finish(op.match.id, time)
        if op.kind != "send" or self.channels[op.channel][2] == "rc":
            self.acknowledge(op, time)

    def acknowledge(self, op, time):
        if self.f["ack"] is None or self.in_memory(op.rank, op.peer):
            self.finish(op.id, time + self.latency(op.peer, op.rank, op.channel))
        else:
            self.at(time, op.id, "acknowledged")

    def when_acknowledged(self, i):
        self.queue(self.ops[i], self.ops[i].peer, self.ops[i].rank, self.f["ack"], "ack")

    def when_request(self, i):
        op = self.ops[i]
        if op.kind == "get":
            self.queue(op, op.peer, op.rank, op.bytes, "answer")
            return
        word = op.reads[0][:2]
        waiting = self.words.setdefault(word, [])
        waiting.append((self.now, op))
        if len(waiting) == 1:
            self.serve(word)

    def serve(self, word):
        f = self.f
        came, op = self.words[word][0]
        if self.in_memory(op.rank, op.peer):
            users = self.lines[word[0], word[1] // 64]
            time = f["cpu_atomic"] + f["cpu_atomic_sharer"] * len(users - {op.rank})
            users.add(op.rank)
        else:
            time = f["atomic_service"] + (f["atomic_service_shared"] if came < self.now else 0)
        self.at(self.now + time, op.id, "served", word)

    def when_served(self, i, word):
        self.words[word].pop(0)
        self.queue(self.ops[i], self.ops[i].peer, self.ops[i].rank, 8, "answer")
        if self.words[word]:
            self.serve(word)
