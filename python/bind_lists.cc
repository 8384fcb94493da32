#include <pybind11/stl.h>

#include <string>
#include <utility>
#include <vector>

#include "engines/engines.h"
#include "machine/platform.h"
#include "python/bindings.h"
#include "sched/export/exporter.h"
#include "sched/pattern/option.h"
#include "sched/pattern/pattern.h"

namespace slackline::python {
namespace {

namespace py = pybind11;

// Names with one line for people, in the order in which they are listed.
using Named = std::vector<std::pair<std::string, std::string>>;

Named named(const auto& entries) {
  Named names;
  for (const auto& entry : entries) {
    names.emplace_back(std::string(entry.name), std::string(entry.summary));
  }
  return names;
}

}  // namespace

void bind_lists(py::module_& module) {
  module.def("patterns", [] { return named(sched::patterns()); });
  module.def("pattern_options", [](const std::string& pattern) {
    std::vector<std::tuple<std::string, std::string, std::string>> options;
    for (const sched::Option& option : sched::pattern_named(pattern).options) {
      options.emplace_back(option.key, option.values, option.explained());
    }
    return options;
  });
  module.def("platforms", [] { return named(machine::presets()); });
  module.def("formats", [] { return named(sched::exporters()); });
  module.def("engines", [] {
    Named names;
    for (const machine::Engine* engine : engines::engines()) {
      names.emplace_back(std::string(engine->name), std::string(engine->summary));
    }
    return names;
  });
}

}  // namespace slackline::python
