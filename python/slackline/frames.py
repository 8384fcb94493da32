"""Schedules as tables of pandas and as graphs of NetworkX."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from slackline.ops import KINDS
from slackline.optional import needed

if TYPE_CHECKING:
    import networkx
    import pandas

    from slackline.schedule import Schedule


def frame_of(schedule: Schedule) -> pandas.DataFrame:
    with needed("pandas"):
        import pandas

    ops = schedule.ops
    kind = pandas.Categorical.from_codes(ops.kind_code.astype(np.int8), categories=KINDS)
    columns = {name: getattr(ops, name)
               for name in ("rank", "step", "lane", "channel", "match", "bytes", "peer")}
    return pandas.DataFrame({"kind": kind, **columns}).rename_axis("op")


def graph_of(schedule: Schedule) -> networkx.MultiDiGraph:
    with needed("networkx"):
        import networkx

    graph = networkx.MultiDiGraph(title=schedule.title, digest=schedule.digest)
    ops, edges = schedule.ops, schedule.edges
    names = ("kind", "rank", "step", "lane", "channel", "bytes", "peer")
    columns = [getattr(ops, name).tolist() for name in names]
    graph.add_nodes_from((op, dict(zip(names, row))) for op, row in enumerate(zip(*columns)))
    kinds = np.where(edges.on_done, "edge-done", "edge-issued").tolist()
    graph.add_edges_from((pred, succ, {"kind": kind}) for pred, succ, kind
                         in zip(edges.pred.tolist(), edges.succ.tolist(), kinds))
    sources = np.flatnonzero(((ops.kind == "send") | (ops.kind == "put")) & (ops.match >= 0))
    graph.add_edges_from((source, match, {"kind": "message"}) for source, match
                         in zip(sources.tolist(), ops.match[sources].tolist()))
    return graph
