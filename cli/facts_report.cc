#include "cli/facts_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/units.h"
#include "cli/table.h"

namespace slackline::cli {
namespace {

std::string text_of(int number) { return number < 0 ? "" : fmt::to_string(number); }

std::string device_of(const hw::TransportFacts& facts) {
  return facts.port == 0 ? facts.device : fmt::format("{}:{}", facts.device, facts.port);
}

std::vector<std::string> row_of(std::size_t rank, const hw::RankFacts& facts) {
  const hw::TransportFacts& transport = facts.transport;
  return {fmt::to_string(rank),
          facts.host,
          fmt::to_string(facts.process),
          facts.cores,
          text_of(facts.core),
          text_of(facts.node),
          transport.provider,
          device_of(transport),
          transport.mtu == 0 ? "" : fmt::to_string(transport.mtu),
          transport.link_bits_per_s == 0
              ? ""
              : sched::human_bytes_per_second(static_cast<double>(transport.link_bits_per_s) / 8),
          transport.gid,
          transport.library,
          facts.kernel};
}

std::optional<std::string> or_null(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

template <class Number>
std::optional<std::uint64_t> known(Number number, bool is_known) {
  return is_known ? std::optional(static_cast<std::uint64_t>(number)) : std::nullopt;
}

}  // namespace

std::string facts_table(const std::vector<hw::RankFacts>& facts) {
  std::vector<std::vector<std::string>> rows{{"rank", "host", "process", "cores", "ran on", "node",
                                              "provider", "device", "MTU", "link", "GID", "library",
                                              "kernel"}};
  for (std::size_t r = 0; r < facts.size(); ++r) rows.push_back(row_of(r, facts[r]));
  std::vector<std::size_t> shown;
  for (std::size_t c = 0; c < rows.front().size(); ++c) {
    const bool empty =
        std::all_of(rows.begin() + 1, rows.end(), [c](const auto& row) { return row[c].empty(); });
    if (!empty) shown.push_back(c);
  }
  Table table(std::vector<Align>(shown.size(), Align::kLeft));
  for (const std::vector<std::string>& row : rows) {
    std::vector<std::string> cells;
    for (const std::size_t c : shown) cells.push_back(row[c].empty() ? "–" : row[c]);
    table.add(std::move(cells));
  }
  return table.text("  ");
}

void add_facts(const std::vector<hw::RankFacts>& facts, JsonDocument& json) {
  if (facts.empty()) return;
  json.set("version", facts.front().version);  // of all ranks: no others can join
  json.begin_list("rank_facts");
  for (const hw::RankFacts& of_rank : facts) {
    const hw::TransportFacts& transport = of_rank.transport;
    json.begin_object();
    json.set("host", of_rank.host);
    json.set("process", of_rank.process);
    json.set("cores", of_rank.cores);
    json.set("core", known(of_rank.core, of_rank.core >= 0));
    json.set("numa_node", known(of_rank.node, of_rank.node >= 0));
    json.set("kernel", or_null(of_rank.kernel));
    json.set("provider", transport.provider);
    json.set("library", or_null(transport.library));
    json.set("device", or_null(transport.device));
    json.set("port", known(transport.port, transport.port != 0));
    json.set("gid", or_null(transport.gid));
    json.set("mtu_bytes", known(transport.mtu, transport.mtu != 0));
    json.set("link_bits_per_s", known(transport.link_bits_per_s, transport.link_bits_per_s != 0));
    json.end();
  }
  json.end();
}

}  // namespace slackline::cli
