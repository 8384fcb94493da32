#include "report/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "base/error.h"
#include "report/base64.h"
#include "report/deflate.h"

namespace slackline::report {
namespace {

// The page's numbers are exact below this.
constexpr std::int64_t kLimit = std::int64_t{1} << 52;

std::uint64_t folded(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

}  // namespace

PackedColumn packed(std::string name, std::span<const std::int64_t> values, Coding coding) {
  PackedColumn column;
  column.name = std::move(name);
  column.count = values.size();
  column.coding = coding;
  if (!values.empty()) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    column.least = *least;
    column.most = *most;
  }
  if (column.least <= -kLimit || column.most >= kLimit ||
      (coding == Coding::kDifferences && column.most - column.least >= kLimit)) {
    throw Unsupported(fmt::format("a report's numbers are below 2^52: {} is from {} to {}",
                                  column.name, column.least, column.most));
  }
  std::vector<std::uint64_t> numbers(values.size());
  std::uint64_t bits = 0;
  std::int64_t before = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    numbers[i] = folded(values[i] - before);
    if (coding == Coding::kDifferences) before = values[i];
    bits |= numbers[i];
  }
  while (column.planes < 8 && (bits >> (8 * column.planes)) != 0) ++column.planes;
  std::string bytes(column.planes * values.size(), '\0');
  for (std::uint32_t plane = 0; plane < column.planes; ++plane) {
    char* out = bytes.data() + plane * values.size();
    for (std::size_t i = 0; i < values.size(); ++i) {
      out[i] = static_cast<char>(numbers[i] >> (8 * plane) & 0xff);
    }
  }
  column.base64 = base64(deflated(bytes));
  return column;
}

}  // namespace slackline::report
