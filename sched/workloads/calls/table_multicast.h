// Small messages with a table of what everyone has (Derecho's small messages and its atomic
// delivery; RDMC's paper, section 4.6).
#pragma once

#include "sched/pattern/pattern.h"

namespace slackline::sched {

struct TableOptions {
  std::uint32_t batch = 1;    // messages that one write carries, ≥ 1; slots are a multiple of it
  bool stable = false;        // delivered once all are known to have it; else when received
  std::uint32_t senders = 1;  // ranks root, root + 1, …, each of `messages`; 1 to all ranks
};

/// Every member has a table with a row of every member's. A member changes its own row, and writes
/// what it changed into its row at all others. For each batch of messages
///  - the root writes the messages into slots at every other member, and then a counter;
///  - every member, the root too, that sees the counter writes its received count to all others;
///  - a member delivers: it copies the messages out of their slots. It does so before it counts
///    them as received; or, if `stable`, once everyone's received count says that all have them,
///    and then it writes its delivered count to all others.
/// The root uses slots again once everyone's count (received, or delivered if `stable`) says that
/// they are free. One message to 3 members is 10 writes: 2 of data, 2 of the counter, 6 received
/// counts; if `stable` 6 more. A step is a batch.
///
/// Derecho overwrites a count by a larger one, and whoever looks sees the latest. Here a count has
/// a word for each batch, since a poll sees one write. Derecho takes the data to be there when the
/// counter is, since its queue pairs write in order. Not every transport does, so a member also
/// looks at a word behind the data. Counts that nobody waits for are written and not polled for.
///
/// With several senders each has slots, counters and received counts of its own. If `stable`, all
/// members deliver in one order: the first batch of each sender, by their numbers, then the second
/// of each (Derecho's round-robin order). Otherwise only those of one
/// sender are in order. A step is a sender's batch.
///
/// The copy of a batch is its delivery. The root has nothing to copy: if `stable`, a join says when
/// it knows that all have the batch. The contract says that every message stands everywhere; each
/// is a value of its own. Throws InputError for options out of their range.
Schedule table_multicast(const Spec& spec);

/// How many operations table_multicast() makes.
std::uint64_t table_multicast_ops(const Spec& spec);
extern const PatternEntry kTableMulticastPattern;

}  // namespace slackline::sched
