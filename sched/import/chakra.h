// Reads execution traces of MLCommons Chakra, schema 1.0, as astra-sim takes them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/memory_limit.h"
#include "sched/schedule.h"

namespace slackline::sched {

/// What a trace does not say itself, but whoever runs it.
struct ChakraOptions {
  /// As GoalOptions::eager_bytes.
  std::optional<std::uint64_t> eager_bytes;
  /// ctrl_deps hold nodes back, too. The feeder of astra-sim follows data_deps alone.
  bool control_dependencies = false;
};

/// The traces of all ranks as a schedule; bytes_of_rank[r] is that of rank r, whose file errors
/// call `prefix`.r.et.
///
/// A COMM_SEND_NODE is a send and a COMM_RECV_NODE a receive, as those of GOAL are (read_goal() in
/// goal.h): the k-th send of a source, destination and tag meets the k-th receive. A METADATA_NODE
/// is a join. A COMP_NODE is a calc of `duration_micros`. A dependency waits for a node's end.
/// Nodes of a rank are in the order of their ids, unless a dependency turns it round.
///
/// Of a COMM_COLL_NODE, the k-th one of all ranks are one collective, carried out by a pattern of
/// ours: ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER and BARRIER by a ring, ALL_TO_ALL in pairs,
/// BROADCAST (whose root comm_src says) on a binomial tree, each with one message a step and share,
/// a barrier on the circulant. comm_size counts as in astra-sim: what is summed, what a rank gives
/// to all, what a rank gives to all others together, what the root has. It has the pattern's
/// contract, so `check` proves it.
///
/// Communication is on lane 0, computation (is_cpu_op false) on lane 1, that of the CPU on lane 2:
/// what computes does not hold up what communicates.
///
/// Throws InputError, naming file, node or byte, on what is not such a trace: a cut file, an
/// unknown type of node, a missing attribute, an id twice, a dependency on a node that is not
/// there, a cycle, a deadlock across ranks, a message without its other half or with two sizes,
/// ranks whose k-th collectives differ. Throws Unsupported on memory nodes, other collectives,
/// communication of a group, of some dimensions or on a CPU, computation that says instructions and
/// no time, and on compressed files; EnvironmentError if `memory` does not hold the collectives.
Schedule read_chakra(std::span<const std::string> bytes_of_rank, std::string_view prefix = "chakra",
                     const ChakraOptions& options = {}, const MemoryLimit& memory = {});

}  // namespace slackline::sched
