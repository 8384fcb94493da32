#include "hw/executor/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/error.h"
#include "hw/executor/channels.h"
#include "machine/run/executable.h"
#include "sched/flags.h"

namespace slackline::hw {

using sched::Op;
using sched::OpKind;

RankProgram::RankProgram(const sched::Schedule& schedule, sched::RankId rank)
    : schedule_(schedule),
      rank_(rank),
      graph_(schedule, sched::OpRange::of_rank(schedule, rank)),
      previous_(size(), kNoOp),
      message_(size(), 0),
      clears_flag_(size(), false),
      expects_put_(size(), false) {
  require_supported();
  if (!schedule.regions().empty()) machine::require_executable(schedule);
  follow_channels();
  mark_flags();
  mark_puts();
  mark_ends();
}

void RankProgram::require_supported() const {
  for (std::uint32_t i = 0; i < size(); ++i) {
    const Op& o = op(i);
    const auto refuse = [&](std::string_view why) {
      throw Unsupported(
          fmt::format("run cannot carry out {}: {}", describe(schedule_, id(i)), why));
    };
    const bool needs_match = sched::is_fifo_source(o) || o.kind == OpKind::kRecv ||
                             o.kind == OpKind::kPoll || o.notify == sched::Notify::kFlag;
    // Where regions decide, messages meet as they come.
    if (needs_match && !o.match.valid() && schedule_.regions().empty()) {
      throw InputError(
          fmt::format("{} has no match; `check` lists what is wrong", describe(schedule_, id(i))));
    }
    if (sched::has_channel(o.kind) &&
        !sched::is_acknowledged(schedule_.channel(o.channel).service)) {
      refuse(
          "transports are reliable, and keep no message for a receive to come; expected a channel "
          "of service rc");
    }
    if (o.kind == OpKind::kReduce && o.writes.count > 1) refuse("expected a single write");
    if (o.kind != OpKind::kPoll) continue;
    if (const auto fault = sched::flag_fault(schedule_, id(i))) throw InputError(*fault);
  }
}

void RankProgram::follow_channels() {
  // By channel and side: the operation before, and how many messages and operations came before it.
  struct Side {
    std::uint32_t last = 0;
    std::uint32_t messages = 0;
    std::uint32_t ops = 0;
  };
  std::map<std::pair<std::uint32_t, bool>, Side> sides;
  for (std::uint32_t i = 0; i < size(); ++i) {
    const Op& o = op(i);
    const bool receives = o.kind == OpKind::kRecv;
    const bool bundled =
        o.channel.valid() && schedule_.channel(o.channel).bundle != sched::Bundle::kNone;
    // Flushes have their place among what they flush.
    if (!receives && !sched::is_initiator(o.kind) && !(bundled && o.kind == OpKind::kFlush)) {
      continue;
    }
    const auto [side, fresh] = sides.try_emplace({o.channel.value, !receives});
    if (!fresh) previous_[i] = side->second.last;
    side->second.last = i;
    ++side->second.ops;
    if (receives || sched::is_fifo_source(o)) message_[i] = side->second.messages++;
  }
  const std::vector<bool> small = small_channels(schedule_);
  for (const auto& [key, side] : sides) {
    const sched::Channel& channel = schedule_.channel(sched::ChannelId(key.first));
    const sched::RankId peer = key.second ? channel.dst : channel.src;
    // How often a region repeats is not known, nor what may come of it.
    const std::uint32_t requests = schedule_.regions().empty() ? side.ops : 0;
    ends_.push_back({key.first, peer.value, key.second, requests, small[key.first]});
  }
  // A channel that only carries polled puts has no operation at its target, and one of which
  // regions leave only receives none at its source; its end is there all the same, for transports
  // that connect channels one by one. What no rank uses has no ends.
  const std::vector<bool> used = used_channels(schedule_);
  for (std::uint32_t c = 0; c < schedule_.channels().size(); ++c) {
    const sched::Channel& channel = schedule_.channels()[c];
    if (!used[c]) continue;
    if (channel.dst == rank_ && !sides.contains({c, false})) {
      ends_.push_back({c, channel.src.value, false, 1, small[c]});
    }
    if (channel.src == rank_ && !sides.contains({c, true})) {
      ends_.push_back({c, channel.dst.value, true, 1, small[c]});
    }
  }
}

// By their places: whose flag the next one begins within, the two share.
void RankProgram::mark_flags() {
  struct Flag {
    sched::Slice bytes;
    std::uint32_t poll;
  };
  std::vector<Flag> flags;
  for (std::uint32_t i = 0; i < size(); ++i) {
    if (op(i).kind == OpKind::kPoll) flags.push_back({schedule_.slices(op(i).reads).front(), i});
  }
  std::sort(flags.begin(), flags.end(), [](const Flag& a, const Flag& b) {
    return std::tuple(a.bytes.buffer, a.bytes.offset, a.poll) <
           std::tuple(b.bytes.buffer, b.bytes.offset, b.poll);
  });
  for (std::size_t f = 0; f < flags.size(); ++f) {
    const std::uint32_t poll = flags[f].poll;
    if (is_in_region(poll)) clears_flag_[poll] = true;
    if (f + 1 == flags.size()) break;
    const Flag& next = flags[f + 1];
    const bool shared = next.bytes.buffer == flags[f].bytes.buffer &&
                        next.bytes.offset - flags[f].bytes.offset < flags[f].bytes.bytes;
    if (!shared) continue;
    clears_flag_[poll] = true;
    if (const auto fault = sched::overlap_fault(schedule_, id(poll), id(next.poll))) {
      throw InputError(*fault);
    }
  }
}

void RankProgram::mark_puts() {
  constexpr OpKind kNone = OpKind::kJoin;
  std::map<std::uint32_t, OpKind> unmatched;  // by channel
  for (std::uint32_t i = 0; i < size(); ++i) {
    if (op(i).kind != OpKind::kRecv) continue;
    if (op(i).match.valid()) {
      expects_put_[i] = schedule_.op(op(i).match).kind == OpKind::kPut;
    } else {
      unmatched.emplace(op(i).channel.value, kNone);
    }
  }
  if (unmatched.empty()) return;
  for (const Op& o : schedule_.ops()) {
    if (!sched::is_fifo_source(o)) continue;
    const auto found = unmatched.find(o.channel.value);
    if (found != unmatched.end()) found->second = o.kind;
  }
  for (std::uint32_t i = 0; i < size(); ++i) {
    if (op(i).kind != OpKind::kRecv || op(i).match.valid()) continue;
    expects_put_[i] = unmatched.at(op(i).channel.value) == OpKind::kPut;
  }
}

void RankProgram::mark_ends() {
  std::set<std::uint32_t> meet_sends;
  for (std::uint32_t i = 0; i < size(); ++i) {
    if (op(i).kind == OpKind::kRecv && !expects_put_[i]) meet_sends.insert(op(i).channel.value);
  }
  for (ChannelEnd& end : ends_) {
    end.only_writes = !end.initiates && !meet_sends.contains(end.channel);
  }
}

}  // namespace slackline::hw
