#!/usr/bin/env python3
"""Reads an exported GOAL program by its grammar alone, and plays it.

usage: check_goal.py FILE [--statements N]

An independent reader: it shares no code with the one in sched/import. Every message must meet its
other half by (source, destination, tag) with equal size, and all statements must come to their
end.
"""

import argparse
import re
import sys

STATEMENT = re.compile(
    r"(?:(?P<label>[A-Za-z]\w*):\s*)?(?:"
    r"send (?P<send>\d+)b to (?P<to>\d+)(?: tag (?P<send_tag>\d+))?|"
    r"recv (?P<recv>\d+)b from (?P<source>\d+)(?: tag (?P<recv_tag>\d+))?|"
    r"calc (?P<calc>\d+))(?: cpu \d+)?(?: nic \d+)?")
DEPENDENCY = re.compile(r"([A-Za-z]\w*) (requires|irequires) ([A-Za-z]\w*)")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--statements", type=int)
    args = parser.parse_args()

    with open(args.file, encoding="ascii") as file:
        lines = file.read().split("\n")
    # LogGOPSim's reader loses the character behind blanks that begin a line, and takes a comment
    # only where a statement may begin.
    assert not any(line != line.strip() for line in lines), "a line begins or ends with a blank"
    lines = [line for line in lines if line and not line.startswith("//")]
    ranks = int(re.fullmatch(r"num_ranks (\d+)", lines[0])[1])
    rank = None
    seen = 0
    statements = {}  # (rank, label) → match
    waits = {}  # (rank, label) → [((rank, label), event)]
    for line in lines[1:]:
        if rank is None:
            assert line == f"rank {seen} {{", f"{line}: expected rank {seen}"
            rank = seen
        elif line == "}":
            rank = None
            seen += 1
        elif dependency := DEPENDENCY.fullmatch(line):
            succ, kind, pred = dependency.groups()
            assert (rank, succ) in statements and (rank, pred) in statements, line
            waits[rank, succ].append(((rank, pred), "start" if kind == "irequires" else "end"))
        else:
            statement = STATEMENT.fullmatch(line)
            assert statement, f"rank {rank}: {line}: not a statement"
            key = (rank, statement["label"])
            assert key not in statements, f"{key} comes twice"
            statements[key] = statement
            waits[key] = []
    assert rank is None and seen == ranks, f"{seen} ranks; expected {ranks}"
    assert args.statements in (None, len(statements)), f"{len(statements)} statements"

    # Every message has a tag of its own.
    halves = {"send": {}, "recv": {}}
    for key, statement in statements.items():
        for kind, peer in (("send", "to"), ("recv", "source")):
            if statement[kind] is not None:
                ends = (key[0], int(statement[peer]))
                name = (ends if kind == "send" else ends[::-1]) + (statement[kind + "_tag"],)
                assert name not in halves[kind], f"two {kind}s are called {name}"
                halves[kind][name] = (key, int(statement[kind]))
    assert halves["send"].keys() == halves["recv"].keys(), "a message lacks its other half"
    other = {}
    for name, (key, size) in halves["send"].items():
        peer, room = halves["recv"][name]
        assert size == room, f"{name}: {size} bytes are sent, {room} received"
        other[key], other[peer] = peer, key

    started, ended = set(), set()
    moved = True
    while moved:
        moved = False
        for key in statements:
            if key not in started and all(pred in (ended if event == "end" else started)
                                          for pred, event in waits[key]):
                started.add(key)
                moved = True
            if key in started and key not in ended and other.get(key, key) in started:
                ended.add(key)
                moved = True
    stuck = statements.keys() - ended
    assert not stuck, f"{sorted(stuck)[:5]} never come to their end"


if __name__ == "__main__":
    try:
        main()
    except AssertionError as error:
        sys.exit(f"check_goal: {error}")
