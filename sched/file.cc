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

#include "sched/descriptor.h"
#include "sched/error.h"
#include "sched/import/goal.h"
#include "sched/import/json.h"
#include "sched/text.h"

namespace slackline::sched {
namespace {

constexpr std::uint64_t kMaxFile = 4ull << 30;
constexpr std::size_t kChunk = 1 << 20;

[[noreturn]] void fail(const std::string& path, std::string_view doing, int error) {
  throw InputError(fmt::format("{}: cannot {}: {}; expected a readable file", path, doing,
                               std::strerror(error)));
}

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
