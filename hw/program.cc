#include "hw/program.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "sched/error.h"

namespace slackline::hw {

using sched::Op;
using sched::OpKind;

RankProgram::RankProgram(const sched::Schedule& schedule, sched::RankId rank)
    : schedule_(schedule),
      rank_(rank),
      first_(schedule.first_op(rank).value),
      size_(schedule.end_op(rank).value - first_),
      waits_(size_, 0),
      previous_(size_, kNoOp),
      waited_for_(size_, false),
      message_(size_, 0),
      clears_flag_(size_, false) {
  sched::require_static(schedule, "run");
  require_supported();
  count_events();
  mark_flags();
}

void RankProgram::require_supported() const {
  for (std::uint32_t i = 0; i < size_; ++i) {
    const Op& o = op(i);
    const auto refuse = [&](std::string_view why) {
      throw Unsupported(
          fmt::format("run cannot carry out {}: {}", describe(schedule_, id(i)), why));
    };
    const bool needs_match = sched::is_fifo_source(o) || o.kind == OpKind::kRecv ||
                             o.kind == OpKind::kPoll || o.notify == sched::Notify::kFlag;
    if (needs_match && !o.match.valid()) {
      throw InputError(
          fmt::format("{} has no match; `check` lists what is wrong", describe(schedule_, id(i))));
    }
    if (o.kind == OpKind::kFetchAnd || o.kind == OpKind::kFetchOr || o.kind == OpKind::kFetchXor) {
      refuse("transports have fetch_add and compare_swap only");
    }
    if (sched::has_channel(o.kind) &&
        schedule_.channel(o.channel).service != sched::Service::kReliable) {
      refuse("transports are reliable; expected a channel of service rc");
    }
    if (o.kind == OpKind::kReduce && o.writes.count > 1) refuse("expected a single write");
  }
}

void RankProgram::count_events() {
  std::vector<Release> on_issued;
  std::vector<Release> on_done;
  // By channel and side: the operation before, and how many messages came before it.
  struct Side {
    std::uint32_t last = 0;
    std::uint32_t messages = 0;
  };
  std::map<std::pair<std::uint32_t, bool>, Side> sides;
  for (std::uint32_t i = 0; i < size_; ++i) {
    for (const sched::Edge& edge : schedule_.edges_into(id(i))) {
      (edge.on == sched::On::kDone ? on_done : on_issued).push_back({edge.pred.value - first_, i});
      ++waits_[i];
    }
    const Op& o = op(i);
    const bool receives = o.kind == OpKind::kRecv;
    if (!receives && !sched::is_initiator(o.kind)) continue;
    const auto [side, fresh] = sides.try_emplace({o.channel.value, !receives});
    if (!fresh) {
      on_issued.push_back({side->second.last, i});
      previous_[i] = side->second.last;
      ++waits_[i];
    }
    side->second.last = i;
    if (receives || sched::is_fifo_source(o)) message_[i] = side->second.messages++;
  }
  after_issued_ = lists_of(size_, on_issued);
  after_done_ = lists_of(size_, on_done);
  for (const Release& release : on_done) waited_for_[release.from] = true;
  for (const auto& [key, side] : sides) {
    waited_for_[side.last] = true;
    const sched::Channel& channel = schedule_.channel(sched::ChannelId(key.first));
    const sched::RankId peer = key.second ? channel.dst : channel.src;
    ends_.push_back({key.first, peer.value, key.second});
  }
  // A channel that only carries polled puts has no operation at its target; its end is there all
  // the same, for transports that connect channels one by one.
  for (std::uint32_t c = 0; c < schedule_.channels().size(); ++c) {
    const sched::Channel& channel = schedule_.channels()[c];
    if (channel.dst == rank_ && !sides.contains({c, false})) {
      ends_.push_back({c, channel.src.value, false});
    }
  }
}

// Flags of one schedule are the same bytes or different ones: they are compared by where they
// begin.
void RankProgram::mark_flags() {
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> last;
  for (std::uint32_t i = 0; i < size_; ++i) {
    if (op(i).kind != OpKind::kPoll) continue;
    for (const sched::Slice& slice : schedule_.slices(op(i).reads)) {
      if (slice.bytes == 0) continue;
      const auto [before, fresh] = last.try_emplace({slice.buffer.value, slice.offset}, i);
      if (fresh) continue;
      clears_flag_[before->second] = true;
      before->second = i;
    }
  }
}

RankProgram::Lists RankProgram::lists_of(std::uint32_t size, std::span<const Release> releases) {
  Lists lists;
  lists.begin.assign(size + 1, 0);
  for (const Release& release : releases) ++lists.begin[release.from + 1];
  for (std::uint32_t i = 0; i < size; ++i) lists.begin[i + 1] += lists.begin[i];
  lists.items.resize(releases.size());
  std::vector<std::uint32_t> next(lists.begin.begin(), lists.begin.end() - 1);
  for (const Release& release : releases) lists.items[next[release.from]++] = release.to;
  return lists;
}

}  // namespace slackline::hw
