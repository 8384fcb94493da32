"""Schedules: compiled from a pattern, read from a file, or built."""

from __future__ import annotations

import dataclasses
import functools
import os
from typing import TYPE_CHECKING, Iterable, List, Optional, Sequence, Tuple, Union

from slackline import _native
from slackline.builder import Builder, of_transfers
from slackline.delays import Delays, plan_of
from slackline.errors import InputError
from slackline.ops import Edges, Ops
from slackline.platform import Platform, native_platform
from slackline.quantities import Bytes, whole
from slackline.run import Run
from slackline.samples import Samples, sampled

if TYPE_CHECKING:
    import networkx
    import pandas

    from slackline.real_run import RealRun

__all__ = ["Diagnostic", "Schedule", "compile", "read", "read_run"]

Path = Union[str, "os.PathLike[str]"]


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """What a check found."""

    code: str
    """deadlock, race, post, …: the codes of `slackline check`."""
    is_error: bool
    """False: a warning."""
    op: Optional[int]
    """The operation that it is about; None if it is about the whole."""
    message: str
    """One line, with ranks, operations and bytes."""


class Schedule:
    """An immutable graph of operations over ranks, known by its digest.

    `compile` makes one from a pattern, `read` from a file, `Schedule.builder` and
    `Schedule.from_transfers` from what a program says.
    """

    def __init__(self, native: _native.Schedule, spec: Optional[str] = None):
        self._native = native
        self._spec = spec

    @staticmethod
    def builder(ranks: int, title: str = "") -> Builder:
        """Begins a schedule of one's own, operation by operation."""
        return Builder(ranks, title, Schedule)

    @staticmethod
    def from_transfers(ranks: int, transfers: Iterable[Tuple[int, int, int, int]], *,
                       bytes: Bytes,
                       block: Bytes = "1MiB", root: int = 0, title: str = "", lower: str = "send",
                       ready: str = "send", window: int = 1, in_flight: int = 1,
                       lockstep: bool = False) -> Schedule:
        """A multicast pattern of one's own: what goes where, and the rest as of those with a name.

        `transfers` are (step, source, destination, block). The root has a message of `bytes` at the
        beginning, all others at the end. Each transfer becomes a send and a receive, or a put
        (`lower`), and each receiver says when it is ready (`ready`: send, write, none), `window`
        receives ahead. A rank has `in_flight` blocks under way.

        >>> ring = [(step, step, step + 1, 0) for step in range(3)]
        >>> s = Schedule.from_transfers(4, ring, bytes="1MiB").prove()
        >>> s == compile("chain:ranks=4,bytes=1MiB")
        True
        """
        return of_transfers(Schedule, title, ranks, list(transfers), bytes, block, root, lower,
                            ready, window, in_flight, lockstep)

    @property
    def digest(self) -> str:
        """Its name by content: the same digest is the same schedule.

        >>> compile("chain:ranks=2,bytes=1MiB").digest
        'dda7ee51b3e2ada1abed875d3ccc815e'
        """
        return self._native.digest

    @property
    def title(self) -> str:
        """The spec or file that it was made from. For people."""
        return self._native.title.decode("utf-8", "surrogateescape")

    @property
    def rank_count(self) -> int:
        """How many ranks there are."""
        return self._native.rank_count

    @property
    def step_count(self) -> int:
        """One more than the highest step."""
        return self._native.step_count

    @property
    def message_bytes(self) -> int:
        """The size of the message that its pattern carries; 0 where that has no meaning."""
        return self._native.message_bytes

    @property
    def dynamic_reason(self) -> Optional[str]:
        """Why it is dynamic, naming the operation. None: it is static, and can be proved."""
        return self._native.dynamic_reason

    @functools.cached_property
    def ops(self) -> Ops:
        """Its operations, as columns."""
        return Ops(self._native)

    @functools.cached_property
    def edges(self) -> Edges:
        """What waits for what on one rank, as columns."""
        return Edges(self._native)

    def __len__(self) -> int:
        return self._native.op_count

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schedule) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<Schedule {self.title!r}: {self.rank_count} ranks, {len(self)} operations>"

    def describe(self, op: int) -> str:
        """An operation for people.

        >>> compile("chain:ranks=2,bytes=1MiB").describe(1)
        'op 1 (send, rank 0)'
        """
        return self._native.describe(whole(op, "op"))

    def check(self, most: int = 100) -> List[Diagnostic]:
        """Proves it, and says what is wrong: up to `most` errors. Nothing is: an empty list.

        Raises Unsupported for a dynamic schedule.

        >>> compile("chain:ranks=4,bytes=1MiB").check()
        []
        """
        return [Diagnostic(code, is_error, None if op < 0 else op, message)
                for code, is_error, op, message in self._native.verify(whole(most, "most"))]

    def prove(self) -> Schedule:
        """Itself, if the proof holds. Raises InputError, with the first defect, if it does not."""
        errors = [found for found in self.check() if found.is_error]
        if errors:
            more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
            raise InputError(f"{self.title or 'the schedule'}: {errors[0].code}: "
                             f"{errors[0].message}{more}; expected one that can be proved")
        return self

    def simulate(self, platform: Union[Platform, str] = "fractus", *, delays: Delays = None,
                 seed: Optional[int] = None, engine: str = "flow", policy: str = "in-order",
                 sends_in_flight: int = 0) -> Run:
        """Runs it on a platform, and says when each operation was ready, issued and done.

        `engines()` lists the engines. `policy` says which ready operation a lane takes next:
        in-order, ready or least-slack. With `sends_in_flight` a rank has at most so many large
        messages under way. `seed` takes the place of the delays' own. Other threads of Python go on
        meanwhile, and Ctrl-C ends it.

        >>> s = compile("binomial-pipeline:ranks=16,bytes=16MiB")
        >>> f"{s.simulate('fractus').makespan_s * 1e3:.3f} ms"
        '1.635 ms'
        """
        return Run(_native.simulate(self._native, native_platform(platform), plan_of(delays, seed),
                                    engine, policy, whole(sends_in_flight, "sends_in_flight")),
                   self)

    def samples(self, platform: Union[Platform, str] = "fractus", *, count: int,
                delays: Delays = None, seed: Optional[int] = None, engine: str = "flow",
                policy: str = "in-order", sends_in_flight: int = 0, jobs: Optional[int] = None,
                progress: Optional[bool] = None) -> Samples:
        """Simulates it `count` times, with other draws of the delays' noise each time.

        Sample i draws with the seed and i, so that it can be run again alone. `jobs` run at a time
        (all cores, if that is None), which changes no result. `progress` shows a bar where tqdm is
        installed; None: on a terminal.
        """
        return sampled(self._native, native_platform(platform), plan_of(delays, seed), engine,
                       policy, sends_in_flight, count, jobs, progress)

    def run(self, transport: str = "shm", *, iterations: int = 1, warm_up: int = 1,
            delays: Delays = None, seed: Optional[int] = None,
            options: Sequence[str] = ()) -> RealRun:
        """Carries it out for real: its ranks are processes, here unless `options` say otherwise,
        and every byte that arrives is proved.

        It is done by the program (`slackline run`), whose `options` may follow, as
        `["--bind", "core"]`. Raises RunFailed if a rank is lost, and slackline.EnvironmentError
        where this machine lacks the transport.
        """
        from slackline.real_run import carried_out

        return carried_out(self, transport, iterations, warm_up, delays, seed, options)

    def to_pandas(self) -> pandas.DataFrame:
        """A row for every operation: its kind, rank, step, lane, channel, match, bytes and peer."""
        from slackline.frames import frame_of

        return frame_of(self)

    def to_networkx(self) -> networkx.MultiDiGraph:
        """Its operations as nodes, and what waits for what as edges, whose `kind` is edge-done,
        edge-issued or message: the graph that `export("graphml")` writes.

        >>> graph = compile("chain:ranks=2,bytes=1MiB").to_networkx()
        >>> graph.nodes[1]["kind"], sorted(graph.successors(1))
        ('send', [2])
        """
        from slackline.frames import graph_of

        return graph_of(self)

    def export(self, format: str) -> str:
        """It in the format of another tool. `formats()` lists them. One that is no text, as goal-bin,
        comes back as bytes by .encode("utf-8", "surrogateescape"). One with a file of each rank, as
        chakra, only the program writes: it is refused.

        >>> compile("chain:ranks=2,bytes=1MiB").export("dot").splitlines()[0]
        'digraph G {'
        """
        return self._native.export(format).decode("utf-8", "surrogateescape")

    def write(self, path: Path) -> None:
        """Writes it to a file, which `read` and the program read: JSON if the name ends in .json,
        else text. The file is there whole, or not at all. Raises InputError for a place that cannot
        be written.
        """
        form = "json" if os.fspath(path).endswith(".json") else "text"
        _native.write_file(os.fspath(path), self._native.export(form))


def compile(spec: str) -> Schedule:
    """The schedule of a pattern: `pattern:key=value,…`, as on the command line.

    >>> compile("binomial-pipeline:ranks=16,bytes=16MiB")
    <Schedule 'binomial-pipeline:ranks=16,bytes=16MiB': 16 ranks, 960 operations>
    """
    return Schedule(_native.compile(spec), spec)


def read(path: Path) -> Schedule:
    """The schedule of a file: Slackline's text or JSON, GOAL, Chakra's traces, an MSCCL algorithm
    or an MSCCL++ plan."""
    return Schedule(_native.load_schedule(os.fspath(path)))


def read_run(path: Path, schedule: Optional[Schedule] = None) -> Run:
    """The run of a trace's file, as `Run.write` and the program write it.

    `schedule` is what ran: without it, what the trace says that the schedule was made from.
    """
    trace = _native.load_trace(os.fspath(path))
    if schedule is None:
        title = trace.title.decode("utf-8", "surrogateescape")
        schedule = read(title) if os.path.exists(title) else compile(title)
    return Run(_native.run_of_trace(schedule._native, trace, os.fspath(path)), schedule)
