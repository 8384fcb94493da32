#include "hw/mesh/host_identity.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system_file.h"

namespace slackline::hw {

std::string host_identity() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  std::string boot = base::first_line("/proc/sys/kernel/random/boot_id");
  if (boot.empty()) boot = name;
  struct stat processes = {};
  struct stat memory = {};
  stat("/proc/self/ns/pid", &processes);
  stat("/dev/shm", &memory);
  return fmt::format("{}/{}/{} {}", boot, processes.st_ino, memory.st_dev, name);
}

// A boot's number has no space, nor has a name.
bool is_same_host(std::string_view one, std::string_view other) {
  return one.substr(0, one.find(' ')) == other.substr(0, other.find(' '));
}

std::string_view host_name(std::string_view identity) {
  const std::size_t space = identity.find(' ');
  return space == std::string_view::npos ? "" : identity.substr(space + 1);
}

}  // namespace slackline::hw
