#include "cli/inline_delays.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/split.h"
#include "base/suggest.h"
#include "base/units.h"
#include "machine/delay_values.h"
#include "machine/input_text.h"

namespace slackline::cli {
namespace {

// The last value stands for "none" in ids.
constexpr std::uint64_t kMaxIndex = std::numeric_limits<std::uint32_t>::max() - 1;

// key=value,… with each key at most once and none but those it may have.
class Items {
 public:
  /// `where` names it in errors.
  Items(std::string where, std::string_view text, std::span<const std::string_view> keys)
      : where_(std::move(where)) {
    if (text.empty()) return;
    for (const std::string_view item : base::split(text)) {
      const std::size_t equals = item.find('=');
      const std::string_view key = item.substr(0, equals);
      if (equals == std::string_view::npos ||
          std::find(keys.begin(), keys.end(), key) == keys.end()) {
        throw InputError(fmt::format("{}: '{}' is none of its values{}; expected key=value with {}",
                                     where_, item, sched::did_you_mean(key, keys),
                                     fmt::join(keys, ", ")));
      }
      if (find(key)) throw InputError(fmt::format("{}: {} given twice", where_, key));
      items_.emplace_back(key, item.substr(equals + 1));
    }
  }

  std::optional<std::string_view> find(std::string_view key) const {
    for (const auto& [name, value] : items_) {
      if (name == key) return value;
    }
    return std::nullopt;
  }
  std::string_view required(std::string_view key) const {
    const auto value = find(key);
    if (!value) throw InputError(fmt::format("{}: no {}; expected {}=…", where_, key, key));
    return *value;
  }
  std::uint32_t index(std::string_view key) const {
    return static_cast<std::uint32_t>(sched::parse_count(required(key), place(key), 0, kMaxIndex));
  }
  /// The time of `key`, or zero.
  sched::Time time(std::string_view key) const {
    return machine::parse_finite_time(find(key).value_or("0"), place(key));
  }
  bool whole_lane(bool otherwise) const {
    const auto of = find("of");
    return of ? machine::parse_whole_lane(*of, place("of")) : otherwise;
  }
  std::string link() const {
    const std::string_view link = required("link");
    machine::require_plain(link, place("link"));
    if (!link.empty()) return std::string(link);
    throw InputError(fmt::format("{}: is empty; expected the name of a link", place("link")));
  }
  std::string place(std::string_view key) const { return fmt::format("{}: {}", where_, key); }
  const std::string& where() const { return where_; }

 private:
  std::string where_;
  std::vector<std::pair<std::string_view, std::string_view>> items_;
};

}  // namespace

void add_delay(machine::DelayPlan& plan, std::string_view text) {
  constexpr std::string_view kKeys[] = {"op", "rank", "step", "by", "of"};
  const Items items(fmt::format("--delay {}", text), text, kKeys);
  const sched::Time by = machine::parse_finite_time(items.required("by"), items.place("by"));
  const bool whole_lane = items.whole_lane(false);
  if (items.find("op") && !items.find("step")) {
    const auto rank =
        items.find("rank") ? sched::RankId(items.index("rank")) : sched::RankId::none();
    plan.ops.push_back({sched::OpId(items.index("op")), by, whole_lane, rank});
  } else if (items.find("rank") && items.find("step") && !items.find("op")) {
    plan.steps.push_back({sched::RankId(items.index("rank")), items.index("step"), by, whole_lane});
  } else {
    throw InputError(fmt::format("{}: expected either op=…, or rank=… and step=…", items.where()));
  }
}

void add_slow_pair(machine::DelayPlan& plan, std::string_view text) {
  constexpr std::string_view kKeys[] = {"src", "dst", "rate"};
  const Items items(fmt::format("--slow-pair {}", text), text, kKeys);
  plan.pairs.push_back({sched::RankId(items.index("src")), sched::RankId(items.index("dst")),
                        sched::parse_rate(items.required("rate"), items.place("rate"))});
}

void add_straggler(machine::DelayPlan& plan, std::string_view text) {
  constexpr std::string_view kKeys[] = {"rank", "slowdown", "by"};
  const Items items(fmt::format("--straggler {}", text), text, kKeys);
  machine::Straggler straggler;
  straggler.rank = sched::RankId(items.index("rank"));
  const auto slowdown = items.find("slowdown");
  if (slowdown) straggler.slowdown = machine::parse_slowdown(*slowdown, items.place("slowdown"));
  if (!slowdown && !items.find("by")) {
    throw InputError(fmt::format("{}: expected slowdown=…, by=… or both", items.where()));
  }
  straggler.by = items.time("by");
  plan.stragglers.push_back(straggler);
}

void add_noise(machine::DelayPlan& plan, std::string_view text) {
  using Kind = machine::Distribution::Kind;
  const std::string_view distribution = text.substr(0, text.find(','));
  machine::Noise noise;
  const std::string where = fmt::format("--noise {}", text);
  noise.of.kind = machine::parse_distribution_kind(distribution, where);
  std::vector<std::string_view> keys;
  for (const auto& parameter : machine::parameters(noise.of.kind)) keys.push_back(parameter.key);
  if (noise.of.kind == Kind::kTrace) keys.push_back("file");
  keys.insert(keys.end(), {"rank", "chance", "of"});
  const Items items(where, text.substr(std::min(text.size(), distribution.size() + 1)), keys);
  for (const auto& parameter : machine::parameters(noise.of.kind)) {
    parameter.set(noise.of, items.required(parameter.key), items.place(parameter.key));
  }
  if (noise.of.kind == Kind::kTrace) {
    noise.of.values = machine::load_times(std::string(items.required("file")), items.place("file"));
  }
  if (items.find("rank")) noise.ranks.emplace_back(items.index("rank"));
  if (const auto chance = items.find("chance")) {
    noise.chance = machine::parse_chance(*chance, items.place("chance"));
  }
  noise.whole_lane = items.whole_lane(true);
  machine::validate(noise.of, items.where());
  plan.noise.push_back(std::move(noise));
}

void add_link_rate(machine::DelayPlan& plan, std::string_view text) {
  constexpr std::string_view kKeys[] = {"link", "rate", "at"};
  const Items items(fmt::format("--link-rate {}", text), text, kKeys);
  plan.link_rates.push_back({items.link(),
                             sched::parse_rate(items.required("rate"), items.place("rate")),
                             items.time("at")});
}

void add_failure(machine::DelayPlan& plan, std::string_view text) {
  constexpr std::string_view kKeys[] = {"link", "rank", "at"};
  const Items items(fmt::format("--fail {}", text), text, kKeys);
  if (items.find("link").has_value() == items.find("rank").has_value()) {
    throw InputError(fmt::format("{}: expected either link=… or rank=…", items.where()));
  }
  machine::Failure failure;
  if (items.find("link")) {
    failure.link = items.link();
  } else {
    failure.rank = sched::RankId(items.index("rank"));
  }
  failure.at = items.time("at");
  plan.failures.push_back(std::move(failure));
}

analysis::GroupKill parse_group_kill(std::string_view text) {
  constexpr std::string_view kKeys[] = {"rank", "at", "after", "detect", "seen-by"};
  const Items items(fmt::format("--kill {}", text), text, kKeys);
  if (items.find("at").has_value() == items.find("after").has_value()) {
    throw InputError(fmt::format("{}: expected either at=… or after=…", items.where()));
  }
  analysis::GroupKill kill;
  kill.member = items.index("rank");
  if (items.find("at")) kill.at = items.time("at");
  if (const auto after = items.find("after")) {
    kill.after = sched::parse_count(*after, items.place("after"), 1,
                                    std::numeric_limits<std::uint64_t>::max());
  }
  kill.detection = items.time("detect");
  const auto seen_by = items.find("seen-by");
  if (!seen_by || *seen_by == "all") return kill;
  kill.seen_by.emplace();
  if (*seen_by == "nobody") return kill;
  for (const std::string_view rank : base::split(*seen_by, '+')) {
    kill.seen_by->push_back(
        static_cast<std::uint32_t>(sched::parse_count(rank, items.place("seen-by"), 0, kMaxIndex)));
  }
  return kill;
}

PropagatedDelay parse_propagated(std::string_view text) {
  constexpr std::string_view kKeys[] = {"op", "by", "of"};
  const Items items(fmt::format("--propagate {}", text), text, kKeys);
  PropagatedDelay delay;
  if (items.find("op")) delay.op = sched::OpId(items.index("op"));
  delay.by = machine::parse_finite_time(items.required("by"), items.place("by"));
  delay.whole_lane = items.whole_lane(false);
  return delay;
}

}  // namespace slackline::cli
