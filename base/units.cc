#include "base/units.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/number.h"

namespace slackline::sched {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t scale;
};

// A decimal number split from its unit, exact: value = digits · 10^-decimals.
struct Decimal {
  unsigned __int128 digits = 0;
  int decimals = 0;
  std::string_view unit;
};

[[noreturn]] void bad(std::string_view text, std::string_view what, std::string_view expected) {
  throw InputError(fmt::format("{}: '{}' is not {}", what, text, expected));
}

bool split(std::string_view text, Decimal& out) {
  std::size_t i = 0;
  bool any = false;
  bool point = false;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c >= '0' && c <= '9') {
      if (out.digits > (static_cast<unsigned __int128>(1) << 96)) return false;
      out.digits = out.digits * 10 + static_cast<unsigned>(c - '0');
      out.decimals += point ? 1 : 0;
      any = true;
    } else if (c == '.' && !point) {
      point = true;
    } else {
      break;
    }
  }
  if (!any || out.decimals > 18) return false;
  out.unit = text.substr(i);
  return true;
}

unsigned __int128 power_of_ten(int exponent) {
  unsigned __int128 result = 1;
  for (int i = 0; i < exponent; ++i) result *= 10;
  return result;
}

// value · scale, rounded to nearest; false if it does not fit int64 or `exact` is broken.
bool scaled(const Decimal& decimal, std::uint64_t scale, bool exact, std::uint64_t& out) {
  if (decimal.digits >= static_cast<unsigned __int128>(1) << 80) return false;
  if (decimal.digits != 0 && scale > (~static_cast<unsigned __int128>(0) / decimal.digits)) {
    return false;
  }
  const unsigned __int128 product = decimal.digits * scale;
  const unsigned __int128 divisor = power_of_ten(decimal.decimals);
  if (exact && product % divisor != 0) return false;
  const unsigned __int128 value = (product + divisor / 2) / divisor;
  if (value > static_cast<unsigned __int128>(std::numeric_limits<std::int64_t>::max())) {
    return false;
  }
  out = static_cast<std::uint64_t>(value);
  return true;
}

template <std::size_t n>
bool with_unit(std::string_view text, const std::array<Unit, n>& units, bool exact,
               std::uint64_t& out) {
  Decimal decimal;
  if (!split(text, decimal)) return false;
  for (const Unit& unit : units) {
    if (unit.name == decimal.unit) return scaled(decimal, unit.scale, exact, out);
  }
  return false;
}

constexpr std::array<Unit, 8> kByteUnits = {{{"", 1},
                                             {"B", 1},
                                             {"KB", 1'000},
                                             {"MB", 1'000'000},
                                             {"GB", 1'000'000'000},
                                             {"KiB", 1ull << 10},
                                             {"MiB", 1ull << 20},
                                             {"GiB", 1ull << 30}}};
constexpr std::array<Unit, 5> kTimeUnits = {
    {{"ps", 1}, {"ns", 1'000}, {"us", 1'000'000}, {"ms", 1'000'000'000}, {"s", 1'000'000'000'000}}};
constexpr std::array<Unit, 8> kRateUnits = {{{"bps", 1},
                                             {"Kbps", 1'000},
                                             {"Mbps", 1'000'000},
                                             {"Gbps", 1'000'000'000},
                                             {"Tbps", 1'000'000'000'000},
                                             {"KBps", 8'000},
                                             {"MBps", 8'000'000},
                                             {"GBps", 8'000'000'000}}};

// The largest unit, from the listed ones, that divides the value.
template <std::size_t n>
std::string in_largest_unit(std::uint64_t value, const std::array<Unit, n>& units,
                            std::initializer_list<std::string_view> candidates) {
  const Unit* best = nullptr;
  for (const Unit& unit : units) {
    for (std::string_view candidate : candidates) {
      if (unit.name == candidate && value % unit.scale == 0 && value != 0 &&
          (best == nullptr || unit.scale > best->scale)) {
        best = &unit;
      }
    }
  }
  return best == nullptr ? fmt::format("{}", value)
                         : fmt::format("{}{}", value / best->scale, best->name);
}

// With four digits, in the largest unit of which this is one at least. What these digits round up
// to a thousand of a unit is one of the next: 999.96 ns is 1 us.
std::string engineering(double value, std::initializer_list<std::pair<double, const char*>> units) {
  const char* above = nullptr;  // the next larger unit
  for (const auto& [scale, unit] : units) {
    if (std::abs(value) >= scale) {
      const std::string number = fmt::format("{:.4g}", value / scale);
      if (above != nullptr && (number == "1000" || number == "-1000")) {
        return fmt::format("{}1 {}", value < 0 ? "-" : "", above);
      }
      return fmt::format("{} {}", number, unit);
    }
    above = unit;
  }
  const auto& last = *(units.end() - 1);
  return fmt::format("{:.4g} {}", value / last.first, last.second);
}

}  // namespace

std::uint64_t parse_bytes(std::string_view text, std::string_view what) {
  std::uint64_t bytes = 0;
  if (!with_unit(text, kByteUnits, true, bytes)) {
    bad(text, what,
        "a size: expected a whole number of bytes up to 2^63-1, alone or with B, KB, MB, GB, KiB, "
        "MiB or GiB, such as 4096 or 1MiB");
  }
  return bytes;
}

Time parse_time(std::string_view text, std::string_view what) {
  std::uint64_t picoseconds = 0;
  if (text == "0") return Time{0};
  if (!with_unit(text, kTimeUnits, false, picoseconds)) {
    bad(text, what,
        "a time: expected a number of at least 0 with ps, ns, us, ms or s, up to 106 days, as "
        "1.5us");
  }
  return Time{static_cast<std::int64_t>(picoseconds)};
}

Rate parse_rate(std::string_view text, std::string_view what) {
  std::uint64_t bits = 0;
  if (!with_unit(text, kRateUnits, false, bits) || bits == 0) {
    bad(text, what,
        "a rate: expected a number above 0 with bps, Kbps, Mbps, Gbps, Tbps, KBps, MBps or GBps, "
        "up "
        "to 9e9Gbps, such as 100Gbps");
  }
  return Rate{bits};
}

std::uint64_t parse_count(std::string_view text, std::string_view what, std::uint64_t low,
                          std::uint64_t high) {
  const auto value = base::whole_number<std::uint64_t>(text);
  if (!value || *value < low || *value > high) {
    bad(text, what, fmt::format("a whole number from {} to {}", low, high));
  }
  return *value;
}

std::string format_bytes(std::uint64_t bytes) {
  return in_largest_unit(bytes, kByteUnits, {"GiB", "MiB", "KiB"});
}

std::string format_time(Time time) {
  if (time == kForever) return "forever";
  if (time.count() == 0) return "0";
  return in_largest_unit(static_cast<std::uint64_t>(time.count()), kTimeUnits,
                         {"s", "ms", "us", "ns", "ps"});
}

std::string format_rate(Rate rate) {
  return in_largest_unit(rate.bits_per_second, kRateUnits, {"Gbps", "Mbps", "Kbps", "bps"});
}

std::string human_seconds(double time_s) {
  if (std::isinf(time_s)) return "never";
  if (time_s == 0) return "0 s";
  return engineering(time_s, {{1.0, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}, {1e-12, "ps"}});
}

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (value /= 1024; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return fmt::format("{:.4g} {}", value, kUnits[unit]);
}

std::string human_bytes_per_second(double bytes_per_s) {
  return engineering(bytes_per_s * 8,
                     {{1e12, "Tb/s"}, {1e9, "Gb/s"}, {1e6, "Mb/s"}, {1e3, "Kb/s"}, {1.0, "b/s"}});
}

}  // namespace slackline::sched
