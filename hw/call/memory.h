// Registered memory of a rank's own, for buffers of calls and one-sided operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "hw/pages.h"
#include "hw/transport.h"

namespace slackline::hw {

class CallPort;

class RegisteredBuffer {
 public:
  RegisteredBuffer() = default;
  RegisteredBuffer(CallPort& port, std::uint64_t bytes);
  ~RegisteredBuffer() { reset(); }
  RegisteredBuffer(RegisteredBuffer&& other) noexcept { *this = std::move(other); }
  RegisteredBuffer& operator=(RegisteredBuffer&& other) noexcept;

  std::span<std::byte> bytes() const { return pages_.bytes(); }
  /// As an array of T's, as many as there is room for.
  template <class T>
  std::span<T> as() const {
    return {reinterpret_cast<T*>(bytes().data()), bytes().size() / sizeof(T)};
  }
  Segment segment() const { return {bytes().data(), bytes().size(), registered_.handle}; }
  const RemoteMemory& remote() const { return registered_.remote; }

 private:
  void reset();

  CallPort* port_ = nullptr;
  Pages pages_;
  LocalMemory registered_;
};

}  // namespace slackline::hw
