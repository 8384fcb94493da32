// A network that a SimGrid platform file describes; only SimGrid reads it (sim/file_wiring.h).
//
// The file is the whole network: its links, their rates and how they are shared, its routes and
// their latencies. So a platform of this topology has no rate and no latency of its own; what
// happens before the wire and after it (overheads, gap, interleaving, the NICs' discipline) it has
// like any other. A message's rate is that of the slowest link of its route. With serial NICs a
// rank sends one large message at a time and receives one at a time, whatever the file's links
// could carry together; with fair ones only the file's links bound what leaves at once.
#pragma once

#include <string>

namespace slackline::machine {

struct TopologyEntry;

struct SimgridFile {
  std::string file;  // a path without commas

  friend bool operator==(const SimgridFile&, const SimgridFile&) = default;
};

const TopologyEntry& simgrid_file_entry();

}  // namespace slackline::machine
