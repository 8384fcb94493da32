#include <pybind11/pybind11.h>

#include "python/bindings.h"
#include "python/errors.h"

PYBIND11_MODULE(_native, module) {
  module.doc() = "The libraries of Slackline, as the package slackline uses them.";
  module.attr("version") = SLACKLINE_VERSION;
  slackline::python::translate_errors();
  slackline::python::bind_schedule(module);
  slackline::python::bind_builder(module);
  slackline::python::bind_machine(module);
  slackline::python::bind_run(module);
  slackline::python::bind_analysis(module);
  slackline::python::bind_lists(module);
}
