// The other way round: what a page does with its columns.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/columns.h"

namespace slackline::testing {

inline std::string bytes_of_base64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<std::uint32_t>(kDigits.find(c));
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held & 0xff);
  }
  return bytes;
}

inline std::string inflated(std::string_view bytes, std::size_t size) {
  std::string out(size + 1, '\0');
  uLongf got = out.size();
  const int status = uncompress(reinterpret_cast<Bytef*>(out.data()), &got,
                                reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  return status == Z_OK && got == size ? out.substr(0, size) : "cannot be inflated";
}

inline std::vector<std::int64_t> values_of(const report::PackedColumn& column) {
  const std::string bytes = inflated(bytes_of_base64(column.base64), column.planes * column.count);
  std::vector<std::int64_t> values(column.count);
  std::int64_t before = 0;
  for (std::size_t i = 0; i < column.count; ++i) {
    std::uint64_t number = 0;
    for (std::uint32_t plane = 0; plane < column.planes; ++plane) {
      const auto byte = static_cast<unsigned char>(bytes[plane * column.count + i]);
      number |= std::uint64_t{byte} << (8 * plane);
    }
    const auto half = static_cast<std::int64_t>(number >> 1);
    values[i] = before + ((number & 1) != 0 ? ~half : half);
    if (column.coding == report::Coding::kDifferences) before = values[i];
  }
  return values;
}

}  // namespace slackline::testing
