#include "tests/exact/fair_rates.h"

namespace slackline::testing {
namespace {

// While all rates grow together.
struct Link {
  Rational left;     // of what it has, without those that have stopped growing
  Rational growing;  // the shares of those that have not
  Rational level;    // at which they fill it
  std::vector<std::size_t> flows;
};

}  // namespace

std::vector<Rational> fair_rates(std::span<const ExactWay* const> flows,
                                 std::span<const Rational> capacities) {
  std::vector<Link> links(capacities.size());
  std::vector<std::size_t> used;
  for (std::size_t f = 0; f < flows.size(); ++f) {
    for (const ExactPassage& passage : flows[f]->passed) {
      Link& link = links[passage.link];
      if (link.flows.empty()) used.push_back(passage.link);
      link.flows.push_back(f);
      link.growing += passage.share;
    }
  }
  for (const std::size_t l : used) {
    links[l].left = capacities[l];
    links[l].level = links[l].left / links[l].growing;
  }
  std::vector<Rational> rates(flows.size(), 0);
  const auto stop = [&](std::size_t f, const Rational& rate) {
    rates[f] = rate;
    for (const ExactPassage& passage : flows[f]->passed) {
      Link& link = links[passage.link];
      link.left -= rate * passage.share;
      link.growing -= passage.share;
      if (link.growing != 0) link.level = link.left / link.growing;
    }
  };
  for (;;) {
    const Rational* least = nullptr;
    const Link* full = nullptr;
    std::size_t bounded = flows.size();
    for (const std::size_t l : used) {
      if (links[l].growing == 0 || (least != nullptr && links[l].level >= *least)) continue;
      least = &links[l].level;
      full = &links[l];
    }
    for (std::size_t f = 0; f < flows.size(); ++f) {
      const std::optional<Rational>& bound = flows[f]->bound;
      if (rates[f] != 0 || !bound || (least != nullptr && *bound >= *least)) continue;
      least = &*bound;
      bounded = f;
    }
    if (least == nullptr) return rates;
    const Rational rate = *least;
    if (bounded != flows.size()) {
      stop(bounded, rate);
      continue;
    }
    for (const std::size_t f : full->flows) {
      if (rates[f] == 0) stop(f, rate);
    }
  }
}

}  // namespace slackline::testing
