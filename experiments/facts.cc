#include "experiments/facts.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"

namespace slackline::experiments {
namespace {

bool is_words(const FactEntry::Case& one) { return one.form.kind == Form::Kind::kWords; }

}  // namespace

Facts::Facts(ExperimentReport& report, std::string_view experiment)
    : file_(read_fact_file(experiment)), experiment_(experiment), report_(report) {}

void Facts::judge(std::string_view id, double got, std::string_view of) {
  const FactEntry::Case& one = found_case(found(id), of);
  if (is_words(one)) throw InternalError(fmt::format("{}: {} has no number", experiment_, id));
  add(id, of, got).ok = one.form.holds(got);
}

void Facts::judge_words(std::string_view id, bool ok, std::string got, std::string_view of) {
  if (!is_words(found_case(found(id), of))) {
    throw InternalError(fmt::format("{}: {} has a number", experiment_, id));
  }
  add(id, of, std::move(got)).ok = ok;
}

JudgedFact unjudged(const FactEntry& entry, const FactEntry::Case& one) {
  JudgedFact fact;
  fact.id = one.name.empty() ? entry.id : fmt::format("{}[{}]", entry.id, one.name);
  fact.fact = entry.text(one);
  fact.where = entry.where;
  fact.source = entry.source;
  fact.nature = entry.nature;
  fact.because = entry.because;
  fact.expected = one.form.text();
  fact.known_gap = one.gap;
  for (const RestsOn& figure : entry.rests_on) fact.rests_on.push_back(figure.text());
  for (const FactChange& change : entry.history) fact.history.push_back(change.text());
  return fact;
}

JudgedFact& Facts::add(std::string_view id, std::string_view of, NumberOrText got) {
  const FactEntry& entry = found(id);
  report_.facts.push_back(unjudged(entry, found_case(entry, of)));
  report_.facts.back().got = std::move(got);
  return report_.facts.back();
}

const FactEntry& Facts::found(std::string_view id) const {
  for (const FactEntry& entry : file_.facts) {
    if (entry.id == id) return entry;
  }
  throw InternalError(fmt::format("experiments/{}/facts.toml has no fact {}", experiment_, id));
}

const FactEntry::Case& Facts::found_case(const FactEntry& entry, std::string_view of) const {
  for (const FactEntry::Case& one : entry.cases) {
    if (one.name == of) return one;
  }
  throw InternalError(
      fmt::format("experiments/{}/facts.toml: {} has no case '{}'", experiment_, entry.id, of));
}

}  // namespace slackline::experiments
