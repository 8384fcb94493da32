#include "sched/pass/stripe.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "sched/builder.h"
#include "sched/pass/require_no_results.h"

namespace slackline::sched {
namespace {

class StripePass {
 public:
  StripePass(const Schedule& schedule, std::uint32_t stripes)
      : in_(schedule),
        stripes_(stripes),
        out_(schedule.rank_count()),
        striped_(schedule.channels().size(), false),
        first_(schedule.channels().size()),
        now_(schedule.op_count()),
        all_(2 * std::size_t{schedule.op_count()}) {}

  Schedule run() {
    add_tables();
    find_awaited();
    for (std::uint32_t i = 0; i < in_.op_count(); ++i) add(OpId(i));
    for (std::uint32_t i = 0; i < in_.op_count(); ++i) add_edges(OpId(i));
    return out_.build();
  }

 private:
  void add_tables() {
    out_.set_title(in_.title());
    out_.set_message_bytes(in_.message_bytes());
    for (const Buffer& buffer : in_.buffers()) out_.add_buffer(buffer.rank, buffer.bytes);
    out_.add_slices(in_.slices());
    for (const Fact& fact : in_.contract().pre) out_.add_pre(fact);
    for (const Fact& fact : in_.contract().post) out_.add_post(fact);
    const std::vector<bool> control = in_.control_channels();
    for (const Op& op : in_.ops()) {
      if (is_fifo_source(op) && op.match.valid() && !control[op.channel.value]) {
        striped_[op.channel.value] = true;
      }
    }
    for (std::uint32_t c = 0; c < in_.channels().size(); ++c) {
      first_[c] = out_.add_channel(in_.channels()[c]);
      for (std::uint32_t s = 1; striped_[c] && s < stripes_; ++s) {
        out_.add_channel(in_.channels()[c]);
      }
    }
    // The channels of credits have moved.
    for (std::uint32_t c = 0; c < in_.channels().size(); ++c) {
      const ChannelId credits = in_.channels()[c].credit_on;
      if (!credits.valid()) continue;
      for (std::uint32_t s = 0; s < (striped_[c] ? stripes_ : 1); ++s) {
        out_.channel(ChannelId(first_[c].value + s)).credit_on = first_[credits.value];
      }
    }
  }

  bool is_striped(const Op& op) const {
    if (!op.channel.valid() || !striped_[op.channel.value]) return false;
    return is_fifo_source(op) || op.kind == OpKind::kRecv;
  }

  // Which events of striped operations others wait for.
  void find_awaited() {
    awaited_.assign(2 * std::size_t{in_.op_count()}, false);
    for (const Edge& edge : in_.edges()) {
      if (is_striped(in_.op(edge.pred))) awaited_[place(edge.pred, edge.on)] = true;
    }
  }

  static std::size_t place(OpId op, On on) {
    return 2 * std::size_t{op.value} + (on == On::kDone ? 1 : 0);
  }

  void add(OpId id) {
    Op op = in_.op(id);
    if (op.channel.valid()) op.channel = first_[op.channel.value];
    if (!is_striped(in_.op(id))) {
      now_[id.value] =
          op.arguments == kNoArguments ? out_.add(op) : out_.add(op, in_.arguments(in_.op(id)));
      return;
    }
    const SliceRange reads = op.reads;
    const SliceRange writes = op.writes;
    for (std::uint32_t s = 0; s < stripes_; ++s) {
      op.reads = part(reads, s);
      op.writes = part(writes, s);
      const OpId added = out_.add(op);
      if (s == 0) now_[id.value] = added;
      ++op.channel.value;
    }
    for (const On on : {On::kIssued, On::kDone}) {
      if (!awaited_[place(id, on)]) continue;
      Op join;
      join.kind = OpKind::kJoin;
      join.rank = op.rank;
      join.lane = op.lane;
      join.step = op.step;
      all_[place(id, on)] = out_.add(join);
    }
  }

  // The part s of what the slices hold, in their order.
  SliceRange part(SliceRange range, std::uint32_t s) {
    if (range.count == 0) return {};
    std::uint64_t bytes = 0;
    for (const Slice& slice : in_.slices(range)) bytes += slice.bytes;
    const auto cut = [&](std::uint32_t at) {
      return bytes / stripes_ * at + bytes % stripes_ * at / stripes_;
    };
    const std::uint64_t begin = cut(s);
    const std::uint64_t end = cut(s + 1);
    parts_.clear();
    std::uint64_t passed = 0;
    for (const Slice& slice : in_.slices(range)) {
      const std::uint64_t from = std::max(begin, passed);
      const std::uint64_t to = std::min(end, passed + slice.bytes);
      if (from < to) parts_.push_back({slice.buffer, slice.offset + (from - passed), to - from});
      passed += slice.bytes;
    }
    return parts_.empty() ? SliceRange{} : out_.add_slices(parts_);
  }

  void add_edges(OpId id) {
    const std::uint32_t heads = is_striped(in_.op(id)) ? stripes_ : 1;
    for (const Edge& edge : in_.edges_into(id)) {
      const bool split = is_striped(in_.op(edge.pred));
      const OpId pred = split ? all_[place(edge.pred, edge.on)] : now_[edge.pred.value];
      const On on = split ? On::kDone : edge.on;
      for (std::uint32_t s = 0; s < heads; ++s) {
        out_.add_edge(pred, OpId(now_[id.value].value + s), on);
      }
    }
    for (const On on : {On::kIssued, On::kDone}) {
      const OpId join = all_[place(id, on)];
      for (std::uint32_t s = 0; join.valid() && s < stripes_; ++s) {
        out_.add_edge(OpId(now_[id.value].value + s), join, on);
      }
    }
    const Op& op = in_.op(id);
    if (op.notify == Notify::kFlag && op.match.valid()) {
      out_.add_flag_match(now_[id.value], now_[op.match.value]);
    }
  }

  const Schedule& in_;
  const std::uint32_t stripes_;
  ScheduleBuilder out_;
  std::vector<bool> striped_;     // by channel
  std::vector<ChannelId> first_;  // by channel: what it has become, the first of its stripes
  std::vector<OpId> now_;         // by operation: likewise
  std::vector<OpId> all_;         // by place(): what is there when all parts of a message are
  std::vector<bool> awaited_;     // by place()
  std::vector<Slice> parts_;
};

}  // namespace

Schedule stripe(const Schedule& schedule, std::uint32_t stripes) {
  if (stripes == 0 || stripes > kMostStripes) {
    throw InputError(
        fmt::format("stripes: {} is out of range; expected 1 to {}", stripes, kMostStripes));
  }
  if (stripes == 1) return schedule;
  require_static(schedule, "stripe");
  require_no_results(schedule, "stripe");
  return StripePass(schedule, stripes).run();
}

}  // namespace slackline::sched
