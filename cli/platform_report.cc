#include "cli/platform_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/list_row.h"
#include "machine/node_count.h"

namespace slackline::cli {

void add_platform(Answer& answer, std::string_view shown, const machine::Platform& platform,
                  std::uint32_t ranks, std::optional<std::string_view> spec) {
  add_platform_rows(answer.head(), shown, platform, ranks);
  if (answer.json() != nullptr) set_platform(*answer.json(), platform, ranks, spec);
}

void add_platform_rows(Table& table, std::string_view shown, const machine::Platform& platform,
                       std::uint32_t ranks) {
  table.add({"platform", std::string(shown)});
  add_list_row(table, "figures", platform.spec());
  const auto nodes = machine::node_count(platform);
  const std::uint32_t taken =
      platform.node.count_for(ranks - std::min(ranks, platform.switches.count()));
  if (!nodes || taken <= *nodes) return;
  table.add({"nodes", fmt::format("{}, but {} has {}: its switch is taken to have more ports",
                                  taken, platform.name, *nodes)});
}

void set_platform(JsonOutput& json, const machine::Platform& platform, std::uint32_t ranks,
                  std::optional<std::string_view> spec) {
  json.set("platform", platform.name);
  json.set("platform_spec", spec ? *spec : platform.spec());
  json.set("nodes", platform.node.count_for(ranks - std::min(ranks, platform.switches.count())));
  json.set("platform_nodes", machine::node_count(platform));
}

}  // namespace slackline::cli
