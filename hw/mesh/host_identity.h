// What a rank says of the host that it is on, in one text: what tells hosts apart, then a space and
// how the host calls itself.
#pragma once

#include <string>
#include <string_view>

namespace slackline::hw {

/// Of this process.
std::string host_identity();

/// Whether two ranks share memory (/dev/shm), process numbers and clock, whatever the names.
bool is_same_host(std::string_view one, std::string_view other);

/// How the host calls itself.
std::string_view host_name(std::string_view identity);

}  // namespace slackline::hw
