// Units live in types: time is in picoseconds, rates are in bits per second, probabilities in parts
// per million. Text forms are read and written here and nowhere else.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>
#include <ratio>
#include <string>
#include <string_view>

namespace slackline::sched {

/// A span of time, exact to a picosecond; at most about 106 days.
using Time = std::chrono::duration<std::int64_t, std::pico>;

/// The bundle delay of a bundle that waits for ever: only a full bundle or a flush sends it.
inline constexpr Time kForever{std::numeric_limits<std::int64_t>::max()};

constexpr double seconds(Time time) { return static_cast<double>(time.count()) * 1e-12; }

/// A rate of data, in bits per second. Zero means "not limited" where a comment says so.
struct Rate {
  std::uint64_t bits_per_second = 0;
  constexpr double bytes_per_second() const { return static_cast<double>(bits_per_second) / 8.0; }
  friend constexpr auto operator<=>(Rate, Rate) = default;
};

/// A probability in parts per million, 0 … 1,000,000.
struct PartsPerMillion {
  std::uint32_t value = 0;
  friend constexpr auto operator<=>(PartsPerMillion, PartsPerMillion) = default;
};

/// Reads a size in bytes: a whole number, or a decimal one with KiB, MiB, GiB, KB, MB, GB or B that
/// comes out whole. Throws InputError, naming `what`, on anything else or above 2^63 − 1.
std::uint64_t parse_bytes(std::string_view text, std::string_view what);

/// Reads a time ≥ 0: a decimal number with ps, ns, us, ms or s (a bare 0 needs no unit).
/// Rounds to the nearest picosecond. Throws InputError, naming `what`.
Time parse_time(std::string_view text, std::string_view what);

/// Reads a rate > 0: a decimal number with Kbps, Mbps, Gbps, Tbps or KBps, MBps, GBps.
/// Throws InputError, naming `what`.
Rate parse_rate(std::string_view text, std::string_view what);

/// Reads a whole number in [low, high]. Throws InputError, naming `what` and the range.
std::uint64_t parse_count(std::string_view text, std::string_view what, std::uint64_t low,
                          std::uint64_t high);

/// The shortest exact text that the readers above read back: "1MiB", "1500ns", "100Gbps".
std::string format_bytes(std::uint64_t bytes);
std::string format_time(Time time);
std::string format_rate(Rate rate);

/// For people: "62.08 ms", three to four significant digits. Not read back.
std::string human_seconds(double time_s);
/// For people: "256 MiB", "1.5 KiB", "17 B".
std::string human_bytes(std::uint64_t bytes);
/// For people: "34.6 Gb/s".
std::string human_bytes_per_second(double bytes_per_s);

}  // namespace slackline::sched
