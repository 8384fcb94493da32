// What simulators of others have no figures for.
#pragma once

#include <string>
#include <string_view>

#include "machine/setting.h"

namespace slackline::engines {

/// Throws Unsupported, naming `who` and the figure, on a platform with more than ranks on hosts of
/// one NIC each: several ranks or NICs a host, ranks that are switches, messages of a rank to
/// itself through memory, packets and codes of lines, PCIe, congestion, acknowledgements that use
/// ports, and what completions and receives cost.
void require_plain_machine(const machine::Platform& platform, std::string_view who);

/// Throws Unsupported, naming `who`, unless a NIC serves one message after another.
void require_serial_nics(const machine::Platform& platform, std::string_view who);

/// Figures of a platform, beside rate and latency, that the messages of a simulator go by.
struct HeededFigures {
  bool o_post;
  bool gap;
  bool interleave;  // or it cuts messages into packets, which let others between them
  bool routing;     // or there is but one way
};

/// What runs of the setting go by here, and a simulator of others does not: "o_complete, gap";
/// empty if there is nothing. Its figures that no operation of the schedule meets are left out.
std::string unheeded_figures(const machine::Setting& setting, const HeededFigures& heeded);

/// Throws Unsupported: "WHO: WHAT; expected EXPECTED".
[[noreturn]] void refuse(std::string_view who, std::string_view what, std::string_view expected);

}  // namespace slackline::engines
