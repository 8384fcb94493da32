// Sums of values by their terms, how values are named, and the bounded list of findings.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "sched/verify/findings.h"
#include "sched/verify/sums.h"
#include "sched/verify/values.h"
#include "tests/support/draft.h"

namespace slackline::testing {
namespace {

using Origin = SymbolicValue::Origin;
using Random = std::mt19937;

std::uint32_t below(Random& random, std::uint64_t n) {
  return static_cast<std::uint32_t>(random() % n);
}

// A payload byte by byte: whose byte, and which of it.
using Byte = std::tuple<Origin, std::uint32_t, std::uint64_t>;

std::vector<Byte> bytes_of(const Pieces& pieces) {
  std::vector<Byte> bytes;
  for (const Piece& piece : pieces) {
    for (std::uint64_t i = 0; i < piece.bytes; ++i) {
      bytes.emplace_back(piece.value.origin, piece.value.id, piece.value.offset + i);
    }
  }
  return bytes;
}

TEST(SumTable, ASumIsItsTerms) {
  Random random(3);
  SumTable sums;
  // Sums by their terms; the number of every one.
  std::map<std::vector<std::uint32_t>, std::uint32_t> number;
  std::vector<std::pair<SymbolicValue, std::vector<std::uint32_t>>> known;
  for (std::uint32_t v = 0; v < 4; ++v) known.push_back({{5, v, Origin::kContract}, {v}});
  for (int trial = 0; trial < 2000; ++trial) {
    const auto& [a, left] = known[below(random, known.size())];
    const auto& [b, right] = known[below(random, known.size())];
    if (left.size() + right.size() > 6) continue;
    std::vector<std::uint32_t> both = left;
    both.insert(both.end(), right.begin(), right.end());
    std::sort(both.begin(), both.end());
    const auto sum = sums.add(a, b);
    ASSERT_TRUE(sum.has_value());
    EXPECT_EQ(sum->origin, Origin::kSum);
    EXPECT_EQ(sum->offset, 5u);
    const auto [found, added] = number.try_emplace(both, sum->id);
    EXPECT_EQ(found->second, sum->id);
    if (added) known.push_back({*sum, both});
  }
  EXPECT_GT(number.size(), 90u);
  std::set<std::uint32_t> numbers;
  for (const auto& [terms, n] : number) EXPECT_TRUE(numbers.insert(n).second);
  const auto it = number.find({1, 2, 3});
  ASSERT_NE(it, number.end());
  Fact fact{{BufferId(0), 0, 4}, ValueId(1), 5};
  fact.terms = 3;
  EXPECT_EQ(sums.expected(fact), (SymbolicValue{5, it->second, Origin::kSum}));
  fact.terms = 1;
  EXPECT_EQ(sums.expected(fact), (SymbolicValue{5, 1, Origin::kContract}));
}

TEST(SumTable, AddsOnlyWhatStandsSideBySide) {
  SumTable sums;
  const SymbolicValue value{4, 0, Origin::kContract};
  EXPECT_TRUE(sums.add(value, value).has_value());
  EXPECT_FALSE(sums.add(value, {5, 0, Origin::kContract}).has_value());
  for (const Origin other : {Origin::kNothing, Origin::kReduced, Origin::kWord, Origin::kFetched,
                             Origin::kLowered, Origin::kUnknown}) {
    EXPECT_FALSE(sums.add(value, {4, 0, other}).has_value());
    EXPECT_FALSE(sums.add({4, 0, other}, value).has_value());
  }
}

// Call after call into one state: each sum is one term more than the one before. Kept term by term
// these would be 40 GB.
TEST(SumTable, ALongSeriesTakesLittle) {
  SumTable sums;
  constexpr std::uint32_t kCalls = 100'000;
  SymbolicValue sum{0, 0, Origin::kContract};
  for (std::uint32_t v = 1; v < kCalls; ++v) sum = *sums.add(sum, {0, v, Origin::kContract});
  Fact fact{{BufferId(0), 0, 4}, ValueId(0), 0};
  fact.terms = kCalls;
  EXPECT_EQ(sums.expected(fact), sum);
}

TEST(SumTable, ATermIsCountedAsFarAsNumbersGo) {
  SumTable sums;
  SymbolicValue sum{0, 1, Origin::kContract};
  for (int doubled = 0; doubled < 63; ++doubled) {
    const auto twice = sums.add(sum, sum);
    ASSERT_TRUE(twice.has_value());
    EXPECT_NE(*twice, sum);
    sum = *twice;
  }
  EXPECT_FALSE(sums.add(sum, sum).has_value());
}

TEST(SumTable, Texts) {
  SumTable sums;
  const auto text = [&](const std::vector<std::uint32_t>& terms) {
    SymbolicValue sum{7, terms.front(), Origin::kContract};
    for (std::size_t i = 1; i < terms.size(); ++i) {
      sum = *sums.add(sum, {7, terms[i], Origin::kContract});
    }
    return sums.describe(sum);
  };
  EXPECT_EQ(text({1, 0}), "the sum of values 0, 1 from byte 7");
  EXPECT_EQ(text({2, 0, 1}), "the sum of values 0 to 2 from byte 7");
  EXPECT_EQ(text({0, 1, 1}), "the sum of values 0, 1, 1 from byte 7");
  EXPECT_EQ(text({0, 2, 2, 3}), "the sum of values 0, 2, 2, 3 from byte 7");
  EXPECT_EQ(text({1, 3, 5, 7, 9, 11, 13, 15}),
            "the sum of values 1, 3, 5, 7, 9, 11, 13, 15 from byte 7");
  EXPECT_EQ(text({1, 3, 5, 7, 9, 11, 13, 15, 17, 19}),
            "the sum of values 1, 3, 5, 7, 9, 11, 13, 15 and 2 more from byte 7");
}

TEST(SumTable, PayloadsAreAddedPieceByPiece) {
  Random random(4);
  for (int trial = 0; trial < 2000; ++trial) {
    SumTable sums;
    const std::uint64_t bytes = 1 + below(random, 9);
    const auto payload = [&] {
      Pieces pieces;
      for (std::uint64_t left = bytes; left > 0;) {
        const std::uint64_t part = 1 + below(random, left);
        const Origin origin = below(random, 5) == 0 ? Origin::kWord : Origin::kContract;
        // Offsets mostly as far in as the bytes, so that many can be added.
        const std::uint64_t at = bytes - left + (below(random, 6) == 0 ? 1 : 0);
        append(pieces, {{at, below(random, 2), origin}, part});
        left -= part;
      }
      return pieces;
    };
    const Pieces a = payload();
    const Pieces b = payload();
    const std::vector<Byte> sum = bytes_of(add(sums, a, b, OpId(9)));
    const std::vector<Byte> left = bytes_of(a);
    const std::vector<Byte> right = bytes_of(b);
    ASSERT_EQ(sum.size(), bytes);
    for (std::uint64_t i = 0; i < bytes; ++i) {
      const auto value = [](const Byte& byte) {
        return SymbolicValue{std::get<2>(byte), std::get<1>(byte), std::get<0>(byte)};
      };
      const SymbolicValue one =
          sums.add(value(left[i]), value(right[i])).value_or(SymbolicValue{i, 9, Origin::kReduced});
      EXPECT_EQ(sum[i], (Byte{one.origin, one.id, one.offset})) << "trial " << trial;
    }
  }
}

TEST(Values, Texts) {
  Draft d;
  d.add(OpKind::kJoin, 0);
  const Schedule schedule = d.build();
  const auto text = [&](Origin origin) { return describe(schedule, SymbolicValue{3, 0, origin}); };
  EXPECT_EQ(text(Origin::kNothing), "nothing");
  EXPECT_EQ(text(Origin::kContract), "value 0 from byte 3");
  EXPECT_EQ(text(Origin::kSum), "a sum of values, from byte 3");
  EXPECT_EQ(text(Origin::kReduced), "what op 0 (join, rank 0) wrote, from byte 3");
  EXPECT_EQ(text(Origin::kWord), "the word that op 0 (join, rank 0) left, from byte 3");
  EXPECT_EQ(text(Origin::kFetched), "what op 0 (join, rank 0) fetched, from byte 3");
  EXPECT_EQ(text(Origin::kLowered), "zeros that op 0 (join, rank 0) left of its flag");
  EXPECT_EQ(text(Origin::kUnknown),
            "bytes that nothing wrote before op 0 (join, rank 0) read them");
  EXPECT_EQ(text(Origin::kMixed), "bytes of several values");
}

// The first of a kind, up to the limit; errors before warnings; then by code and operation.
TEST(Findings, AreBounded) {
  for (std::size_t limit = 0; limit <= 4; ++limit) {
    for (std::size_t errors = 0; errors <= 5; ++errors) {
      for (std::size_t warnings = 0; warnings <= 5; ++warnings) {
        Findings first(limit);
        Findings second = Findings::like(first);
        const std::size_t bound = std::max<std::size_t>(limit, 1);
        for (std::size_t i = 0; i < errors; ++i) {
          EXPECT_EQ(first.full(), std::min<std::size_t>(i, 2) >= bound);
          (i < 2 ? first : second).error(Code::kSize, OpId(static_cast<std::uint32_t>(9 - i)), "e");
        }
        for (std::size_t i = 0; i < warnings; ++i) {
          EXPECT_EQ(second.takes_warnings(), i < bound);
          second.warning(Code::kDuplicate, OpId(static_cast<std::uint32_t>(9 - i)), "w");
        }
        EXPECT_EQ(first.any_errors(), errors > 0);
        first.merge(std::move(second));
        const Diagnostics all = first.take();
        const std::size_t kept = std::min(errors, bound);
        ASSERT_EQ(all.size(), std::min(kept + warnings, bound));
        for (std::size_t i = 0; i < all.size(); ++i) {
          const bool error = i < kept;
          EXPECT_EQ(all[i].severity, error ? Severity::kError : Severity::kWarning);
          EXPECT_EQ(all[i].message, error ? "e" : "w");
          const std::size_t of_kind = error ? kept : all.size() - kept;
          const std::size_t place = error ? i : i - kept;
          EXPECT_EQ(all[i].op.value, 9 - (of_kind - 1 - place));
        }
      }
    }
  }
}

}  // namespace
}  // namespace slackline::testing
