// A schedule as a graph of the Boost Graph Library, so that its algorithms run on it as they are:
// topological_sort, strong_components, lengauer_tarjan_dominator_tree, transitive_reduction, …
//
// Vertices are events: 2·op is issued(op), 2·op + 1 is done(op). Edges are the arcs of sched/op.h.
// Header-only but for the constructor; only who includes this needs Boost.
#pragma once

#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/iterator/counting_iterator.hpp>
#include <boost/iterator/transform_iterator.hpp>
#include <boost/property_map/property_map.hpp>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "base/grouped.h"
#include "sched/schedule.h"

namespace slackline::sched {

/// Why one event comes before another: the arcs (a) to (e) of sched/op.h.
enum class ArcKind : std::uint8_t {
  kOwn,      // (a) issued(o) → done(o)
  kEdge,     // (b) an edge of the schedule
  kMessage,  // (c) issued(send or put) → done(its match)
  kPosted,   // (d) issued(recv) → done(its send or put): it may hold
  kOrder,    // (e) issue order on one channel
  kEntry,    // none of the schedule's: from the entry to an event that waits for nothing
};
/// "own", "edge", "message", "posted", "order", "entry".
std::string_view name(ArcKind kind);

struct Arc {
  std::uint32_t source = 0;  // an event
  std::uint32_t target = 0;
  ArcKind kind = ArcKind::kOwn;
  std::uint32_t index = 0;  // its place in EventGraph::arcs()
  friend constexpr auto operator<=>(const Arc&, const Arc&) = default;
};

struct EventGraphOptions {
  /// With arcs (d), which count for deadlock and time but not for proofs of order.
  bool posted = true;
  /// With one vertex more, the last, from which an arc leads to every event that waits for nothing.
  /// Without a deadlock all events are reached from there, as dominators want it.
  bool entry = false;
};

/// Models VertexListGraph, EdgeListGraph, BidirectionalGraph, AdjacencyGraph and, for vertex_index,
/// edge_index and edge_arc_kind, PropertyGraph. Two events may have several arcs. An immutable
/// value, which knows nothing of its schedule any more; it takes 20 bytes an arc and 16 an
/// operation. Linear in the arcs.
class EventGraph {
 public:
  using vertex_descriptor = std::uint32_t;
  using edge_descriptor = Arc;
  using directed_category = boost::bidirectional_tag;
  using edge_parallel_category = boost::allow_parallel_edge_tag;
  struct traversal_category : virtual boost::vertex_list_graph_tag,
                              virtual boost::edge_list_graph_tag,
                              virtual boost::bidirectional_graph_tag,
                              virtual boost::adjacency_graph_tag {};
  using vertices_size_type = std::uint32_t;
  using edges_size_type = std::uint32_t;
  using degree_size_type = std::uint32_t;

  struct ArcOf {
    const Arc* arcs = nullptr;
    const Arc& operator()(std::uint32_t index) const { return arcs[index]; }
  };
  struct TargetOf {
    std::uint32_t operator()(const Arc& arc) const { return arc.target; }
  };
  using vertex_iterator = boost::counting_iterator<std::uint32_t>;
  using edge_iterator = const Arc*;
  using out_edge_iterator = const Arc*;
  using in_edge_iterator = boost::transform_iterator<ArcOf, const std::uint32_t*>;
  using adjacency_iterator =
      boost::transform_iterator<TargetOf, const Arc*, std::uint32_t, std::uint32_t>;

  static constexpr vertex_descriptor null_vertex() {
    return std::numeric_limits<std::uint32_t>::max();
  }

  /// Throws InputError at 2^32 arcs or more.
  explicit EventGraph(const Schedule& schedule, const EventGraphOptions& options = {});

  /// The vertices, with the entry if there is one.
  std::uint32_t event_count() const { return static_cast<std::uint32_t>(out_.groups()); }
  /// Those that leave an event stand together, and go by their targets.
  std::span<const Arc> arcs() const { return out_.all(); }
  std::span<const Arc> out_of(std::uint32_t event) const { return out_[event]; }
  /// Indices of arcs.
  std::span<const std::uint32_t> into(std::uint32_t event) const { return in_[event]; }

 private:
  base::Grouped<Arc> out_;
  base::Grouped<std::uint32_t> in_;
};

// What the concepts ask for. Found by their arguments.

inline std::pair<EventGraph::vertex_iterator, EventGraph::vertex_iterator> vertices(
    const EventGraph& g) {
  return {EventGraph::vertex_iterator(0), EventGraph::vertex_iterator(g.event_count())};
}
inline std::uint32_t num_vertices(const EventGraph& g) { return g.event_count(); }

inline std::pair<const Arc*, const Arc*> edges(const EventGraph& g) {
  return {g.arcs().data(), g.arcs().data() + g.arcs().size()};
}
inline std::uint32_t num_edges(const EventGraph& g) {
  return static_cast<std::uint32_t>(g.arcs().size());
}

inline std::uint32_t source(const Arc& arc, const EventGraph&) { return arc.source; }
inline std::uint32_t target(const Arc& arc, const EventGraph&) { return arc.target; }

inline std::pair<const Arc*, const Arc*> out_edges(std::uint32_t event, const EventGraph& g) {
  const auto arcs = g.out_of(event);
  return {arcs.data(), arcs.data() + arcs.size()};
}
inline std::uint32_t out_degree(std::uint32_t event, const EventGraph& g) {
  return static_cast<std::uint32_t>(g.out_of(event).size());
}

inline std::pair<EventGraph::in_edge_iterator, EventGraph::in_edge_iterator> in_edges(
    std::uint32_t event, const EventGraph& g) {
  const auto into = g.into(event);
  const EventGraph::ArcOf arc_of{g.arcs().data()};
  return {{into.data(), arc_of}, {into.data() + into.size(), arc_of}};
}
inline std::uint32_t in_degree(std::uint32_t event, const EventGraph& g) {
  return static_cast<std::uint32_t>(g.into(event).size());
}
inline std::uint32_t degree(std::uint32_t event, const EventGraph& g) {
  return in_degree(event, g) + out_degree(event, g);
}

inline std::pair<EventGraph::adjacency_iterator, EventGraph::adjacency_iterator> adjacent_vertices(
    std::uint32_t event, const EventGraph& g) {
  const auto [begin, end] = out_edges(event, g);
  return {EventGraph::adjacency_iterator(begin), EventGraph::adjacency_iterator(end)};
}

/// The property by which an edge says its kind: get(edge_arc_kind, graph, edge).
enum edge_arc_kind_t { edge_arc_kind };

/// The kind of an arc, or its index, as a readable property map.
struct ArcKindMap {
  using key_type = Arc;
  using value_type = ArcKind;
  using reference = ArcKind;
  using category = boost::readable_property_map_tag;
};
inline ArcKind get(const ArcKindMap&, const Arc& arc) { return arc.kind; }
struct ArcIndexMap {
  using key_type = Arc;
  using value_type = std::uint32_t;
  using reference = std::uint32_t;
  using category = boost::readable_property_map_tag;
};
inline std::uint32_t get(const ArcIndexMap&, const Arc& arc) { return arc.index; }
using EventIndexMap = boost::typed_identity_property_map<std::uint32_t>;

inline EventIndexMap get(boost::vertex_index_t, const EventGraph&) { return {}; }
inline std::uint32_t get(boost::vertex_index_t, const EventGraph&, std::uint32_t event) {
  return event;
}
inline ArcIndexMap get(boost::edge_index_t, const EventGraph&) { return {}; }
inline std::uint32_t get(boost::edge_index_t, const EventGraph&, const Arc& arc) {
  return arc.index;
}
inline ArcKindMap get(edge_arc_kind_t, const EventGraph&) { return {}; }
inline ArcKind get(edge_arc_kind_t, const EventGraph&, const Arc& arc) { return arc.kind; }

}  // namespace slackline::sched

namespace boost {

template <>
struct property_kind<slackline::sched::edge_arc_kind_t> {
  using type = edge_property_tag;
};
template <>
struct property_map<slackline::sched::EventGraph, vertex_index_t> {
  using type = slackline::sched::EventIndexMap;
  using const_type = type;
};
template <>
struct property_map<slackline::sched::EventGraph, edge_index_t> {
  using type = slackline::sched::ArcIndexMap;
  using const_type = type;
};
template <>
struct property_map<slackline::sched::EventGraph, slackline::sched::edge_arc_kind_t> {
  using type = slackline::sched::ArcKindMap;
  using const_type = type;
};

}  // namespace boost
