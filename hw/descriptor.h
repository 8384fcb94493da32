// A file descriptor that is closed by itself.
#pragma once

#include <unistd.h>

#include <utility>

namespace slackline::hw {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  ~Descriptor() { reset(); }

  /// −1: none.
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  /// Gives it away, open.
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1) {
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

}  // namespace slackline::hw
