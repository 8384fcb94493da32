#!/usr/bin/env python3
"""Loads an exported GraphML file with networkx and checks it against what is expected of it.

usage: check_graphml.py FILE [--vertices N] [--edges N] [--messages N] [--cyclic]

Whatever the counts: every vertex has its attributes, edges join vertices of one rank and messages
lead from a send or put to a recv or poll of its channel. The graph of events (each operation's
vertex split into issued and done, as the format's description says) has no cycle, unless --cyclic
says that it must have one.
"""

import argparse
import sys

import networkx

KINDS = {
    "send", "recv", "put", "get", "fetch_add", "fetch_and", "fetch_or", "fetch_xor",
    "compare_swap", "flush", "poll", "copy", "reduce", "calc", "delay", "join",
}


def expect(holds, message):
    if not holds:
        sys.exit(f"check_graphml: {message}")


def event_graph(graph):
    events = networkx.DiGraph()
    for op in graph:
        events.add_edge((op, "issued"), (op, "done"))
    for source, target, edge in graph.edges(data=True):
        if edge["kind"] == "message":
            events.add_edge((source, "issued"), (target, "done"))
        else:
            events.add_edge((source, edge["kind"].removeprefix("edge-")), (target, "issued"))
    return events


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--vertices", type=int)
    parser.add_argument("--edges", type=int, help="edges and messages together")
    parser.add_argument("--messages", type=int)
    parser.add_argument("--cyclic", action="store_true")
    args = parser.parse_args()

    graph = networkx.read_graphml(args.file)
    expect(graph.is_directed(), "expected a directed graph")
    expect(len(graph.graph["digest"]) == 32, "expected the schedule's digest on the graph")
    for count, expected, what in [
        (graph.number_of_nodes(), args.vertices, "vertices"),
        (graph.number_of_edges(), args.edges, "edges"),
        (sum(e["kind"] == "message" for _, _, e in graph.edges(data=True)), args.messages,
         "messages"),
    ]:
        expect(expected is None or count == expected, f"{count} {what}; expected {expected}")
    for op, info in graph.nodes(data=True):
        expect(info["kind"] in KINDS, f"{op} is of unknown kind {info['kind']}")
        for key in ("rank", "lane", "step", "channel", "bytes", "block"):
            expect(isinstance(info[key], int), f"{op}: {key} is no number")
    for source, target, edge in graph.edges(data=True):
        first, second = graph.nodes[source], graph.nodes[target]
        if edge["kind"] == "message":
            expect(first["kind"] in ("send", "put") and second["kind"] in ("recv", "poll"),
                   f"a message leads from {first['kind']} to {second['kind']}")
            expect(second["kind"] == "poll" or first["channel"] == second["channel"],
                   f"{source} and {target} are on different channels")
        else:
            expect(edge["kind"] in ("edge-done", "edge-issued"), f"unknown edge {edge['kind']}")
            expect(first["rank"] == second["rank"], f"an edge joins {source} and {target}, "
                   "which are of different ranks")
    acyclic = networkx.is_directed_acyclic_graph(event_graph(graph))
    expect(acyclic != args.cyclic, "the events have a cycle" if not acyclic
           else "the events have no cycle")


if __name__ == "__main__":
    main()
