"""Schedules of one's own, operation by operation, or as a pattern of blocks and steps."""

from __future__ import annotations

import dataclasses
from typing import (TYPE_CHECKING, Any, Callable, Iterable, List, Optional, Sequence, Tuple, Union)

from slackline import _native
from slackline.errors import InputError
from slackline.quantities import Bytes, Time, bytes_of, picoseconds_of, whole

if TYPE_CHECKING:
    from slackline.schedule import Schedule

__all__ = ["Attempt", "Buffer", "Builder", "Channel", "OpHandle", "Result", "Slice"]


@dataclasses.dataclass(frozen=True)
class Slice:
    """A piece of a buffer."""

    buffer: Buffer
    offset: int
    bytes: int


@dataclasses.dataclass(frozen=True)
class Buffer:
    """Registered memory of a rank. `buffer[a:b]` is a piece of it, `buffer[:]` all of it."""

    number: int
    rank: int
    bytes: int
    _of: object = dataclasses.field(default=None, repr=False, compare=False)

    def __getitem__(self, piece: slice) -> Slice:
        if not isinstance(piece, slice) or piece.step not in (None, 1):
            raise InputError(f"buffer {self.number}[{piece}]: expected buffer[begin:end]")
        begin = 0 if piece.start is None else piece.start
        end = self.bytes if piece.stop is None else piece.stop
        if not 0 <= begin <= end <= self.bytes:
            raise InputError(f"buffer {self.number}[{begin}:{end}]: it has {self.bytes} bytes; "
                             "expected 0 <= begin <= end <= its bytes")
        return Slice(self, begin, end - begin)


@dataclasses.dataclass(frozen=True)
class Channel:
    """A queue pair, as its initiator sees it: `src` initiates towards `dst`."""

    number: int
    src: int
    dst: int
    _of: object = dataclasses.field(default=None, repr=False, compare=False)


class OpHandle:
    """An operation of a builder. `id` is its place among the schedule's operations, once that is
    built: they are grouped by rank then.
    """

    def __init__(self, number: int, rank: int, of: object):
        self._number = number
        self.rank = rank
        self._of = of
        self._id: Optional[int] = None

    @property
    def id(self) -> int:
        """Its place among the schedule's operations. Raises InputError before that is built."""
        if self._id is None:
            raise InputError("this operation has no id before build(); expected that first")
        return self._id

    def __index__(self) -> int:
        return self.id

    @property
    def issued(self) -> Issued:
        """For `after`: what follows waits until this is issued, and not until it is done."""
        return Issued(self)


@dataclasses.dataclass(frozen=True)
class Issued:
    """The moment at which an operation is issued."""

    op: OpHandle


@dataclasses.dataclass(frozen=True)
class Result:
    """What an atomic or a get of the same rank fetched, as an operand: times, plus, modulo."""

    op: OpHandle
    times: int = 1
    plus: int = 0
    modulo: int = 0


@dataclasses.dataclass(frozen=True)
class Attempt:
    """How often an operation of its rank had run before, as an operand: times, plus, modulo."""

    op: OpHandle
    times: int = 1
    plus: int = 0
    modulo: int = 0


After = Union[None, OpHandle, Issued, Iterable[Union[None, OpHandle, Issued]]]
Slices = Union[None, Slice, Buffer, Iterable[Union[Slice, Buffer]]]
Operand = Union[None, int, Result, Attempt]

_NOTHING = (0, 0, 0, 0, 0)
_NONE = 2**32 - 1


class Builder:
    """Writes a schedule. Operations of one rank stand in the order in which they are added; each
    waits for those in `after`, which are of its own rank.

    >>> import slackline
    >>> b = slackline.Schedule.builder(ranks=2, title="one message")
    >>> here, there = b.buffer(rank=0, bytes="1MiB"), b.buffer(rank=1, bytes="1MiB")
    >>> way = b.channel(0, 1)
    >>> send, recv = b.send(way, here), b.recv(way, there)
    >>> b.pre(here, value=0)
    >>> b.post(there, value=0)
    >>> b.build().prove()
    <Schedule 'one message': 2 ranks, 2 operations>
    """

    def __init__(self, ranks: int, title: str, make: Callable[[Any], Schedule]):
        self._native = _native.Builder(whole(ranks, "ranks"))
        self._native.set_title(title)
        self._make = make
        self._ops: List[OpHandle] = []
        self._token = object()  # what belongs to the schedule that is being written

    def _number_of(self, item: Union[Buffer, Channel, OpHandle]) -> int:
        """Numbers of another builder's mean something else here."""
        if item._of is not self._token:
            kind = {Buffer: "buffer", Channel: "channel"}.get(type(item), "operation")
            raise InputError(f"{kind} of another builder, or of a schedule that was built; expected "
                             "one of this")
        return item._number if isinstance(item, OpHandle) else item.number

    def _slices(self, said: Slices) -> List[Tuple[int, int, int]]:
        if said is None:
            return []
        items = [said] if isinstance(said, (Slice, Buffer)) else said
        pieces = [item[:] if isinstance(item, Buffer) else item for item in items]
        return [(self._number_of(piece.buffer), piece.offset, piece.bytes) for piece in pieces]

    def _waits(self, said: After) -> List[Tuple[int, bool]]:
        items = said if isinstance(said, Iterable) else [said]
        return [(self._number_of(item.op), True) if isinstance(item, Issued)
                else (self._number_of(item), False) for item in items if item is not None]

    def _operand(self, said: Operand) -> Tuple[int, int, int, int, int]:
        if said is None:
            return _NOTHING
        if isinstance(said, int):
            return 1, 0, said, 0, 0
        return (2 if isinstance(said, Result) else 3, self._number_of(said.op), said.times,
                said.plus, said.modulo)

    def message_bytes(self, size: Bytes) -> None:
        """Says how many bytes the message has that it all is for. For people, and bandwidths."""
        self._native.set_message_bytes(bytes_of(size))

    def buffer(self, rank: int, bytes: Bytes) -> Buffer:
        """Registered memory of a rank."""
        size = bytes_of(bytes)
        number = self._native.add_buffer(whole(rank, "rank"), whole(size, "bytes", 2**64))
        return Buffer(number, rank, size, self._token)

    def channel(self, src: int, dst: int, *, window: int = 0, credit_on: Optional[Channel] = None,
                datagram: bool = False) -> Channel:
        """A queue pair from `src` to `dst`. With a window it promises that each message is sent
        only after its receive is posted, of which at most `window` wait; the proof checks that.
        `credit_on` is the channel of its credits.
        """
        credit = _NONE if credit_on is None else self._number_of(credit_on)
        number = self._native.add_channel(whole(src, "src"), whole(dst, "dst"),
                                          whole(window, "window"), credit, datagram)
        return Channel(number, src, dst, self._token)

    def send(self, on: Channel, reads: Slices = None, **more: Any) -> OpHandle:
        """A message of what it reads; of no bytes without. The k-th meets the channel's k-th recv."""
        return self._add("send", on.src, on, reads, None, **more)

    def recv(self, on: Channel, writes: Slices = None, **more: Any) -> OpHandle:
        """Posts a receive at the channel's `dst`, for one message."""
        return self._add("recv", on.dst, on, None, writes, **more)

    def put(self, on: Channel, reads: Slices, writes: Slices, *, notify: str = "none",
            **more: Any) -> OpHandle:
        """Writes what it reads to `dst`. `notify` is "none", "imm" (it meets a recv) or "flag" (a
        poll sees it).
        """
        return self._add("put", on.src, on, reads, writes, notify=notify, **more)

    def get(self, on: Channel, reads: Slices, writes: Slices, **more: Any) -> OpHandle:
        """Reads what is at `dst` to memory of `src`."""
        return self._add("get", on.src, on, reads, writes, **more)

    def poll(self, flag: Slice, sees: OpHandle, **more: Any) -> OpHandle:
        """Waits until the bytes of a put with a flag are there: `flag` is the last of them."""
        op = self._add("poll", flag.buffer.rank, None, flag, None, **more)
        self._native.add_flag_match(self._number_of(sees), op._number)
        return op

    def fetch_add(self, on: Channel, word: Slice, result: Slice, operand: Operand,
                  **more: Any) -> OpHandle:
        """Adds to a word of 8 bytes at `dst`, and fetches what was there."""
        return self._add("fetch_add", on.src, on, word, [word, result], operand=operand, **more)

    def compare_swap(self, on: Channel, word: Slice, result: Slice, compare: Operand,
                     swap: Operand, **more: Any) -> OpHandle:
        """Writes `swap` to a word of 8 bytes at `dst` if `compare` is there; fetches what was."""
        return self._add("compare_swap", on.src, on, word, [word, result], operand=swap,
                         compare=compare, **more)

    def copy(self, reads: Slices, writes: Union[Slice, Buffer], **more: Any) -> OpHandle:
        """Copies on one rank."""
        return self._add("copy", _rank_of(writes), None, reads, writes, **more)

    def reduce(self, reads: Slices, writes: Union[Slice, Buffer], **more: Any) -> OpHandle:
        """Adds up what it reads, each as long as what it writes, byte by byte modulo 256."""
        return self._add("reduce", _rank_of(writes), None, reads, writes, **more)

    def calc(self, rank: int, duration: Time, **more: Any) -> OpHandle:
        """Keeps a CPU lane busy."""
        return self._add("calc", rank, None, None, None, duration=duration, **more)

    def delay(self, rank: int, duration: Time, **more: Any) -> OpHandle:
        """Lets time pass. It takes no lane."""
        return self._add("delay", rank, None, None, None, duration=duration, **more)

    def join(self, rank: int, **more: Any) -> OpHandle:
        """Waits for all of `after`, and does nothing."""
        return self._add("join", rank, None, None, None, **more)

    def _add(self, kind: str, rank: int, on: Optional[Channel], reads: Slices, writes: Slices, *,
             step: int = 0, lane: int = 0, after: After = None, notify: str = "none",
             duration: Time = 0, operand: Operand = None, compare: Operand = None,
             offset: Operand = None) -> OpHandle:
        if notify not in ("none", "imm", "flag"):
            raise InputError(f"notify={notify!r}; expected 'none', 'imm' or 'flag'")
        number = self._native.add_op(
            kind, whole(rank, "rank"), whole(step, "step"), whole(lane, "lane", 2**16),
            _NONE if on is None else self._number_of(on), notify, self._slices(reads),
            self._slices(writes), picoseconds_of(duration, kind), self._operand(operand),
            self._operand(compare), self._operand(offset), self._waits(after))
        self._ops.append(OpHandle(number, rank, self._token))
        return self._ops[-1]

    def wait(self, op: OpHandle, after: After) -> None:
        """Lets an operation that was added wait for others of its rank, too."""
        for number, issued in self._waits(after):
            self._native.add_edge(number, self._number_of(op), issued)

    def retry(self, first: OpHandle, last: OpHandle, attempts: int) -> None:
        """The operations from `first` to `last`, which were added one after the other, run again
        until their tests hold, up to so many times. This makes the schedule dynamic.
        """
        begin, end = self._number_of(first), self._number_of(last) + 1
        self._native.add_retry(begin, whole(end - begin, "operations"), whole(attempts, "attempts"))

    def pre(self, where: Union[Slice, Buffer], value: int, at: int = 0) -> None:
        """Promises that bytes of a value, from its byte `at` on, stand there before."""
        self._add_fact(False, where, value, at, 1)

    def post(self, where: Union[Slice, Buffer], value: int, at: int = 0, terms: int = 1) -> None:
        """Demands that they stand there after. With `terms` it is the sum of so many values, from
        `value` on.
        """
        self._add_fact(True, where, value, at, terms)

    def _add_fact(self, post: bool, where: Union[Slice, Buffer], value: int, at: int,
                  terms: int) -> None:
        self._native.add_fact(post, *self._slices(where), whole(value, "value"),
                              whole(at, "at", 2**64), whole(terms, "terms"))

    def build(self) -> Schedule:
        """The schedule. The builder is empty then. Raises InputError for what does not fit: indices
        out of range, waiting for another rank, pieces of another size.
        """
        schedule = self._make(self._native.build())
        by_rank = sorted(self._ops, key=lambda op: op.rank)  # stable: program order stays
        for place, op in enumerate(by_rank):
            op._id = place
        self._ops = []
        self._token = object()
        return schedule


def _rank_of(memory: Union[Slice, Buffer]) -> int:
    return memory.rank if isinstance(memory, Buffer) else memory.buffer.rank


def of_transfers(make: Callable[[Any], Schedule], title: str, ranks: int,
                 transfers: Sequence[Tuple[int, int, int, int]], size: Bytes, block: Bytes,
                 root: int, lower: str, ready: str, window: int, in_flight: int,
                 lockstep: bool) -> Schedule:
    if lower not in ("send", "put"):
        raise InputError(f"lower={lower!r}; expected 'send' or 'put'")
    if ready not in ("send", "write", "none"):
        raise InputError(f"ready={ready!r}; expected 'send', 'write' or 'none'")
    told = [tuple(whole(number, "transfer") for number in transfer) for transfer in transfers]
    return make(_native.of_transfers(title, whole(ranks, "ranks"), whole(root, "root"),
                                     bytes_of(size), bytes_of(block), told, lower == "put", ready,
                                     whole(window, "window"), whole(in_flight, "in_flight"),
                                     lockstep))
