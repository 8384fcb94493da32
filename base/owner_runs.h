// Where values of many owners stand that come by turns, until all are there: each owner's in runs.
// To put owner behind owner is then to move runs, in place, and not single values.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace slackline::base {

class OwnerRuns {
 public:
  /// Runs of `run` values, a power of two. Each owner leaves room for fewer than that unused.
  OwnerRuns(std::uint32_t owners, std::size_t run)
      : bits_(std::countr_zero(run)), next_(owners, 0) {}

  /// Puts a value behind those of its owner, which is below `owners`. Returns its place, which no
  /// other value gets. The table is this one's alone.
  template <class Value>
  std::size_t add(std::uint32_t owner, const Value& value, std::vector<Value>& table) {
    std::size_t& next = next_[owner];
    if (in_run(next) == 0) {
      next = table.size();
      owner_of_.push_back(owner);
      table.resize(next + run());
    }
    table[next] = value;
    return next++;
  }
  /// Of the run that a place is in, if there is one; else 0.
  std::uint32_t owner_of(std::size_t place) const {
    return run_of(place) < owner_of_.size() ? owner_of_[run_of(place)] : 0;
  }

  /// Finds where each value will stand. To be called once, when all are there.
  void locate() {
    std::vector<std::uint32_t> place(next_.size() + 1, 0);
    for (const std::uint32_t owner : owner_of_) ++place[owner + 1];
    for (std::size_t o = 1; o < place.size(); ++o) place[o] += place[o - 1];
    order_.resize(owner_of_.size());
    for (std::uint32_t r = 0; r < order_.size(); ++r) order_[place[owner_of_[r]]++] = r;
    gathered_.resize(order_.size());
    for (const std::uint32_t r : order_) {
      gathered_[r] = {total_, count_of(r)};
      total_ += gathered_[r].count;
    }
  }
  /// Then puts owner behind owner, each one's values in the order in which they came, and nothing
  /// between them. Calls `visit(value)` for each when it is in its place. To be called once.
  template <class Value, class Visit>
  void gather(std::vector<Value>& table, const Visit& visit) {
    static_assert(std::is_trivially_copyable_v<Value>);
    permute(order_, table.data());
    std::size_t end = 0;
    for (std::size_t r = 0; r < order_.size(); ++r) {
      Value* const from = table.data() + r * run();
      Value* const to = table.data() + end;
      const std::size_t count = gathered_[order_[r]].count;
      std::copy(from, from + count, to);
      std::for_each(to, to + count, visit);
      end += count;
    }
    table.resize(end);
  }
  /// Both.
  template <class Value>
  void gather(std::vector<Value>& table) {
    locate();
    gather(table, [](const Value&) {});
  }
  /// Where the value stands once they are gathered. Of a place without one it is behind all.
  std::size_t gathered(std::size_t place) const {
    const std::size_t r = run_of(place);
    if (r >= gathered_.size()) return place;
    return in_run(place) < gathered_[r].count ? gathered_[r].begin + in_run(place) : total_;
  }

 private:
  std::size_t run() const { return std::size_t{1} << bits_; }
  std::size_t run_of(std::size_t place) const { return place >> bits_; }
  std::size_t in_run(std::size_t place) const { return place & (run() - 1); }
  // A run once it is gathered.
  struct Gathered {
    std::size_t begin;  // where its values stand then
    std::size_t count;
  };

  // Only the last run of an owner has room left.
  std::size_t count_of(std::size_t r) const {
    const std::size_t next = next_[owner_of_[r]];
    return run_of(next) == r ? in_run(next) : run();
  }

  static constexpr std::size_t kFetched = 768;  // bytes of the next run to be copied

  // Each run is copied once, around the circles of those that take each other's place.
  template <class Value>
  void permute(std::vector<std::uint32_t> order, Value* table) const {
    const auto at = [table, this](std::size_t r) { return table + r * run(); };
    std::vector<Value> held(run());
    for (std::uint32_t first = 0; first < order.size(); ++first) {
      if (order[first] == first) continue;
      std::copy(at(first), at(first) + run(), held.begin());
      std::uint32_t to = first;
      while (order[to] != first) {
        const std::uint32_t from = order[to];
        const char* const next = reinterpret_cast<const char*>(at(order[from]));
        for (std::size_t line = 0; line < kFetched; line += 64) __builtin_prefetch(next + line);
        std::copy(at(from), at(from) + run(), at(to));
        order[to] = to;
        to = from;
      }
      std::copy(held.begin(), held.end(), at(to));
      order[to] = to;
    }
  }

  int bits_;                             // of a place in a run
  std::vector<std::size_t> next_;        // by owner: the place of its next value, if a run has room
  std::vector<std::uint32_t> owner_of_;  // by run
  std::vector<std::uint32_t> order_;     // the runs as they will stand
  std::vector<Gathered> gathered_;       // by run
  std::size_t total_ = 0;
};

}  // namespace slackline::base
