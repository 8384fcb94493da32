// Plain values for another process on the same kind of machine: as they stand in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace slackline::base {

/// `Bytes`: a vector of bytes, or a string.
template <class Bytes = std::vector<std::byte>>
class ByteWriter {
 public:
  template <class T>
  void add(const T& value) {
    add_all(std::span<const T>(&value, 1));
  }
  /// Without their number.
  template <class T>
  void add_all(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto bytes = std::as_bytes(values);
    if constexpr (std::is_same_v<Bytes, std::string>) {
      bytes_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    } else {
      bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
  }
  /// Their number, and they.
  template <class T>
  void add_list(std::span<const T> values) {
    add(std::uint64_t{values.size()});
    add_all(values);
  }
  void add_text(std::string_view text) { add_list(std::span<const char>(text)); }

  Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

/// Reads what a ByteWriter wrote; throws a `CutShort` where there is less.
template <class CutShort>
class BasicByteReader {
 public:
  explicit BasicByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  explicit BasicByteReader(std::string_view bytes) : bytes_(std::as_bytes(std::span(bytes))) {}

  template <class T>
  T get() {
    T value;
    copy(&value, 1);
    return value;
  }
  template <class T>
  std::vector<T> list() {
    const auto count = get<std::uint64_t>();
    if (count > bytes_.size() / sizeof(T)) throw CutShort();
    std::vector<T> values(count);
    if (count != 0) copy(values.data(), count);
    return values;
  }
  std::string text() {
    const std::vector<char> chars = list<char>();
    return {chars.begin(), chars.end()};
  }
  /// What is left, which is read with that.
  std::span<const std::byte> rest() { return std::exchange(bytes_, {}); }
  bool at_end() const { return bytes_.empty(); }

 private:
  template <class T>
  void copy(T* to, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (count > bytes_.size() / sizeof(T)) throw CutShort();
    std::memcpy(static_cast<void*>(to), bytes_.data(), count * sizeof(T));
    bytes_ = bytes_.subspan(count * sizeof(T));
  }

  std::span<const std::byte> bytes_;
};

}  // namespace slackline::base
