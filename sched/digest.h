// The name of a schedule by content: XXH3-128 over a canonical, versioned, little-endian,
// length-prefixed encoding. Names are left out; steps are in, since delay plans and step slack
// speak of them. The same digest is the same schedule, whatever ran it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace slackline::sched {

class Schedule;

/// 128 bits, shown as 32 hexadecimal digits.
struct Digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend constexpr auto operator<=>(Digest, Digest) = default;
};

std::string to_string(Digest digest);
/// Nothing if `text` is not 32 hexadecimal digits.
std::optional<Digest> digest_from(std::string_view text);

/// Hashes little-endian numbers and byte strings in the order they are added.
class DigestWriter {
 public:
  DigestWriter();
  ~DigestWriter();
  DigestWriter(const DigestWriter&) = delete;
  DigestWriter& operator=(const DigestWriter&) = delete;

  void add_u8(std::uint8_t value) { add_bytes(&value, sizeof value); }
  void add_u32(std::uint32_t value) { add_bytes(&value, sizeof value); }
  void add_u64(std::uint64_t value) { add_bytes(&value, sizeof value); }
  void add_double(double value) { add_bytes(&value, sizeof value); }
  void add_text(std::string_view text);  // length first
  Digest finish();

  /// One after the other, as add_bytes() has each: a look at how much room is left for all of them.
  template <class... Values>
  void add_all(const Values&... values) {
    constexpr std::size_t kCount = (sizeof(Values) + ...);
    if (used_ + kCount > kBlock) flush();
    unsigned char* at = block_.get() + used_;
    ((std::memcpy(at, &values, sizeof values), at += sizeof values), ...);
    used_ += kCount;
  }
  /// At most kBlock bytes as they stand in memory: little-endian, without padding.
  void add_bytes(const void* bytes, std::size_t count) {
    if (used_ + count > kBlock) flush();
    std::memcpy(block_.get() + used_, bytes, count);
    used_ += count;
  }

 private:
  static constexpr std::size_t kBlock = 1 << 16;
  struct State;

  void flush();

  std::unique_ptr<State> state_;
  std::unique_ptr<unsigned char[]> block_;
  std::size_t used_ = 0;
};

/// The version of the canonical encoding; part of it.
inline constexpr std::uint32_t kDigestVersion = 1;

Digest digest_of(const Schedule& schedule);

}  // namespace slackline::sched
