// The arguments of operations, one behind the other, each in as few 32-bit cells as it needs: few
// operations have more than an operand or two, and few numbers have more than 32 bits. An
// OpArguments takes 120 bytes; these are 8 to 28 mostly.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>

#include "sched/op.h"

namespace slackline::sched {

/// What the first cell of an entry says: which cells follow, in the order of these bits. A number
/// is absent if it is 0; else its lower or its upper half may be. Of the mask the complement is
/// kept.
enum class ArgumentBit : std::uint8_t {
  kOperandOp,
  kCompareOp,
  kAddressOp,
  kDuration,
  kMask = kDuration + 2,
  kOperand = kMask + 2,
  kCompare = kOperand + 6,
  kAddress = kCompare + 6,
  kOperandFrom = kAddress + 6,
  kCompareFrom = kOperandFrom + 2,
  kAddressFrom = kCompareFrom + 2,
  kExpect = kAddressFrom + 2,  // the last of 32
};
inline constexpr std::uint32_t kOperandOps = 7;  // the bits of cells that name operations
inline constexpr std::uint32_t kArgumentCells = (1u << 25) - 1;  // the bits of all cells
static_assert(static_cast<int>(ArgumentBit::kOperandFrom) == 25 &&
              static_cast<int>(ArgumentBit::kExpect) == 31);

/// How many cells an entry has that begins so.
constexpr std::uint32_t cells_of(std::uint32_t first) {
  return 1 + static_cast<std::uint32_t>(std::popcount(first & kArgumentCells));
}

/// The cells of one operation's arguments.
class ArgumentCells {
 public:
  explicit ArgumentCells(const OpArguments& arguments);
  /// Of arguments that are a duration alone.
  explicit ArgumentCells(Time duration);

  std::span<const std::uint32_t> all() const { return std::span(cells_).first(count_); }
  bool names_op() const { return (cells_[0] & kOperandOps) != 0; }

 private:
  void put(std::uint64_t number, int bit);
  void put(const Operand& operand, ArgumentBit bit, ArgumentBit from);

  std::array<std::uint32_t, 26> cells_;
  std::uint32_t count_ = 1;
};

/// Calls `visit(cell)` for the cell of each operation that the entry names which begins at `entry`.
template <class Visit>
void for_each_named(std::uint32_t* entry, const Visit& visit) {
  const int named = std::popcount(*entry & kOperandOps);
  for (int i = 0; i < named; ++i) visit(entry[1 + i]);
}

/// Reads such cells, which must outlive it. An entry goes by the place of its first cell.
class ArgumentTable {
 public:
  ArgumentTable() = default;
  explicit ArgumentTable(std::span<const std::uint32_t> cells) : cells_(cells) {}

  bool empty() const { return cells_.empty(); }
  std::span<const std::uint32_t> cells() const { return cells_; }
  OpArguments operator[](std::uint32_t place) const { return read(cells_.data() + place); }
  /// The duration of an entry that has nothing else and whose duration fits into 32 bits.
  std::optional<Time> only_duration(std::uint32_t place) const {
    const std::uint32_t* const cell = cells_.data() + place;
    if (*cell != 1u << static_cast<int>(ArgumentBit::kDuration)) return std::nullopt;
    return Time{cell[1]};
  }

  /// Goes through the entries.
  class Iterator {
   public:
    using value_type = OpArguments;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    explicit Iterator(const std::uint32_t* at) : at_(at) {}
    OpArguments operator*() const { return read(at_); }
    Iterator& operator++() {
      at_ += cells_of(*at_);
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(Iterator, Iterator) = default;

   private:
    const std::uint32_t* at_ = nullptr;
  };
  Iterator begin() const { return Iterator(cells_.data()); }
  Iterator end() const { return Iterator(cells_.data() + cells_.size()); }

 private:
  static OpArguments read(const std::uint32_t* cell);

  std::span<const std::uint32_t> cells_;
};

inline OpArguments ArgumentTable::read(const std::uint32_t* cell) {
  const std::uint32_t first = *cell++;
  const auto has = [first](int bit) { return (first >> bit & 1) != 0; };
  const auto number = [&](int bit) {
    std::uint64_t value = 0;
    if (has(bit)) value = *cell++;
    if (has(bit + 1)) value |= std::uint64_t{*cell++} << 32;
    return value;
  };
  OpArguments read;
  const auto op = [&](Operand& operand, ArgumentBit bit) {
    if (has(static_cast<int>(bit))) operand.op = OpId(*cell++);
  };
  if ((first & kOperandOps) != 0) {
    op(read.operand, ArgumentBit::kOperandOp);
    op(read.compare, ArgumentBit::kCompareOp);
    op(read.address_offset, ArgumentBit::kAddressOp);
  }
  read.duration = Time{static_cast<std::int64_t>(number(static_cast<int>(ArgumentBit::kDuration)))};
  read.compare_mask = ~number(static_cast<int>(ArgumentBit::kMask));
  const auto operand = [&](Operand& into, ArgumentBit numbers, ArgumentBit from) {
    into.from = static_cast<Operand::From>(first >> static_cast<int>(from) & 3);
    const int bit = static_cast<int>(numbers);
    if ((first >> bit & 63) == 0) return;
    into.value = number(bit);
    into.addend = number(bit + 2);
    into.modulus = number(bit + 4);
  };
  operand(read.operand, ArgumentBit::kOperand, ArgumentBit::kOperandFrom);
  operand(read.compare, ArgumentBit::kCompare, ArgumentBit::kCompareFrom);
  operand(read.address_offset, ArgumentBit::kAddress, ArgumentBit::kAddressFrom);
  read.expect = static_cast<Expect>(first >> static_cast<int>(ArgumentBit::kExpect));
  return read;
}

}  // namespace slackline::sched
