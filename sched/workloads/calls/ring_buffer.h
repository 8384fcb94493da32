// Small messages through bounded buffers (RDMC's paper, section 4.6: "one-sided RDMA writes into a
// set of round-robin bounded buffers, one per receiver").
#pragma once

#include "sched/pattern/pattern.h"

namespace slackline::sched {

struct RingOptions {
  bool in_place = false;  // messages stay in their slots; else each is copied out of its slot
};

/// The root writes every message, with its number behind it, into the next slot of every receiver's
/// ring; the receiver polls for the number. Once it has consumed half a ring it tells the root so
/// by a write of its own, one for as many messages; the root uses a slot again only when it has
/// seen that its message was consumed. Reports that no later message needs are not made. A step is
/// a message.
///
/// A receiver copies each message to its place and the contract says that all stand
/// there; `in_place`, it consumes them in their slots, and the last of them stand there at the end.
/// Every message is a value of its own. Throws InputError for options out of their range.
Schedule ring_buffer(const Spec& spec);

/// How many messages one report stands for.
std::uint32_t ring_batch(const Spec& spec);
/// How many operations ring_buffer() makes.
std::uint64_t ring_buffer_ops(const Spec& spec);
extern const PatternEntry kRingBufferPattern;

}  // namespace slackline::sched
