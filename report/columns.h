// Columns of whole numbers, as the page of a report reads them.
//
// A column is a sequence of whole numbers of less than 2^52 in magnitude. Where one value is near
// the one before, differences are kept in place of values. Negative numbers change places with
// positive ones (0, −1, 1, −2, … become 0, 1, 2, 3, …). Then the lowest bytes of all numbers stand
// together, then the next higher bytes, as many as the largest number needs. These bytes are
// compressed (zlib) and written in base 64. A column of n numbers and p planes is so p · n bytes
// before compression.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace slackline::report {

enum class Coding : std::uint8_t { kValues, kDifferences };

struct PackedColumn {
  std::string name;  // of letters, digits, '.' and '_'; unique in a report
  std::uint64_t count = 0;
  std::uint32_t planes = 0;  // 0 to 7; 0: all numbers are 0
  Coding coding = Coding::kValues;
  std::int64_t least = 0;  // of the values; both 0 without any
  std::int64_t most = 0;
  std::string base64;
};

/// Throws Unsupported, naming the column, if a value, or a difference to be kept, is 2^52 or more.
PackedColumn packed(std::string name, std::span<const std::int64_t> values, Coding coding);

/// The columns of one report, in the order in which they were added.
class Columns {
 public:
  void add(std::string name, std::span<const std::int64_t> values,
           Coding coding = Coding::kValues) {
    all_.push_back(packed(std::move(name), values, coding));
  }
  std::span<const PackedColumn> all() const { return all_; }

 private:
  std::vector<PackedColumn> all_;
};

}  // namespace slackline::report
