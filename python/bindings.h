// The parts of the module `_native`, each of which defines what its source is named for. The
// package python/slackline/ makes of it what users see.
#pragma once

#include <pybind11/pybind11.h>

namespace slackline::python {

void bind_schedule(pybind11::module_& module);
void bind_builder(pybind11::module_& module);
void bind_machine(pybind11::module_& module);
void bind_run(pybind11::module_& module);
void bind_analysis(pybind11::module_& module);
void bind_lists(pybind11::module_& module);

}  // namespace slackline::python
