#include <fmt/format.h>

#include <filesystem>
#include <limits>

#include "base/error.h"
#include "machine/delay_plan.h"
#include "machine/delay_values.h"
#include "machine/input_text.h"
#include "machine/toml_document.h"

namespace slackline::machine {
namespace {

using sched::OpId;
using sched::RankId;
using sched::Time;

// The last value stands for "none" in ids.
constexpr std::uint32_t kMaxIndex = std::numeric_limits<std::uint32_t>::max() - 1;

constexpr std::string_view kATime = "a time such as \"10us\"";
constexpr std::string_view kARate = "a rate such as \"50Gbps\"";

std::optional<Time> find_time(TomlTable& table, std::string_view key) {
  const auto text = table.text(key, kATime);
  if (!text) return std::nullopt;
  return parse_finite_time(*text, table.where(*table.find(key)));
}

sched::Rate read_rate(TomlTable& table) {
  const std::string text = table.required(table.text("rate", kARate), "rate", kARate);
  return sched::parse_rate(text, table.where(*table.find("rate")));
}

bool read_whole_lane(TomlTable& table, bool otherwise) {
  const auto of = table.text("of", "\"op\" or \"lane\"");
  return of ? parse_whole_lane(*of, table.where(*table.find("of"))) : otherwise;
}

// The name of a link, which is not empty.
std::optional<std::string> find_link(TomlTable& table) {
  auto link = table.text("link", "the name of a link");
  if (link && link->empty()) {
    throw InputError(fmt::format("{}: an empty text stands here; expected the name of a link",
                                 table.where(*table.find("link"))));
  }
  return link;
}

void read_delay(TomlTable& table, DelayPlan& plan) {
  const auto op = table.whole("op", kMaxIndex);
  const auto rank = table.whole("rank", kMaxIndex);
  const auto step = table.whole("step", kMaxIndex);
  const Time by = table.required(find_time(table, "by"), "by", kATime);
  const bool whole_lane = read_whole_lane(table, false);
  table.refuse_others();
  if (op && step) {
    throw InputError(fmt::format("{}: both op and step stand here; expected op, or rank and step",
                                 table.where()));
  }
  if (op) {
    plan.ops.push_back({OpId(*op), by, whole_lane, rank ? RankId(*rank) : RankId::none()});
  } else if (rank && step) {
    plan.steps.push_back({RankId(*rank), *step, by, whole_lane});
  } else {
    throw InputError(fmt::format(
        "{}: it is not said what is delayed; expected op, or rank and step", table.where()));
  }
}

void read_slow_pair(TomlTable& table, DelayPlan& plan) {
  const auto src = table.required(table.whole("src", kMaxIndex), "src", "a rank");
  const auto dst = table.required(table.whole("dst", kMaxIndex), "dst", "a rank");
  plan.pairs.push_back({RankId(src), RankId(dst), read_rate(table)});
  table.refuse_others();
}

void read_straggler(TomlTable& table, DelayPlan& plan) {
  Straggler straggler;
  straggler.rank = RankId(table.required(table.whole("rank", kMaxIndex), "rank", "a rank"));
  const auto slowdown = table.text_or_number("slowdown", "a number of at least 1");
  if (slowdown) {
    straggler.slowdown = parse_slowdown(*slowdown, table.where(*table.find("slowdown")));
  }
  const auto by = find_time(table, "by");
  table.refuse_others();
  if (!slowdown && !by) {
    throw InputError(fmt::format("{}: it is not said how slow it is; expected slowdown, by or both",
                                 table.where()));
  }
  straggler.by = by.value_or(Time{0});
  plan.stragglers.push_back(straggler);
}

std::vector<RankId> read_ranks(TomlTable& table) {
  std::vector<RankId> ranks;
  const TomlValue* value = table.find("ranks");
  if (value == nullptr) return ranks;
  for (const TomlValue& rank : value->children) {
    if (rank.kind != TomlValue::Kind::kInteger || rank.integer < 0 || rank.integer > kMaxIndex) {
      ranks.clear();
      break;
    }
    ranks.emplace_back(static_cast<std::uint32_t>(rank.integer));
  }
  if (value->kind != TomlValue::Kind::kArray || ranks.empty()) {
    throw InputError(fmt::format("{}: no list of ranks stands here; expected one such as [0, 2]",
                                 table.where(*value)));
  }
  return ranks;
}

std::vector<Time> read_values(TomlTable& table, const TomlValue& list) {
  std::vector<Time> times;
  for (const TomlValue& value : list.children) {
    if (list.kind != TomlValue::Kind::kArray || value.kind != TomlValue::Kind::kText) break;
    times.push_back(parse_finite_time(value.text, table.where(value)));
  }
  if (times.empty() || times.size() != list.children.size()) {
    throw InputError(fmt::format("{}: no list of times stands here; expected one such as [\"1us\"]",
                                 table.where(list)));
  }
  return times;
}

std::vector<Time> read_trace(TomlTable& table, const std::optional<std::string>& folder) {
  const TomlValue* list = table.find("values");
  const auto file = table.text("file", "the name of a file");
  if ((list != nullptr) == file.has_value()) {
    throw InputError(fmt::format("{}: {} stand here; expected either values or file", table.where(),
                                 file ? "both values and file" : "neither values nor file"));
  }
  if (list != nullptr) return read_values(table, *list);
  const std::string where = table.where(*table.find("file"));
  if (!folder) {
    throw InputError(fmt::format(
        "{}: only a plan that is a file of its own can name another; expected values", where));
  }
  return load_times((std::filesystem::path(*folder) / *file).string(), where);
}

void read_noise(TomlTable& table, const std::optional<std::string>& folder, DelayPlan& plan) {
  constexpr std::string_view kADistribution = "one such as \"exponential\"";
  Noise noise;
  noise.ranks = read_ranks(table);
  const std::string kind =
      table.required(table.text("distribution", kADistribution), "distribution", kADistribution);
  noise.of.kind = parse_distribution_kind(kind, table.where(*table.find("distribution")));
  for (const auto& [key, expected, number, set, get] : parameters(noise.of.kind)) {
    const std::string value = table.required(
        number ? table.text_or_number(key, expected) : table.text(key, expected), key, expected);
    set(noise.of, value, table.where(*table.find(key)));
  }
  if (noise.of.kind == Distribution::Kind::kTrace) noise.of.values = read_trace(table, folder);
  const auto chance = table.text_or_number("chance", "a number from 0 to 1");
  if (chance) noise.chance = parse_chance(*chance, table.where(*table.find("chance")));
  noise.whole_lane = read_whole_lane(table, true);
  table.refuse_others();
  validate(noise.of, table.where());
  plan.noise.push_back(std::move(noise));
}

void read_link_rate(TomlTable& table, DelayPlan& plan) {
  LinkRate rate;
  rate.link = table.required(find_link(table), "link", "the name of a link");
  rate.rate = read_rate(table);
  rate.at = find_time(table, "at").value_or(Time{0});
  table.refuse_others();
  plan.link_rates.push_back(std::move(rate));
}

void read_failure(TomlTable& table, DelayPlan& plan) {
  Failure failure;
  const auto link = find_link(table);
  const auto rank = table.whole("rank", kMaxIndex);
  failure.at = find_time(table, "at").value_or(Time{0});
  table.refuse_others();
  if (link.has_value() == rank.has_value()) {
    throw InputError(
        fmt::format("{}: {} here; expected either link or rank", table.where(),
                    link ? "both link and rank stand" : "neither link nor rank stands"));
  }
  if (link) failure.link = *link;
  if (rank) failure.rank = RankId(*rank);
  plan.failures.push_back(std::move(failure));
}

std::uint64_t read_seed(TomlTable& document) {
  const auto text = document.text_or_number("seed", "a whole number");
  if (!text) return 0;
  return sched::parse_count(*text, document.where(*document.find("seed")), 0,
                            std::numeric_limits<std::uint64_t>::max());
}

}  // namespace

DelayPlan delay_plan_from_toml(std::string_view text, std::string_view file,
                               const std::optional<std::string>& folder) {
  const TomlValue value = parse_toml(text, file);
  TomlTable document(value, file, "");
  document.check_schema(kDelayPlanSchema);
  DelayPlan plan;
  plan.seed = read_seed(document);
  for (TomlTable& table : document.tables("delay")) read_delay(table, plan);
  for (TomlTable& table : document.tables("slow_pair")) read_slow_pair(table, plan);
  for (TomlTable& table : document.tables("straggler")) read_straggler(table, plan);
  for (TomlTable& table : document.tables("noise")) read_noise(table, folder, plan);
  for (TomlTable& table : document.tables("link_rate")) read_link_rate(table, plan);
  for (TomlTable& table : document.tables("failure")) read_failure(table, plan);
  document.refuse_others();
  return plan;
}

DelayPlan load_delay_plan(const std::string& path) {
  return delay_plan_from_toml(read_input_file(path, "delay"), path,
                              std::filesystem::path(path).parent_path().string());
}

}  // namespace slackline::machine
