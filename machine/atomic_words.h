// The 64-bit words that atomics act on, and what operations ask of them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::machine {

/// Words of the memory of all ranks, by buffer and offset, and the results that atomics fetched. A
/// word begins as it does in a real run: as the bytes of the contract's pre facts, zeros where none
/// speaks. Only atomics change words: other operations may move bytes there, but nobody looks.
class AtomicWords {
 public:
  /// A word, and who waits for it: the rules of the queue are the execution's.
  struct Word {
    std::uint64_t value = 0;
    std::vector<sched::OpId> queue;
    std::size_t head = 0;
    bool busy = false;
  };

  /// `results` is Trace::results, of request_count() zeros. Both references must outlive this.
  AtomicWords(const sched::Schedule& schedule, std::span<std::uint64_t> results);

  /// An atomic is issued: its operands and its address are what they are now. Throws InputError,
  /// naming both operations, where one is a result that is not there yet at `now_s`, and where the
  /// address leaves the word's buffer.
  void post(sched::OpId op, std::span<const sched::OpTimes> times, double now_s);
  /// The same for the address of a put or a get, which nothing here needs to know.
  void check_address(sched::OpId op, std::span<const sched::OpTimes> times, double now_s) const;

  /// The word that a posted atomic acts on.
  Word& word_of(sched::OpId op);
  /// Carries out a posted atomic on its word.
  void apply(sched::OpId op);

  /// Whether the atomic, of which the result is there, did what it was to do: a compare_swap found
  /// what it expected. All others always do.
  bool succeeded(sched::OpId op) const;

 private:
  struct Request {
    std::uint64_t operand = 0;
    std::uint64_t compare = 0;
    Word* word = nullptr;
  };
  std::uint64_t value(sched::OpId op, const sched::Operand& operand,
                      std::span<const sched::OpTimes> times, double now_s) const;
  std::uint64_t moved(sched::OpId op, const sched::Slice& slice,
                      std::span<const sched::OpTimes> times, double now_s) const;
  Word& at(sched::BufferId buffer, std::uint64_t offset);

  const sched::Schedule& schedule_;
  std::span<std::uint64_t> results_;
  std::vector<Request> requests_;  // of every operation, if there are atomics
  std::map<std::pair<std::uint32_t, std::uint64_t>, Word> words_;
};

}  // namespace slackline::machine
