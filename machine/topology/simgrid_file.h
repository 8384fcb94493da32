// A network that a SimGrid platform file describes; only SimGrid reads it.
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
