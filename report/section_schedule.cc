// The operations of the schedule: what each is, and what it waits for.
#include <cstdint>
#include <vector>

#include "machine/lane.h"
#include "report/document.h"
#include "report/sections.h"

namespace slackline::report {
namespace {

using Numbers = std::vector<std::int64_t>;

// An id as a number; −1 for none.
template <class Tag>
std::int64_t number(sched::Id<Tag> id) {
  return id.valid() ? std::int64_t{id.value} : -1;
}

}  // namespace

void add_schedule(const Report& report, const Ticks&, Document& document) {
  const sched::Schedule& schedule = report.schedule;
  const std::uint32_t ops = schedule.op_count();
  auto& facts = document.facts["schedule"];
  facts["name"] = report.name;
  facts["digest"] = to_string(schedule.digest());
  facts["ranks"] = schedule.rank_count();
  facts["ops"] = ops;
  facts["steps"] = schedule.step_count();
  facts["message_bytes"] = schedule.message_bytes();
  for (int kind = 0; kind < sched::kOpKinds; ++kind) {
    const auto each = static_cast<sched::OpKind>(kind);
    facts["kinds"].push_back(name(each));
    facts["initiates"].push_back(sched::is_initiator(each));
    facts["has_reply"].push_back(sched::has_reply(each));
    facts["is_posted"].push_back(machine::is_posted(each));
  }

  Numbers first;
  for (std::uint32_t rank = 0; rank <= schedule.rank_count(); ++rank) {
    first.push_back(rank == schedule.rank_count() ? ops
                                                  : schedule.first_op(sched::RankId(rank)).value);
  }
  Numbers kind, lane, step, bytes, channel, match, edges;
  for (Numbers* column : {&kind, &lane, &step, &bytes, &channel, &match, &edges}) {
    column->reserve(ops);
  }
  for (std::uint32_t i = 0; i < ops; ++i) {
    const sched::Op& op = schedule.ops()[i];
    kind.push_back(static_cast<std::int64_t>(op.kind));
    lane.push_back(op.lane);
    step.push_back(op.step);
    bytes.push_back(static_cast<std::int64_t>(schedule.payload_bytes(op)));
    channel.push_back(number(op.channel));
    match.push_back(number(op.match));
    edges.push_back(static_cast<std::int64_t>(schedule.edges_into(sched::OpId(i)).size()));
  }
  Numbers back, on_issued;
  for (const sched::Edge& edge : schedule.edges()) {
    back.push_back(std::int64_t{edge.succ.value} - std::int64_t{edge.pred.value});
    on_issued.push_back(edge.on == sched::On::kIssued ? 1 : 0);
  }
  Numbers src, dst;
  for (const sched::Channel& each : schedule.channels()) {
    src.push_back(number(each.src));
    dst.push_back(number(each.dst));
  }
  Columns& columns = document.columns;
  columns.add("rank.first_op", first, Coding::kDifferences);
  columns.add("op.kind", kind);
  columns.add("op.lane", lane);
  columns.add("op.step", step, Coding::kDifferences);
  columns.add("op.bytes", bytes);
  columns.add("op.channel", channel, Coding::kDifferences);
  columns.add("op.match", match, Coding::kDifferences);
  columns.add("op.edges", edges);
  columns.add("edge.back", back);
  columns.add("edge.on_issued", on_issued);
  columns.add("channel.src", src, Coding::kDifferences);
  columns.add("channel.dst", dst, Coding::kDifferences);
}

}  // namespace slackline::report
