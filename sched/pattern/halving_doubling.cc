#include "sched/pattern/halving_doubling.h"

#include <bit>

#include "sched/pattern/pattern.h"

namespace slackline::sched {
namespace {

// The ranks that take part, by their place 0 … p − 1, and those that are folded.
struct Fold {
  explicit Fold(std::uint32_t n)
      : ranks(n), places(std::bit_floor(n)), folded(n - places), levels(floor_log2(places)) {}

  RankId rank(std::uint32_t place) const {
    return RankId(place < folded ? 2 * place : place + folded);
  }
  std::uint32_t lead() const { return folded != 0 ? 1 : 0; }  // steps before, and after

  std::uint32_t ranks;
  std::uint32_t places;
  std::uint32_t folded;
  std::uint32_t levels;
};

// Of the n shares of all ranks, those of the ranks at [place, …) begin here: a place has its
// partner's, too.
std::uint32_t share_of_ranks(const Fold& fold, std::uint32_t place) {
  return place < fold.folded ? 2 * place : place + fold.folded;
}

// The places that share a place's bits from `level` up: it has the shares of these after (halving),
// or before (doubling) its exchange at that level.
std::uint32_t run_begin(std::uint32_t place, std::uint32_t level) {
  return place >> level << level;
}

template <class ShareOf>
void add_halving(ShareWriter& out, const Fold& fold, std::uint32_t from, ShareOf&& share) {
  for (std::uint32_t step = 0; step < fold.levels; ++step) {
    const std::uint32_t level = fold.levels - 1 - step;
    for (const std::uint32_t place : out.plan().senders(fold.places, 1u << level)) {
      const std::uint32_t other = place ^ (1u << level);
      const std::uint32_t first = run_begin(other, level);
      const std::uint32_t begin = share(first);
      out.add(from + step, fold.rank(place), fold.rank(other),
              {begin, share(first + (1u << level)) - begin, begin});
    }
  }
}

template <class ShareOf>
void add_doubling(ShareWriter& out, const Fold& fold, std::uint32_t from, ShareOf&& share) {
  for (std::uint32_t level = 0; level < fold.levels; ++level) {
    for (const std::uint32_t place : out.plan().senders(fold.places, 1u << level)) {
      const std::uint32_t first = run_begin(place, level);
      const std::uint32_t begin = share(first);
      out.move(from + level, fold.rank(place), fold.rank(place ^ (1u << level)),
               {{begin, share(first + (1u << level)) - begin, begin}});
    }
  }
}

RankId folded(std::uint32_t place) { return RankId(2 * place + 1); }

}  // namespace

CollectivePlan recursive_doubling_allreduce(const MulticastOptions& options) {
  ShareWriter out(options, options.bytes, 1);
  const Fold fold(options.ranks);
  const std::uint32_t last = fold.lead() + fold.levels;
  for (std::uint32_t i = 0; i < fold.folded; ++i) out.add(0, folded(i), fold.rank(i), {0, 1, 0});
  for (std::uint32_t level = 0; level < fold.levels; ++level) {
    for (const std::uint32_t place : out.plan().senders(fold.places, 1u << level)) {
      out.add(fold.lead() + level, fold.rank(place), fold.rank(place ^ (1u << level)), {0, 1, 0},
              true);
    }
  }
  for (std::uint32_t i = 0; i < fold.folded; ++i) {
    out.move(last, fold.rank(i), folded(i), {{0, 1, 0}});
  }
  out.plan().promise_allreduce();
  return out.finish(last + fold.lead());
}

CollectivePlan rabenseifner_allreduce(const MulticastOptions& options) {
  const Fold fold(options.ranks);
  const std::uint32_t p = fold.places;
  ShareWriter out(options, options.bytes, p);
  for (std::uint32_t i = 0; i < fold.folded; ++i) {
    out.add(0, fold.rank(i), folded(i), {p / 2, p / 2, p / 2});
    out.add(0, folded(i), fold.rank(i), {0, p / 2, 0});
  }
  for (std::uint32_t i = 0; i < fold.folded; ++i) {
    out.move(1, folded(i), fold.rank(i), {{p / 2, p / 2, p / 2}});
  }
  const std::uint32_t first = 2 * fold.lead();
  const std::uint32_t last = first + 2 * fold.levels;
  const auto share = [](std::uint32_t place) { return place; };
  add_halving(out, fold, first, share);
  add_doubling(out, fold, first + fold.levels, share);
  for (std::uint32_t i = 0; i < fold.folded; ++i) {
    out.move(last, fold.rank(i), folded(i), {{0, p, 0}});
  }
  out.plan().promise_allreduce();
  return out.finish(last + fold.lead());
}

CollectivePlan recursive_halving_reduce_scatter(const MulticastOptions& options) {
  const Fold fold(options.ranks);
  ShareWriter out(options, options.bytes, fold.ranks);
  for (std::uint32_t i = 0; i < fold.folded; ++i) {
    out.add(0, folded(i), fold.rank(i), {0, fold.ranks, 0});
  }
  const std::uint32_t last = fold.lead() + fold.levels;
  add_halving(out, fold, fold.lead(),
              [&](std::uint32_t place) { return share_of_ranks(fold, place); });
  for (std::uint32_t i = 0; i < fold.folded; ++i) {
    out.move(last, fold.rank(i), folded(i), {{2 * i + 1, 1, 2 * i + 1}});
  }
  out.promise_reduce_scatter();
  return out.finish(last + fold.lead());
}

CollectivePlan recursive_doubling_allgather(const MulticastOptions& options) {
  const Fold fold(options.ranks);
  const std::uint32_t n = fold.ranks;
  ShareWriter out(options, bytes_of_all(options.bytes, n), n);
  for (std::uint32_t i = 0; i < fold.folded; ++i) {
    out.move(0, folded(i), fold.rank(i), {{2 * i + 1, 1, 2 * i + 1}});
  }
  const std::uint32_t last = fold.lead() + fold.levels;
  add_doubling(out, fold, fold.lead(),
               [&](std::uint32_t place) { return share_of_ranks(fold, place); });
  for (std::uint32_t i = 0; i < fold.folded; ++i) {
    out.move(last, fold.rank(i), folded(i),
             {{0, 2 * i + 1, 0}, {2 * i + 2, n - 2 * i - 2, 2 * i + 2}});
  }
  out.plan().promise_allgather();
  return out.finish(last + fold.lead());
}

}  // namespace slackline::sched
