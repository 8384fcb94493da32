#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/engines/delayed_runs.h"
#include "analysis/slack/delay_slopes.h"
#include "analysis/slack/may_share.h"
#include "analysis/slack/timed_slack.h"
#include "analysis/slack/validate.h"
#include "base/error.h"
#include "python/bindings.h"
#include "python/held.h"
#include "python/views.h"
#include "python/watch.h"
#include "report/report.h"

namespace slackline::python {
namespace {

namespace py = pybind11;
using analysis::TimedSlack;

std::shared_ptr<TimedSlack> slack_of(const Run& run, const std::string& wire) {
  const machine::Setting setting = run.of->setting();
  if (wire == "auto")
    return std::make_shared<TimedSlack>(analysis::slack_of_run(setting, run.trace));
  if (wire != "model" && wire != "run") {
    throw InputError("wire '" + wire + "' is unknown; expected auto, model or run");
  }
  return std::make_shared<TimedSlack>(analysis::timed_slack(
      setting, run.trace, wire == "run" ? analysis::WireTimes::kRun : analysis::WireTimes::kModel));
}

// The delayed runs are the flow engine's, and mean something beside a run of it alone.
void require_flow(const Run& run) {
  if (run.trace.engine == "flow") return;
  throw Unsupported("delayed runs are the flow engine's, and this run is of " + run.trace.engine +
                    "; expected one with engine=\"flow\"");
}

std::vector<sched::OpId> ids_of(const std::vector<std::uint32_t>& ops, const sched::Schedule& of) {
  std::vector<sched::OpId> ids;
  for (const std::uint32_t op : ops) {
    if (op >= of.op_count()) {
      throw InputError("op " + std::to_string(op) + ": there are " + std::to_string(of.op_count()) +
                       " operations; expected one of them");
    }
    ids.emplace_back(op);
  }
  return ids;
}

py::tuple slopes_of(const Run& run, const std::vector<std::uint32_t>& ops, std::uint32_t jobs,
                    const py::object& progress) {
  Watch watch;
  const auto told = watch.progress(progress);
  std::vector<double> slope, at_once_s, within, up_to_s;
  {
    const py::gil_scoped_release release;
    require_flow(run);
    const std::vector<sched::OpId> ids = ids_of(ops, *run.of->schedule);
    const analysis::DelayedRuns runs(run.of->setting().watched(watch.of_runs()));
    for (const analysis::DelaySlope& s : analysis::delay_slopes(runs, ids, jobs, told)) {
      constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
      slope.push_back(s.settled() ? s.slope : kUnknown);
      at_once_s.push_back(s.settled() ? s.at_once_s : kUnknown);
      within.push_back(s.settled() ? s.within : kUnknown);
      up_to_s.push_back(s.settled() ? sched::seconds(s.up_to) : kUnknown);
    }
  }
  return py::make_tuple(kept(std::move(slope)), kept(std::move(at_once_s)), kept(std::move(within)),
                        kept(std::move(up_to_s)));
}

// By how much later the run ends, for each operation alone.
py::array prices_of(const Run& run, const std::vector<std::uint32_t>& ops, std::int64_t by_ps,
                    std::uint32_t jobs, const py::object& progress) {
  Watch watch;
  const auto told = watch.progress(progress);
  std::vector<double> prices_s;
  {
    const py::gil_scoped_release release;
    require_flow(run);
    const machine::Setting setting = run.of->setting().watched(watch.of_runs());
    std::vector<machine::OpDelay> trials;
    for (const sched::OpId op : ids_of(ops, *run.of->schedule)) {
      trials.push_back(analysis::trial_of(setting, op, sched::Time(by_ps)));
    }
    const analysis::DelayedRuns runs(setting);
    prices_s = runs.makespans_s(trials, jobs, told);
    for (double& price_s : prices_s) price_s -= runs.undelayed().makespan_s();
  }
  return kept(std::move(prices_s));
}

py::bytes page_of(const std::string& name,
                  const std::vector<std::pair<std::string, const Run*>>& runs,
                  const machine::Samples* samples) {
  std::string html;
  {
    const py::gil_scoped_release release;
    report::Report page{name, *runs.front().second->of->schedule, {}, {}, {}, {}};
    for (const auto& [label, run] : runs) {
      const machine::Setting setting = run->of->setting();
      page.runs.push_back(
          {label, run->trace, setting, std::nullopt, analysis::why_no_promise(setting)});
    }
    if (samples != nullptr) {
      page.samples_s = samples->makespan_s;
      page.samples_of = "runs that differ in their noise";
    }
    html = report::report_page(page);
  }
  return py::bytes(html);
}

template <auto member>
py::array slack_column(py::object self) {
  return view(self.cast<const TimedSlack&>().*member, self);
}

}  // namespace

void bind_analysis(py::module_& module) {
  py::class_<TimedSlack, std::shared_ptr<TimedSlack>>(module, "Slack")
      .def_readonly("makespan_s", &TimedSlack::makespan_s)
      .def_readonly("unexplained_s", &TimedSlack::unexplained_s)
      .def_property_readonly("explains", [](const TimedSlack& s) { return explains(s); })
      .def_property_readonly("wire",
                             [](const TimedSlack& s) {
                               return s.wire_times == analysis::WireTimes::kRun ? "run" : "model";
                             })
      .def_property_readonly("total_float_s", slack_column<&TimedSlack::total_float_s>)
      .def_property_readonly("free_float_s", slack_column<&TimedSlack::free_float_s>)
      .def_property_readonly("message_float_s", slack_column<&TimedSlack::message_float_s>)
      .def_property_readonly("critical_path", [](py::object self) {
        const auto& path = self.cast<const TimedSlack&>().critical_path;
        return column<std::int32_t>(path, &sched::OpId::value, self);
      });
  module.def("slack", slack_of, py::call_guard<py::gil_scoped_release>());
  module.def("why_no_promise", [](const Run& run) {
    const py::gil_scoped_release release;
    return analysis::why_no_promise(run.of->setting());
  });
  module.def("slopes", slopes_of);
  module.def("prices", prices_of);
  module.def("page", page_of, py::arg("name"), py::arg("runs"), py::arg("samples").none(true));
}

}  // namespace slackline::python
