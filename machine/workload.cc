#include "machine/workload.h"

#include <fmt/format.h>

#include <limits>
#include <map>

#include "sched/compile.h"

namespace slackline::machine {

using sched::Part;
using sched::Schedule;

std::string spec_of(const WorkloadGroup& group, std::uint64_t bytes) {
  const std::size_t colon = group.pattern.find(':');
  const bool more = colon != std::string::npos && colon + 1 < group.pattern.size();
  return sched::format_spec(sched::parse_spec(
      fmt::format("{}:ranks={},bytes={}{}{}", group.pattern.substr(0, colon), group.ranks.size(),
                  bytes, more ? "," : "", more ? group.pattern.substr(colon + 1) : "")));
}

sched::Composition compose_workload(const Workload& workload) {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::map<std::string, Schedule> compiled;
  std::vector<Part> parts(workload.messages.size());
  std::vector<std::size_t> last(workload.groups.size(), kNone);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const WorkloadMessage& message = workload.messages[i];
    const WorkloadGroup& group = workload.groups[message.group];
    const std::string spec = spec_of(group, message.bytes);
    auto found = compiled.find(spec);
    if (found == compiled.end()) {
      found = compiled.emplace(spec, sched::compile(sched::parse_spec(spec))).first;
    }
    parts[i].schedule = &found->second;
    parts[i].rank_of = group.ranks;
    parts[i].start = message.arrival;
    parts[i].start_rank = group.root;
    if (last[message.group] != kNone) parts[i].after = last[message.group];
    last[message.group] = i;
  }
  return sched::compose(parts, workload.ranks, workload.name);
}

}  // namespace slackline::machine
