#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "machine/delay_plan.h"
#include "machine/input_text.h"
#include "machine/toml_document.h"
#include "sched/error.h"

namespace slackline::machine {
namespace {

using sched::OpId;
using sched::RankId;
using sched::Time;

// The last value stands for "none" in ids.
constexpr std::uint32_t kMaxIndex = std::numeric_limits<std::uint32_t>::max() - 1;

template <class Value>
Value required(const std::optional<Value>& value, const TomlTable& table, std::string_view key,
               std::string_view expected) {
  if (value) return *value;
  throw InputError(
      fmt::format("{}: no {} stands here; expected {} = {}", table.where(), key, key, expected));
}

Time read_by(TomlTable& table) {
  constexpr std::string_view kExpected = "a time such as \"10us\"";
  const std::string text = required(table.text("by", kExpected), table, "by", kExpected);
  const std::string where = table.where(*table.find("by"));
  const Time by = sched::parse_time(text, where);
  if (by == sched::kForever) {
    throw InputError(fmt::format("{}: {} is too long; expected less", where, text));
  }
  return by;
}

bool read_whole_lane(TomlTable& table) {
  const auto of = table.text("of", "\"op\" or \"lane\"");
  if (!of || *of == "op") return false;
  if (*of == "lane") return true;
  throw InputError(fmt::format("{}: {} can not be delayed; expected op or lane",
                               table.where(*table.find("of")), quoted(*of)));
}

void read_delay(TomlTable& table, DelayPlan& plan) {
  const auto op = table.whole("op", kMaxIndex);
  const auto rank = table.whole("rank", kMaxIndex);
  const auto step = table.whole("step", kMaxIndex);
  const Time by = read_by(table);
  const bool whole_lane = read_whole_lane(table);
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
  constexpr std::string_view kExpected = "a rate such as \"50Gbps\"";
  const auto src = required(table.whole("src", kMaxIndex), table, "src", "a rank");
  const auto dst = required(table.whole("dst", kMaxIndex), table, "dst", "a rank");
  const std::string rate = required(table.text("rate", kExpected), table, "rate", kExpected);
  plan.pairs.push_back(
      {RankId(src), RankId(dst), sched::parse_rate(rate, table.where(*table.find("rate")))});
  table.refuse_others();
}

std::string delay_tail(Time by, bool whole_lane) {
  return fmt::format("by = \"{}\"\nof = \"{}\"\n", sched::format_time(by),
                     whole_lane ? "lane" : "op");
}

}  // namespace

DelayPlan delay_plan_from_toml(std::string_view text, std::string_view file) {
  const TomlValue value = parse_toml(text, file);
  TomlTable document(value, file, "");
  document.check_schema(kDelayPlanSchema);
  DelayPlan plan;
  for (TomlTable& table : document.tables("delay")) read_delay(table, plan);
  for (TomlTable& table : document.tables("slow_pair")) read_slow_pair(table, plan);
  document.refuse_others();
  return plan;
}

DelayPlan load_delay_plan(const std::string& path) {
  return delay_plan_from_toml(read_input_file(path, "delay"), path);
}

std::string DelayPlan::text() const {
  if (empty()) return "";
  DelayPlan sorted = *this;
  std::sort(sorted.ops.begin(), sorted.ops.end(), [](const OpDelay& a, const OpDelay& b) {
    return std::tuple(a.op, a.whole_lane, a.by, a.rank) <
           std::tuple(b.op, b.whole_lane, b.by, b.rank);
  });
  std::sort(sorted.steps.begin(), sorted.steps.end(), [](const StepDelay& a, const StepDelay& b) {
    return std::tuple(a.rank, a.step, a.whole_lane, a.by) <
           std::tuple(b.rank, b.step, b.whole_lane, b.by);
  });
  std::sort(sorted.pairs.begin(), sorted.pairs.end(), [](const PairRate& a, const PairRate& b) {
    return std::tuple(a.src, a.dst, a.rate) < std::tuple(b.src, b.dst, b.rate);
  });
  std::string out = fmt::format("schema = {}\n", kDelayPlanSchema);
  for (const OpDelay& delay : sorted.ops) {
    out += fmt::format("\n[[delay]]\nop = {}\n", delay.op.value);
    if (delay.rank.valid()) out += fmt::format("rank = {}\n", delay.rank.value);
    out += delay_tail(delay.by, delay.whole_lane);
  }
  for (const StepDelay& delay : sorted.steps) {
    out += fmt::format("\n[[delay]]\nrank = {}\nstep = {}\n{}", delay.rank.value, delay.step,
                       delay_tail(delay.by, delay.whole_lane));
  }
  for (const PairRate& pair : sorted.pairs) {
    out += fmt::format("\n[[slow_pair]]\nsrc = {}\ndst = {}\nrate = \"{}\"\n", pair.src.value,
                       pair.dst.value, sched::format_rate(pair.rate));
  }
  return out;
}

}  // namespace slackline::machine
