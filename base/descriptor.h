// A file descriptor that is closed with its owner.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace slackline::sched {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  ~Descriptor() { close(); }

  /// −1: none.
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  /// Gives it away, open.
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1) {
    close();
    fd_ = fd;
  }
  /// 0, or why what was written may be lost.
  int close() {
    const int fd = release();
    return fd >= 0 && ::close(fd) != 0 ? errno : 0;
  }

 private:
  int fd_ = -1;
};

}  // namespace slackline::sched
