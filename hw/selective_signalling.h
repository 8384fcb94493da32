// Which requests of a queue pair ask for a completion, and what memory a completion sets free:
// Seriema's selective signalling (section 4.1). Of u_max requests all but one complete silently; as
// requests of a queue pair complete in order, the completion of that one speaks for all before it.
//
// Requests are numbered k = 1, 2, … The flush number k′ says how far the completions that were seen
// reach: while ⌊k/u_max⌋ > k′, every request is signalled, whichever thread posts it, so that no
// more than u_max of them, and one for each thread, are ever silent. Memory is tagged after the
// request that uses it was posted, and is free once k′ exceeds its tag: one number frees it all.
//
// Here the tag is the highest flush number that a request posted until now may bring, which is k′
// or above. The paper tags with k′ itself, which is too low by one between the posting of a
// signalled request and its completion: another thread that took its number before, and posts in
// between, would have its memory freed by a completion that does not speak for it.
//
// Any number of threads may call all of it, for one queue pair that takes requests one at a time;
// none ever waits for another.
#pragma once

#include <atomic>
#include <cstdint>

namespace slackline::hw {

class SelectiveSignalling {
 public:
  /// `u_max` ≥ 1: the most requests that may be silent in a row, plus one.
  explicit SelectiveSignalling(std::uint64_t u_max) : u_max_(u_max) {}

  enum class Want {
    kNothing,     // signalled only if it is its turn
    kCompletion,  // signalled
    kFlush,       // signalled, and its completion frees all memory tagged before this call
  };
  struct Decision {
    bool signalled = false;
    std::uint64_t flush = 0;  // signalled: for completed()
  };

  /// Before each request is posted.
  Decision begin(Want want);

  /// The tag of memory that a request uses, taken once the request is posted.
  std::uint64_t tag() const { return opened_.load(std::memory_order_acquire); }

  /// A signalled request has completed, and well; `flush` is its decision's. Those of different
  /// requests may come in any order.
  void completed(std::uint64_t flush);

  /// k′.
  std::uint64_t flush_number() const { return flushed_.load(std::memory_order_acquire); }
  bool is_free(std::uint64_t memory_tag) const { return flush_number() > memory_tag; }

 private:
  const std::uint64_t u_max_;
  std::atomic<std::uint64_t> requests_{0};  // k
  std::atomic<std::uint64_t> opened_{0};    // ≥ flushed_: brought by requests under way
  std::atomic<std::uint64_t> flushed_{0};   // k′
};

}  // namespace slackline::hw
