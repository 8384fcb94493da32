#include "cli/group_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "cli/human.h"
#include "cli/platform_report.h"

namespace slackline::cli {
namespace {

constexpr std::size_t kGroupRowsShown = 16;

// Nothing for what never happens.
Value moment(double time_s) { return std::isfinite(time_s) ? in_seconds(time_s) : Value(); }

std::uint64_t happened(const std::vector<double>& times_s) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(times_s, [](double time_s) { return std::isfinite(time_s); }));
}

const char* fate_of(const analysis::GroupMemberRun& member) {
  if (!member.outcome) return "killed";
  return member.outcome->delivered ? "delivered" : "failed";
}

// People read how long after the kill.
Value since_kill(const SimulatedGroup& group, double time_s) {
  const Value value = moment(time_s);
  if (!group.run.killed_s || !std::isfinite(time_s)) return value;
  return value.shown_as(as_difference(time_s - *group.run.killed_s).text());
}

std::string words_for_messages(const SimulatedGroup& group) {
  const std::size_t count = group.scenario.messages.size();
  if (group.sizes.size() == 1) return fmt::format("{} of {}", count, human_bytes(group.sizes[0]));
  // Exact, since the switch to slots may be between two of them.
  std::vector<std::string> sizes;
  for (const std::uint64_t size : group.sizes) {
    sizes.push_back(sched::format_bytes(size));
    if (sizes.back().back() != 'B') sizes.back() += 'B';
  }
  return fmt::format("{} of {} by turns", count, fmt::join(sizes, ", "));
}

void add_members(Answer& answer, const SimulatedGroup& group) {
  const std::vector<analysis::GroupMemberRun>& members = group.run.members;
  const bool atomic = group.scenario.atomic_delivery;
  Columns columns = {
      {"rank", "rank", [](auto m) { return m; }},
      {"fate", "fate", [&](auto m) { return fate_of(members[m]); }, Align::kLeft},
      {"knew_s", "knew", [&](auto m) { return since_kill(group, members[m].knew_s); }},
      {"messages_here", "has", [&](auto m) { return happened(members[m].finished_s); }},
      {"messages", "complete", [&](auto m) { return happened(members[m].completed_s); }}};
  if (atomic) {
    columns.push_back(
        {"settled_s", "settled", [&](auto m) { return since_kill(group, members[m].settled_s); }});
  }
  columns.push_back(
      {"closed_s", "closed", [&](auto m) { return since_kill(group, members[m].closed_s); }});
  columns.push_back({"failed_rank", nullptr, [&](auto m) {
                       const auto& outcome = members[m].outcome;
                       return outcome && outcome->member ? Value(*outcome->member) : Value();
                     }});
  columns.push_back({"because", "because",
                     [&](auto m) {
                       const auto& outcome = members[m].outcome;
                       return outcome && !outcome->delivered ? Value(outcome->why) : Value();
                     },
                     Align::kLeft});
  answer.list("members", rows_of(members.size()), columns);
  answer.table("", columns, rows_of(members.size()),
               answer.all() ? Answer::kEvery : kGroupRowsShown, "more rank");
}

void add_messages(Answer& answer, const SimulatedGroup& group) {
  const std::vector<analysis::GroupMemberRun>& members = group.run.members;
  // By whom of those that are left.
  const auto survivors = [&](auto times_of, std::uint32_t k) {
    return static_cast<std::uint64_t>(std::ranges::count_if(members, [&](const auto& member) {
      return member.outcome && std::isfinite(times_of(member)[k]);
    }));
  };
  const auto finished = [](const auto& member) -> const auto& { return member.finished_s; };
  const auto completed = [](const auto& member) -> const auto& { return member.completed_s; };
  // When the last of those that are left did; never, if one does not.
  const auto everywhere_s = [&](std::uint32_t k) {
    std::optional<double> last_s;
    for (const auto& member : members) {
      if (member.outcome) last_s = std::max(last_s.value_or(0), member.completed_s[k]);
    }
    return last_s.value_or(std::numeric_limits<double>::infinity());
  };
  const machine::SmallShape& small = group.scenario.small;
  const Columns columns = {
      {"message", "message", [](auto k) { return k; }},
      {"bytes", "bytes", [&](auto k) { return in_bytes(group.scenario.messages[k]); }},
      {"goes_by", small.bytes != 0 ? "by" : nullptr,
       [&](auto k) { return small.takes(group.scenario.messages[k]) ? "slot" : "blocks"; },
       Align::kLeft},
      {"members_with_it", "survivors have it", [&](auto k) { return survivors(finished, k); }},
      {"members_complete", "complete it", [&](auto k) { return survivors(completed, k); }},
      {"complete_everywhere_s", "everywhere",
       [&](auto k) { return since_kill(group, everywhere_s(k)); }}};
  const std::size_t count = group.scenario.messages.size();
  answer.list("messages", rows_of(count), columns);
  answer.table("", columns, rows_of(count), answer.all() ? Answer::kEvery : kGroupRowsShown,
               "more message");
}

}  // namespace

void answer_group(Answer& answer, const SimulatedGroup& group) {
  const analysis::GroupScenario& scenario = group.scenario;
  answer.set("schedule", answer.subject().name);
  answer.set("engine", "event");
  add_platform(answer, group.platform.name, group.platform, scenario.shape.members);
  if (!group.delays.empty()) answer.row("delays", group.delays);
  answer.set("atomic_delivery", scenario.atomic_delivery);
  answer.row("delivery", scenario.atomic_delivery ? "atomic" : "plain");
  answer.row("messages", words_for_messages(group));
  const machine::SmallShape& small = scenario.small;
  answer.set("small_bytes", small.bytes);
  answer.set("small_slots", small.bytes != 0 ? Value(small.slots) : Value());
  if (small.bytes != 0) {
    answer.row("small", fmt::format("up to {}, by {}", human_bytes(small.bytes),
                                    human_count(small.slots, "slot")));
  }
  const auto& killed_s = group.run.killed_s;
  answer.set("killed_rank", scenario.kill ? Value(scenario.kill->member) : Value());
  answer.set("killed_s", killed_s ? in_seconds(*killed_s) : Value());
  if (killed_s) {
    answer.row("killed", fmt::format("rank {} at {}", scenario.kill->member,
                                     sched::human_seconds(*killed_s)));
  } else if (scenario.kill) {
    answer.row("killed", "nobody: the group had ended before");
  }
  answer.digest_row();
  answer.set("contended", group.run.contended);
  if (group.run.contended) {
    answer.say(
        "  messages shared a NIC or a link, which the event engine leaves out: times may be too "
        "short\n");
  }
  add_members(answer, group);
  add_messages(answer, group);
}

}  // namespace slackline::cli
