// The two halves of check_contents().
#pragma once

#include <cstdint>
#include <vector>

#include "sched/workloads/structures/structure_check.h"

namespace slackline::sched {

std::vector<Finding> check_table(const StructureProgram& program, const Trace& trace,
                                 const FinalMemory& memory);
std::vector<Finding> check_queues(const StructureProgram& program, const Trace& trace,
                                  const FinalMemory& memory);

/// By call: each caller's sum of tickets at its target, byte by byte modulo 256.
void check_tickets(const StructureProgram& program, const FinalMemory& memory,
                   std::vector<Finding>& found);

/// Words of a buffer's bytes.
class Words {
 public:
  explicit Words(std::span<const std::byte> bytes) : bytes_(bytes) {}
  bool kept() const { return !bytes_.empty(); }
  std::size_t count() const { return bytes_.size() / 8; }
  std::uint64_t operator[](std::size_t i) const;

 private:
  std::span<const std::byte> bytes_;
};

/// What the operation's get brought: from where it landed, or from the trace; nothing if neither
/// was kept.
bool find_fetched(const StructureProgram& program, const StructureOp& op, const Trace& trace,
                  const FinalMemory& memory, std::uint64_t& entry);

std::string describe_entry(std::uint64_t entry);

}  // namespace slackline::sched
