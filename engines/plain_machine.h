// What simulators of others have no figures for.
#pragma once

#include <string_view>

#include "machine/platform.h"

namespace slackline::engines {

/// Throws Unsupported, naming `who` and the figure, on a platform with more than ranks on hosts of
/// one NIC each: several ranks or NICs a host, ranks that are switches, messages of a rank to
/// itself through memory, packets and codes of lines, PCIe, congestion, acknowledgements that use
/// ports, and what completions and receives cost.
void require_plain_machine(const machine::Platform& platform, std::string_view who);

/// Throws Unsupported: "WHO: WHAT; expected EXPECTED".
[[noreturn]] void refuse(std::string_view who, std::string_view what, std::string_view expected);

}  // namespace slackline::engines
