#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/named.h"
#include "base/suggest.h"
#include "machine/randomness.h"
#include "machine/samples.h"
#include "machine/timeline_nics.h"
#include "python/bindings.h"
#include "python/cases.h"
#include "python/views.h"
#include "python/watch.h"
#include "sched/export/timeline.h"
#include "sched/file.h"
#include "sched/trace_file.h"

namespace slackline::python {
namespace {

namespace py = pybind11;
using machine::Samples;
using sched::OpTimes;

Run simulate(const HeldSchedule& schedule, const machine::Platform& platform,
             const machine::DelayPlan& delays, const std::string& engine, const std::string& policy,
             std::uint32_t sends_in_flight) {
  Watch watch;
  const py::gil_scoped_release release;
  Run run;
  run.of =
      make_case(schedule, platform, delays, engine, {policy, sends_in_flight}, watch.of_runs());
  run.trace = run.of->engine->run(run.of->setting().watched(watch.of_runs()));
  run.trace.title = schedule->title();
  return run;
}

Samples simulate_samples(const HeldSchedule& schedule, const machine::Platform& platform,
                         const machine::DelayPlan& delays, const std::string& engine,
                         const std::string& policy, std::uint32_t sends_in_flight,
                         std::uint32_t samples, std::uint32_t jobs, const py::object& progress) {
  Watch watch;
  const machine::SampleRuns runs{samples, jobs, watch.progress(progress)};
  const py::gil_scoped_release release;
  const auto of =
      make_case(schedule, platform, delays, engine, {policy, sends_in_flight}, watch.of_runs());
  machine::require_draws(samples, machine::draws(of->setting().delays, of->setting().schedule),
                         "samples");
  return of->engine->samples(of->setting().watched(watch.of_runs()), runs);
}

template <class Number, auto member>
py::array time_column(py::object self) {
  return column<Number>(self.cast<const Run&>().trace.ops, member, self);
}

bool is_complete(const sched::Trace& trace) {
  return std::all_of(trace.ops.begin(), trace.ops.end(),
                     [](const OpTimes& t) { return std::isfinite(t.done_s); });
}

// As the program's `convert` has it.
std::string exported(const Run& run, const std::string& format) {
  const sched::TimelineEntry* entry = sched::find_timeline(format);
  if (entry == nullptr) {
    throw InputError(sched::unknown_name("format", format, base::names_of(sched::timelines())));
  }
  const sched::Schedule& schedule = *run.of->schedule;
  return entry->write(schedule, run.trace, machine::timeline_nics(schedule, run.of->platform.node));
}

}  // namespace

void bind_run(py::module_& module) {
  py::class_<Run>(module, "Run")
      .def_property_readonly("schedule", [](const Run& r) { return r.of->schedule; })
      .def_property_readonly("platform", [](const Run& r) { return r.of->platform; })
      .def_property_readonly("delays", [](const Run& r) { return r.of->delays; })
      .def_property_readonly("engine", [](const Run& r) { return r.trace.engine; })
      .def_property_readonly("seed", [](const Run& r) { return r.trace.seed; })
      .def_property_readonly("contended", [](const Run& r) { return r.trace.contended; })
      .def_property_readonly("complete", [](const Run& r) { return is_complete(r.trace); })
      .def_property_readonly("makespan_s", [](const Run& r) { return r.trace.makespan_s(); })
      .def_property_readonly("ready_s", time_column<double, &OpTimes::ready_s>)
      .def_property_readonly("issued_s", time_column<double, &OpTimes::issued_s>)
      .def_property_readonly("wire_s", time_column<double, &OpTimes::wire_s>)
      .def_property_readonly("done_s", time_column<double, &OpTimes::done_s>)
      .def_property_readonly("attempts", time_column<std::uint32_t, &OpTimes::attempts>)
      .def_property_readonly("cause", time_column<std::int32_t, &OpTimes::cause>)
      .def_property_readonly(
          "results",
          [](py::object self) { return view(self.cast<const Run&>().trace.results, self); })
      .def("rank_finish_s",
           [](const Run& r) { return kept(machine::rank_finish_s(*r.of->schedule, r.trace.ops)); })
      .def("export",
           [](const Run& r, const std::string& format) {
             std::string text;
             {
               const py::gil_scoped_release release;
               text = exported(r, format);
             }
             return py::bytes(text);
           })
      .def("trace_file", [](const Run& r) {
        std::string text;
        {
          const py::gil_scoped_release release;
          text = sched::write_trace(r.trace);
        }
        return py::bytes(text);
      });
  py::class_<Samples, std::shared_ptr<Samples>>(module, "Samples")
      .def_property_readonly(
          "makespan_s",
          [](py::object self) { return view(self.cast<const Samples&>().makespan_s, self); })
      .def_property_readonly("rank_finish_s", [](py::object self) {
        const Samples& samples = self.cast<const Samples&>();
        const py::array flat = view(samples.rank_finish_s, self);
        return flat.attr("reshape")(samples.makespan_s.size(), samples.ranks);
      });

  py::class_<sched::Trace>(module, "Trace")
      .def_property_readonly("title", [](const sched::Trace& t) { return py::bytes(t.title); })
      .def_property_readonly("schedule",
                             [](const sched::Trace& t) { return to_string(t.schedule); });
  module.def(
      "load_trace", [](const std::string& path) { return sched::load_trace(path); },
      py::call_guard<py::gil_scoped_release>());
  module.def(
      "run_of_trace",
      [](const HeldSchedule& schedule, const sched::Trace& trace, const std::string& name) {
        return Run{case_of(schedule, trace, name), trace};
      },
      py::call_guard<py::gil_scoped_release>());
  module.def("simulate", simulate);
  module.def("samples", simulate_samples);
}

}  // namespace slackline::python
