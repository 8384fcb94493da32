// What an operation of a data structure costs: the sum of the messages it is made of ("RDMA vs.
// RPC", section II-C, tables II and III).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "machine/platform.h"
#include "machine/wiring.h"
#include "sched/workloads/structures/structure.h"

namespace slackline::analysis {

/// Seconds.
struct ComponentCosts {
  double put_s = 0;           // W
  double get_s = 0;           // R
  double swap_s = 0;          // A_CAS
  double fetch_s = 0;         // A_FAO
  double persistent_s = 0;    // A_CAS-P: until it succeeds
  double single_fetch_s = 0;  // A_FAO where a target has only one variable
  double local_s = 0;         // ℓ
};

/// Table I: put 3.0, get 3.7, compare-and-swap 3.8, fetch-and-op 3.9 µs, on 64 nodes of Cori. It
/// has neither persistent nor single-variable costs: the plain ones stand for them. ℓ is 0.
ComponentCosts stated_costs();

/// Of messages from `src` to `dst` that meet nobody, on the first channel between them: by the
/// machine model, exactly. Puts and gets are of entries of `entry_bytes`. A swap succeeds at once.
/// ℓ is `local` and the copy of an entry. Throws Unsupported where acknowledgements use the ports,
/// a completion may wake its program, or ranks are switches.
ComponentCosts idle_costs(const machine::Platform& platform, const machine::Wiring& wiring,
                          sched::RankId src, sched::RankId dst, sched::Time local = {},
                          std::uint64_t entry_bytes = 8);

/// A row of table II or III.
struct CostRow {
  std::string_view table;  // "II", "III"
  sched::StructureAccess access;
  sched::Promise level;
  std::string_view formula;  // "A_CAS + W + A_FAO"
  int puts = 0;
  int gets = 0;
  int swaps = 0;
  int fetches = 0;
  int persistent = 0;
  int local = 0;

  /// A queue's fetches are of a single variable if `single`.
  double price_s(const ComponentCosts& costs, bool single = false) const;
};

std::span<const CostRow> cost_rows();

/// The row of an operation; nothing for those that the tables do not have (checksum).
const CostRow* find_cost_row(sched::StructureAccess access, sched::Promise level);

}  // namespace slackline::analysis
