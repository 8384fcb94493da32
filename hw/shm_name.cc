#include "hw/shm_name.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <sstream>

#include "base/system_file.h"

namespace slackline::hw {
namespace {

constexpr std::string_view kMark = ":slackline:";

// Takes the digits that `text` begins with, and what must stand behind them.
template <class Number>
bool take_number(std::string_view& text, std::string_view then, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || text.front() == '-') return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!text.starts_with(then)) return false;
  text.remove_prefix(then.size());
  return true;
}

}  // namespace

std::string stat_fields(pid_t pid) {
  // "PID (NAME) STATE …"; the name may have any character.
  const std::string line = base::first_line(fmt::format("/proc/{}/stat", pid));
  const std::size_t name_end = line.rfind(") ");
  return name_end == std::string::npos ? "" : line.substr(name_end + 2);
}

std::optional<std::uint64_t> start_ticks(pid_t pid) {
  // The start is the 22nd field; the state, behind the name, is the 3rd.
  std::istringstream fields(stat_fields(pid));
  std::string skipped;
  for (int field = 3; field < 22; ++field) fields >> skipped;
  std::uint64_t ticks = 0;
  fields >> ticks;
  if (!fields) return std::nullopt;
  return ticks;
}

std::optional<ShmOwner> own_shm_owner() {
  const auto ticks = start_ticks(getpid());
  struct stat processes = {};
  if (!ticks || stat("/proc/self/ns/pid", &processes) != 0) return std::nullopt;
  return ShmOwner{getpid(), *ticks, processes.st_ino};
}

std::string shm_name(const ShmOwner& owner, std::string_view number) {
  return fmt::format("{}{}{}:{}:{}", owner.pid, kMark, owner.start_ticks, owner.pid_namespace,
                     number);
}

std::optional<ShmOwner> shm_owner(std::string_view file_name) {
  ShmOwner owner;
  if (!take_number(file_name, kMark, owner.pid) ||
      !take_number(file_name, ":", owner.start_ticks) ||
      !take_number(file_name, ":", owner.pid_namespace) || owner.pid == 0) {
    return std::nullopt;
  }
  // libfabric may put the number of a message behind it.
  if (file_name.empty() || file_name.find_first_not_of("0123456789_") != std::string_view::npos) {
    return std::nullopt;
  }
  return owner;
}

}  // namespace slackline::hw
