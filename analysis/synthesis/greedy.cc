#include "analysis/synthesis/greedy.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>

#include "base/error.h"
#include "base/mix.h"

namespace slackline::analysis {
namespace {

using sched::RankId;

constexpr double kInstantS = 1e-12;
constexpr double kEqual = 1e-9;  // rates and loads that differ by less are equal

class TimeExpanded {
 public:
  TimeExpanded(const Spreading& task, const Ways& ways, const GreedyTaste& taste,
               std::uint64_t seed)
      : task_(task),
        ways_(ways),
        taste_(taste),
        seed_(seed),
        n_(task.ranks),
        units_(task.units()),
        has_(std::size_t{n_} * units_),
        coming_(std::size_t{n_} * units_),
        holders_(units_, 1),
        nearest_s_(std::size_t{n_} * units_, std::numeric_limits<double>::infinity()),
        nearing_(std::size_t{n_} * units_, kUnknown),
        load_s_(std::size_t{n_} * n_),
        need_s_(n_),
        in_s_per_b_(n_, std::numeric_limits<double>::infinity()),
        out_bytes_per_s_(n_),
        out_free_(n_, true),
        in_free_(n_, true),
        used_bytes_per_s_(ways.link_bytes_per_s().size()),
        best_(std::size_t{n_} * n_) {
    std::uint64_t largest = 0;
    for (const std::uint64_t bytes : task.bytes) largest = std::max(largest, bytes);
    for (std::uint32_t s = 0; s < n_; ++s) {
      for (std::uint32_t d = 0; d < n_; ++d) {
        if (s == d) continue;
        const Way& way = ways_.of(RankId(s), RankId(d));
        load_s_[pair(s, d)] = static_cast<double>(largest) * way.load_s_per_b + way.latency_s;
        most_load_s_ = std::max(most_load_s_, load_s_[pair(s, d)]);
        in_s_per_b_[d] = std::min(in_s_per_b_[d], 1 / way.bytes_per_s);
        out_bytes_per_s_[s] = std::max(out_bytes_per_s_[s], way.bytes_per_s);
      }
    }
    for (std::uint32_t u = 0; u < units_; ++u) {
      const std::uint32_t owner = task.owner[u].value;
      for (std::uint32_t d = 0; d < n_; ++d) {
        if (d != owner) need_s_[d] += static_cast<double>(task.bytes[u]) * in_s_per_b_[d];
      }
      has_[at(owner, u)] = true;
      expect(owner, u);
    }
    most_need_s_ = *std::max_element(need_s_.begin(), need_s_.end());
  }

  Moves run() {
    const std::size_t all = std::size_t{n_ - 1} * units_;
    while (begun_ < all) {
      begin_what_can();
      if (begun_ == all) break;
      if (ends_.empty()) throw InternalError("synthesis: nothing can begin, and not all is there");
      const double until_s = ends_.top().at_s + kInstantS;
      now_s_ = ends_.top().at_s;
      for (; !ends_.empty() && ends_.top().at_s <= until_s; ends_.pop()) end(ends_.top());
    }
    return std::move(moves_);
  }

 private:
  enum class What : std::uint8_t { kLinks, kArrival, kPorts };
  struct End {
    double at_s;
    std::uint32_t move;
    What what;
    bool operator>(const End& other) const {
      return std::tuple(at_s, move, what) > std::tuple(other.at_s, other.move, other.what);
    }
  };
  struct Choice {
    std::uint32_t unit = 0;
    double liking = kNone;
  };
  static constexpr double kUnknown = -1;
  static constexpr double kNone = -std::numeric_limits<double>::infinity();

  std::size_t at(std::uint32_t rank, std::uint32_t unit) const {
    return std::size_t{rank} * units_ + unit;
  }
  std::size_t pair(std::uint32_t s, std::uint32_t d) const { return std::size_t{s} * n_ + d; }

  // From now on `rank` counts as one that has the unit.
  void expect(std::uint32_t rank, std::uint32_t unit) {
    coming_[at(rank, unit)] = true;
    for (std::uint32_t d = 0; d < n_; ++d) {
      nearing_[at(d, unit)] = kUnknown;
      double& nearest_s = nearest_s_[at(d, unit)];
      nearest_s = d == rank ? 0 : std::min(nearest_s, load_s_[pair(rank, d)]);
    }
  }

  bool links_free(const Way& way) const {
    const auto free = [&](std::uint32_t link) {
      return used_bytes_per_s_[link] + way.bytes_per_s <=
             ways_.link_bytes_per_s()[link] * (1 + kEqual);
    };
    const auto links = ways_.links(way);
    return std::all_of(links.begin(), links.end(), free);
  }

  // How much nearer the unit comes to the ranks that lack it, if `d` has it: in 0 … 1.
  double nearing(std::uint32_t d, std::uint32_t unit) {
    double& known = nearing_[at(d, unit)];
    if (known != kUnknown) return known;
    double gain_s = 0;
    for (std::uint32_t h = 0; h < n_; ++h) {
      if (h == d || coming_[at(h, unit)]) continue;
      gain_s += std::max(0.0, nearest_s_[at(h, unit)] - load_s_[pair(d, h)]);
    }
    return known = share(gain_s, n_ * most_load_s_);
  }

  bool may_go(std::uint32_t s, std::uint32_t d, std::uint32_t unit) const {
    if (!has_[at(s, unit)] || coming_[at(d, unit)]) return false;
    return load_s_[pair(s, d)] <= taste_.detour * nearest_s_[at(d, unit)] * (1 + kEqual);
  }

  Choice best_of(std::uint32_t s, std::uint32_t d) {
    Choice best;
    const double load_s = load_s_[pair(s, d)];
    const double of_pair =
        taste_.need * share(need_s_[d], most_need_s_) - taste_.fast * share(load_s, most_load_s_);
    for (std::uint32_t u = 0; u < units_; ++u) {
      if (!may_go(s, d, u)) continue;
      double liking = of_pair - taste_.rare * holders_[u] / n_;
      if (taste_.near != 0) liking += taste_.near * nearing(d, u);
      if (taste_.luck != 0) {
        const std::uint64_t bits = sched::draw(seed_, {moves_.size(), s, d, u});
        liking += taste_.luck * static_cast<double>(bits >> 11) * 0x1p-53;
      }
      if (liking > best.liking) best = {u, liking};
    }
    return best;
  }
  static double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

  void begin_what_can() {
    const auto each_free_pair = [&](const auto& visit) {
      for (std::uint32_t s = 0; s < n_; ++s) {
        if (!out_free_[s]) continue;
        for (std::uint32_t d = 0; d < n_; ++d) {
          if (d != s && in_free_[d]) visit(s, d);
        }
      }
    };
    each_free_pair([&](std::uint32_t s, std::uint32_t d) {
      best_[pair(s, d)] = links_free(ways_.of(RankId(s), RankId(d))) ? best_of(s, d) : Choice{};
    });
    for (;;) {
      Choice best;
      std::uint32_t from = 0, to = 0;
      each_free_pair([&](std::uint32_t s, std::uint32_t d) {
        const Choice& choice = best_[pair(s, d)];
        if (choice.liking > best.liking && links_free(ways_.of(RankId(s), RankId(d)))) {
          best = choice;
          from = s;
          to = d;
        }
      });
      if (best.liking == kNone) return;
      begin(from, to, best.unit);
      const std::vector<std::uint32_t>& units = moves_.back().units;
      each_free_pair([&](std::uint32_t s, std::uint32_t d) {
        Choice& choice = best_[pair(s, d)];
        if (choice.liking != kNone &&
            std::find(units.begin(), units.end(), choice.unit) != units.end()) {
          choice = best_of(s, d);
        }
      });
    }
  }

  // The unit, and those behind it that may go the same way.
  std::vector<std::uint32_t> units_from(std::uint32_t s, std::uint32_t d,
                                        std::uint32_t unit) const {
    std::vector<std::uint32_t> found{unit};
    for (std::uint32_t i = 1; i < units_ && found.size() < taste_.most_units; ++i) {
      const std::uint32_t other = (unit + i) % units_;
      if (may_go(s, d, other)) found.push_back(other);
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  void begin(std::uint32_t s, std::uint32_t d, std::uint32_t unit) {
    const Way& way = ways_.of(RankId(s), RankId(d));
    const auto move = static_cast<std::uint32_t>(moves_.size());
    moves_.push_back({RankId(s), RankId(d), units_from(s, d, unit)});
    std::uint64_t bytes = 0;
    for (const std::uint32_t u : moves_.back().units) {
      bytes += task_.bytes[u];
      ++holders_[u];
      expect(d, u);
    }
    begun_ += moves_.back().units.size();
    out_free_[s] = in_free_[d] = false;
    for (const std::uint32_t link : ways_.links(way)) used_bytes_per_s_[link] += way.bytes_per_s;
    need_s_[d] -= static_cast<double>(bytes) * in_s_per_b_[d];
    const double sent_s = now_s_ + ways_.wire_s(way, bytes);
    ends_.push({sent_s, move, What::kLinks});
    ends_.push({sent_s + ways_.pause_s(way) / 2, move, What::kArrival});
    ends_.push({sent_s + ways_.pause_s(way), move, What::kPorts});
  }

  void end(const End& what) {
    const Move& move = moves_[what.move];
    const Way& way = ways_.of(move.src, move.dst);
    if (what.what == What::kLinks) {
      for (const std::uint32_t link : ways_.links(way)) used_bytes_per_s_[link] -= way.bytes_per_s;
    } else if (what.what == What::kArrival) {
      for (const std::uint32_t unit : move.units) has_[at(move.dst.value, unit)] = true;
    } else {
      out_free_[move.src.value] = in_free_[move.dst.value] = true;
    }
  }

  const Spreading& task_;
  const Ways& ways_;
  const GreedyTaste& taste_;
  const std::uint64_t seed_;
  const std::uint32_t n_;
  const std::uint32_t units_;
  double now_s_ = 0;
  std::size_t begun_ = 0;  // units on their way, or there
  double most_load_s_ = 0;
  double most_need_s_ = 0;
  std::vector<std::uint8_t> has_;     // by rank, then unit
  std::vector<std::uint8_t> coming_;  // it has it, or it is on its way
  std::vector<std::uint32_t> holders_;
  std::vector<double> nearest_s_;        // by rank and unit: the least load from a rank that has it
  std::vector<double> nearing_;          // by rank and unit: of nearing(), or kUnknown
  std::vector<double> load_s_;           // by pair: of the largest unit
  std::vector<double> need_s_;           // by rank: what it lacks, at its best rate
  std::vector<double> in_s_per_b_;       // by rank: of its fastest way in
  std::vector<double> out_bytes_per_s_;  // by rank: of its fastest way out
  std::vector<std::uint8_t> out_free_;
  std::vector<std::uint8_t> in_free_;
  std::vector<double> used_bytes_per_s_;  // by link
  std::vector<Choice> best_;              // by pair
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  Moves moves_;
};

// 0, or a power of two from 1/4 to 4.
double weight(std::uint64_t seed, std::uint64_t number) {
  static constexpr double kWeights[] = {0, 0.25, 0.5, 1, 2, 4};
  return kWeights[sched::below(sched::draw(seed, {number}), std::size(kWeights))];
}

}  // namespace

GreedyTaste GreedyTaste::drawn(std::uint64_t seed) {
  if (seed == 0) return {};
  static constexpr double kDetours[] = {1, 1, 1.5, 3, std::numeric_limits<double>::max()};
  GreedyTaste taste;
  taste.fast = weight(seed, 0);
  taste.need = weight(seed, 1);
  taste.rare = weight(seed, 2);
  taste.near = weight(seed, 3);
  taste.fit = weight(seed, 7);
  taste.luck = weight(seed, 4) / 16;
  taste.detour = kDetours[sched::below(sched::draw(seed, {5}), std::size(kDetours))];
  static constexpr std::uint32_t kMostUnits[] = {1, 1, 2, 4, 8, ~0u};
  taste.most_units = kMostUnits[sched::below(sched::draw(seed, {6}), std::size(kMostUnits))];
  return taste;
}

Moves greedy_moves(const Spreading& task, const Ways& ways, const GreedyTaste& taste,
                   std::uint64_t seed) {
  if (task.ranks < 2) return {};
  return TimeExpanded(task, ways, taste, seed).run();
}

}  // namespace slackline::analysis
