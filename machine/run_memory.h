// The bytes that a simulated run keeps, and what its operations do to them and ask of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "machine/kept_memory.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::machine {

/// Throws InputError if the operation is an atomic and its word, at this offset of its buffer, does
/// not begin at a multiple of 8: no NIC takes that for a word.
void require_aligned(const sched::Schedule& schedule, sched::OpId op, std::uint64_t offset);

/// Memory begins as it does in a real run: the bytes of the contract's pre facts, zeros where none
/// speaks. A put acts when it arrives, a get when its request does, an atomic when it is served;
/// what is local, and what a receive holds, acts at some time while the operation owns its memory.
class RunMemory {
 public:
  /// `results` is Trace::results, of request_count() zeros; `memory` holds the zeros of `kept`. All
  /// references must outlive this.
  RunMemory(const sched::Schedule& schedule, const KeptMemory& kept,
            std::span<std::uint64_t> results, std::span<std::byte> memory);

  /// Whether the operation moves kept bytes: then the run says when it does.
  bool moves(sched::OpId op) const { return !moves_.empty() && moves_[op.value] != 0; }

  /// A put, get or atomic is issued: its operands and its address are what they are now. Throws
  /// InputError, naming both operations, where one is of an operation that is not done at `now_s`,
  /// and where the address leaves its buffer.
  void post(sched::OpId op, std::span<const sched::OpTimes> times, double now_s);

  /// Where the word that a posted atomic acts on stands, in the bytes of all that is kept.
  std::uint64_t address_of(sched::OpId atomic) const { return requests_[atomic.value].address; }
  /// Carries out a posted atomic on its word.
  void apply(sched::OpId atomic);
  /// What a posted put, get, copy or reduce does.
  void move(sched::OpId op);
  /// What a send's message does where it was received.
  void receive(sched::OpId send, sched::OpId receive);

  /// Whether a get or an atomic, of which the result is there, did what it was to do: a
  /// compare_swap found what it expected, a tested result is as expected. All others always do.
  bool succeeded(sched::OpId op) const;

 private:
  struct Request {
    std::uint64_t operand = 0;
    std::uint64_t compare = 0;
    std::uint64_t address = 0;  // atomics; of puts and gets, what is added to the remote offset
  };
  std::uint64_t value(sched::OpId op, const sched::Operand& operand,
                      std::span<const sched::OpTimes> times, double now_s) const;
  std::uint64_t shift(sched::OpId op, std::span<const sched::Slice> remote,
                      std::span<const sched::OpTimes> times, double now_s) const;
  void copy(std::span<const sched::Slice> from, std::uint64_t from_shift,
            std::span<const sched::Slice> to, std::uint64_t to_shift);
  void reduce(const sched::Op& op);
  std::uint64_t first_word(std::span<const sched::Slice> slices, std::uint64_t by) const;
  std::span<std::byte> at(const sched::Slice& slice, std::uint64_t shift) const;

  const sched::Schedule& schedule_;
  const KeptMemory& kept_;
  std::span<std::uint64_t> results_;
  std::span<std::byte> memory_;
  std::vector<Request> requests_;  // of every operation, if any can have one
  std::vector<char> moves_;        // of every operation, if anything is kept
};

/// Whether a run can tell if the operation succeeded: a compare_swap, or one with a test.
bool is_tested(const sched::Schedule& schedule, const sched::Op& op);

}  // namespace slackline::machine
