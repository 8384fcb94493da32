// Registered memory of a rank's own, for buffers of calls and one-sided operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "hw/memory/extent.h"
#include "hw/memory/superpages.h"
#include "hw/pages.h"
#include "hw/transport.h"

namespace slackline::hw {

class CallPort;

class RegisteredBuffer {
 public:
  RegisteredBuffer() = default;
  RegisteredBuffer(CallPort& port, std::uint64_t bytes);
  RegisteredBuffer(CallPort& port, const SuperpageWish& wish);
  ~RegisteredBuffer() { reset(); }
  RegisteredBuffer(RegisteredBuffer&& other) noexcept { *this = std::move(other); }
  RegisteredBuffer& operator=(RegisteredBuffer&& other) noexcept;

  std::span<std::byte> bytes() const {
    return superpages_.empty() ? pages_.bytes() : superpages_.bytes();
  }
  /// What an allocator over it has given out. The extent must be within it.
  std::span<std::byte> bytes(const Extent& part) const {
    return bytes().subspan(part.offset, part.bytes);
  }
  /// As an array of T's, as many as there is room for.
  template <class T>
  std::span<T> as() const {
    return {reinterpret_cast<T*>(bytes().data()), bytes().size() / sizeof(T)};
  }
  /// What pages it has got; known of superpages only.
  std::optional<PageFacts> pages() const {
    return superpages_.empty() ? std::nullopt : std::optional(superpages_.facts());
  }
  Segment segment() const { return {bytes().data(), bytes().size(), registered_.handle}; }
  const RemoteMemory& remote() const { return registered_.remote; }

 private:
  void reset();

  CallPort* port_ = nullptr;
  Pages pages_;
  Superpages superpages_;
  LocalMemory registered_;
};

}  // namespace slackline::hw
