#include "sched/workloads/structures/structure_words.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <map>

#include "sched/value_bytes.h"
#include "sched/workloads/structures/structure_workload.h"

namespace slackline::sched {

std::uint64_t Words::operator[](std::size_t i) const {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes_.data() + 8 * i, 8);
  return word;
}

std::string describe_entry(std::uint64_t entry) {
  return fmt::format("key {:#010x}", key_of(entry));
}

bool find_fetched(const StructureProgram& program, const StructureOp& op, const Trace& trace,
                  const FinalMemory& memory, std::uint64_t& entry) {
  const StructurePart& own = program.parts[op.rank.value];
  if (const Words landed(memory(own.landing)); landed.kept()) {
    const bool two = op.handler_first.valid() || op.level == Promise::kChecksum;
    entry = landed[op.index * (two ? 2u : 1u)];
    return true;
  }
  if (!op.get.valid() || trace.results.empty()) return false;
  entry = trace.results[op.get.value];
  return true;
}

void check_tickets(const StructureProgram& program, const FinalMemory& memory,
                   std::vector<Finding>& found) {
  struct Sum {
    std::array<std::uint8_t, 8> bytes{};
    std::uint32_t calls = 0;
  };
  // Tickets are the values after the last entry and the mark, by target and caller, in order.
  std::map<std::pair<std::uint32_t, std::uint32_t>, Sum> sums;
  for (const StructureOp& op : program.ops) ++sums[{op.target.value, op.rank.value}].calls;
  std::uint32_t ticket = program.first_ticket;
  std::uint32_t number = 0;
  std::uint32_t target = 0;
  for (auto& [ends, sum] : sums) {
    number = ends.first == target ? number : 0;
    target = ends.first;
    for (std::uint32_t k = 0; k < sum.calls; ++k, ++ticket) {
      for (std::uint64_t i = 0; i < 8; ++i) {
        sum.bytes[i] = static_cast<std::uint8_t>(
            sum.bytes[i] + static_cast<unsigned>(value_byte(ValueId(ticket), i)));
      }
    }
    const Words states(memory(program.parts[target].states));
    std::uint64_t expected = 0;
    std::memcpy(&expected, sum.bytes.data(), 8);
    if (states.kept() && states[number] != expected) {
      found.push_back({Breach::kRuns, OpId::none(),
                       fmt::format("the {} calls of rank {} did not each run once at rank {}",
                                   sum.calls, ends.second, target)});
    }
    ++number;
  }
}

}  // namespace slackline::sched
