#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "machine/delay_plan.h"
#include "machine/delay_values.h"
#include "machine/node_count.h"
#include "machine/platform.h"
#include "python/bindings.h"

namespace slackline::python {
namespace {

namespace py = pybind11;
using machine::DelayPlan;
using machine::Platform;

void bind_platform(py::module_& module) {
  py::class_<Platform>(module, "Platform")
      .def(py::init([](const std::string& text) { return machine::load_platform(text); }))
      .def_readonly("name", &Platform::name)
      .def_property_readonly("spec", &Platform::spec)
      .def_property_readonly("rate_bps", [](const Platform& p) { return p.rate.bits_per_second; })
      .def_property_readonly("latency_s",
                             [](const Platform& p) { return sched::seconds(p.latency); })
      .def_property_readonly("o_post_s", [](const Platform& p) { return sched::seconds(p.o_post); })
      .def_property_readonly("o_complete_s",
                             [](const Platform& p) { return sched::seconds(p.o_complete); })
      .def_property_readonly("gap_s", [](const Platform& p) { return sched::seconds(p.gap); })
      .def_property_readonly("nodes", [](const Platform& p) { return machine::node_count(p); });
}

sched::RankId rank_or_none(std::int64_t rank) {
  return sched::RankId(static_cast<std::uint32_t>(rank));
}

// What Python says in text is read here, and errors name it as `what`. Numbers have been made text.
void bind_delays(py::module_& module) {
  const auto time = [](const std::string& text, const std::string& what) {
    return machine::parse_finite_time(text, what);
  };
  py::class_<DelayPlan>(module, "DelayPlan")
      .def(py::init<>())
      .def(py::init<const DelayPlan&>())
      .def_readwrite("seed", &DelayPlan::seed)
      .def_property_readonly("text", &DelayPlan::text)
      .def_property_readonly("empty", &DelayPlan::empty)
      .def("add_op",
           [time](DelayPlan& plan, std::uint32_t op, const std::string& by, bool lane,
                  const std::string& what) {
             plan.ops.push_back({sched::OpId(op), time(by, what), lane, sched::RankId::none()});
           })
      .def("add_step",
           [time](DelayPlan& plan, std::uint32_t rank, std::uint32_t step, const std::string& by,
                  bool lane, const std::string& what) {
             plan.steps.push_back({sched::RankId(rank), step, time(by, what), lane});
           })
      .def("add_pair",
           [](DelayPlan& plan, std::uint32_t src, std::uint32_t dst, const std::string& rate,
              const std::string& what) {
             plan.pairs.push_back(
                 {sched::RankId(src), sched::RankId(dst), sched::parse_rate(rate, what)});
           })
      .def("add_straggler",
           [time](DelayPlan& plan, std::uint32_t rank, double slowdown, const std::string& by,
                  const std::string& what) {
             plan.stragglers.push_back({sched::RankId(rank), slowdown, time(by, what)});
           })
      .def("add_noise",
           [](DelayPlan& plan, const std::string& kind,
              const std::vector<std::pair<std::string, std::string>>& figures,
              const std::vector<std::string>& values, const std::vector<std::uint32_t>& ranks,
              const std::string& chance, bool lane, const std::string& what) {
             machine::Noise noise;
             noise.of.kind = machine::parse_distribution_kind(kind, what);
             const auto parameters = machine::parameters(noise.of.kind);
             const auto refuse = [&](const std::string& key) {
               throw InputError(what + ": " + key + " is no figure of " + kind);
             };
             for (const auto& [key, value] : figures) {
               const auto is_it = [&](const auto& p) { return p.key == key; };
               if (std::none_of(parameters.begin(), parameters.end(), is_it)) refuse(key);
             }
             if (!values.empty() && noise.of.kind != machine::Distribution::Kind::kTrace) {
               refuse("values");
             }
             for (const auto& parameter : parameters) {
               const auto given = std::find_if(figures.begin(), figures.end(), [&](const auto& f) {
                 return f.first == parameter.key;
               });
               const std::string place = what + ": " + std::string(parameter.key);
               parameter.set(noise.of, given == figures.end() ? "" : given->second, place);
             }
             for (const auto& value : values) {
               noise.of.values.push_back(machine::parse_finite_time(value, what));
             }
             for (const std::uint32_t rank : ranks) noise.ranks.emplace_back(rank);
             noise.chance = machine::parse_chance(chance, what + ": chance");
             noise.whole_lane = lane;
             machine::validate(noise.of, what);
             plan.noise.push_back(std::move(noise));
           })
      .def("add_link_rate",
           [time](DelayPlan& plan, const std::string& link, const std::string& rate,
                  const std::string& at, const std::string& what) {
             plan.link_rates.push_back({link, sched::parse_rate(rate, what), time(at, what)});
           })
      .def("add_failure", [time](DelayPlan& plan, const std::string& link, std::int64_t rank,
                                 const std::string& at, const std::string& what) {
        plan.failures.push_back({link, rank_or_none(rank), time(at, what)});
      });

  module.def("read_delays", [](const std::string& text, const std::string& name) {
    return machine::delay_plan_from_toml(text, name);
  });
  module.def("load_delays", machine::load_delay_plan);
  module.def("parse_bytes", [](const std::string& text, const std::string& what) {
    return sched::parse_bytes(text, what);
  });
  // In picoseconds.
  module.def("parse_time", [time](const std::string& text, const std::string& what) {
    return time(text, what).count();
  });
}

}  // namespace

void bind_machine(py::module_& module) {
  bind_platform(module);
  bind_delays(module);
}

}  // namespace slackline::python
