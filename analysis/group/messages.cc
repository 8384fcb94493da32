#include "analysis/group/messages.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "analysis/group/small_run.h"
#include "sched/program_writer.h"
#include "sched/schedule_rewriter.h"

namespace slackline::analysis {
namespace {

using machine::GroupMessage;
using machine::GroupPlan;
using machine::kNoLine;
using sched::OpId;
using sched::OpKind;
using sched::PartEdge;
using sched::RankId;

// What a member posts between messages, before it knows of the next.
class PostedAhead {
 public:
  PostedAhead(const GroupPlan& plan, const GroupMessage& message)
      : message_(message),
        is_ahead_(message.schedule.op_count(), false),
        first_receive_(plan.shape().members) {
    for (std::uint32_t m = 0; m < plan.shape().members; ++m) {
      const std::uint32_t first = plan.first_line(m);
      if (first == kNoLine) continue;
      const machine::GroupLine line = plan.lines()[first];
      first_receive_[m] = first_on(first, OpKind::kRecv, line.dst);
      if (const std::uint32_t credit = plan.credit_of(first); credit != kNoLine) {
        first_on(credit, OpKind::kSend, line.dst);
        first_on(credit, OpKind::kRecv, line.src);
      }
    }
  }

  bool holds(OpId op) const { return is_ahead_[op.value]; }
  PlacesAhead places() const {
    PlacesAhead places(message_.schedule.rank_count());
    for (OpId id(0); id.value < message_.schedule.op_count(); ++id.value) {
      if (!holds(id)) continue;
      const RankId rank = message_.schedule.op(id).rank;
      places[rank.value].push_back(id.value - message_.schedule.first_op(rank).value);
    }
    return places;
  }
  /// Of a member's first block; none() at the root.
  OpId first_receive(RankId member) const { return first_receive_[member.value]; }

 private:
  // The first of such operations that the member has on the line.
  OpId first_on(std::uint32_t line, OpKind kind, std::uint32_t member) {
    const sched::Schedule& schedule = message_.schedule;
    for (OpId id = schedule.first_op(RankId(member)); id < schedule.end_op(RankId(member));
         ++id.value) {
      const sched::Op& op = schedule.op(id);
      if (op.kind != kind || message_.line_of_channel[op.channel.value] != line) continue;
      is_ahead_[id.value] = true;
      return id;
    }
    return OpId::none();
  }

  const GroupMessage& message_;
  std::vector<bool> is_ahead_;
  std::vector<OpId> first_receive_;
};

// A message in blocks as a part of the group's.
struct BlocksPart {
  // In which all else waits for a member's first block.
  sched::Schedule schedule;
  // Behind small messages, by member: what is posted ahead, and what all else waits for.
  std::vector<std::vector<OpId>> ahead;
  std::vector<OpId> gates;
  std::shared_ptr<const PlacesAhead> places;
};

BlocksPart held_for_first_blocks(const GroupPlan& plan, const GroupMessage& message,
                                 bool behind_small) {
  const sched::Schedule& schedule = message.schedule;
  const PostedAhead ahead(plan, message);
  sched::ProgramWriter out(schedule.rank_count());
  sched::ScheduleRewriter copy(schedule, out);
  std::vector<OpId> gates;
  for (std::uint32_t m = 0; m < schedule.rank_count(); ++m) {
    if (behind_small) gates.push_back(out.join({RankId(m)}));
    for (OpId id = schedule.first_op(RankId(m)); id < schedule.end_op(RankId(m)); ++id.value) {
      copy.keep(id);
    }
  }
  copy.finish();
  for (OpId id(0); id.value < schedule.op_count(); ++id.value) {
    const RankId rank = schedule.op(id).rank;
    const OpId first = ahead.first_receive(rank);
    if ((!first.valid() && !behind_small) || ahead.holds(id)) continue;
    // What follows something that waits, waits itself.
    const auto edges = schedule.edges_into(id);
    const bool waits = std::ranges::any_of(
        edges, [&](const sched::Edge& edge) { return !ahead.holds(edge.pred); });
    if (waits) continue;
    const bool has_first = std::ranges::any_of(edges, [&](const sched::Edge& edge) {
      return edge.pred == first && edge.on == sched::On::kDone;
    });
    if (!has_first && first.valid()) out.add_edge(copy[first], copy[id]);
    if (behind_small) out.add_edge(gates[rank.value], copy[id]);
  }
  std::vector<std::vector<OpId>> posted(behind_small ? schedule.rank_count() : 0);
  for (OpId id(0); behind_small && id.value < schedule.op_count(); ++id.value) {
    if (ahead.holds(id)) posted[schedule.op(id).rank.value].push_back(copy[id]);
  }
  return {out.build(), std::move(posted), std::move(gates),
          std::make_shared<const PlacesAhead>(ahead.places())};
}

// What members post ahead of a message in blocks that comes no more.
struct AheadPart {
  sched::Schedule schedule;
  std::vector<std::vector<OpId>> ops;  // by member
};

AheadPart posted_ahead(const GroupPlan& plan) {
  const std::uint32_t members = plan.shape().members;
  sched::ProgramWriter out(members);
  // Who tells its readiness, on a channel that carries nothing else.
  std::vector<sched::ChannelId> credits(members);
  for (std::uint32_t m = 0; m < members; ++m) {
    const std::uint32_t first = plan.first_line(m);
    if (first == kNoLine || plan.credit_of(first) == kNoLine) continue;
    credits[m] = out.connect(RankId(m), RankId(plan.lines()[first].src));
    out.channel(credits[m]).credit_on = credits[m];
  }
  std::vector<std::vector<OpId>> ops(members);
  for (std::uint32_t self = 0; self < members; ++self) {
    const sched::OpPlace at{RankId(self)};
    if (plan.first_line(self) != kNoLine) ops[self].push_back(out.calc(at, sched::Time(0)));
    if (credits[self].valid()) {
      ops[self].push_back(out.send(at, credits[self], {}, {ops[self].back()}));
    }
    for (std::uint32_t m = 0; m < members; ++m) {
      const bool tells_self = credits[m].valid() && plan.lines()[plan.first_line(m)].src == self;
      if (tells_self) ops[self].push_back(out.receive(at, credits[m], {}));
    }
  }
  return {out.build(), std::move(ops)};
}

// Each message in blocks is a part, and so is each run of small ones. Last is what is posted ahead
// of a message that comes no more.
class MessageComposer {
 public:
  MessageComposer(GroupPlan& plan, std::span<const std::uint64_t> bytes,
                  const machine::SmallShape& small)
      : plan_(plan), bytes_(bytes), small_(small), members_(plan.shape().members) {
    for (const std::uint64_t each : bytes) total_small_ += small.takes(each) ? 1 : 0;
  }

  GroupMessages run() {
    made_.counts.resize(members_);
    for (std::size_t k = 0; k < bytes_.size();) {
      k = small_.takes(bytes_[k]) ? add_run(k) : add_blocks(k);
    }
    add_ahead();
    whole_ = sched::compose(parts_, members_, "messages of a group", edges_);
    for (std::size_t p = 0; p < parts_.size(); ++p) add_places(p);
    made_.schedule = std::move(whole_->schedule);
    return std::move(made_);
  }

 private:
  struct Content {
    const SmallRun* run = nullptr;  // of small messages
    bool is_behind_small = false;   // blocks: whose operations follow a gate
    bool is_ahead = false;          // of no message
  };

  std::size_t add_blocks(std::size_t k) {
    made_.messages.push_back(plan_.message(bytes_[k]));
    const bool behind_small = !contents_.empty() && contents_.back().run != nullptr;
    const auto key = std::pair(bytes_[k], behind_small);
    auto found = blocks_.find(key);
    if (found == blocks_.end()) {
      found = blocks_.emplace(key, held_for_first_blocks(plan_, *made_.messages[k], behind_small))
                  .first;
    }
    made_.places_ahead.push_back(found->second.places);
    add_part(found->second.schedule, {nullptr, behind_small});
    if (behind_small) hold_behind_run(found->second);
    last_blocks_ = parts_.size() - 1;
    return k + 1;
  }

  // Ahead of its first block a member posts when it is through with the message in blocks before,
  // whatever small ones are between.
  void add_part(const sched::Schedule& schedule, Content content) {
    sched::Part part;
    part.schedule = &schedule;
    for (std::uint32_t m = 0; m < members_; ++m) part.rank_of.push_back(RankId(m));
    part.after = last_blocks_;
    parts_.push_back(std::move(part));
    contents_.push_back(content);
  }

  // The root's writes stand at every member; a member has taken all. What is posted ahead behind an
  // earlier message in blocks is posted before anything else.
  void hold_behind_run(const BlocksPart& blocks) {
    const std::vector<OpId>& gates = blocks.gates;
    const std::size_t p = parts_.size() - 1;
    const SmallRun& run = *contents_[p - 1].run;
    const std::size_t count = run.into_slot.size();
    const std::size_t awaited = std::min<std::size_t>(small_.slots, count);
    for (std::size_t i = count - awaited; i < count; ++i) {
      for (std::uint32_t m = 1; m < members_; ++m) {
        edges_.push_back({p - 1, OpId(run.into_slot[i].value + m), p, gates[0]});
      }
    }
    hold_run_behind(blocks.ahead);
    if (members_ == 1) edges_.push_back({p - 1, run.into_slot.back(), p, gates[0]});
    for (std::uint32_t m = 1; m < members_; ++m) {
      edges_.push_back({p - 1, run.taken[m].back(), p, gates[m]});
    }
  }

  // The run before the latest part begins when that part's operations, by member, are posted.
  void hold_run_behind(const std::vector<std::vector<OpId>>& ahead) {
    const std::size_t p = parts_.size() - 1;
    const SmallRun& run = *contents_[p - 1].run;
    for (std::uint32_t m = 0; last_blocks_ && m < members_; ++m) {
      const OpId first = m == 0 ? run.into_slot[0] : run.taken[m][0];
      for (const OpId id : ahead[m]) {
        // A calc stands for a post: it is one at its end.
        const bool is_post = parts_[p].schedule->op(id).kind != OpKind::kCalc;
        edges_.push_back({p, id, p - 1, first, is_post ? sched::On::kIssued : sched::On::kDone});
      }
    }
  }

  void add_ahead() {
    ahead_.emplace(posted_ahead(plan_));
    if (ahead_->schedule.op_count() == 0) return;
    add_part(ahead_->schedule, {nullptr, false, true});
    if (contents_[parts_.size() - 2].run != nullptr) hold_run_behind(ahead_->ops);
  }

  std::size_t add_run(std::size_t k) {
    std::size_t end = k;
    while (end < bytes_.size() && small_.takes(bytes_[end])) ++end;
    const SmallPlace place{made_.small.size(), total_small_};
    runs_.push_back(small_run(members_, small_, bytes_.subspan(k, end - k), place));
    const SmallRun& run = runs_.back();
    add_part(run.schedule, {&run});
    const std::size_t p = parts_.size() - 1;
    for (std::uint64_t i = 0; i < end - k && i < small_.slots; ++i) {
      wait_for_earlier_count(p, place.first + i, run.into_slot[i]);
    }
    for (std::uint32_t m = 1; m < members_ && !run.counts[m].empty(); ++m) {
      if (!counted_.empty()) {
        const std::size_t before = counted_.back();
        edges_.push_back({before, contents_[before].run->counts[m].back(), p, run.counts[m][0]});
      }
    }
    if (members_ > 1 && !run.counts[1].empty()) counted_.push_back(p);
    for (; k < end; ++k) {
      made_.small.push_back(static_cast<std::uint32_t>(k));
      made_.messages.push_back(nullptr);
      made_.places_ahead.push_back(nullptr);
    }
    return end;
  }

  // Where members write that count in an earlier run.
  void wait_for_earlier_count(std::size_t p, std::uint64_t number, OpId into) {
    if (number < small_.slots || members_ == 1) return;
    const std::uint64_t count = count_before(small_, number);
    if (count >= contents_[p].run->first_count) return;
    const auto later = [](std::uint64_t wanted, std::uint64_t first) { return wanted < first; };
    const auto found = std::ranges::upper_bound(
        counted_, count, later, [&](std::size_t part) { return contents_[part].run->first_count; });
    const std::size_t from = *std::prev(found);
    const SmallRun& run = *contents_[from].run;
    for (std::uint32_t m = 1; m < members_; ++m) {
      edges_.push_back({from, run.seen[m][count - run.first_count], p, into});
    }
  }

  void add_places(std::size_t p) {
    const Content& content = contents_[p];
    const sched::PartMap& map = whole_->parts;
    if (content.run == nullptr) {
      const std::uint32_t gates = content.is_behind_small ? 1 : 0;
      for (std::uint32_t m = 0; m < members_; ++m) {
        const sched::PartRange& range = map.ops(p, RankId(m));
        auto& places = content.is_ahead ? made_.ahead : made_.parts;
        places.push_back({OpId(range.own.value + gates), range.end});
      }
      return;
    }
    const SmallRun& run = *content.run;
    // The whole's number of an operation of the part.
    const auto in_whole = [&](OpId op, std::uint32_t m) {
      const std::uint32_t first = run.schedule.first_op(RankId(m)).value;
      return OpId(map.ops(p, RankId(m)).own.value + (op.value - first));
    };
    const bool alone = members_ == 1;
    for (std::size_t i = 0; i < run.into_slot.size(); ++i) {
      const OpId into = in_whole(run.into_slot[i], 0);
      made_.parts.push_back(
          {into, OpId(into.value + members_), alone ? sched::On::kDone : sched::On::kIssued});
      for (std::uint32_t m = 1; m < members_; ++m) {
        const OpId taken = in_whole(run.taken[m][i], m);
        made_.parts.push_back({taken, OpId(taken.value + 1)});
      }
    }
    for (std::uint32_t m = 1; m < members_; ++m) {
      for (const OpId count : run.counts[m]) made_.counts[m].push_back(in_whole(count, m));
    }
  }

  GroupPlan& plan_;
  const std::span<const std::uint64_t> bytes_;
  const machine::SmallShape& small_;
  const std::uint32_t members_;
  std::uint64_t total_small_ = 0;

  std::map<std::pair<std::uint64_t, bool>, BlocksPart>
      blocks_;  // by size, and whether behind small
  std::deque<SmallRun> runs_;
  std::optional<AheadPart> ahead_;
  std::vector<sched::Part> parts_;
  std::vector<Content> contents_;  // of the parts
  std::vector<PartEdge> edges_;
  std::vector<std::size_t> counted_;  // the runs in which members write counts
  std::optional<std::size_t> last_blocks_;
  std::optional<sched::Composition> whole_;
  GroupMessages made_{sched::ScheduleBuilder(members_).build(), {}, {}, {}, {}, {}, {}};
};

}  // namespace

GroupMessages messages_of_group(GroupPlan& plan, std::span<const std::uint64_t> bytes,
                                const machine::SmallShape& small) {
  machine::check(small);
  return MessageComposer(plan, bytes, small).run();
}

}  // namespace slackline::analysis
