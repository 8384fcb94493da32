#include "cli/multicast_option.h"

#include "hw/multicast/flows.h"

namespace slackline::cli {

std::optional<MulticastOption::By> MulticastOption::named(std::string_view text) {
  if (text == "none") return By::kNone;
  if (text == "ud") return By::kUd;
  return std::nullopt;
}

void MulticastOption::declare(Arguments& arguments) {
  arguments.choice("--multicast", "ud|none", by_,
                   "with verbs: what switches copy goes once, as unreliable datagrams to a group, "
                   "and is repaired (default: none)",
                   named);
}

void MulticastOption::apply(const sched::Schedule& schedule, Joining& joining) const {
  if (by_ != By::kUd) return;
  hw::require_multicast_flows(schedule, "--multicast ud");
  joining.use_multicast();
}

}  // namespace slackline::cli
