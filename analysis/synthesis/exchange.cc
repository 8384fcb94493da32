#include "analysis/synthesis/exchange.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "base/mix.h"

namespace slackline::analysis {
namespace {

using sched::RankId;
using Ranks = std::vector<std::uint32_t>;

class Exchange {
 public:
  Exchange(std::uint32_t units, std::uint64_t unit_bytes, const Ways& ways,
           const ExchangeTaste& taste, std::uint64_t seed)
      : units_(units), ways_(ways), taste_(taste), seed_(seed), n_(ways.ranks()) {
    cost_s_.resize(std::size_t{n_} * n_);
    for (std::uint32_t s = 0; s < n_; ++s) {
      for (std::uint32_t d = 0; d < n_; ++d) {
        if (s == d) continue;
        const Way& way = ways.of(RankId(s), RankId(d));
        cost_s_[s * n_ + d] = static_cast<double>(unit_bytes) * way.load_s_per_b + way.latency_s;
      }
    }
    const double longest_s = *std::max_element(cost_s_.begin(), cost_s_.end());
    for (std::size_t p = 0; p < cost_s_.size() && taste.luck != 0; ++p) {
      const std::uint64_t bits = sched::draw(seed_, {p});
      cost_s_[p] += taste.luck * longest_s * static_cast<double>(bits >> 11) * 0x1p-53;
    }
  }

  SumMoves run() {
    const std::vector<Ranks> groups = groups_of(kernel());
    std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> folds;
    std::vector<Ranks> left = groups;
    while (std::any_of(left.begin(), left.end(), [](const Ranks& g) { return g.size() > 1; })) {
      folds.emplace_back();
      for (Ranks& group : left) {
        Ranks kept;
        for (std::size_t i = 0; i < group.size(); i += 2) {
          kept.push_back(group[i]);
          if (i + 1 < group.size()) folds.back().emplace_back(group[i + 1], group[i]);
        }
        group = std::move(kept);
      }
    }
    for (const auto& fold : folds) {
      in_parts([&](const auto& part) {
        for (const auto& [src, dst] : fold) tell(src, dst, part, true, 0);
      });
    }
    exchange_all(std::move(left));
    for (auto fold = folds.rbegin(); fold != folds.rend(); ++fold) {
      in_parts([&](const auto& part) {
        for (const auto& [src, dst] : *fold) tell(dst, src, part, false, 0);
      });
    }
    return std::move(moves_);
  }

 private:
  double cost_s(std::uint32_t a, std::uint32_t b) const {
    return cost_s_[a * n_ + b] + cost_s_[b * n_ + a];
  }

  // The ranks that exchange.
  Ranks kernel() const {
    const std::uint32_t most = std::max(1u, n_ >> std::min(taste_.folds, 31u));
    std::uint32_t size = 1;
    for (std::uint32_t threes = 1; threes <= most; threes *= 3) {
      for (std::uint32_t product = threes; product <= most; product *= 2) {
        size = std::max(size, product);
      }
      if (!taste_.threes) break;
    }
    Ranks ranks;
    if (taste_.even) {
      for (std::uint32_t i = 0; i < size; ++i) {
        ranks.push_back(static_cast<std::uint32_t>(std::uint64_t{i} * n_ / size));
      }
      return ranks;
    }
    ranks.resize(n_);
    std::iota(ranks.begin(), ranks.end(), 0u);
    std::vector<double> sum_s(n_);
    for (std::uint32_t r = 0; r < n_; ++r) {
      for (std::uint32_t other = 0; other < n_; ++other) sum_s[r] += cost_s(r, other);
    }
    std::stable_sort(ranks.begin(), ranks.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return sum_s[a] < sum_s[b]; });
    ranks.resize(size);
    return ranks;
  }

  // Each with one that exchanges, its first, and as many that are folded into it as there must be.
  std::vector<Ranks> groups_of(const Ranks& kernel) const {
    const std::size_t most = (n_ - 1) / kernel.size() + 1;
    std::vector<bool> is_in(n_);
    std::vector<Ranks> groups;
    for (const std::uint32_t r : kernel) {
      groups.push_back({r});
      is_in[r] = true;
    }
    for (std::uint32_t r = 0; r < n_; ++r) {
      if (is_in[r]) continue;
      Ranks* best = nullptr;
      for (Ranks& group : groups) {
        if (group.size() == most) continue;
        if (best == nullptr || cost_s(r, group[0]) < cost_s(r, best->front())) best = &group;
      }
      best->push_back(r);
    }
    return groups;
  }

  // Of those that are free, the nearest to `rank`, or the farthest; it is free no more.
  std::uint32_t take_for(std::uint32_t rank, Ranks& free) const {
    const double sign = taste_.near ? 1 : -1;
    const auto best = std::min_element(free.begin(), free.end(), [&](auto a, auto b) {
      return sign * cost_s(rank, a) < sign * cost_s(rank, b);
    });
    const std::uint32_t found = *best;
    free.erase(best);
    return found;
  }

  // Ranks of one block have one sum.
  void exchange_all(std::vector<Ranks> blocks) {
    while (blocks.size() > 1) {
      const std::size_t width = blocks.size() % 2 == 0 ? 2 : 3;
      std::vector<Ranks> next;
      std::vector<Ranks> groups;  // of ranks that tell each other
      while (!blocks.empty()) {
        std::vector<Ranks> joined{std::move(blocks.front())};
        blocks.erase(blocks.begin());
        while (joined.size() < width) {
          Ranks firsts;
          for (const Ranks& block : blocks) firsts.push_back(block.front());
          const std::uint32_t first = take_for(joined.front().front(), firsts);
          const auto found = std::find_if(blocks.begin(), blocks.end(),
                                          [&](const Ranks& b) { return b.front() == first; });
          joined.push_back(std::move(*found));
          blocks.erase(found);
        }
        Ranks all;
        for (const Ranks& block : joined) all.insert(all.end(), block.begin(), block.end());
        for (const std::uint32_t r : joined.front()) {
          groups.push_back({r});
          for (std::size_t b = 1; b < width; ++b) groups.back().push_back(take_for(r, joined[b]));
        }
        next.push_back(std::move(all));
      }
      in_parts([&](const auto& part) {
        for (const Ranks& group : groups) exchange(group, part);
      });
      blocks = std::move(next);
    }
  }

  // Each tells the next one, then the one after it. What a rank is told it adds behind what it
  // still has to tell.
  void exchange(const Ranks& group, const std::vector<std::uint32_t>& part) {
    const auto width = static_cast<std::uint32_t>(group.size());
    for (std::uint32_t away = 1; away < width; ++away) {
      for (std::uint32_t i = 0; i < width; ++i) {
        const std::uint32_t target = (i + away) % width;
        // It has told those before `away`, and the one at `away` if its turn was before.
        const std::uint32_t told = away - 1 + (target < i ? 1 : 0);
        tell(group[i], group[target], part, true, width - 1 - told);
      }
    }
  }

  template <class Visit>
  void in_parts(Visit&& visit) {
    for (std::uint32_t first = 0; first < units_;) {
      const std::uint32_t count = std::min(units_ - first, taste_.most_units);
      std::vector<std::uint32_t> part(count);
      std::iota(part.begin(), part.end(), first);
      visit(part);
      first += count;
    }
  }

  void tell(std::uint32_t src, std::uint32_t dst, const std::vector<std::uint32_t>& part, bool adds,
            std::uint32_t behind) {
    moves_.push_back({RankId(src), RankId(dst), part, adds, behind});
  }

  const std::uint32_t units_;
  const Ways& ways_;
  const ExchangeTaste& taste_;
  const std::uint64_t seed_;
  const std::uint32_t n_;
  std::vector<double> cost_s_;  // by pair
  SumMoves moves_;
};

}  // namespace

ExchangeTaste ExchangeTaste::drawn(std::uint64_t seed) {
  if (seed == 0) return {};
  static constexpr std::uint32_t kFolds[] = {0, 0, 0, 1, 2, 31};
  static constexpr double kLucks[] = {0, 0, 0.01, 0.1, 1};
  static constexpr std::uint32_t kMostUnits[] = {~0u, ~0u, 1, 2};
  const auto below = [&](std::uint64_t number, std::size_t bound) {
    return sched::below(sched::draw(seed, {number}), static_cast<std::uint32_t>(bound));
  };
  ExchangeTaste taste;
  taste.folds = kFolds[below(0, std::size(kFolds))];
  taste.threes = below(1, 2) == 0;
  taste.even = below(2, 2) == 0;
  taste.near = below(3, 3) != 0;
  taste.luck = kLucks[below(4, std::size(kLucks))];
  taste.most_units = kMostUnits[below(5, std::size(kMostUnits))];
  return taste;
}

SumMoves exchange_moves(std::uint32_t units, std::uint64_t unit_bytes, const Ways& ways,
                        const ExchangeTaste& taste, std::uint64_t seed) {
  if (ways.ranks() < 2) return {};
  return Exchange(units, unit_bytes, ways, taste, seed).run();
}

}  // namespace slackline::analysis
