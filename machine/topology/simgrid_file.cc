#include "machine/topology/simgrid_file.h"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <memory>

#include "base/error.h"
#include "machine/input_text.h"
#include "machine/topology/figures.h"
#include "machine/topology_entry.h"

namespace slackline::machine {
namespace {

// The file has the rates and latencies.
constexpr std::array<std::string_view, 15> kWithout = {
    "rate",          "latency",          "rails",        "rail",         "rail_wiring",
    "switches",      "pcie_rate",        "pcie_payload", "pcie_header",  "numa_hop",
    "scale_up_rate", "scale_up_latency", "host_rate",    "host_latency", "host_scale_up_rate"};

constexpr std::array<PlatformFigure, 1> kFigures = {{
    meaning("the network",
            figure_of_shape<FigureBy<parse_path, std::identity{}>, SimgridFile, &SimgridFile::file>(
                "file", "the path of a SimGrid platform file in quotes")),
}};

void check(const Platform& platform, std::string_view what) {
  if (!shape_of<SimgridFile>(platform).file.empty()) return;
  throw InputError(
      fmt::format("{}: file is missing; expected the path of a SimGrid platform file", what));
}

}  // namespace

const TopologyEntry& simgrid_file_entry() {
  static const TopologyEntry entry = {
      "simgrid",
      "a SimGrid platform file",
      SimgridFile{},
      kFigures,
      check,
      [](const Platform& platform, std::uint32_t) -> std::unique_ptr<Network> {
        throw Unsupported(fmt::format(
            "topology simgrid: only SimGrid reads {}; expected the wiring that it finds there, or "
            "another topology",
            in_quotes(shape_of<SimgridFile>(platform).file)));
      },
      kWithout};
  return entry;
}

}  // namespace slackline::machine
