#include "sched/event_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/draft.h"

namespace slackline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// The arcs into an event, as event numbers: 2·op for issued, 2·op + 1 for done.
std::vector<std::uint32_t> arcs_into(const Schedule& schedule, EventId event, bool with_posted) {
  std::vector<std::uint32_t> preds;
  for_each_arc_into(schedule, channel_order(schedule), event, with_posted,
                    [&](EventId pred) { preds.push_back(pred.value); });
  return preds;
}

TEST(EventGraph, ArcsOfAMessage) {
  Draft d;
  d.ranks = 2;
  const ChannelId on = d.channel(0, 1);
  const OpId send = d.send(on);
  const OpId recv = d.recv(on);
  Schedule s = d.build();
  EXPECT_THAT(arcs_into(s, EventId::issued(send), true), IsEmpty());
  EXPECT_THAT(arcs_into(s, EventId::issued(recv), true), IsEmpty());
  EXPECT_THAT(arcs_into(s, EventId::done(recv), false), UnorderedElementsAre(2u, 0u));
  EXPECT_THAT(arcs_into(s, EventId::done(send), false), UnorderedElementsAre(0u));
  EXPECT_THAT(arcs_into(s, EventId::done(send), true), UnorderedElementsAre(0u, 2u));
  d.channels[0].service = Service::kDatagram;
  s = d.build();
  EXPECT_THAT(arcs_into(s, EventId::done(send), true), UnorderedElementsAre(0u));
  EXPECT_THAT(arcs_into(s, EventId::done(recv), true), UnorderedElementsAre(2u, 0u));
}

TEST(EventGraph, ArcsOfPuts) {
  Draft d;
  d.ranks = 2;
  const ChannelId on = d.channel(0, 1);
  const OpId imm = d.add(OpKind::kPut, 0, on, {}, {}, Notify::kImm);
  const OpId flag = d.add(OpKind::kPut, 0, on, {}, {}, Notify::kFlag);
  const OpId silent = d.add(OpKind::kPut, 0, on);
  const OpId recv = d.recv(on);
  const OpId poll = d.poll(1);
  d.flag(flag, poll);
  const Schedule s = d.build();
  EXPECT_THAT(arcs_into(s, EventId::done(imm), true), UnorderedElementsAre(0u, 6u));
  EXPECT_THAT(arcs_into(s, EventId::done(flag), true), UnorderedElementsAre(2u));
  EXPECT_THAT(arcs_into(s, EventId::done(silent), true), UnorderedElementsAre(4u));
  EXPECT_THAT(arcs_into(s, EventId::done(recv), true), UnorderedElementsAre(6u, 0u));
  EXPECT_THAT(arcs_into(s, EventId::done(poll), true), UnorderedElementsAre(8u, 2u));
  // All three are initiators of the channel.
  EXPECT_THAT(arcs_into(s, EventId::issued(flag), true), UnorderedElementsAre(0u));
  EXPECT_THAT(arcs_into(s, EventId::issued(silent), true), UnorderedElementsAre(2u));
}

TEST(EventGraph, ArcsOfEdges) {
  Draft d;
  const OpId a = d.add(OpKind::kJoin, 0);
  const OpId b = d.add(OpKind::kJoin, 0);
  d.edge(a, b, On::kIssued);
  d.edge(a, b, On::kDone);
  EXPECT_THAT(arcs_into(d.build(), EventId::issued(b), true), UnorderedElementsAre(0u, 1u));
}

TEST(EventGraph, ChannelOrderOfBothSides) {
  Draft d;
  d.ranks = 2;
  const ChannelId on = d.channel(0, 1);
  const ChannelId other = d.channel(0, 1);
  const OpId first = d.send(on);
  const OpId apart = d.send(other);
  const OpId second = d.get(on, {d.buffer(1, 8), 0, 8}, {d.buffer(0, 8), 0, 8});
  const OpId recv = d.recv(on);
  const OpId last = d.recv(on);
  const ChannelOrder order = channel_order(d.build());
  EXPECT_EQ(order.previous[first.value], OpId());
  EXPECT_EQ(order.next[first.value], second);
  EXPECT_EQ(order.previous[second.value], first);
  EXPECT_EQ(order.next[apart.value], OpId());
  EXPECT_EQ(order.previous[recv.value], OpId());
  EXPECT_EQ(order.previous[last.value], recv);
  EXPECT_EQ(order.next[last.value], OpId());
}

TEST(EventGraph, SuccessorIndexListsEdgesOut) {
  Draft d;
  for (int i = 0; i < 4; ++i) d.add(OpKind::kJoin, 0);
  d.edge(OpId(0), OpId(3));
  d.edge(OpId(0), OpId(1), On::kIssued);
  d.edge(OpId(2), OpId(3));
  const Schedule s = d.build();
  const SuccessorIndex successors(s);
  std::vector<std::uint32_t> targets;
  for (const std::uint32_t e : successors.edges_from(OpId(0))) {
    targets.push_back(s.edges()[e].succ.value);
  }
  EXPECT_THAT(targets, ElementsAre(1u, 3u));
  EXPECT_EQ(successors.edges_from(OpId(1)).size(), 0u);
  EXPECT_EQ(successors.edges_from(OpId(2)).size(), 1u);
}

TEST(EventGraph, TopologicalOrderRespectsEveryArc) {
  Draft d;
  d.ranks = 3;
  const ChannelId there = d.channel(0, 1);
  const ChannelId on = d.channel(1, 2);
  const OpId s0 = d.send(there);
  const OpId s1 = d.send(there);
  const OpId r0 = d.recv(there);
  const OpId relay = d.send(on);
  const OpId r1 = d.recv(there);
  d.recv(on);
  d.edge(s0, s1);
  d.edge(r0, relay);
  d.edge(relay, r1);
  const Schedule s = d.build();
  const auto order = topological_order(s);
  ASSERT_TRUE(order.has_value());
  ASSERT_EQ(order->size(), 2 * s.op_count());
  std::vector<std::size_t> place(order->size());
  for (std::size_t i = 0; i < order->size(); ++i) place[(*order)[i].value] = i;
  for (std::uint32_t e = 0; e < order->size(); ++e) {
    for (const std::uint32_t pred : arcs_into(s, EventId{e}, true))
      EXPECT_LT(place[pred], place[e]);
  }
  EXPECT_EQ(topological_order(s), order);
  EXPECT_THAT(find_cycle(s), IsEmpty());
}

TEST(EventGraph, FindsTheCycleAndNotWhatHangsOnIt) {
  Draft d;
  for (int i = 0; i < 6; ++i) d.add(OpKind::kJoin, 0);
  d.edge(OpId(2), OpId(4));
  d.edge(OpId(4), OpId(3));
  d.edge(OpId(3), OpId(2));
  d.edge(OpId(3), OpId(0));  // waits for the cycle
  d.edge(OpId(5), OpId(4));  // the cycle waits for it
  const Schedule s = d.build();
  EXPECT_FALSE(topological_order(s).has_value());
  EXPECT_THAT(find_cycle(s), UnorderedElementsAre(OpId(2), OpId(3), OpId(4)));
}

TEST(EventGraph, AnOperationMayWaitForItself) {
  Draft d;
  d.add(OpKind::kJoin, 0);
  d.edge(OpId(0), OpId(0), On::kIssued);
  EXPECT_THAT(find_cycle(d.build()), ElementsAre(OpId(0)));
  d.edges[0].on = On::kDone;
  EXPECT_THAT(find_cycle(d.build()), ElementsAre(OpId(0)));
}

TEST(EventGraph, APostedReceiveCountsForDeadlock) {
  // The second send waits for the first's acknowledgement, and so for its receive, which waits for
  // the second message.
  Draft d;
  d.ranks = 2;
  const ChannelId a = d.channel(0, 1);
  const ChannelId b = d.channel(0, 1);
  const OpId first = d.send(a);
  const OpId second = d.send(b);
  d.edge(first, second);
  const OpId r_first = d.recv(a);
  const OpId r_second = d.recv(b);
  d.edge(r_second, r_first);
  EXPECT_THAT(find_cycle(d.build()), UnorderedElementsAre(first, second, r_first, r_second));
  d.channels[a.value].service = Service::kDatagram;
  EXPECT_THAT(find_cycle(d.build()), IsEmpty());
}

}  // namespace
}  // namespace slackline::testing
