#include "base/read_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace slackline::sched {
namespace {

constexpr std::size_t kFirstLook = std::size_t{1} << 16;

[[noreturn]] void fail(const std::string& path, std::string_view doing, int error) {
  throw InputError(fmt::format("{}: cannot {}: {}; expected a readable file", path, doing,
                               std::strerror(error)));
}

}  // namespace

FileReader::FileReader(const std::string& path)
    : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (!file_) fail(path_, "open", errno);
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) fail(path_, "read", errno);
  if (S_ISDIR(status.st_mode)) fail(path_, "read", EISDIR);
  // A device may never end.
  const bool is_null = S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3);
  if (S_ISBLK(status.st_mode) ||
      (S_ISCHR(status.st_mode) && !is_null && ::isatty(file_.get()) != 1)) {
    throw InputError(fmt::format("{}: it is a device; expected a file or a pipe", path_));
  }
  // Some files of the system have a size of 0 and yet bytes.
  if (S_ISREG(status.st_mode) && status.st_size > 0) {
    size_ = static_cast<std::uint64_t>(status.st_size);
  }
}

std::string_view FileReader::first_look() {
  while (bytes_.size() < kFirstLook && more(kFirstLook - bytes_.size())) {
  }
  return bytes_;
}

std::string FileReader::all(std::uint64_t most_bytes,
                            const std::function<void(std::uint64_t)>& grow) {
  const auto too_long = [&] {
    throw InputError(
        fmt::format("{}: the file is too long; expected at most {} MiB", path_, most_bytes >> 20));
  };
  if (size_ && *size_ > most_bytes) too_long();
  if (size_) {
    grow(*size_);
    bytes_.reserve(static_cast<std::size_t>(*size_) + 1);
  }
  do {
    if (bytes_.size() > most_bytes) too_long();
    if (bytes_.size() < bytes_.capacity()) continue;
    // While they are copied there are both the old bytes and the new.
    grow(3 * std::uint64_t{bytes_.size()});
    bytes_.reserve(2 * bytes_.size());
  } while (more(std::max<std::size_t>(bytes_.capacity() - bytes_.size(), kFirstLook)));
  drop_mark(bytes_, path_);
  return std::move(bytes_);
}

bool FileReader::more(std::size_t most) {
  const std::size_t used = bytes_.size();
  bytes_.resize(used + most);
  ssize_t n = 0;
  do {
    n = ::read(file_.get(), bytes_.data() + used, most);
  } while (n < 0 && errno == EINTR);
  const int error = errno;
  bytes_.resize(used + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  if (n < 0) fail(path_, "read", error);
  return n > 0;
}

void require_to_read(const MemoryLimit& memory, std::uint64_t bytes, const std::string& path,
                     std::uint64_t taken) {
  memory.require(bytes, fmt::format("{}: reading it", path),
                 "a smaller file, or --memory SIZE if it fits all the same", taken);
}

std::string read_file(const std::string& path, std::uint64_t most_bytes,
                      const MemoryLimit& memory) {
  return FileReader(path).all(most_bytes,
                              [&](std::uint64_t bytes) { require_to_read(memory, bytes, path); });
}

std::string contents_of(int file) {
  std::string text;
  std::array<char, 1 << 16> buffer;
  for (;;) {
    const ssize_t got =
        ::pread(file, buffer.data(), buffer.size(), static_cast<off_t>(text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

void drop_mark(std::string& bytes, std::string_view where) {
  if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff")) {
    throw InputError(fmt::format("{}: it is UTF-16; expected UTF-8", where));
  }
  if (bytes.starts_with(kUtf8Mark)) bytes.erase(0, kUtf8Mark.size());
}

}  // namespace slackline::sched
