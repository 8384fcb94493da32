// Whole pages of memory, which a NIC is shown as one.
#pragma once

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#include "base/error.h"

namespace slackline::hw {

class DevxPages {
 public:
  static constexpr std::size_t kPage = 4096;
  /// Zeros. Throws EnvironmentError if there is not as much memory.
  explicit DevxPages(std::size_t bytes) : bytes_((bytes + kPage - 1) / kPage * kPage) {
    void* const at =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
      throw EnvironmentError(fmt::format("offload: no memory for queues ({} bytes)", bytes_));
    }
    data_ = static_cast<std::uint8_t*>(at);
  }
  ~DevxPages() { munmap(data_, bytes_); }
  DevxPages(const DevxPages&) = delete;
  DevxPages& operator=(const DevxPages&) = delete;

  std::uint8_t* at(std::size_t offset) const { return data_ + offset; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::uint8_t* data_;
  std::size_t bytes_;
};

}  // namespace slackline::hw
