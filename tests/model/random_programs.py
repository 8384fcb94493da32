"""Programs, platforms and delay plans by a seed: as the program reads them, and as the model does."""

from machine_model import INITIATORS, Op

TIMES = (0, 0, 50, 100, 200, 700, 1500, 3000)


def some_time(random):
    return random.choice(TIMES) * 1000


class Program:
    """Operations in one global order, which edges and channels keep: so there is no deadlock."""

    def __init__(self, random, most_ranks=7, most_parts=36):
        self.random = random
        self.ranks = random.randint(1, most_ranks)
        self.lanes = random.choice((1, 1, 2, 3))
        self.channels, self.numbers = [], {}
        self.of_rank = [[] for _ in range(self.ranks)]
        for _ in range(random.randint(1, most_parts)):
            self.add_part()
        self.ops = [op for ops in self.of_rank for op in ops]
        for number, op in enumerate(self.ops):
            op.id = number
        for op in self.ops:
            op.after = [(on, before.id) for on, before in op.after]

    def channel(self, src, dst, service="rc"):
        key = src, dst, service, self.random.randrange(2)
        if key not in self.numbers:
            self.numbers[key] = len(self.channels)
            self.channels.append((src, dst, service))
        return self.numbers[key]

    def piece(self, rank, size, place=None):
        place = 8 * self.random.randrange(10) if place is None else place
        return 2 * rank + self.random.randrange(2), place, size

    def add(self, rank, kind, apart_from=None, **facts):
        op = Op(rank=rank, kind=kind, lane=self.random.randrange(self.lanes), **facts)
        before = self.of_rank[rank]
        for _ in range(self.random.randrange(3)):
            if before:
                back = self.random.randrange(len(before)) if self.random.random() < 0.33 else 0
                other = before[-1 - back]
                if other is not apart_from and all(other is not known for _, known in op.after):
                    op.after.append((self.random.choice(("issued", "done", "done")), other))
        before.append(op)
        return op

    def add_part(self):
        random = self.random
        a, b = random.randrange(self.ranks), random.randrange(self.ranks)
        size = random.choice((0, 0, 8, 700, 4096, 4098, 30000, 2 * random.randrange(30000)))
        kind = random.randrange(14)
        to = dict(channel=self.channel(a, b), peer=b, bytes=size)
        reads = [self.piece(a, size)] if size else []
        writes = [self.piece(b, size)] if size else []
        if kind == 0:
            self.add(a, "put", reads=reads, writes=writes, **to)
        elif kind == 1:
            writes = writes or [self.piece(b, 2)]
            put = self.add(a, "put", note="flag", **{**to, "bytes": writes[0][2]},
                           reads=[self.piece(a, writes[0][2])], writes=writes)
            buffer, place, size = writes[0]
            put.match = self.add(b, "poll", reads=[(buffer, place + size - 1, 1)], match=put)
        elif kind == 2:
            self.add(a, "get", reads=writes, writes=reads, **to)
        elif kind in (3, 4):
            word = self.piece(b, 8, 8 * random.randrange(random.choice((1, 3, 20))))
            self.add(a, random.choice(("fetch_add", "fetch_and", "compare_swap")),
                     **{**to, "bytes": 8}, reads=[word], writes=[word, self.piece(a, 8, 90_000)])
        elif kind == 5:
            self.add(a, "calc", time=random.choice((0, 1, 700, 5000)) * 1000)
        elif kind == 6:
            size = max(2, size)
            self.add(a, "copy", bytes=size, reads=[self.piece(a, size)],
                     writes=[self.piece(a, size)])
        elif kind == 7:
            size = random.choice((2, 8, 64, 66, 4096))
            self.add(a, "reduce", bytes=2 * size, writes=[self.piece(a, size)],
                     reads=[self.piece(a, size), self.piece(a, size)])
        elif kind == 8:
            self.add(a, random.choice(("delay", "join")), time=0)
            self.of_rank[a][-1].time = (random.choice((0, 1, 700)) * 1000
                                        if self.of_rank[a][-1].kind == "delay" else 0)
        else:
            note = "imm" if kind == 9 else None
            service = random.choice(("ud", "eager")) if kind == 10 and a != b else "rc"
            to["channel"] = self.channel(a, b, service)
            # To itself a rank posts the receive first, and waits for neither half in between.
            back = dict(channel=to["channel"], peer=a, writes=[] if note else writes)
            receive = self.add(b, "recv", **back) if a == b else None
            send = self.add(a, "put" if note else "send", apart_from=receive, note=note, reads=reads,
                            writes=writes if note else [], **to)
            receive = receive or self.add(b, "recv", **back)
            send.match, receive.match = receive, send

    def text(self):
        def pieces(word, of):
            return f" {word} " + " ".join(f"{b}[{at}+{size}]" for b, at, size in of) if of else ""

        lines = ["slackline schedule 1", f"ranks {self.ranks}"]
        for rank in range(self.ranks):
            lines += [f"buffer {2 * rank + i} rank {rank} bytes 100000" for i in range(2)]
        for number, (src, dst, service) in enumerate(self.channels):
            lines.append(f"channel {number} from {src} to {dst} service {service}")
        for rank, ops in enumerate(self.of_rank):
            lines.append(f"rank {rank}")
            for op in ops:
                lines.append(
                    f"  {op.id} {op.kind} lane {op.lane}"
                    + (f" on {op.channel}" if op.channel is not None else "")
                    + (f" {op.note}" if op.note else "")
                    + pieces("reads", op.reads) + pieces("writes", op.writes)
                    + (f" for {op.time}ps" if op.kind in ("calc", "delay") else "")
                    + (" operand 1" if op.kind in INITIATORS[3:] else "")
                    + (" compare 0" if op.kind == "compare_swap" else "")
                    + (f" sees {op.match.id}" if op.kind == "poll" else "")
                    + (" after " + " ".join(f"{on}:{i}" for on, i in op.after) if op.after else ""))
        return "\n".join(lines) + "\n"


def platform(random):
    """The spec, and the figures of the model."""
    figures = {name: some_time(random) for name in (
        "latency", "o_post", "o_complete", "gap", "atomic_service")}
    # Where nothing takes time, whole schedules are one instant.
    for name in ("latency", "o_post"):
        figures[name] = figures[name] or 350_000
    spec = []

    def draw(chance, *names):
        for name in names:
            if random.random() < chance:
                figures[name] = some_time(random)

    def choose(chance, name, values, key=None, text=str):
        if random.random() < chance:
            figures[name] = random.choice(values)
            spec.append(f"{key or name}={text(figures[name])}")

    def megabits(time):
        return f"{8_000_000 // time}Mbps"

    choose(1, "byte", (80, 200, 800), "rate", megabits)
    choose(1, "copy_byte", (100, 125, 200), "copy_rate", megabits)
    choose(1, "interleave", (0, 64, 4096, 20000, 100000))
    draw(0.3, "nic_read", "atomic_service_shared", "o_post_recv")
    if random.random() < 0.4:
        draw(0.5, "o_signal", "o_poll", "o_match", "o_block", "o_callback")
        choose(0.4, "poll_batch", (2, 3, 16))
        if random.random() < 0.3:
            figures["poll_for"] = random.choice((0, 500_000, 5_000_000))
            figures["interrupt_cost"] = random.choice((500_000, 4_000_000))
        if random.random() < 0.3:
            figures["service"] = True
            spec.append("completions=service")
            draw(0.6, "switch_cost")
    choose(0.25, "ack", (4, 64, 5000))
    choose(0.3, "mtu", (256, 1500))
    if "mtu" in figures:
        choose(0.7, "packet_overhead", (28, 82))
    choose(0.2, "coding", ((10, 8),), text=lambda c: f"{c[1]}/{c[0]}")
    choose(0.35, "pcie_byte", (100, 160, 320, 1000), "pcie_rate", megabits)
    if "pcie_byte" in figures:
        choose(0.6, "pcie_payload", (128, 256, 4096))
        choose(0.6, "pcie_header", (20, 24, 100))
    if random.random() < 0.7:
        shared = random.choice((1, 1, 2, 3))
        threads = shared * random.choice((1, 2))
        choose(1, "threads_per_qp", (shared,))
        choose(1, "threads", (threads,), "threads_per_process")
        choose(1, "ranks_per_node", (threads * random.choice((1, 2)),))
        choose(1, "zones", (1, 2, 3), "zones_per_node")
        draw(0.6, "zone_latency", "cpu_atomic", "cpu_atomic_sharer", "qp_sharer", "update_sharer",
             "numa_hop", "memory_latency")
    choose(0.25, "own_memory", (True,), "own_messages", lambda _: "memory")
    choose(0.5, "rails", (2, 3, 4))
    if "rails" in figures:
        choose(1, "rail", ("rank", "channel", "pair"))
    named = {key.split("=")[0] for key in spec}
    aliases = {"byte", "copy_byte", "threads", "zones", "own_memory", "pcie_byte", "service"}
    spec += [f"{name}={value}ps" for name, value in figures.items()
             if name not in named and name not in aliases]
    return "star:nic=serial," + ",".join(spec), figures


def plan(random, program):
    """Options of `simulate`, and the plan of the model."""
    options, told = [], {"op": {}, "lane": {}, "pair": {}, "straggler": {}}
    if random.random() < 0.5:
        return options, told
    for _ in range(random.randrange(3)):
        op, by = random.randrange(len(program.ops)), random.choice((1000, 500_000, 20_000_000))
        of = random.choice(("op", "lane"))
        told[of][op] = told[of].get(op, 0) + by
        options += ["--delay", f"op={op},by={by}ps,of={of}"]
    if random.random() < 0.5 and program.ranks > 1:
        src, dst = random.sample(range(program.ranks), 2)
        told["pair"][src, dst] = random.choice((50, 100, 1000))
        rate = 8_000_000 // told["pair"][src, dst]
        options += ["--slow-pair", f"src={src},dst={dst},rate={rate}Mbps"]
    if random.random() < 0.4:
        rank = random.randrange(program.ranks)
        told["straggler"][rank] = 3, 2, 77_000
        options += ["--straggler", f"rank={rank},slowdown=1.5,by=77ns"]
    return options, told
