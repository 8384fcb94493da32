#include "base/aside.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "base/error.h"
#include "base/write_all.h"

namespace slackline::sched {
namespace {

constexpr std::size_t kChunk = 1 << 20;
constexpr int kMostLinks = 40;  // as the kernel has it
constexpr int kMostNames = 10'000;

}  // namespace

void fail_as(int error) { throw SystemError{error}; }

void fail_to_write(const std::string& path, std::string_view why) {
  throw InputError(
      fmt::format("{}: cannot write: {}; expected a place that can be written to", path, why));
}

void fail_to_write(const std::string& path, const SystemError& error) {
  fail_to_write(path, std::strerror(error.number));
}

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

std::string or_current(const std::string& folder) { return folder.empty() ? "." : folder; }

std::string followed(std::string path) {
  for (int link = 0; link < kMostLinks; ++link) {
    char named[PATH_MAX];
    const ssize_t length = ::readlink(path.c_str(), named, sizeof named);
    if (length < 0) return path;  // it is no link
    const std::string target(named, static_cast<std::size_t>(length));
    path = target.starts_with('/') ? target : folder_of(path) + target;
  }
  fail_as(ELOOP);
}

std::optional<struct stat> status_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return status;
  if (errno != ENOENT) fail_as(errno);
  return std::nullopt;
}

void require_writable_file(const std::string& path, const struct stat& status) {
  if (S_ISREG(status.st_mode) && (status.st_mode & 0222) == 0) {
    fail_to_write(path, fmt::format("it is write-protected (mode {:03o})", status.st_mode & 0777));
  }
  if (::access(path.c_str(), W_OK) != 0) fail_as(errno);
}

void require_entries_in(const std::string& folder) {
  if (::access(or_current(folder).c_str(), W_OK | X_OK) != 0) fail_as(errno);
}

void write_all(int fd, std::string_view bytes, const HeldSignals* held) {
  while (!bytes.empty()) {
    if (held != nullptr && held->end_waits()) fail_as(EINTR);
    const std::string_view chunk = bytes.substr(0, kChunk);
    if (const int error = base::write_all(fd, chunk)) fail_as(error);
    bytes.remove_prefix(chunk.size());
  }
}

// The length of our names is their own, since the target's may be as long as names can be.
std::string new_name(const std::string& folder,
                     const std::function<bool(const std::string&)>& make) {
  for (int attempt = 0; attempt < kMostNames; ++attempt) {
    std::string name = fmt::format("{}.slackline-{}-{}.tmp", folder, ::getpid(), attempt);
    if (make(name)) return name;
    if (errno != EEXIST) fail_as(errno);
  }
  fail_as(EEXIST);
}

void take_after(int fd, const struct stat& status) {
  // That a file cannot be given away is no error.
  const int given = ::fchown(fd, status.st_uid, status.st_gid);
  static_cast<void>(given);
  if (::fchmod(fd, status.st_mode & 0777) != 0) fail_as(errno);
}

}  // namespace slackline::sched
