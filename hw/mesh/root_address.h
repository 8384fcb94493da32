// Where rank 0 listens, and at which address the other ranks reach this host. On many hosts their
// own name means loopback (127.0.1.1 in Debian's /etc/hosts), while it means a real address to all
// others: "node0" must not be taken by its word there.
#pragma once

#include <string>
#include <vector>

namespace slackline::hw {

/// The addresses, in digits and in the order in which to try them, at which rank 0 listens when the
/// ranks are told that it is at `host`. An address given in digits, or a name of loopback
/// ("localhost"), is taken by its word. Another name that means loopback here is this host's own:
/// all interfaces ("0.0.0.0"). Throws EnvironmentError if the name means nothing.
std::vector<std::string> listening_addresses(const std::string& host);

/// This host's address, in digits, at which other ranks reach it when rank 0 is at `host`: the one
/// on the way there. Where that is loopback and other hosts may know `host` by another address, it
/// is the one by which this host reaches others. Throws EnvironmentError as address_towards() does.
std::string own_address(const std::string& host);

/// This host's address, in digits, by which it reaches others, whoever they are. Empty if it has
/// none but those of loopback.
std::string address_for_others();

}  // namespace slackline::hw
