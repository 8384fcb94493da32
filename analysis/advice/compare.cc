#include "analysis/advice/compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <tuple>

#include "base/statistics.h"
#include "machine/event_queue.h"
#include "sched/export/timeline.h"

namespace slackline::analysis {
namespace {

using sched::OpId;
using sched::OpTimes;
using sched::RankId;

AbsoluteSpread spread_of(std::vector<double> values) {
  AbsoluteSpread spread;
  spread.count = values.size();
  if (values.empty()) return spread;
  for (double& value : values) value = std::abs(value);
  std::sort(values.begin(), values.end());
  spread.median_s = base::median(values);
  spread.p90_s = base::percentile(values, 90);
  spread.max_s = values.back();
  return spread;
}

// Whether it ran, and not: it was passed over, or never happened.
bool is_done(const OpTimes& times) { return times.attempts != 0 && std::isfinite(times.done_s); }

std::optional<TimeMap> map_between(std::vector<OpComparison> ops) {
  std::sort(ops.begin(), ops.end(), [](const OpComparison& a, const OpComparison& b) {
    return std::tuple(a.first_s, a.op) < std::tuple(b.first_s, b.op);
  });
  const std::size_t half = ops.size() / 2;
  const std::size_t apart = ops.size() - half;
  std::vector<double> values;
  for (std::size_t i = 0; i < half; ++i) {
    const double first_s = ops[i + apart].first_s - ops[i].first_s;
    if (first_s > 0) values.push_back((ops[i + apart].second_s - ops[i].second_s) / first_s);
  }
  if (values.empty()) return std::nullopt;
  TimeMap map;
  map.scale = base::median(std::move(values));
  values.clear();
  for (const OpComparison& op : ops) values.push_back(op.second_s - map.of(op.first_s));
  map.offset_s = base::median(values);
  for (double& value : values) value -= map.offset_s;
  map.rest = spread_of(std::move(values));
  return map;
}

// The operations that happened in both, in the order of `a`; of those of one time in that of `b`.
std::vector<std::uint32_t> in_order(std::span<const double> a, std::span<const double> b) {
  std::vector<std::uint32_t> by_a;
  for (std::uint32_t i = 0; i < a.size(); ++i) {
    if (std::isfinite(a[i]) && std::isfinite(b[i])) by_a.push_back(i);
  }
  std::sort(by_a.begin(), by_a.end(), [&](std::uint32_t x, std::uint32_t y) {
    return std::tuple(a[x], b[x], x) < std::tuple(a[y], b[y], y);
  });
  return by_a;
}

// Adds the pairs that are neighbours in either. One that is a pair of neighbours in both is one.
void add_neighbours(std::span<const double> a, std::span<const double> b, OrderAgreement& order) {
  const auto at_once = [](double x, double y) { return std::abs(x - y) <= machine::kInstant_s; };
  const auto add = [&](std::uint32_t x, std::uint32_t y) {
    if (at_once(a[x], a[y]) || at_once(b[x], b[y])) return;
    ++order.pairs;
    if ((a[x] < a[y]) == (b[x] < b[y])) ++order.same;
  };
  const std::vector<std::uint32_t> by_a = in_order(a, b);
  const std::vector<std::uint32_t> by_b = in_order(b, a);
  std::vector<std::size_t> place(a.size());
  for (std::size_t i = 0; i < by_a.size(); ++i) {
    place[by_a[i]] = i;
    if (i != 0) add(by_a[i - 1], by_a[i]);
  }
  for (std::size_t i = 1; i < by_b.size(); ++i) {
    const auto [before, after] = std::minmax(place[by_b[i - 1]], place[by_b[i]]);
    if (after - before != 1) add(by_b[i - 1], by_b[i]);
  }
}

OrderAgreement agreement(const sched::Schedule& schedule, const sched::Trace& first,
                         const sched::Trace& second, double OpTimes::*event) {
  OrderAgreement order;
  std::vector<double> a;
  std::vector<double> b;
  for (std::uint32_t rank = 0; rank < schedule.rank_count(); ++rank) {
    a.clear();
    b.clear();
    for (std::uint32_t i = schedule.first_op(RankId(rank)).value;
         i != schedule.end_op(RankId(rank)).value; ++i) {
      const bool both = first.ops[i].attempts != 0 && second.ops[i].attempts != 0;
      a.push_back(both ? first.ops[i].*event : std::numeric_limits<double>::infinity());
      b.push_back(second.ops[i].*event);
    }
    add_neighbours(a, b, order);
  }
  return order;
}

std::vector<RankComparison> compare_ranks(const sched::Schedule& schedule,
                                          const sched::Trace& first, const sched::Trace& second,
                                          const std::optional<TimeMap>& map) {
  std::vector<RankComparison> ranks(schedule.rank_count());
  for (std::uint32_t rank = 0; rank < schedule.rank_count(); ++rank) {
    RankComparison& found = ranks[rank];
    std::vector<double> late;
    for (std::uint32_t i = schedule.first_op(RankId(rank)).value;
         i != schedule.end_op(RankId(rank)).value; ++i) {
      const double a = first.ops[i].done_s;
      const double b = second.ops[i].done_s;
      found.first_s = std::max(found.first_s, a);
      found.second_s = std::max(found.second_s, b);
      if (map && is_done(first.ops[i]) && is_done(second.ops[i])) late.push_back(b - map->of(a));
    }
    if (!late.empty()) found.late_s = base::median(std::move(late));
  }
  return ranks;
}

std::vector<KindComparison> compare_kinds(const sched::Schedule& schedule,
                                          const sched::Trace& first, const sched::Trace& second) {
  std::array<std::uint64_t, sched::kOpKinds> counts{};
  std::array<std::vector<double>, sched::kOpKinds> done;
  std::array<std::vector<double>, sched::kOpKinds> duration;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const auto kind = static_cast<std::size_t>(schedule.op(OpId(i)).kind);
    const OpTimes& a = first.ops[i];
    const OpTimes& b = second.ops[i];
    ++counts[kind];
    if (!is_done(a) || !is_done(b)) continue;
    done[kind].push_back(b.done_s - a.done_s);
    if (!std::isfinite(a.issued_s) || !std::isfinite(b.issued_s)) continue;
    duration[kind].push_back((b.done_s - b.issued_s) - (a.done_s - a.issued_s));
  }
  std::vector<KindComparison> kinds;
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    if (counts[kind] == 0) continue;
    kinds.push_back({static_cast<sched::OpKind>(kind), counts[kind],
                     spread_of(std::move(done[kind])), spread_of(std::move(duration[kind]))});
  }
  return kinds;
}

}  // namespace

Comparison compare(const sched::Schedule& schedule, const sched::Trace& first,
                   const sched::Trace& second) {
  sched::require_same(schedule, first);
  sched::require_same(schedule, second);
  Comparison found;
  found.first_s = first.makespan_s();
  found.second_s = second.makespan_s();
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const double a = first.ops[i].done_s;
    const double b = second.ops[i].done_s;
    const bool in_first = is_done(first.ops[i]);
    const bool in_second = is_done(second.ops[i]);
    if (in_first && in_second) {
      found.ops.push_back({OpId(i), a, b});
    } else if (in_first) {
      found.only_first.push_back(OpId(i));
    } else if (in_second) {
      found.only_second.push_back(OpId(i));
    } else {
      found.neither.push_back(OpId(i));
    }
  }
  found.map = map_between(found.ops);
  found.ranks = compare_ranks(schedule, first, second, found.map);
  found.kinds = compare_kinds(schedule, first, second);
  found.issue_order = agreement(schedule, first, second, &OpTimes::issued_s);
  found.done_order = agreement(schedule, first, second, &OpTimes::done_s);
  std::sort(found.ops.begin(), found.ops.end(), [](const OpComparison& a, const OpComparison& b) {
    return std::tuple(-std::abs(a.difference_s()), a.op) <
           std::tuple(-std::abs(b.difference_s()), b.op);
  });
  return found;
}

}  // namespace slackline::analysis
