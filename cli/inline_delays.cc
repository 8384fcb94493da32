#include "cli/inline_delays.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sched/error.h"
#include "sched/units.h"

namespace slackline::cli {
namespace {

// The last value stands for "none" in ids.
constexpr std::uint64_t kMaxIndex = std::numeric_limits<std::uint32_t>::max() - 1;

// key=value,… with each key at most once and none but those it may have.
class Items {
 public:
  Items(std::string_view option, std::string_view text, std::span<const std::string_view> keys)
      : where_(fmt::format("{} {}", option, text)) {
    for (bool more = true; more;) {
      const std::string_view item = text.substr(0, text.find(','));
      more = item.size() < text.size();
      text.remove_prefix(std::min(text.size(), item.size() + 1));
      const std::size_t equals = item.find('=');
      const std::string_view key = item.substr(0, equals);
      if (equals == std::string_view::npos ||
          std::find(keys.begin(), keys.end(), key) == keys.end()) {
        throw InputError(fmt::format("{}: '{}' is none of its values; expected key=value with {}",
                                     where_, item, fmt::join(keys, ", ")));
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
  std::string place(std::string_view key) const { return fmt::format("{}: {}", where_, key); }
  const std::string& where() const { return where_; }

 private:
  std::string where_;
  std::vector<std::pair<std::string_view, std::string_view>> items_;
};

}  // namespace

void add_delay(machine::DelayPlan& plan, std::string_view text) {
  constexpr std::string_view kKeys[] = {"op", "rank", "step", "by", "of"};
  const Items items("--delay", text, kKeys);
  const sched::Time by = sched::parse_time(items.required("by"), items.place("by"));
  if (by == sched::kForever) {
    throw InputError(fmt::format("{}: is too long; expected less", items.place("by")));
  }
  const std::string_view of = items.find("of").value_or("op");
  if (of != "op" && of != "lane") {
    throw InputError(fmt::format("{}: '{}'; expected op or lane", items.place("of"), of));
  }
  const bool whole_lane = of == "lane";
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
  const Items items("--slow-pair", text, kKeys);
  plan.pairs.push_back({sched::RankId(items.index("src")), sched::RankId(items.index("dst")),
                        sched::parse_rate(items.required("rate"), items.place("rate"))});
}

}  // namespace slackline::cli
