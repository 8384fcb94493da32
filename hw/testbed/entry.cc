#include "hw/testbed/entry.h"

#include <fmt/format.h>

namespace slackline::hw {

std::string testbed_address(std::uint32_t host) { return fmt::format("10.77.0.{}", host + 1); }

std::string testbed_host_list(const SwitchTree& tree) {
  std::string list;
  for (std::uint32_t h = 0; h < tree.hosts.size(); ++h) {
    list += fmt::format("{} address={}\n", tree.hosts[h].name, testbed_address(h));
  }
  return list;
}

std::string choice_of_host(const SwitchTree& tree,
                           const std::function<std::string(std::uint32_t host)>& space_of) {
  std::string spaces;
  for (std::uint32_t h = 0; h < tree.hosts.size(); ++h) {
    spaces += fmt::format("{}) space={} ;;\n", tree.hosts[h].name, space_of(h));
  }
  return fmt::format(
      "#!/bin/sh\n"
      "while [ \"$1\" != -- ]; do shift; done\n"
      "case \"$2\" in\n{}"
      "*) echo \"the testbed has no host $2\" >&2; exit 255 ;;\n"
      "esac\n",
      spaces);
}

std::string entry_script(const SwitchTree& tree,
                         const std::function<std::string(std::uint32_t host)>& space_of) {
  // A network's devices stand in /sys as it was mounted there.
  return choice_of_host(tree, space_of) +
         "exec nsenter --net=\"$space\" unshare --mount --uts sh -c '\n"
         "hostname \"$0\" && mount -t sysfs sysfs /sys && mount -t tmpfs tmpfs /dev/shm &&\n"
         "exec sh -c \"$1\"' \"$2\" \"$3\"\n";
}

}  // namespace slackline::hw
