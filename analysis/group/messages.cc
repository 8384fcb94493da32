#include "analysis/group/messages.h"

#include <algorithm>
#include <map>

#include "sched/builder.h"
#include "sched/schedule_rewriter.h"

namespace slackline::analysis {
namespace {

using machine::GroupMessage;
using machine::GroupPlan;
using machine::kNoLine;
using sched::OpId;
using sched::OpKind;
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

// The message's schedule, in which all else waits for a member's first block.
sched::Schedule held_for_first_blocks(const GroupPlan& plan, const GroupMessage& message) {
  const sched::Schedule& schedule = message.schedule;
  const PostedAhead ahead(plan, message);
  sched::ScheduleBuilder out(schedule.rank_count());
  sched::ScheduleRewriter copy(schedule, out);
  for (OpId id(0); id.value < schedule.op_count(); ++id.value) copy.keep(id);
  copy.finish();
  for (OpId id(0); id.value < schedule.op_count(); ++id.value) {
    const OpId first = ahead.first_receive(schedule.op(id).rank);
    if (!first.valid() || ahead.holds(id)) continue;
    // What follows something that waits, waits itself.
    const auto edges = schedule.edges_into(id);
    const bool waits = std::ranges::any_of(edges, [&](const sched::Edge& edge) {
      return !ahead.holds(edge.pred) || (edge.pred == first && edge.on == sched::On::kDone);
    });
    if (!waits) out.add_edge(copy[first], copy[id]);
  }
  return out.build();
}

}  // namespace

GroupMessages messages_of_group(GroupPlan& plan, std::span<const std::uint64_t> bytes) {
  const std::uint32_t members = plan.shape().members;
  GroupMessages made{{sched::ScheduleBuilder(members).build(), {}}, {}};
  std::map<std::uint64_t, sched::Schedule> held;  // by size
  std::vector<sched::Part> parts;
  for (const std::uint64_t each : bytes) {
    made.messages.push_back(plan.message(each));
    auto found = held.find(each);
    if (found == held.end()) {
      found = held.emplace(each, held_for_first_blocks(plan, *made.messages.back())).first;
    }
    sched::Part part;
    part.schedule = &found->second;
    for (std::uint32_t m = 0; m < members; ++m) part.rank_of.push_back(RankId(m));
    if (!parts.empty()) part.after = parts.size() - 1;
    parts.push_back(std::move(part));
  }
  made.whole = sched::compose(parts, members, "messages of a group");
  return made;
}

}  // namespace slackline::analysis
