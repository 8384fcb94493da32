#include "experiments/fact_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/enum_names.h"
#include "base/error.h"
#include "experiments/report.h"
#include "machine/toml_document.h"

namespace slackline::experiments {
namespace {

using machine::TomlTable;
using machine::TomlValue;

constexpr std::uint32_t kSchema = 1;

double number_of(const TomlValue& value, const std::string& where) {
  if (value.kind == TomlValue::Kind::kInteger) return static_cast<double>(value.integer);
  if (value.kind == TomlValue::Kind::kDecimal) return value.decimal;
  throw InputError(where + ": expected a number");
}

std::optional<double> number(TomlTable& table, std::string_view key) {
  const TomlValue* value = table.find(key);
  if (value == nullptr) return std::nullopt;
  return number_of(*value, table.where(*value));
}

std::string needed(TomlTable& table, std::string_view key) {
  const auto text = table.text(key, "a text");
  if (!text || text->empty()) {
    throw InputError(fmt::format("{}: no {}; expected a text", table.where(), key));
  }
  return *text;
}

std::string optional_text(TomlTable& table, std::string_view key) {
  return table.text(key, "a text").value_or("");
}

std::vector<std::string> names_in(const TomlValue& value) {
  std::vector<std::string> names;
  for (const TomlValue& child : value.children) {
    names.push_back(value.kind == TomlValue::Kind::kArray ? child.text : child.key);
  }
  return names;
}

constexpr base::EnumNames<Source, 3> kSources = {"stated", "derived", "ours"};
constexpr base::EnumNames<Nature, 3> kNatures = {"", "near-tautology", "identity"};

Source source_of(TomlTable& table) {
  const std::string text = needed(table, "kind");
  if (const auto source = kSources.find(text)) return *source;
  throw InputError(
      fmt::format("{}: kind {}; expected stated, derived or ours", table.where(), text));
}

Nature nature_of(TomlTable& table) {
  const std::string text = optional_text(table, "nature");
  if (const auto nature = kNatures.find(text)) return *nature;
  throw InputError(
      fmt::format("{}: nature {}; expected identity or near-tautology", table.where(), text));
}

// Where each case has an expected value of its own, `each` names the form: each = "equal".
Form form_of(TomlTable& table) {
  using Kind = Form::Kind;
  const std::pair<const char*, Kind> kinds[] = {{"equal", Kind::kEqual},
                                                {"near", Kind::kNear},
                                                {"at_most", Kind::kAtMost},
                                                {"at_least", Kind::kAtLeast},
                                                {"low", Kind::kBetween}};
  const std::string each = optional_text(table, "each");
  Form form;
  int found = 0;
  for (const auto& [key, kind] : kinds) {
    const auto value = number(table, key);
    if (!value && each != key) continue;
    form.kind = kind;
    form.expected = value.value_or(0);
    ++found;
  }
  form.words = optional_text(table, "expected");
  found += form.words.empty() ? 0 : 1;
  const auto high = number(table, "high");
  const auto tolerance = number(table, "tolerance");
  const bool takes_tolerance = form.kind == Kind::kEqual || form.kind == Kind::kNear;
  if (found != 1 || high.has_value() != (form.kind == Kind::kBetween) ||
      tolerance.has_value() != takes_tolerance) {
    throw InputError(
        table.where() +
        ": expected one of equal and near with a tolerance, at_most, at_least, low with "
        "high, and expected");
  }
  form.high = high.value_or(0);
  form.tolerance = tolerance.value_or(0);
  return form;
}

std::vector<FactEntry::Case> cases_of(TomlTable& table) {
  const Form form = form_of(table);
  std::string gap = optional_text(table, "gap");
  const std::string quick_gap = optional_text(table, "quick_gap");
  if (gap.empty()) gap = quick_gap;
  const TomlValue* gap_cases = table.find("gap_cases");
  const TomlValue* cases = table.find("cases");
  std::vector<FactEntry::Case> found;
  if (cases == nullptr) {
    found.push_back({"", form, gap});
    return found;
  }
  for (const std::string& case_name : names_in(*cases)) found.push_back({case_name, form, gap});
  if (cases->kind == TomlValue::Kind::kTable) {
    for (std::size_t i = 0; i < found.size(); ++i) {
      found[i].form.expected = number_of(cases->children[i], table.where(*cases));
    }
  }
  if (gap_cases != nullptr) {
    const std::vector<std::string> names = names_in(*gap_cases);
    for (FactEntry::Case& one : found) {
      if (std::find(names.begin(), names.end(), one.name) == names.end()) one.gap.clear();
    }
  }
  return found;
}

FactEntry entry_of(TomlTable& table) {
  FactEntry entry;
  entry.id = needed(table, "id");
  entry.what = needed(table, "what");
  entry.where = needed(table, "source");
  entry.source = source_of(table);
  entry.nature = nature_of(table);
  entry.because = optional_text(table, "because");
  if (entry.because.empty() != (entry.nature == Nature::kFinding)) {
    throw InputError(table.where() + ": because stands beside nature, and nowhere else");
  }
  entry.cases = cases_of(table);
  for (TomlTable& figure : table.tables("rests_on")) {
    entry.rests_on.push_back({needed(figure, "figure"), needed(figure, "value"),
                              optional_text(figure, "from"), optional_text(figure, "to")});
    figure.refuse_others();
  }
  for (TomlTable& change : table.tables("history")) {
    entry.history.push_back(
        {needed(change, "date"), needed(change, "why"), optional_text(change, "was")});
    change.refuse_others();
  }
  table.refuse_others();
  return entry;
}

}  // namespace

std::string_view name(Source source) { return kSources[source]; }

std::string_view name(Nature nature) { return kNatures[nature]; }

bool Form::holds(double got) const {
  if (!std::isfinite(got)) return false;
  switch (kind) {
    case Kind::kEqual:
      return std::abs(got - expected) <= tolerance * std::abs(expected);
    case Kind::kNear:
      return std::abs(got - expected) <= tolerance;
    case Kind::kAtMost:
      return got <= expected;
    case Kind::kAtLeast:
      return got >= expected;
    case Kind::kBetween:
      return got >= expected && got <= high;
    case Kind::kWords:
      return false;
  }
  return false;
}

std::string Form::text() const {
  switch (kind) {
    case Kind::kEqual:
      if (tolerance == 0) return "exactly " + shown(expected);
      return shown(expected) + " ± " +
             (tolerance < 1e-6 ? std::string("rounding") : fmt::format("{:g} %", 100 * tolerance));
    case Kind::kNear:
      return fmt::format("{} ± {:g}", shown(expected), tolerance);
    case Kind::kAtMost:
      return "at most " + shown(expected);
    case Kind::kAtLeast:
      return "at least " + shown(expected);
    case Kind::kBetween:
      return fmt::format("{} to {}", shown(expected), shown(high));
    case Kind::kWords:
      return words;
  }
  return "";
}

std::string RestsOn::text() const {
  if (from.empty()) return fmt::format("{} = {}: holds up to {}", figure, value, to);
  if (to.empty()) return fmt::format("{} = {}: holds from {}", figure, value, from);
  return fmt::format("{} = {}: holds from {} to {}", figure, value, from, to);
}

std::string FactChange::text() const {
  return was.empty() ? fmt::format("{}: {}", date, why)
                     : fmt::format("{}: {} Before: {}.", date, why, was);
}

std::string FactEntry::text(const Case& of) const {
  std::string text = what;
  const std::size_t at = text.find("{}");
  if (at != std::string::npos) text.replace(at, 2, of.name);
  return text;
}

std::string FactEntry::judged() const {
  std::string text = what + ": ";
  for (const Case& one : cases) {
    if (&one != &cases.front()) text += "; ";
    text += one.name.empty() ? one.form.text() : one.name + " " + one.form.text();
  }
  return text;
}

FactFile read_fact_file(std::string_view experiment) {
  const auto texts = fact_texts();
  const auto text = std::find_if(texts.begin(), texts.end(),
                                 [&](const FactText& one) { return one.experiment == experiment; });
  if (text == texts.end()) throw InternalError(fmt::format("no facts.toml of {}", experiment));
  try {
    const std::string file = fmt::format("experiments/{}/facts.toml", experiment);
    const TomlValue document = machine::parse_toml(text->toml, file);
    TomlTable table(document, file, "");
    table.check_schema(kSchema);
    FactFile read;
    read.moved = optional_text(table, "moved");
    std::set<std::string> ids;
    for (TomlTable& fact : table.tables("fact")) {
      read.facts.push_back(entry_of(fact));
      if (!ids.insert(read.facts.back().id).second) {
        throw InputError(fmt::format("{}: id {} twice", fact.where(), read.facts.back().id));
      }
    }
    for (TomlTable& open : table.tables("not_held")) {
      read.not_held.push_back({needed(open, "what"), needed(open, "source"), needed(open, "why")});
      open.refuse_others();
    }
    table.refuse_others();
    return read;
  } catch (const InputError& error) {
    throw InternalError(error.what());
  }
}

}  // namespace slackline::experiments
