// Messages that share links max-min fairly, in rational numbers: rates by the definition, and
// nothing is rounded.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tests/exact/rational.h"

namespace slackline::testing {

/// It begins `delay` seconds after the last of those before it has ended; those before it have
/// lower numbers.
struct ExactFlow {
  Rational bytes;
  std::vector<std::size_t> links;   // none twice
  std::vector<std::size_t> before;  // flows
};

class ExactFlows {
 public:
  /// Capacities are in bytes per second.
  ExactFlows(std::vector<ExactFlow> flows, std::vector<Rational> capacities)
      : flows_(std::move(flows)), capacities_(std::move(capacities)) {}

  /// When the last one ends if `late` begins that much later.
  Rational makespan(std::size_t late, const Rational& delay) const {
    const std::vector<Rational> all = ends(late, delay);
    return *std::max_element(all.begin(), all.end());
  }

  /// When each ends then.
  std::vector<Rational> ends(std::size_t late, const Rational& delay) const {
    std::vector<Rational> ends(flows_.size());
    Rational now = 0;
    std::vector<State> states(flows_.size());
    std::vector<std::optional<Rational>> begins(flows_.size());
    for (std::size_t f = 0; f < flows_.size(); ++f) {
      states[f].left = flows_[f].bytes;
      if (flows_[f].before.empty()) begins[f] = f == late ? delay : Rational(0);
    }
    for (;;) {
      std::optional<Rational> next;
      const auto consider = [&](const Rational& time) {
        if (!next || time < *next) next = time;
      };
      const std::vector<Rational> rates = rates_of(states);
      for (std::size_t f = 0; f < flows_.size(); ++f) {
        if (states[f].phase == Phase::kUnderWay) consider(now + states[f].left / rates[f]);
        if (states[f].phase == Phase::kWaiting && begins[f]) consider(*begins[f]);
      }
      if (!next) return ends;
      for (std::size_t f = 0; f < flows_.size(); ++f) {
        if (states[f].phase == Phase::kUnderWay) states[f].left -= (*next - now) * rates[f];
      }
      now = *next;
      for (std::size_t f = 0; f < flows_.size(); ++f) {
        if (states[f].phase == Phase::kUnderWay && states[f].left == 0) {
          states[f].phase = Phase::kEnded;
          ends[f] = now;
        }
      }
      for (std::size_t f = 0; f < flows_.size(); ++f) {
        if (states[f].phase != Phase::kWaiting) continue;
        if (!begins[f] && all_ended(flows_[f].before, states)) {
          begins[f] = f == late ? now + delay : now;
        }
        if (begins[f] && *begins[f] == now) states[f].phase = Phase::kUnderWay;
      }
    }
  }

 private:
  enum class Phase : std::uint8_t { kWaiting, kUnderWay, kEnded };
  struct State {
    Phase phase = Phase::kWaiting;
    Rational left;
  };

  static bool all_ended(const std::vector<std::size_t>& flows, const std::vector<State>& states) {
    for (const std::size_t f : flows) {
      if (states[f].phase != Phase::kEnded) return false;
    }
    return true;
  }

  // Of those without a rate, the link that gives each the least gives all of its own that much.
  std::vector<Rational> rates_of(const std::vector<State>& states) const {
    std::vector<Rational> rates(flows_.size(), 0);
    std::vector<Rational> left = capacities_;
    for (;;) {
      std::optional<Rational> least;
      std::size_t bottleneck = 0;
      for (std::size_t l = 0; l < capacities_.size(); ++l) {
        unsigned users = 0;
        for (std::size_t f = 0; f < flows_.size(); ++f) {
          if (grows(f, states, rates) && passes(f, l)) ++users;
        }
        if (users == 0) continue;
        const Rational share = left[l] / users;
        if (!least || share < *least) {
          least = share;
          bottleneck = l;
        }
      }
      if (!least) return rates;
      for (std::size_t f = 0; f < flows_.size(); ++f) {
        if (!grows(f, states, rates) || !passes(f, bottleneck)) continue;
        rates[f] = *least;
        for (const std::size_t l : flows_[f].links) left[l] -= *least;
      }
    }
  }
  bool grows(std::size_t f, const std::vector<State>& states,
             const std::vector<Rational>& rates) const {
    return states[f].phase == Phase::kUnderWay && rates[f] == 0;
  }
  bool passes(std::size_t f, std::size_t link) const {
    for (const std::size_t l : flows_[f].links) {
      if (l == link) return true;
    }
    return false;
  }

  std::vector<ExactFlow> flows_;
  std::vector<Rational> capacities_;
};

}  // namespace slackline::testing
