#!/usr/bin/env python3
"""Loads an exported GraphML file of events with networkx and checks it.

usage: check_events.py FILE --ops N --arcs KIND=N,… [--timed] [--cyclic]

Each operation has its issued and its done with all attributes, which the file describes. Arcs are of
the kinds that they may be between their events. The graph has no cycle, unless --cyclic says so; with
--timed, nothing comes about before what it waits for.
"""

import argparse
import collections
import sys
import xml.etree.ElementTree

import networkx


def expect(holds, message):
    if not holds:
        sys.exit(f"check_events: {message}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--ops", type=int, required=True)
    parser.add_argument("--arcs", required=True)
    parser.add_argument("--timed", action="store_true")
    parser.add_argument("--cyclic", action="store_true")
    args = parser.parse_args()

    names = "{http://graphml.graphdrawing.org/xmlns}"
    for key in xml.etree.ElementTree.parse(args.file).getroot().iter(names + "key"):
        expect(key.find(names + "desc").text, f"{key.get('attr.name')} is not described")
    graph = networkx.read_graphml(args.file)
    expect(graph.is_directed() and len(graph.graph["digest"]) == 32, "no digest")
    expect(set(graph) == {f"{event}{op}" for op in range(args.ops) for event in "id"},
           "expected the issued and the done of each operation")
    for vertex, info in graph.nodes(data=True):
        expect(info["event"] == ("issued" if vertex[0] == "i" else "done"), f"{vertex}: event")
        expect(info["op"] == int(vertex[1:]), f"{vertex}: op {info['op']}")
        for key in ("rank", "lane", "step", "channel", "bytes"):
            expect(isinstance(info[key], int), f"{vertex}: {key} is no number")
        expect(not args.timed or isinstance(info["time_s"], float), f"{vertex}: no time")
    kinds = collections.Counter(kind for _, _, kind in graph.edges(data="kind"))
    expect(kinds == {kind: int(count) for kind, count in
                     (item.split("=") for item in args.arcs.split(",")) if count != "0"}, str(kinds))
    for source, target, kind in graph.edges(data="kind"):
        first, second = graph.nodes[source], graph.nodes[target]
        expect(kind in ("message", "posted") or first["rank"] == second["rank"],
               f"{source} and {target} are of two ranks")
        expect(kind != "own" or (source[0], source[1:]) == ("i", target[1:]), source)
        expect(kind not in ("message", "posted") or (source[0], target[0]) == ("i", "d"), source)
        expect(kind not in ("edge", "order") or target[0] == "i", source)
        expect(not args.timed or first["time_s"] <= second["time_s"],
               f"{target} comes about before {source}")
    expect(networkx.is_directed_acyclic_graph(graph) != args.cyclic, "cycles")


if __name__ == "__main__":
    main()
