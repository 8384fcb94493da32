#include "analysis/advice/structure_cost.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.h"
#include "machine/atomic_service.h"
#include "machine/completions.h"
#include "machine/congestion.h"
#include "machine/switches.h"

namespace slackline::analysis {
namespace {

using sched::Promise;
using sched::StructureAccess;

constexpr std::array kRows = {
    CostRow{"II", StructureAccess::kInsert, Promise::kReadWrite, "A_CAS + W + A_FAO", 1, 0, 1, 1, 0,
            0},
    CostRow{"II", StructureAccess::kInsert, Promise::kWrite, "A_CAS + W", 1, 0, 1, 0, 0, 0},
    CostRow{"II", StructureAccess::kFind, Promise::kReadWrite, "A_FAO + R + A_FAO", 0, 1, 0, 2, 0,
            0},
    CostRow{"II", StructureAccess::kFind, Promise::kRead, "R", 0, 1, 0, 0, 0, 0},
    CostRow{"III", StructureAccess::kPush, Promise::kReadWrite, "A_FAO + W + A_CAS-P", 1, 0, 0, 1,
            1, 0},
    CostRow{"III", StructureAccess::kPush, Promise::kWrite, "A_FAO + W", 1, 0, 0, 1, 0, 0},
    CostRow{"III", StructureAccess::kPush, Promise::kLocal, "l", 0, 0, 0, 0, 0, 1},
    CostRow{"III", StructureAccess::kPop, Promise::kReadWrite, "A_FAO + R + A_CAS-P", 0, 1, 0, 1, 1,
            0},
    CostRow{"III", StructureAccess::kPop, Promise::kRead, "A_FAO + R", 0, 1, 0, 1, 0, 0},
    CostRow{"III", StructureAccess::kPop, Promise::kLocal, "l", 0, 0, 0, 0, 0, 1},
};

struct Way {
  double there_s;
  double back_s;
  double there_bytes_per_s;
  double back_bytes_per_s;
  bool local;  // within a machine
  machine::Framing framing;
  machine::Pcie pcie;

  double there_s_of(std::uint64_t bytes) const { return time_s(bytes, there_bytes_per_s); }
  double back_s_of(std::uint64_t bytes) const { return time_s(bytes, back_bytes_per_s); }
  double time_s(std::uint64_t bytes, double bytes_per_s) const {
    return std::max(bytes_of(bytes) / bytes_per_s, local ? 0 : pcie.transfer_s(bytes));
  }
  double bytes_of(std::uint64_t bytes) const {
    return local ? static_cast<double>(bytes) : framing.wire_bytes(bytes);
  }
};

double slowest(const machine::Wiring& wiring, const machine::Route& route) {
  if (route.local) return route.copy_rate.bytes_per_second();
  double rate = std::numeric_limits<double>::infinity();
  for (std::size_t l = 0; l < route.links.size(); ++l) {
    const double bytes_per_s = wiring.links()[route.links[l].value].rate.bytes_per_second();
    rate = std::min(
        rate, route.parts_on.empty() ? bytes_per_s : bytes_per_s * route.parts / route.parts_on[l]);
  }
  return rate;
}

Way way_between(const machine::Wiring& wiring, sched::RankId src, sched::RankId dst) {
  const machine::Route there = wiring.route(src, dst);
  const machine::Route back = wiring.route(dst, src);
  return {sched::seconds(there.latency),
          sched::seconds(back.latency),
          slowest(wiring, there),
          slowest(wiring, back),
          there.local || there.scale_up,
          wiring.framing(),
          wiring.pcie()};
}

double post_s(const machine::Platform& platform, const Way& way) {
  return sched::seconds(platform.o_post) + (way.local ? 0 : platform.node.post_more_s());
}

}  // namespace

ComponentCosts stated_costs() { return {3.0e-6, 3.7e-6, 3.8e-6, 3.9e-6, 3.8e-6, 3.9e-6, 0}; }

ComponentCosts idle_costs(const machine::Platform& platform, const machine::Wiring& wiring,
                          sched::RankId src, sched::RankId dst, sched::Time local,
                          std::uint64_t entry_bytes) {
  machine::require_no_switches(platform, "costs of idle operations");
  if (platform.poll_for && platform.interrupt_cost.count() > 0) {
    throw Unsupported(
        "costs of idle operations: programs that sleep, which a completion may wake; expected a "
        "platform without poll_for");
  }
  machine::require_no_congestion(platform, "costs of idle operations");
  if (platform.ack_bytes != 0) {
    throw Unsupported(
        "costs of idle operations: acknowledgements that use the ports; expected a platform "
        "without "
        "ack");
  }
  machine::require_program_sees(platform, "costs of idle operations");
  const Way way = way_between(wiring, src, dst);
  const double both_s = post_s(platform, way) + way.there_s + way.back_s +
                        sched::seconds(platform.o_complete) + sched::seconds(platform.o_signal) +
                        sched::seconds(platform.o_poll);
  ComponentCosts costs;
  costs.put_s = both_s + way.there_s_of(entry_bytes);
  const double fetch_s = both_s + machine::read_s(platform, way.local);
  costs.get_s = fetch_s + way.back_s_of(entry_bytes);
  costs.swap_s = fetch_s + way.back_s_of(8) + machine::service_s(platform, way.local);
  costs.fetch_s = costs.persistent_s = costs.single_fetch_s = costs.swap_s;
  costs.local_s = sched::seconds(local) + platform.copy_s(entry_bytes);
  return costs;
}

double CostRow::price_s(const ComponentCosts& costs, bool single) const {
  const bool queue = access == StructureAccess::kPush || access == StructureAccess::kPop;
  return puts * costs.put_s + gets * costs.get_s + swaps * costs.swap_s +
         fetches * (single && queue ? costs.single_fetch_s : costs.fetch_s) +
         persistent * costs.persistent_s + local * costs.local_s;
}

std::span<const CostRow> cost_rows() { return kRows; }

const CostRow* find_cost_row(StructureAccess access, Promise level) {
  const auto* const found = std::find_if(kRows.begin(), kRows.end(), [&](const CostRow& row) {
    return row.access == access && row.level == level;
  });
  return found == kRows.end() ? nullptr : found;
}

}  // namespace slackline::analysis
