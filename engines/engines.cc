#include "engines/engines.h"

#include <fmt/format.h>

#include <array>

#include "analysis/engines/analytic.h"
#include "analysis/engines/event_engine.h"
#include "analysis/engines/flow_engine.h"
#include "analysis/engines/fluid_engine.h"
#include "base/error.h"
#include "base/named.h"
#include "base/suggest.h"
#ifdef SLACKLINE_HAVE_SIMGRID
#include "sim/simgrid_engine.h"
#endif

namespace slackline::engines {
namespace {

constexpr std::array kEngines = {
#ifdef SLACKLINE_HAVE_SIMGRID
    &sim::kSimgridEngine,
#endif
    &analysis::kFlowEngine,     &analysis::kFluidEngine,
    &analysis::kAnalyticEngine, &analysis::kEventEngine,
};

}  // namespace

std::span<const machine::Engine* const> engines() { return kEngines; }

std::string engine_names(std::string_view between, std::string_view last) {
  std::string names = "simgrid";
  for (const machine::Engine* engine : kEngines) {
    if (engine->name == "simgrid") continue;
    names += engine == kEngines.back() ? last : between;
    names += engine->name;
  }
  return names;
}

const machine::Engine* find_engine(std::string_view name) {
  return base::find_named(kEngines, name);
}

const machine::Engine& engine_named(std::string_view name, std::string_view option) {
  if (const machine::Engine* engine = find_engine(name)) return *engine;
  if (name == "simgrid") {
    throw EnvironmentError(
        fmt::format("{0} simgrid: this program was built without SimGrid; install it (Debian: "
                    "libsimgrid-dev) and build again, or use {0} flow",
                    option));
  }
  throw InputError(fmt::format("{}: '{}'{}; expected {}", option, name,
                               sched::did_you_mean(name, base::names_of(kEngines)),
                               engine_names(", ", " or ")));
}

}  // namespace slackline::engines
