#include "hw/testbed/shell_text.h"

#include <fmt/format.h>

namespace slackline::hw {

std::string with_ip(std::string_view lines) {
  return fmt::format("tool ip -batch - <<END\n{}END\n", lines);
}

std::string own_port(std::string_view address, std::string_view segment_bytes) {
  return fmt::format(
      "link set lo up\n"
      "address add {}/24 dev eth0\n"
      "link set eth0 gso_max_size {}\n"
      "link set eth0 up\n"
      "route replace 10.77.0.0/24 dev eth0 initcwnd 2000 initrwnd 2000 quickack 1\n",
      address, segment_bytes);
}

}  // namespace slackline::hw
