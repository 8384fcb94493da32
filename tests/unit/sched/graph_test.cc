#include "sched/graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dominator_tree.hpp>
#include <boost/graph/graph_concepts.hpp>
#include <boost/graph/strong_components.hpp>
#include <boost/graph/topological_sort.hpp>
#include <boost/graph/transitive_reduction.hpp>
#include <iterator>
#include <set>
#include <tuple>
#include <vector>

#include "sched/compile.h"
#include "sched/event_graph.h"
#include "sched/program_writer.h"

namespace slackline::sched {
namespace {

BOOST_CONCEPT_ASSERT((boost::GraphConcept<EventGraph>));
BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<EventGraph>));
BOOST_CONCEPT_ASSERT((boost::EdgeListGraphConcept<EventGraph>));
BOOST_CONCEPT_ASSERT((boost::BidirectionalGraphConcept<EventGraph>));
BOOST_CONCEPT_ASSERT((boost::AdjacencyGraphConcept<EventGraph>));
BOOST_CONCEPT_ASSERT(
    (boost::ReadablePropertyGraphConcept<EventGraph, std::uint32_t, boost::vertex_index_t>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<EventGraph, Arc, boost::edge_index_t>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<EventGraph, Arc, edge_arc_kind_t>));

Schedule compiled(const char* spec) { return compile(parse_spec(spec)); }

std::vector<Schedule> schedules() {
  std::vector<Schedule> all;
  for (const char* spec :
       {"chain:ranks=1,bytes=1KiB", "binomial-pipeline:ranks=5,bytes=6MiB",
        "chain:ranks=3,bytes=2MiB,lower=put,ready=write,window=2", "allreduce:ranks=4,bytes=1MiB",
        "barrier:ranks=5", "ring-buffer:ranks=3,bytes=64KiB", "hash-table:ranks=3"}) {
    all.push_back(compiled(spec));
  }
  return all;
}

// Two ranks, each of which receives before it sends: a deadlock.
Schedule deadlock() {
  ProgramWriter out(2);
  for (const std::uint32_t r : {0u, 1u}) out.connect(RankId(r), RankId(1 - r));
  for (const std::uint32_t r : {0u, 1u}) {
    const OpId come = out.receive({RankId(r), 0, 0}, ChannelId(1 - r), {});
    out.send({RankId(r), 0, 0}, ChannelId(r), {}, {come});
  }
  return out.build();
}

using Pairs = std::multiset<std::pair<std::uint32_t, std::uint32_t>>;

TEST(BoostGraph, HasTheArcsOfTheSchedule) {
  for (const Schedule& schedule : schedules()) {
    for (const bool posted : {false, true}) {
      const EventGraph graph(schedule, {.posted = posted, .entry = false});
      ASSERT_EQ(num_vertices(graph), 2 * schedule.op_count());
      const ChannelOrder order = channel_order(schedule);
      Pairs expected, listed, out, in, adjacent;
      for (std::uint32_t e = 0; e < num_vertices(graph); ++e) {
        for_each_arc_into(schedule, order, EventId{e}, posted,
                          [&](EventId from) { expected.emplace(from.value, e); });
        for (auto [i, end] = out_edges(e, graph); i != end; ++i) out.emplace(e, target(*i, graph));
        for (auto [i, end] = in_edges(e, graph); i != end; ++i) in.emplace(source(*i, graph), e);
        for (auto [i, end] = adjacent_vertices(e, graph); i != end; ++i) adjacent.emplace(e, *i);
        EXPECT_EQ(degree(e, graph), in_degree(e, graph) + out_degree(e, graph));
      }
      std::uint32_t index = 0;
      for (auto [i, end] = edges(graph); i != end; ++i) {
        listed.emplace(source(*i, graph), target(*i, graph));
        EXPECT_EQ(get(boost::edge_index, graph, *i), index++);
      }
      EXPECT_EQ(num_edges(graph), expected.size());
      EXPECT_TRUE(listed == expected && out == expected && in == expected && adjacent == expected);
    }
  }
}

TEST(BoostGraph, TellsKindsOfArcs) {
  for (const Schedule& schedule : schedules()) {
    const EventGraph graph(schedule);
    std::size_t edges = 0, own = 0;
    for (const Arc& arc : graph.arcs()) {
      const EventId from{arc.source}, to{arc.target};
      const Op& source = schedule.op(from.op());
      const Op& target = schedule.op(to.op());
      switch (get(edge_arc_kind, graph, arc)) {
        case ArcKind::kOwn:
          EXPECT_TRUE(from.op() == to.op() && !from.is_done() && to.is_done());
          ++own;
          break;
        case ArcKind::kEdge:
          EXPECT_TRUE(source.rank == target.rank && !to.is_done());
          ++edges;
          break;
        case ArcKind::kMessage:
          EXPECT_TRUE(source.match == to.op() && is_initiator(source.kind) && to.is_done());
          break;
        case ArcKind::kPosted:
          EXPECT_TRUE(source.kind == OpKind::kRecv && target.match == from.op());
          break;
        case ArcKind::kOrder:
          EXPECT_TRUE(source.channel == target.channel && from < to && !to.is_done());
          EXPECT_EQ(source.kind == OpKind::kRecv, target.kind == OpKind::kRecv);
          break;
        case ArcKind::kEntry:
          ADD_FAILURE() << "nobody asked for an entry";
          break;
      }
    }
    EXPECT_EQ(edges, schedule.edges().size());
    EXPECT_EQ(own, schedule.op_count());
  }
  EXPECT_EQ(name(ArcKind::kPosted), "posted");
}

TEST(BoostGraph, IsSortedByBoost) {
  for (const Schedule& schedule : schedules()) {
    const EventGraph graph(schedule);
    std::vector<std::uint32_t> order;  // backwards
    boost::topological_sort(graph, std::back_inserter(order));
    ASSERT_EQ(order.size(), num_vertices(graph));
    std::vector<std::size_t> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    for (const Arc& arc : graph.arcs()) EXPECT_GT(place[arc.source], place[arc.target]);
  }
  std::vector<std::uint32_t> order;
  const EventGraph stuck(deadlock());
  EXPECT_THROW(boost::topological_sort(stuck, std::back_inserter(order)), boost::not_a_dag);
}

// An event is in a cycle if and only if it shares its component with others.
TEST(BoostGraph, ShowsDeadlocksAsComponents) {
  const auto largest = [](const Schedule& schedule) {
    const EventGraph graph(schedule);
    std::vector<std::uint32_t> component(num_vertices(graph));
    const auto map =
        boost::make_iterator_property_map(component.begin(), get(boost::vertex_index, graph));
    std::vector<std::uint32_t> size(boost::strong_components(graph, map));
    for (const std::uint32_t c : component) ++size[c];
    return size.empty() ? 0 : *std::max_element(size.begin(), size.end());
  };
  for (const Schedule& schedule : schedules()) EXPECT_LE(largest(schedule), 1u);
  EXPECT_FALSE(find_cycle(deadlock()).empty());
  EXPECT_GT(largest(deadlock()), 1u);
}

// What can be reached from `from`, if nothing goes by `without`.
std::set<std::uint32_t> reached(const EventGraph& graph, std::uint32_t from,
                                std::uint32_t without) {
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> waiting;
  if (from != without) waiting.push_back(from);
  while (!waiting.empty()) {
    const std::uint32_t event = waiting.back();
    waiting.pop_back();
    if (!seen.insert(event).second) continue;
    for (const Arc& arc : graph.out_of(event)) {
      if (arc.target != without) waiting.push_back(arc.target);
    }
  }
  return seen;
}

TEST(BoostGraph, HasDominators) {
  for (const Schedule& schedule : schedules()) {
    const EventGraph graph(schedule, {.posted = true, .entry = true});
    const std::uint32_t entry = 2 * schedule.op_count();
    EXPECT_EQ(reached(graph, entry, EventGraph::null_vertex()).size(), num_vertices(graph));
    std::vector<std::uint32_t> dominator(num_vertices(graph), EventGraph::null_vertex());
    boost::lengauer_tarjan_dominator_tree(
        graph, entry,
        boost::make_iterator_property_map(dominator.begin(), get(boost::vertex_index, graph)));
    EXPECT_EQ(dominator[entry], EventGraph::null_vertex());
    // By way of it alone, and of none that comes behind it on all ways.
    for (std::uint32_t e = 0; e < entry; ++e) {
      ASSERT_LT(dominator[e], num_vertices(graph));
      EXPECT_FALSE(reached(graph, entry, dominator[e]).contains(e));
      for (auto [i, end] = in_edges(e, graph); i != end; ++i) {
        const std::uint32_t pred = source(*i, graph);
        const bool by_it =
            pred == dominator[e] || !reached(graph, entry, dominator[e]).contains(pred);
        EXPECT_TRUE(by_it);
      }
    }
  }
}

TEST(BoostGraph, IsReducedByBoost) {
  const EventGraph graph(compiled("chain:ranks=3,bytes=2MiB,block=1MiB"));
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> reduced;
  std::vector<std::uint32_t> to(num_vertices(graph));
  boost::transitive_reduction(
      graph, reduced,
      boost::make_iterator_property_map(to.begin(), get(boost::vertex_index, graph)),
      get(boost::vertex_index, graph));
  EXPECT_LT(num_edges(reduced), num_edges(graph));
  // An arc is left if and only if there is no other way.
  std::set<std::pair<std::size_t, std::size_t>> left;
  for (auto [i, end] = boost::edges(reduced); i != end; ++i) {
    left.emplace(boost::source(*i, reduced), boost::target(*i, reduced));
  }
  for (const Arc& arc : graph.arcs()) {
    const auto others = graph.out_of(arc.source);
    const bool needed = std::none_of(others.begin(), others.end(), [&](const Arc& other) {
      return other.target != arc.target &&
             reached(graph, other.target, EventGraph::null_vertex()).contains(arc.target);
    });
    EXPECT_EQ(left.contains({to[arc.source], to[arc.target]}), needed);
  }
}

}  // namespace
}  // namespace slackline::sched
