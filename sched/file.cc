#include "sched/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <optional>

#include "sched/descriptor.h"
#include "sched/error.h"
#include "sched/import/goal.h"
#include "sched/import/json.h"
#include "sched/text.h"
#include "sched/trace_file.h"

namespace slackline::sched {
namespace {

constexpr std::size_t kFirstLook = std::size_t{1} << 16;
constexpr std::string_view kMark = "\xef\xbb\xbf";

[[noreturn]] void fail(const std::string& path, std::string_view doing, int error) {
  throw InputError(fmt::format("{}: cannot {}: {}; expected a readable file", path, doing,
                               std::strerror(error)));
}

// A file, read from its beginning on.
class Reader {
 public:
  explicit Reader(const std::string& path)
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

  /// Nothing where it does not say.
  std::optional<std::uint64_t> size() const { return size_; }

  /// The beginning of it: all, if it is short.
  std::string_view first_look() {
    while (bytes_.size() < kFirstLook && more(kFirstLook - bytes_.size())) {
    }
    return bytes_;
  }

  /// All of it. `grow(bytes)` is asked before it takes so many bytes of memory.
  std::string all(std::uint64_t most_bytes, const std::function<void(std::uint64_t)>& grow) {
    const auto too_long = [&] {
      throw InputError(fmt::format("{}: the file is too long; expected at most {} MiB", path_,
                                   most_bytes >> 20));
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

 private:
  // Reads up to so many bytes; false at the end.
  bool more(std::size_t most) {
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

  std::string path_;
  Descriptor file_;
  std::optional<std::uint64_t> size_;
  std::string bytes_;
};

void require(const MemoryLimit& memory, std::uint64_t bytes, const std::string& path,
             std::uint64_t taken = 0) {
  memory.require(bytes, fmt::format("{}: reading it", path),
                 "a smaller file, or --memory SIZE if it fits all the same", taken);
}

constexpr std::uint64_t kMemoryOfJson = 12;

struct Form {
  Schedule (*read)(std::string_view text, std::string_view file);
  // Bytes of memory that reading takes at its peak, for each of the file's: measured 2.7 to 3.6,
  // 11.4, and 5.1.
  std::uint64_t memory_of_byte;
};

constexpr Form kText{read_text, 4};
constexpr Form kJson{read_json, kMemoryOfJson};
constexpr Form kGoal{read_goal, 6};

std::optional<Form> form_of(std::string_view bytes) {
  if (bytes.starts_with(kMark)) bytes.remove_prefix(kMark.size());
  if (looks_like_text(bytes)) return kText;
  const std::size_t start = bytes.find_first_not_of(" \t\r\n");
  if (start != std::string_view::npos && bytes[start] == '{') return kJson;
  if (looks_like_goal(bytes)) return kGoal;
  return std::nullopt;
}

}  // namespace

std::string read_file(const std::string& path, std::uint64_t most_bytes,
                      const MemoryLimit& memory) {
  return Reader(path).all(most_bytes, [&](std::uint64_t bytes) { require(memory, bytes, path); });
}

void drop_mark(std::string& bytes, std::string_view where) {
  if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff")) {
    throw InputError(fmt::format("{}: it is UTF-16; expected UTF-8", where));
  }
  if (bytes.starts_with(kMark)) bytes.erase(0, kMark.size());
}

Trace load_trace(const std::string& path, const MemoryLimit& memory) {
  Reader reader(path);
  if (reader.size()) require(memory, kMemoryOfJson * *reader.size(), path);
  const std::string bytes =
      reader.all(kMostFileBytes, [&](std::uint64_t more) { require(memory, more, path); });
  require(memory, (kMemoryOfJson - 1) * bytes.size(), path, bytes.size());
  return read_trace(bytes, path);
}

Schedule load_schedule(const std::string& path, const MemoryLimit& memory) {
  Reader reader(path);
  const std::optional<Form> form = form_of(reader.first_look());
  if (!form) {
    std::string first(reader.first_look());
    drop_mark(first, path);
    throw InputError(fmt::format(
        "{}: not a schedule; expected Slackline's text ('slackline schedule 1'), its JSON, or GOAL "
        "('num_ranks')",
        path));
  }
  if (reader.size()) require(memory, form->memory_of_byte * *reader.size(), path);
  const std::string bytes =
      reader.all(kMostFileBytes, [&](std::uint64_t more) { require(memory, more, path); });
  require(memory, (form->memory_of_byte - 1) * bytes.size(), path, bytes.size());
  return form->read(bytes, path);
}

}  // namespace slackline::sched
