#pragma once

#include "sched/pattern/pattern.h"

namespace slackline::sched {

/// In-network multicast: the root sends each block once, to its leaf switch. A switch sends it to
/// everything below it that the block did not come from and, if it came from below, to the switch
/// above. So each block crosses each cable of the tree once, and a member has it after as many hops
/// as the way through the tree has. On one switch of full speed, where only blocks take time, k
/// blocks take k + 1 block times, however many members there are; over two levels of links as fast,
/// k + 3.
///
/// Members bound what they have under way (in-flight); switches send to all their ports at once,
/// and keep the window of each port for itself. A switch has room for the whole message.
///
/// With `loss` a multicast of datagrams that loses: whether a member misses a block is drawn from
/// the seed, block and member, in the last hop alone, when the schedule is made. So the loss is in
/// the schedule: static, proved, and the same in every run. What is lost takes its time on the last
/// cable and ends in a buffer that nobody reads. Members repair over reliable channels, as the ring
/// of a multicast-based allgather does (Khalilov et al., 2024): a member sees that a block is
/// missing when a later one comes, or `timeout` after the last one; asks the member before it, in a
/// ring of all members; and gets the block from there, once that one has it itself. The root misses
/// nothing.
Schedule switch_multicast(const Spec& spec);
std::uint64_t switch_multicast_ops(const Spec& spec);
extern const PatternEntry kSwitchMulticastPattern;

}  // namespace slackline::sched
