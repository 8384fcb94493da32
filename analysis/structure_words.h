// The two halves of check_contents().
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/structure_check.h"

namespace slackline::analysis {

std::vector<Finding> check_table(const sched::StructureProgram& program, const sched::Trace& trace,
                                 const FinalMemory& memory);
std::vector<Finding> check_queues(const sched::StructureProgram& program, const sched::Trace& trace,
                                  const FinalMemory& memory);

/// By call: each caller's sum of tickets at its target, byte by byte modulo 256.
void check_tickets(const sched::StructureProgram& program, const FinalMemory& memory,
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
bool find_fetched(const sched::StructureProgram& program, const sched::StructureOp& op,
                  const sched::Trace& trace, const FinalMemory& memory, std::uint64_t& entry);

std::string describe_entry(std::uint64_t entry);

}  // namespace slackline::analysis
