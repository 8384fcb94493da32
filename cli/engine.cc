#include "cli/engine.h"

#include <fmt/format.h>

#include <array>

#include "analysis/analytic.h"
#include "analysis/samples.h"
#include "sched/error.h"
#ifdef SLACKLINE_HAVE_SIMGRID
#include "sim/simgrid_engine.h"
#endif

namespace slackline::cli {
namespace {

constexpr std::array kEngines = {
#ifdef SLACKLINE_HAVE_SIMGRID
    EngineEntry{"simgrid", sim::run_simgrid, sim::run_simgrid_samples},
#endif
    EngineEntry{"analytic", analysis::run_analytic, analysis::run_analytic_samples},
};

}  // namespace

std::span<const EngineEntry> engines() { return kEngines; }

const EngineEntry& engine_named(std::string_view name) {
  for (const EngineEntry& entry : kEngines) {
    if (entry.name == name) return entry;
  }
  if (name == "simgrid") {
    throw EnvironmentError(
        "--engine simgrid: this program was built without SimGrid; install it (Debian: "
        "libsimgrid-dev) and build again, or use --engine analytic");
  }
  throw InputError(fmt::format("--engine: '{}'; expected simgrid or analytic", name));
}

}  // namespace slackline::cli
