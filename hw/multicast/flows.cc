#include "hw/multicast/flows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "base/error.h"
#include "hw/transport.h"

namespace slackline::hw {
namespace {

using sched::Op;
using sched::OpKind;

// A message of a channel: where its bytes stand in memory.
struct Message {
  sched::OpId op;
  std::vector<sched::Slice> slices;
};
using Messages = std::map<std::uint32_t, std::vector<Message>>;  // by channel, in order

// What a rank receives and sends, if it only copies.
struct Copier {
  Messages in;
  Messages out;
};

std::vector<sched::Slice> with_bytes(const sched::Schedule& schedule, sched::SliceRange range) {
  std::vector<sched::Slice> slices;
  for (const sched::Slice& slice : schedule.slices(range)) {
    if (slice.bytes != 0) slices.push_back(slice);
  }
  return slices;
}

void sort_by_place(std::vector<sched::Slice>& slices) {
  std::ranges::sort(slices, {},
                    [](const sched::Slice& s) { return std::tuple(s.buffer, s.offset); });
}

bool meet(const sched::Slice& a, const sched::Slice& b) {
  return a.buffer == b.buffer && b.offset - a.offset < a.bytes;
}

bool any_meet(std::vector<sched::Slice> slices) {
  sort_by_place(slices);
  return std::ranges::adjacent_find(slices, meet) != slices.end();
}

// By rank: what others write there by themselves and what the contract speaks of, each byte once.
std::vector<std::vector<sched::Slice>> claimed_memory(const sched::Schedule& schedule) {
  std::vector<std::vector<sched::Slice>> claimed(schedule.rank_count());
  for (const auto* facts : {&schedule.contract().pre, &schedule.contract().post}) {
    for (const sched::Fact& fact : *facts) {
      if (fact.slice.bytes == 0) continue;
      claimed[schedule.buffers()[fact.slice.buffer.value].rank.value].push_back(fact.slice);
    }
  }
  for (const Op& op : schedule.ops()) {
    if (op.kind != OpKind::kPut && !sched::is_atomic(op.kind)) continue;
    for (const auto range : {op.reads, op.writes}) {
      for (const sched::Slice& slice : with_bytes(schedule, range)) {
        const sched::RankId at = schedule.buffers()[slice.buffer.value].rank;
        if (at != op.rank) claimed[at.value].push_back(slice);
      }
    }
  }
  for (std::vector<sched::Slice>& slices : claimed) {
    sort_by_place(slices);
    std::vector<sched::Slice> once;
    for (const sched::Slice& slice : slices) {
      if (once.empty() || !meet(once.back(), slice)) {
        once.push_back(slice);
        continue;
      }
      sched::Slice& last = once.back();
      last.bytes = std::max(last.bytes, slice.offset - last.offset + slice.bytes);
    }
    slices = std::move(once);
  }
  return claimed;
}

// Whether a message may stand there: of a channel, all have bytes or none has, so that the k-th
// message with bytes is the channel's k-th.
bool add_message(Messages& channels, std::uint32_t channel, Message message) {
  std::vector<Message>& messages = channels[channel];
  if (!messages.empty() && messages.front().slices.empty() != message.slices.empty()) return false;
  messages.push_back(std::move(message));
  return true;
}

// By channel: whether anything but messages goes on it, as puts do.
std::vector<bool> channels_of_others(const sched::Schedule& schedule) {
  std::vector<bool> others(schedule.channels().size(), false);
  for (const Op& op : schedule.ops()) {
    if (!op.channel.valid() || op.kind == OpKind::kSend || op.kind == OpKind::kFlush) continue;
    const bool receives_send =
        op.kind == OpKind::kRecv && op.match.valid() && schedule.op(op.match).kind == OpKind::kSend;
    if (!receives_send) others[op.channel.value] = true;
  }
  return others;
}

// Nothing: it does more than copying. `written`: what its receives must not write.
std::optional<Copier> copier_at(const sched::Schedule& schedule, sched::RankId rank,
                                std::vector<sched::Slice> written) {
  Copier copier;
  for (std::uint32_t i = schedule.first_op(rank).value; i < schedule.end_op(rank).value; ++i) {
    const sched::OpId id(i);
    const Op& op = schedule.op(id);
    std::vector<sched::Slice> writes = with_bytes(schedule, op.writes);
    const auto is_here = [&](const sched::Slice& slice) {
      return schedule.buffers()[slice.buffer.value].rank == rank;
    };
    bool sound = true;
    if (op.kind == OpKind::kRecv && op.match.valid() &&
        schedule.op(op.match).kind == OpKind::kSend) {
      written.insert(written.end(), writes.begin(), writes.end());
      sound = add_message(copier.in, op.channel.value, {id, std::move(writes)});
    } else if (op.kind == OpKind::kSend) {
      sound = add_message(copier.out, op.channel.value, {id, with_bytes(schedule, op.reads)});
    } else {
      sound = std::ranges::none_of(writes, is_here);
    }
    if (!sound) return std::nullopt;
  }
  if (any_meet(std::move(written))) return std::nullopt;
  const auto is_empty = [](const auto& channel) { return channel.second.front().slices.empty(); };
  std::erase_if(copier.in, is_empty);
  std::erase_if(copier.out, is_empty);
  return copier;
}

// Whether what was sent is whole what has come, message by message, and was sent after it.
bool are_copies(const sched::Schedule& schedule, const std::vector<Message>& sent,
                const std::vector<Message>& came) {
  if (sent.size() != came.size()) return false;
  for (std::size_t k = 0; k < sent.size(); ++k) {
    const auto waits = [&](const sched::Edge& edge) {
      return edge.pred == came[k].op && edge.on == sched::On::kDone;
    };
    if (sent[k].slices != came[k].slices) return false;
    if (std::ranges::none_of(schedule.edges_into(sent[k].op), waits)) return false;
  }
  return true;
}

}  // namespace

std::vector<std::uint32_t> multicast_flows(const sched::Schedule& schedule) {
  if (!schedule.regions().empty() || schedule.has_bundles()) return {};
  constexpr std::uint32_t kNone = kNoFlow;
  std::vector<std::uint32_t> from(schedule.channels().size(), kNone);  // by channel: one hop back
  std::vector<std::vector<sched::Slice>> claimed = claimed_memory(schedule);
  const std::vector<bool> others = channels_of_others(schedule);
  for (std::uint32_t r = 0; r < schedule.rank_count(); ++r) {
    const auto copier = copier_at(schedule, sched::RankId(r), std::move(claimed[r]));
    if (!copier) continue;
    for (const auto& [channel, sent] : copier->out) {
      if (others[channel]) continue;
      for (const auto& [source, came] : copier->in) {
        if (!others[source] && are_copies(schedule, sent, came)) from[channel] = source;
      }
    }
  }
  std::vector<std::uint32_t> flows(from.size(), kNone);
  bool any = false;
  for (std::uint32_t c = 0; c < from.size(); ++c) {
    std::uint32_t flow = from[c];
    // No schedule that ends has its copies go round in a circle; one that does not is no one's.
    for (std::size_t hops = 0; flow != kNone && from[flow] != kNone; ++hops) {
      flow = hops < from.size() ? from[flow] : kNone;
    }
    if (flow == kNone) continue;
    flows[c] = flows[flow] = flow;
    any = true;
  }
  return any ? flows : std::vector<std::uint32_t>();
}

void require_multicast_flows(const sched::Schedule& schedule, const char* option) {
  if (!multicast_flows(schedule).empty()) return;
  throw Unsupported(fmt::format(
      "{}: no rank of this schedule only copies what it receives; expected switches that do, as "
      "those of switch-multicast",
      option));
}

}  // namespace slackline::hw
