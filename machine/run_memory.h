// The bytes that a simulated run keeps, and what its operations do to them and ask of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "machine/run/operands.h"
#include "sched/kept_memory.h"
#include "sched/schedule.h"

namespace slackline::machine {

/// Memory begins as it does in a real run: the bytes of the contract's pre facts, zeros where none
/// speaks. A put acts when it arrives, a get when its request does, an atomic when it is served;
/// what is local, and what a receive holds, acts at some time while the operation owns its memory.
class RunMemory {
 public:
  /// `operands` are those of the whole schedule; `memory` holds the zeros of `kept`. All references
  /// must outlive this.
  RunMemory(const sched::Schedule& schedule, const sched::KeptMemory& kept, Operands& operands,
            std::span<std::byte> memory);

  /// Whether the operation moves kept bytes: then the run says when it does.
  bool moves(sched::OpId op) const { return !moves_.empty() && moves_[op.value] != 0; }

  /// Where the word that a posted atomic acts on stands, in the bytes of all that is kept.
  std::uint64_t address_of(sched::OpId atomic) const;
  /// Carries out a posted atomic on its word.
  void apply(sched::OpId atomic);
  /// What a posted put, get, copy or reduce does.
  void move(sched::OpId op);
  /// Whether the bytes are the same in another run of the same.
  bool goes_on_as(const RunMemory& second) const {
    return std::equal(memory_.begin(), memory_.end(), second.memory_.begin(), second.memory_.end());
  }
  /// What a send's message does where it was received.
  void receive(sched::OpId send, sched::OpId receive);

 private:
  void copy(std::span<const sched::Slice> from, std::uint64_t from_shift,
            std::span<const sched::Slice> to, std::uint64_t to_shift);
  void reduce(const sched::Op& op);
  std::uint64_t first_word(std::span<const sched::Slice> slices, std::uint64_t by) const;
  std::span<std::byte> at(const sched::Slice& slice, std::uint64_t shift) const;

  const sched::Schedule& schedule_;
  const sched::KeptMemory& kept_;
  Operands& operands_;
  std::span<std::byte> memory_;
  std::vector<char> moves_;  // of every operation, if anything is kept
};

}  // namespace slackline::machine
