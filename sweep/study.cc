#include "sweep/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/number.h"
#include "base/read_file.h"
#include "machine/platform.h"
#include "machine/toml_document.h"
#include "sweep/quantity.h"

namespace slackline::sweep {
namespace {

using machine::TomlTable;
using machine::TomlValue;

constexpr std::size_t kMostBytes = 1 << 20;
// What else stands beside values in a CSV file and on a page.
constexpr std::string_view kOfResults[] = {"mean_s",
                                           "least_s",
                                           "median_s",
                                           "p90_s",
                                           "p99_s",
                                           "most_s",
                                           "least_makespan_s",
                                           "p90_makespan_s",
                                           "most_makespan_s",
                                           "error",
                                           "median_makespan_s",
                                           "contended",
                                           "ops",
                                           "without_float",
                                           "critical_ops",
                                           "least_float_s",
                                           "median_float_s",
                                           "most_float_s",
                                           "frozen_only"};
constexpr std::uint64_t kMostSamples = 1 << 24;

using Values = std::vector<std::pair<std::string, std::string>>;

struct Text {
  std::string text;
  Values values;  // that it names
};

// What a point must not be.
struct Condition {
  std::string name;
  std::function<bool(const std::string&)> holds;
};

std::optional<double> number_of(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') return std::nullopt;
  return value;
}

class Reader {
 public:
  Reader(std::string_view text, std::string_view file, const std::string& folder)
      : file_(file),
        folder_(folder),
        document_(machine::parse_toml(text, file)),
        top_(document_, file_, "") {}

  Study read() {
    top_.check_schema(kStudySchema);
    const std::vector<std::string> schedules = list(top_, "schedule", {}),
                                   platforms = list(top_, "platform", {"fractus"}),
                                   delays = list(top_, "delays", {""}),
                                   seeds = list(top_, "seed", {"0"}),
                                   samples = list(top_, "samples", {"1"});
    if (schedules.empty()) refuse("schedule", "none", "a list of specs");
    read_values();
    std::vector<std::string> engines = list(top_, "engine", {});
    if (engines.empty()) engines = {default_engine(all(platforms, {}))};
    const std::vector<std::vector<Condition>> skips = read_skips();
    Study study;
    study.search = read_search(samples);
    study.with_slack = read_answers(samples);
    top_.refuse_others();
    for (const auto& [name, texts] : values_) study.values.push_back(name);
    const auto add = [&](const Text& schedule, const Text& platform, const Text& engine,
                         const Text& plan, const std::string& seed, const std::string& sample) {
      Point point{schedule.text,
                  platform.text,
                  engine.text,
                  plan.text,
                  whole(seed, "seed", UINT64_MAX),
                  static_cast<std::uint32_t>(whole(sample, "samples", kMostSamples)),
                  plan.values,
                  study.with_slack};
      if (skipped(point, skips)) return;
      if (!point.delays.empty()) point.delays = std::filesystem::path(folder_) / point.delays;
      if (study.points.size() == kMostPoints) {
        throw InputError(fmt::format("{}: the study has more than {} points; expected at most that",
                                     file_, kMostPoints));
      }
      study.points.push_back(std::move(point));
    };
    for (const Text& schedule : all(schedules, {})) {
      for (const Text& platform : all(platforms, schedule.values)) {
        for (const Text& engine : all(engines, platform.values)) {
          if (std::ranges::find(study.engines, engine.text) == study.engines.end()) {
            study.engines.push_back(engine.text);
          }
          for (const Text& plan : all(delays, engine.values)) {
            for (const std::string& sample : samples) {
              for (const std::string& seed : seeds) {
                add(schedule, platform, engine, plan, seed, sample);
              }
            }
          }
        }
      }
    }
    for (const auto& [name, texts] : values_) {
      if (!named_.contains(name))
        refuse("values." + name, "it is in no text", "{" + name + "} in one");
    }
    return study;
  }

 private:
  [[noreturn]] void refuse(std::string_view key, std::string_view what,
                           std::string_view expected) const {
    throw InputError(fmt::format("{}: {}: {}; expected {}", file_, key, what, expected));
  }

  std::uint64_t whole(const std::string& text, std::string_view key, std::uint64_t most) const {
    const auto value = base::whole_number<std::uint64_t>(text);
    const std::uint64_t least = key == "samples" ? 1 : 0;
    if (!value || *value < least || *value > most) {
      refuse(key, "'" + text + "'", fmt::format("whole numbers from {}", least));
    }
    return *value;
  }

  // Texts, numbers, or a range of numbers.
  std::vector<std::string> list(TomlTable& table, std::string_view key,
                                std::vector<std::string> otherwise) {
    const TomlValue* const value = table.find(key);
    if (value == nullptr) return otherwise;
    std::vector<std::string> texts;
    if (value->kind == TomlValue::Kind::kTable) return range(*value);
    if (value->kind != TomlValue::Kind::kArray) {
      texts.push_back(text_of(*value, table.where(*value)));
      return texts;
    }
    for (const TomlValue& entry : value->children) {
      texts.push_back(text_of(entry, table.where(*value)));
    }
    if (texts.empty()) {
      throw InputError(table.where(*value) + ": an empty list; expected an entry at least");
    }
    return texts;
  }

  static std::string text_of(const TomlValue& value, const std::string& where) {
    switch (value.kind) {
      case TomlValue::Kind::kText:
        return value.text;
      case TomlValue::Kind::kInteger:
        return std::to_string(value.integer);
      case TomlValue::Kind::kDecimal:
        return fmt::format("{}", value.decimal);
      default:
        throw InputError(where +
                         ": neither a text nor a number; expected a list of these, or "
                         "{ from = 4, to = 64, times = 2 }");
    }
  }

  std::vector<std::string> range(const TomlValue& value) {
    TomlTable table(value, file_, value.key);
    const auto integer = [&](std::string_view key) -> std::optional<std::int64_t> {
      const TomlValue* const found = table.find(key);
      if (found == nullptr) return std::nullopt;
      if (found->kind != TomlValue::Kind::kInteger || found->integer < 0) {
        throw InputError(table.where(*found) + ": expected a whole number of at least 0");
      }
      return found->integer;
    };
    const auto from = integer("from"), to = integer("to"), step = integer("step"),
               times = integer("times");
    table.refuse_others();
    if (!from || !to || (step && times) || step == 0 || (times && (*times < 2 || *from < 1)) ||
        *to < *from) {
      throw InputError(table.where() +
                       ": not a range; expected { from = 2, to = 10, step = 2 } or "
                       "{ from = 4, to = 64, times = 2 }");
    }
    std::vector<std::string> texts;
    for (std::int64_t at = *from; at <= *to;) {
      texts.push_back(std::to_string(at));
      if (texts.size() > kMostPoints) {
        throw InputError(
            fmt::format("{}: more than {} numbers; expected fewer", table.where(), kMostPoints));
      }
      if (times ? at > *to / *times : at > *to - step.value_or(1)) break;
      at = times ? at * *times : at + step.value_or(1);
    }
    return texts;
  }

  void read_values() {
    const TomlValue* const values = top_.find("values");
    if (values == nullptr) return;
    std::optional<TomlTable> table = top_.table("values");
    for (const TomlValue& value : values->children) {
      require_name(value, *table);
      values_.emplace_back(value.key, list(*table, value.key, {}));
    }
  }

  // It stands between braces, and names a column.
  static void require_name(const TomlValue& value, const TomlTable& table) {
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789_";
    if (value.key.empty() || value.key.find_first_not_of(kLetters) != std::string::npos) {
      throw InputError(table.where(value) +
                       ": a value's name; expected small letters, digits and underscores");
    }
    const auto is_of = [&](std::span<const std::string_view> names) {
      return std::ranges::find(names, value.key) != names.end();
    };
    if (is_of(kParts) || is_of(kOfResults)) {
      throw InputError(fmt::format("{}: points have that themselves; expected none of {}, {}",
                                   table.where(value), fmt::join(kParts, ", "),
                                   fmt::join(kOfResults, ", ")));
    }
  }

  // The analytic engine is exact on stars whose NICs send one message at a time. On other networks
  // messages may share links, which it leaves out. A platform that cannot be read says so at its
  // points.
  static std::string default_engine(const std::vector<Text>& platforms) {
    const auto may_share = [](const Text& text) {
      try {
        const machine::Platform platform = machine::load_platform(text.text);
        return platform.topology.kind() != machine::TopologyKind::kStar ||
               platform.nic != machine::NicDiscipline::kSerial;
      } catch (const Error&) {
        return false;
      }
    };
    return std::ranges::any_of(platforms, may_share) ? "flow" : "analytic";
  }

  // The text with each value that it names, in every combination.
  std::vector<Text> all(const std::vector<std::string>& texts, const Values& known) {
    std::vector<Text> found;
    for (const std::string& text : texts) fill({text, known}, 0, found);
    return found;
  }
  void fill(Text text, std::size_t from, std::vector<Text>& found) {
    const std::size_t open = text.text.find('{', from);
    if (open == std::string::npos) {
      if (found.size() == kMostPoints) {
        throw InputError(fmt::format("{}: the study has more than {} points; expected at most that",
                                     file_, kMostPoints));
      }
      found.push_back(std::move(text));
      return;
    }
    const std::size_t close = text.text.find('}', open);
    const std::string name = text.text.substr(open + 1, close - open - 1);
    const auto values = std::ranges::find(values_, name, [](const auto& v) { return v.first; });
    if (close == std::string::npos || values == values_.end()) {
      refuse("'" + text.text + "'", "no value is called '" + name + "'", "one in [values]");
    }
    named_.insert(name);
    const auto known = std::ranges::find(text.values, name, [](const auto& v) { return v.first; });
    const auto with = [&](const std::string& value, Values all_values) {
      std::string filled = text.text;
      filled.replace(open, close - open + 1, value);
      fill({std::move(filled), std::move(all_values)}, open + value.size(), found);
    };
    if (known != text.values.end()) return with(known->second, text.values);
    for (const std::string& value : values->second) {
      Values more = text.values;
      more.emplace_back(name, value);
      with(value, std::move(more));
    }
  }

  std::vector<std::vector<Condition>> read_skips() {
    std::vector<std::vector<Condition>> skips;
    const TomlValue* const arrays = top_.find("skip");
    std::vector<TomlTable> tables = top_.tables("skip");
    for (std::size_t t = 0; t < tables.size(); ++t) {
      std::vector<Condition> conditions;
      for (const TomlValue& value : arrays->children[t].children) {
        tables[t].find(value.key);
        conditions.push_back(condition(value, tables[t]));
      }
      skips.push_back(std::move(conditions));
    }
    return skips;
  }

  Condition condition(const TomlValue& value, TomlTable& table) {
    if (!is_part(value.key)) {
      throw InputError(table.where(value) + ": no such part of a point; expected " +
                       fmt::format("{}", fmt::join(kParts, ", ")) + " or a value");
    }
    if (value.kind != TomlValue::Kind::kTable) {
      return {value.key, [is = text_of(value, table.where(value))](const std::string& text) {
                return text == is || text.starts_with(is + ":");
              }};
    }
    TomlTable bounds(value, file_, value.key);
    const auto bound = [&](std::string_view key) -> std::optional<Quantity> {
      const TomlValue* const found = bounds.find(key);
      if (found == nullptr) return std::nullopt;
      const auto quantity = quantity_of(text_of(*found, bounds.where(*found)));
      if (!quantity) {
        throw InputError(bounds.where(*found) + ": expected a number, a size, a time or a rate");
      }
      return quantity;
    };
    const auto above = bound("above"), below = bound("below");
    bounds.refuse_others();
    if (!above && !below) throw InputError(bounds.where() + ": expected above, below or both");
    // What is neither a number nor of a unit, as "auto" among sizes, is within no bounds.
    return {value.key, [above, below, where = bounds.where()](const std::string& text) {
              const auto quantity = quantity_of(text);
              if (!quantity) return false;
              for (const auto& each : {above, below}) {
                if (!each || each->unit.empty() || quantity->unit.empty()) continue;
                if (each->unit == quantity->unit) continue;
                throw InputError(fmt::format("{}: bounds in {}, and '{}' is in {}", where,
                                             each->unit, text, quantity->unit));
              }
              return (!above || quantity->value > above->value) &&
                     (!below || quantity->value < below->value);
            }};
  }

  std::optional<Search> read_search(const std::vector<std::string>& samples) {
    std::optional<TomlTable> table = top_.table("optimise");
    if (!table) return std::nullopt;
    Search search;
    search.each = list(*table, "each", {});
    for (const std::string& name : search.each) {
      if (name == "engine" || !is_part(name)) {
        throw InputError(fmt::format(
            "{}: each '{}'; expected a value, or a part of a point other than its engine",
            table->where(), name));
      }
    }
    search.by = table->text("by", "a column, as \"median_s\"").value_or(search.by);
    const std::uint32_t needed = search.by == "p90_s" ? 10 : search.by == "p99_s" ? 100 : 1;
    if (std::ranges::find(kObjectives, search.by) == std::end(kObjectives)) {
      throw InputError(fmt::format("{}: by '{}'; expected {}", table->where(), search.by,
                                   fmt::join(kObjectives, ", ")));
    }
    for (const std::string& count : samples) {
      if (whole(count, "samples", kMostSamples) >= needed) continue;
      throw InputError(fmt::format("{}: by {}, of {} samples; expected {} of them at least",
                                   table->where(), search.by, count, needed));
    }
    if (const auto keep = table->text_or_number("keep", "a share, as 0.25")) {
      search.keep = number_of(*keep).value_or(0);
      if (!(search.keep > 0 && search.keep <= 1)) {
        throw InputError(fmt::format("{}: keep = {}; expected a share above 0, of at most 1",
                                     table->where(), *keep));
      }
    }
    search.at_least = table->whole("at_least", kMostPoints).value_or(search.at_least);
    table->refuse_others();
    return search;
  }

  // Whether slack is asked for.
  bool read_answers(const std::vector<std::string>& samples) {
    bool with_slack = false;
    for (const std::string& kind : list(top_, "answers", {"makespan"})) {
      if (kind != "makespan" && kind != "slack") {
        refuse("answers", "'" + kind + "'", "makespan, slack or both");
      }
      with_slack = with_slack || kind == "slack";
    }
    for (const std::string& count : samples) {
      if (!with_slack || whole(count, "samples", kMostSamples) == 1) continue;
      refuse("answers", "slack of " + count + " samples", "samples = 1: each has another slack");
    }
    return with_slack;
  }

  // Of a point, or a value of it.
  bool is_part(const std::string& name) const {
    return std::ranges::find(kParts, name) != std::end(kParts) ||
           std::ranges::find(values_, name, [](const auto& v) { return v.first; }) != values_.end();
  }

  static bool skipped(const Point& point, const std::vector<std::vector<Condition>>& skips) {
    return std::ranges::any_of(skips, [&](const std::vector<Condition>& conditions) {
      return std::ranges::all_of(conditions, [&](const Condition& condition) {
        return condition.holds(part_of(point, condition.name));
      });
    });
  }

  std::string file_, folder_;
  TomlValue document_;
  TomlTable top_;
  std::vector<std::pair<std::string, std::vector<std::string>>> values_;
  std::set<std::string> named_;
};

}  // namespace

Study study_from_toml(std::string_view text, std::string_view file, const std::string& folder) {
  return Reader(text, file, folder).read();
}

Study load_study(const std::string& path) {
  return study_from_toml(sched::read_file(path, kMostBytes), path,
                         std::filesystem::path(path).parent_path());
}

}  // namespace slackline::sweep
