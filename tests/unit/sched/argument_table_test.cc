// Arguments in cells: what is read is what was written, whichever numbers are there.
#include "sched/argument_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace slackline::sched {
namespace {

// Absent, of the lower half, of the upper half, of both.
std::uint64_t number(std::mt19937_64& random) {
  const std::uint64_t low = random() | 1;
  switch (random() % 4) {
    case 0:
      return 0;
    case 1:
      return low & 0xffffffffu;
    case 2:
      return low << 32;
    default:
      return low;
  }
}

Operand operand(std::mt19937_64& random) {
  Operand drawn;
  drawn.from = static_cast<Operand::From>(random() % 4);
  if (random() % 2 == 0) drawn.op = OpId(static_cast<std::uint32_t>(random()) >> 1);
  drawn.value = number(random);
  drawn.addend = number(random);
  drawn.modulus = number(random);
  return drawn;
}

OpArguments arguments(std::mt19937_64& random) {
  OpArguments drawn;
  drawn.duration = Time{static_cast<std::int64_t>(number(random))};
  for (Operand* of : {&drawn.operand, &drawn.compare, &drawn.address_offset}) {
    if (random() % 2 == 0) *of = operand(random);
  }
  drawn.compare_mask = ~number(random);
  drawn.expect = static_cast<Expect>(random() % 2);
  return drawn;
}

TEST(ArgumentTable, HoldsWhatWasPutIntoCells) {
  std::mt19937_64 random(5);
  OpArguments timed;
  timed.duration = Time{7'000'000};
  std::vector<OpArguments> written = {{}, timed};
  for (int i = 0; i < 20'000; ++i) written.push_back(arguments(random));
  std::vector<std::uint32_t> cells;
  std::vector<std::uint32_t> places;
  for (const OpArguments& one : written) {
    const ArgumentCells packed(one);
    EXPECT_EQ(packed.names_op(),
              one.operand.op.valid() || one.compare.op.valid() || one.address_offset.op.valid());
    ASSERT_EQ(packed.all().size(), cells_of(packed.all().front()));
    places.push_back(static_cast<std::uint32_t>(cells.size()));
    cells.insert(cells.end(), packed.all().begin(), packed.all().end());
  }
  const ArgumentTable table(cells);
  std::size_t i = 0;
  for (const OpArguments& read : table) {
    ASSERT_TRUE(read == written[i]) << i;
    ASSERT_TRUE(table[places[i]] == written[i]) << i;
    if (const auto duration = table.only_duration(places[i])) {
      timed.duration = *duration;
      ASSERT_TRUE(timed == written[i]) << i;
    }
    ++i;
  }
  EXPECT_EQ(i, written.size());
  EXPECT_EQ(table.only_duration(places[1]), Time{7'000'000});
  EXPECT_TRUE(ArgumentTable().empty());
}

TEST(ArgumentTable, TakesLittleRoomForWhatIsUsual) {
  const auto cells = [](const OpArguments& of) { return ArgumentCells(of).all().size(); };
  OpArguments literal;
  literal.operand = {Operand::From::kLiteral, {}, 7};
  EXPECT_EQ(cells({}), 1u);
  EXPECT_EQ(cells(literal), 2u);
  OpArguments all;
  constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  all.duration = Time{-1};
  all.compare_mask = 0;
  all.operand = all.compare =
      all.address_offset = {Operand::From::kResult, OpId(1), kAll, kAll, kAll};
  EXPECT_EQ(cells(all), 26u);
}

TEST(ArgumentTable, ADurationAloneHasItsOwnWay) {
  for (const std::int64_t picoseconds : {0LL, 1LL, 38'000LL, 1LL << 32, (1LL << 40) + 5, -3LL}) {
    OpArguments timed;
    timed.duration = Time{picoseconds};
    const ArgumentCells whole(timed);
    const ArgumentCells alone(timed.duration);
    EXPECT_TRUE(
        std::equal(whole.all().begin(), whole.all().end(), alone.all().begin(), alone.all().end()))
        << picoseconds;
  }
}

// In the order operand, compare, address, and no other cell.
TEST(ArgumentTable, NamedOperationsAreRenamedWhereTheyStand) {
  std::mt19937_64 random(6);
  for (int i = 0; i < 2'000; ++i) {
    OpArguments expected = arguments(random);
    const ArgumentCells packed(expected);
    std::vector<std::uint32_t> cells(packed.all().begin(), packed.all().end());
    for_each_named(cells.data(), [](std::uint32_t& op) { op ^= 0x55u; });
    for (Operand* of : {&expected.operand, &expected.compare, &expected.address_offset}) {
      if (of->op.valid()) of->op.value ^= 0x55u;
    }
    ASSERT_TRUE(ArgumentTable(cells)[0] == expected);
  }
}

}  // namespace
}  // namespace slackline::sched
