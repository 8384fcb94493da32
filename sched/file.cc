#include "sched/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "sched/error.h"
#include "sched/import/goal.h"
#include "sched/import/json.h"
#include "sched/text.h"

namespace slackline::sched {
namespace {

constexpr std::uint64_t kMaxFile = 4ull << 30;
constexpr std::size_t kChunk = 1 << 20;

[[noreturn]] void fail(const std::string& path, std::string_view doing, int error) {
  throw InputError(
      fmt::format("{}: cannot {}: {}; expected {}", path, doing, std::strerror(error),
                  doing == "write" ? "a place that can be written to" : "a readable file"));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  /// 0, or why what was written may be lost.
  int close() {
    const int fd = std::exchange(fd_, -1);
    return fd >= 0 && ::close(fd) != 0 ? errno : 0;
  }

 private:
  int fd_;
};

// 0, or the reason why not all was written.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), std::min(bytes.size(), kChunk));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : EIO;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

// Where a chain of symbolic links leads, so that renaming replaces the file and not the link.
std::string target_of(const std::string& path) {
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string target = resolved;
  std::free(resolved);
  return target;
}

// With its slash; empty for the current one.
std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

}  // namespace

std::string read_file(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) fail(path, "open", errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail(path, "read", errno);
  if (S_ISDIR(status.st_mode)) fail(path, "read", EISDIR);
  std::string bytes;
  const auto too_long = [&] {
    throw InputError(fmt::format("{}: the file is too long; expected at most 4 GiB", path));
  };
  if (S_ISREG(status.st_mode)) {
    if (static_cast<std::uint64_t>(status.st_size) > kMaxFile) too_long();
    bytes.reserve(static_cast<std::size_t>(status.st_size) + 1);
  }
  std::size_t used = 0;
  for (;;) {
    bytes.resize(std::max(bytes.capacity(), used + 4096));
    const ssize_t n = ::read(file.get(), bytes.data() + used, bytes.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path, "read", errno);
    if (n == 0) break;
    used += static_cast<std::size_t>(n);
    if (used > kMaxFile) too_long();
    if (used == bytes.size()) bytes.reserve(2 * used);
  }
  bytes.resize(used);
  return bytes;
}

void write_file_aside(const std::string& path, std::string_view bytes) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail(path, "write", EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.valid()) fail(path, "write", errno);
    if (const int error = write_all(file.get(), bytes)) fail(path, "write", error);
    return;
  }
  const std::string target = exists ? target_of(path) : path;
  const std::string folder = folder_of(target);
  // A name of its own length, since the target's may be as long as names can be.
  std::string aside;
  int fd = -1;
  for (int attempt = 0; attempt < 10'000; ++attempt) {
    aside = fmt::format("{}.slackline-{}-{}.tmp", folder, ::getpid(), attempt);
    fd = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) break;
  }
  if (fd < 0) fail(path, "write", errno);
  Descriptor file(fd);
  int error = 0;
  if (exists && ::fchmod(file.get(), status.st_mode & 0777) != 0) error = errno;
  if (error == 0) error = write_all(file.get(), bytes);
  const int closed = file.close();
  if (error == 0) error = closed;
  if (error == 0 && ::rename(aside.c_str(), target.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(aside.c_str());
    fail(path, "write", error);
  }
}

void require_writable(const std::string& path) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) fail(path, "write", errno);
  if (exists && S_ISDIR(status.st_mode)) fail(path, "write", EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    if (::access(path.c_str(), W_OK) != 0) fail(path, "write", errno);
    return;
  }
  const std::string folder = folder_of(exists ? target_of(path) : path);
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) {
    fail(path, "write", errno);
  }
}

Schedule load_schedule(const std::string& path) {
  const std::string bytes = read_file(path);
  if (looks_like_text(bytes)) return read_text(bytes, path);
  const std::size_t start = bytes.find_first_not_of(" \t\r\n");
  if (start != std::string::npos && bytes[start] == '{') return read_json(bytes, path);
  if (looks_like_goal(bytes)) return read_goal(bytes, path);
  throw InputError(fmt::format(
      "{}: not a schedule; expected Slackline's text ('slackline schedule 1'), its JSON, or GOAL "
      "('num_ranks')",
      path));
}

}  // namespace slackline::sched
