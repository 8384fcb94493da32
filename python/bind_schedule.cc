#include <pybind11/stl.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/named.h"
#include "base/suggest.h"
#include "base/write_file.h"
#include "python/bindings.h"
#include "python/held.h"
#include "python/views.h"
#include "sched/compile.h"
#include "sched/diagnostic.h"
#include "sched/export/exporter.h"
#include "sched/file.h"
#include "sched/text.h"
#include "sched/verify.h"

namespace slackline::python {
namespace {

namespace py = pybind11;
using sched::Op;
using sched::Schedule;

HeldSchedule held(Schedule&& schedule) { return std::make_shared<Schedule>(std::move(schedule)); }

// The other rank of an operation's message, −1 without one: a poll's is the rank of its put.
std::int32_t peer_of(const Schedule& schedule, const Op& op) {
  const auto signed_rank = [](sched::RankId rank) { return static_cast<std::int32_t>(rank.value); };
  if (op.channel.valid()) {
    const sched::Channel& channel = schedule.channel(op.channel);
    return signed_rank(op.kind == sched::OpKind::kRecv ? channel.src : channel.dst);
  }
  return op.match.valid() ? signed_rank(schedule.op(op.match).rank) : -1;
}

template <class Number, class Of>
py::array of_each_op(const Schedule& schedule, Of&& of) {
  std::vector<Number> numbers;
  {
    const py::gil_scoped_release release;
    numbers.reserve(schedule.op_count());
    for (const Op& op : schedule.ops()) numbers.push_back(of(op));
  }
  return kept(std::move(numbers));
}

template <class Number, auto member>
py::array op_column(py::object self) {
  return column<Number>(self.cast<const Schedule&>().ops(), member, self);
}

template <class Number, auto member>
py::array edge_column(py::object self) {
  return column<Number>(self.cast<const Schedule&>().edges(), member, self);
}

using Finding = std::tuple<std::string, bool, std::int64_t, std::string>;

std::vector<Finding> findings(const Schedule& schedule, std::size_t most) {
  sched::VerifyOptions options;
  options.max_diagnostics = most;
  std::vector<Finding> found;
  for (const sched::Diagnostic& d : sched::verify(schedule, options)) {
    found.emplace_back(name(d.code), d.severity == sched::Severity::kError,
                       d.op.valid() ? std::int64_t{d.op.value} : -1, d.message);
  }
  return found;
}

std::string exported(const Schedule& schedule, const std::string& format) {
  if (const sched::ExporterEntry* entry = sched::find_exporter(format))
    return sched::written_whole(*entry, schedule);
  throw InputError(sched::unknown_name("format", format, base::names_of(sched::exporters())));
}

}  // namespace

void bind_schedule(py::module_& module) {
  using Release = py::call_guard<py::gil_scoped_release>;
  py::class_<Schedule, HeldSchedule>(module, "Schedule")
      .def_property_readonly("digest", [](const Schedule& s) { return to_string(s.digest()); })
      .def_property_readonly("title", [](const Schedule& s) { return py::bytes(s.title()); })
      .def_property_readonly("rank_count", &Schedule::rank_count)
      .def_property_readonly("op_count", &Schedule::op_count)
      .def_property_readonly("step_count", &Schedule::step_count)
      .def_property_readonly("message_bytes", &Schedule::message_bytes)
      .def_property_readonly("dynamic_reason", &Schedule::dynamic_reason)
      .def_property_readonly("heap_bytes", &Schedule::heap_bytes)
      .def_property_readonly("kind", op_column<std::uint8_t, &Op::kind>)
      .def_property_readonly("notify", op_column<std::uint8_t, &Op::notify>)
      .def_property_readonly("lane", op_column<std::uint16_t, &Op::lane>)
      .def_property_readonly("rank", op_column<std::int32_t, &Op::rank>)
      .def_property_readonly("step", op_column<std::uint32_t, &Op::step>)
      .def_property_readonly("channel", op_column<std::int32_t, &Op::channel>)
      .def_property_readonly("match", op_column<std::int32_t, &Op::match>)
      .def_property_readonly("edge_pred", edge_column<std::int32_t, &sched::Edge::pred>)
      .def_property_readonly("edge_succ", edge_column<std::int32_t, &sched::Edge::succ>)
      .def_property_readonly("edge_on", edge_column<std::uint8_t, &sched::Edge::on>)
      .def("op_bytes",
           [](const Schedule& s) {
             return of_each_op<std::uint64_t>(s, [&](const Op& op) { return s.payload_bytes(op); });
           })
      .def("op_peer",
           [](const Schedule& s) {
             return of_each_op<std::int32_t>(s, [&](const Op& op) { return peer_of(s, op); });
           })
      .def("describe",
           [](const Schedule& s, std::uint32_t op) {
             if (op >= s.op_count()) {
               throw InputError("op " + std::to_string(op) + ": there are " +
                                std::to_string(s.op_count()) + " operations; expected one of them");
             }
             return describe(s, sched::OpId(op));
           })
      .def("verify", findings, py::arg("most"), Release())
      .def("export", [](const Schedule& s, const std::string& format) {
        std::string text;
        {
          const py::gil_scoped_release release;
          text = exported(s, format);
        }
        return py::bytes(text);
      });

  module.def(
      "compile",
      [](const std::string& spec) { return held(sched::compile(sched::parse_spec(spec))); },
      py::arg("spec"), Release());
  module.def(
      "load_schedule", [](const std::string& path) { return held(sched::load_schedule(path)); },
      py::arg("path"), Release());
  module.def(
      "read_schedule",
      [](const std::string& text, const std::string& name) {
        return held(sched::read_text(text, name));
      },
      py::arg("text"), py::arg("name"), Release());

  module.def(
      "write_file",
      [](const std::string& path, const std::string& bytes) { sched::write_file(path, bytes); },
      py::arg("path"), py::arg("bytes"), Release());

  py::list kinds;
  for (int kind = 0; kind < sched::kOpKinds; ++kind) {
    kinds.append(name(static_cast<sched::OpKind>(kind)));
  }
  module.attr("op_kinds") = py::tuple(kinds);
}

}  // namespace slackline::python
