// The hosts that ranks are to run on, as a file lists them, and which ranks go where.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace slackline::hw {

/// A line "HOST [slots=N] [device=NAME[:PORT]] [address=ADDRESS] [user=USER]".
struct ListedHost {
  std::string name;         // as ssh is given it
  std::uint32_t slots = 1;  // ranks that it takes, 1 to 4096
  std::string device;       // as --device; empty: not said
  std::string address;      // as --host; empty: not said
  std::string user;         // empty: not said
  friend bool operator==(const ListedHost&, const ListedHost&) = default;
};

/// Reads such lines; "#" begins a comment, and lines may be empty. `file` names it in errors.
/// Throws InputError "FILE:LINE: …" for what is no such line, and for a host that stands twice; and
/// where there is no host.
std::vector<ListedHost> parse_host_list(std::string_view text, const std::string& file);

enum class HostOrder : std::uint8_t {
  kFill,  // a host's slots one after the other, then the next host's
  kCycle  // a slot of each host in turn, while it has any
};

/// For each host its ranks, ascending; rank 0 is on the first. Hosts after those that are needed
/// get none. Throws InputError if there are fewer slots than ranks.
std::vector<std::vector<std::uint32_t>> ranks_on_hosts(const std::vector<ListedHost>& hosts,
                                                       std::uint32_t ranks, HostOrder order,
                                                       const std::string& file);

}  // namespace slackline::hw
