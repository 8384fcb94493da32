#include "sched/workloads/structures/structure_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "sched/value_bytes.h"
#include "sched/workloads/structures/structure_workload.h"

namespace slackline::sched {

std::uint64_t Slots::word(std::size_t i, std::uint64_t offset) const {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes_.data() + i * slot_bytes_ + offset, 8);
  return word;
}

std::string describe_entry(std::uint64_t entry) {
  return fmt::format("key {:#010x}", key_of(entry));
}

std::optional<Fetched> find_fetched(const StructureProgram& program, const StructureOp& op,
                                    const Trace& trace, const FinalMemory& memory) {
  const StructurePart& own = program.parts[op.rank.value];
  const Slots landed(memory(own.landing), program.landing_bytes());
  if (landed.kept()) return Fetched{landed[op.index], landed.bytes(op.index)};
  if (!op.get.valid() || trace.results.empty()) return std::nullopt;
  return Fetched{trace.results[op.get.value], {}};
}

std::optional<std::uint64_t> first_torn(std::span<const std::byte> bytes, ValueId value,
                                        std::uint64_t size, std::uint64_t zeros_to) {
  for (std::uint64_t i = 0; i < std::max(size, zeros_to) && i < bytes.size(); ++i) {
    const std::byte expected = i < size ? value_byte(value, i) : std::byte{0};
    if (bytes[i] != expected) return i;
  }
  return std::nullopt;
}

void check_tickets(const StructureProgram& program, const FinalMemory& memory,
                   std::vector<Finding>& found) {
  struct Sum {
    std::array<std::uint8_t, 8> bytes{};
    std::uint32_t calls = 0;
  };
  // Tickets are the values after the last entry and the mark, by target and caller, in order.
  std::map<std::pair<std::uint32_t, std::uint32_t>, Sum> sums;
  for (const StructureOp& op : program.ops) {
    if (!op.is_own()) ++sums[{op.target.value, op.rank.value}].calls;
  }
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
    const Slots states(memory(program.parts[target].states));
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
