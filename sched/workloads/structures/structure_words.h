// The two halves of check_contents().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
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

/// A buffer's bytes as slots, each of `slot_bytes`: a multiple of 8.
class Slots {
 public:
  explicit Slots(std::span<const std::byte> bytes, std::uint64_t slot_bytes = 8)
      : bytes_(bytes), slot_bytes_(slot_bytes) {}
  bool kept() const { return !bytes_.empty(); }
  std::size_t count() const { return bytes_.size() / slot_bytes_; }
  /// The first word of slot i, or the one `offset` bytes behind it.
  std::uint64_t operator[](std::size_t i) const { return word(i, 0); }
  std::uint64_t word(std::size_t i, std::uint64_t offset) const;
  std::span<const std::byte> bytes(std::size_t i) const {
    return bytes_.subspan(i * slot_bytes_, slot_bytes_);
  }

 private:
  std::span<const std::byte> bytes_;
  std::uint64_t slot_bytes_;
};

/// What the operation's get brought: from where it landed, or, as far as its first word goes, from
/// the trace; nothing if neither was kept. `bytes` are then all of them, or none.
struct Fetched {
  std::uint64_t entry = 0;
  std::span<const std::byte> bytes;
};
std::optional<Fetched> find_fetched(const StructureProgram& program, const StructureOp& op,
                                    const Trace& trace, const FinalMemory& memory);

/// The first of `bytes` that is not what an entry of `size` bytes has there; behind those there are
/// zeros up to `zeros_to`. Nothing if all are.
std::optional<std::uint64_t> first_torn(std::span<const std::byte> bytes, ValueId value,
                                        std::uint64_t size, std::uint64_t zeros_to);

std::string describe_entry(std::uint64_t entry);

}  // namespace slackline::sched
