// What one remote operation costs while every rank does such operations: the component benchmarks
// of "RDMA vs. RPC for Implementing Distributed Data Structures" (Brock et al., 2019).
#pragma once

#include <cstdint>
#include <span>

#include "experiments/report.h"
#include "machine/platform.h"
#include "sched/workloads/calls/component_access.h"

namespace slackline::experiments {

inline constexpr std::uint32_t kProcessesPerNode = 32;  // section IV
inline constexpr std::uint32_t kWarmUp = 4;             // operations of each rank, not counted
inline constexpr std::uint32_t kVariables = 1'000;

struct Component {
  std::string_view name;
  sched::ComponentKind access;
  std::uint32_t variables;
};
/// Those of the paper's figure 3, in its text's order.
std::span<const Component> components();

/// Mean time of an operation, in us, over the ranks of `nodes` nodes with 32 processes each, which
/// do `operations` counted ones each. By the event engine.
double component_us(const Component& component, const machine::Platform& platform,
                    std::uint32_t nodes, std::uint32_t operations);

/// Where these come from, for reports.
std::vector<Constant> component_constants(const machine::Platform& platform,
                                          std::uint32_t operations);

}  // namespace slackline::experiments
