#include "cli/facts_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/answer.h"

namespace slackline::cli {
namespace {

std::string device_of(const hw::TransportFacts& facts) {
  return facts.port == 0 ? facts.device : fmt::format("{}:{}", facts.device, facts.port);
}

// What is not known is nothing.
Value known(const std::string& text) { return text.empty() ? Value() : Value(text); }
template <class Number>
Value known(Number number, bool is_known) {
  return is_known ? Value(static_cast<std::uint64_t>(number)) : Value();
}

Columns columns_of(const std::vector<hw::RankFacts>& facts) {
  const auto of = [&](std::uint32_t rank) -> const hw::RankFacts& { return facts[rank]; };
  const auto on = [&](std::uint32_t rank) -> const hw::TransportFacts& {
    return facts[rank].transport;
  };
  Columns columns = {
      {nullptr, "rank", [](auto r) { return r; }},
      {"host", "host", [of](auto r) { return of(r).host; }},
      {"process", "process", [of](auto r) { return of(r).process; }},
      {"cores", "cores", [of](auto r) { return of(r).cores; }},
      {"core", "ran on", [of](auto r) { return known(of(r).core, of(r).core >= 0); }},
      {"numa_node", "node", [of](auto r) { return known(of(r).node, of(r).node >= 0); }},
      {"kernel", nullptr, [of](auto r) { return known(of(r).kernel); }},
      {"provider", "provider", [on](auto r) { return on(r).provider; }},
      {"library", nullptr, [on](auto r) { return known(on(r).library); }},
      {"device", nullptr, [on](auto r) { return known(on(r).device); }},
      {nullptr, "device", [on](auto r) { return device_of(on(r)); }},
      {"port", nullptr, [on](auto r) { return known(on(r).port, on(r).port != 0); }},
      {"gid", nullptr, [on](auto r) { return known(on(r).gid); }},
      {"mtu_bytes", "MTU", [on](auto r) { return known(on(r).mtu, on(r).mtu != 0); }},
      {"link_bits_per_s", nullptr,
       [on](auto r) { return known(on(r).link_bits_per_s, on(r).link_bits_per_s != 0); }},
      {nullptr, "link",
       [on](auto r) {
         const auto bits_per_s = static_cast<double>(on(r).link_bits_per_s);
         return bits_per_s == 0 ? Value() : as_rate(bits_per_s / 8);
       }},
      {nullptr, "GID", [on](auto r) { return on(r).gid; }},
      {nullptr, "library", [on](auto r) { return on(r).library; }},
      {nullptr, "kernel", [of](auto r) { return of(r).kernel; }}};
  for (Column& column : columns) column.align = Align::kLeft;
  return columns;
}

}  // namespace

std::string facts_table(const std::vector<hw::RankFacts>& facts) {
  const Rows ranks = rows_of(facts.size());
  Columns columns = columns_of(facts);
  for (Column& column : columns) {
    const auto is_empty = [&](auto r) { return column.value(r).text().empty(); };
    if (std::ranges::all_of(ranks, is_empty)) column.title = nullptr;
    column.value = [value = std::move(column.value)](auto r) {
      const std::string text = value(r).text();
      return text.empty() ? "–" : text;
    };
  }
  return table_of(columns, ranks).text("  ");
}

void add_facts(const std::vector<hw::RankFacts>& facts, JsonOutput& json) {
  if (facts.empty()) return;
  json.set("version", facts.front().version);  // of all ranks: no others can join
  add_list(json, "rank_facts", rows_of(facts.size()), columns_of(facts));
}

}  // namespace slackline::cli
