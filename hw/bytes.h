// Plain values in messages between ranks of one kind of machine: as they stand in memory.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"

namespace slackline::hw {

using ByteWriter = base::ByteWriter<>;

/// Bytes that are not what they should be. The text says what is wrong with them.
class BadBytes : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

/// More than any time of a run: a century.
inline constexpr double kMostSeconds = 100.0 * 366 * 86'400;
/// More than any time-out: a century, too, which no sum of a few overflows.
inline constexpr std::chrono::milliseconds kMostTime{std::int64_t{100} * 366 * 86'400 * 1000};

/// Reads what a ByteWriter wrote, whoever sent it: throws BadBytes where there is less, and for a
/// value that its type does not have or its reader does not expect.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : plain_(bytes) {}

  /// Of which all bits may be anything.
  template <class T>
  T get() {
    static_assert(!std::is_same_v<T, bool>, "flag() looks whether it is one");
    static_assert(!std::is_enum_v<T>, "choice() looks whether there is such an enumerator");
    static_assert(!std::is_floating_point_v<T>, "seconds() looks whether it is a number");
    return plain_.get<T>();
  }
  bool flag() {
    const auto value = get<std::uint8_t>();
    require(value <= 1, "a flag that is neither 0 nor 1");
    return value != 0;
  }
  /// An enumerator from 0 to `last`.
  template <class E>
  E choice(E last) {
    static_assert(std::is_unsigned_v<std::underlying_type_t<E>>);
    const auto value = get<std::underlying_type_t<E>>();
    require(value <= static_cast<std::underlying_type_t<E>>(last), "a choice that there is not");
    return static_cast<E>(value);
  }
  /// From 0 to kMostSeconds.
  double seconds() {
    const double value = seconds_or_never();
    require(std::isfinite(value), "a time that is none");
    return value;
  }
  /// …or infinite: it never came.
  double seconds_or_never() {
    const auto value = plain_.get<double>();
    require(is_time(value), "a time that is none");
    return value;
  }
  /// From 0 to `most`.
  std::chrono::milliseconds time(std::chrono::milliseconds most = kMostTime) {
    const auto value = get<std::int64_t>();
    require(value >= 0 && value <= most.count(), "a time that is none");
    return std::chrono::milliseconds(value);
  }
  template <class T>
  std::vector<T> list(std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
    std::vector<T> values = plain_.list<T>();
    require(values.size() <= most, "more of them than there can be");
    return values;
  }
  std::string text(std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
    const std::vector<char> chars = list<char>(most);
    return {chars.begin(), chars.end()};
  }
  /// All that is left.
  std::span<const std::byte> rest() { return plain_.rest(); }

  /// Throws if it does not hold: `otherwise` is said of the bytes.
  static void require(bool holds, const char* otherwise) {
    if (!holds) throw BadBytes(otherwise);
  }
  static bool is_time(double seconds) {
    return seconds >= 0 && (seconds <= kMostSeconds || std::isinf(seconds));
  }
  /// Throws if there is more.
  void end() const { require(plain_.at_end(), "more bytes than it has"); }

 private:
  struct CutShort : BadBytes {
    CutShort() : BadBytes("cut short") {}
  };

  base::BasicByteReader<CutShort> plain_;
};

/// What rank `from` sent, read by read(reader) to its last byte. Throws EnvironmentError, naming
/// the rank and `what` it should have sent, for what is no such.
template <class Read>
auto read_from(std::uint32_t from, std::string_view what, std::span<const std::byte> bytes,
               Read&& read) {
  try {
    ByteReader reader(bytes);
    auto value = read(reader);
    reader.end();
    return value;
  } catch (const BadBytes& error) {
    throw EnvironmentError(fmt::format("rank {} sent what is no {}: {}", from, what, error.what()));
  }
}

}  // namespace slackline::hw
