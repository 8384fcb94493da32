#include "sched/schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace slackline::sched {

std::optional<std::string> Schedule::dynamic_reason() const {
  if (!regions_.empty()) {
    const Region& region = regions_.front();
    return fmt::format("{} opens {} {} region", describe(*this, region.entry),
                       region.kind == RegionKind::kAlt ? "an" : "a", name(region.kind));
  }
  const OpId bundled = first_bundled();
  if (!bundled.valid()) return std::nullopt;
  return fmt::format("{} is on channel {}, which gathers messages into {} bundles",
                     describe(*this, bundled), op(bundled).channel.value,
                     name(channel(op(bundled).channel).bundle));
}

OpId Schedule::first_bundled() const {
  const bool bundles = std::any_of(channels_.begin(), channels_.end(),
                                   [](const Channel& c) { return c.bundle != Bundle::kNone; });
  for (std::uint32_t i = 0; bundles && i < ops_.size(); ++i) {
    if (ops_[i].channel.valid() && channel(ops_[i].channel).bundle != Bundle::kNone) {
      return OpId(i);
    }
  }
  return OpId::none();
}

std::vector<bool> Schedule::control_channels() const {
  std::vector<bool> control(channels_.size(), false);
  for (const Channel& channel : channels_) {
    if (channel.credit_on.valid()) control[channel.credit_on.value] = true;
  }
  return control;
}

std::size_t Schedule::heap_bytes() const {
  // Room that was reserved and is not used is no memory: ScheduleBuilder sees to that.
  const auto of = [](const auto& v) { return v.size() * sizeof(v[0]); };
  return of(ops_) + of(rank_begin_) + of(buffers_) + of(slices_) + of(channels_) + of(regions_) +
         of(argument_cells_) + of(edges_) + of(edge_begin_) + of(contract_.pre) +
         of(contract_.post);
}

void require_static(const Schedule& schedule, std::string_view consumer) {
  if (const auto reason = schedule.dynamic_reason()) {
    throw Unsupported(fmt::format("{} takes static schedules only: {}", consumer, *reason));
  }
}

std::string describe(const Schedule& schedule, OpId op) {
  return fmt::format("op {} ({}, rank {})", op.value, name(schedule.op(op).kind),
                     schedule.op(op).rank.value);
}

}  // namespace slackline::sched
