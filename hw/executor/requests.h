// Work requests made out of operations, and the queue in which they wait for room in the transport.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hw/executor/channels.h"
#include "hw/executor/greeting.h"
#include "hw/executor/memory.h"
#include "hw/executor/program.h"
#include "hw/transport.h"
#include "machine/run/operands.h"

namespace slackline::hw {

/// Requests in the order in which they are to be posted, whoever they belong to. Those of a channel
/// keep theirs; what a channel has no room for is passed by those of others, which it may wait for.
class RequestQueue {
 public:
  /// `last`: of its operation.
  void add(const WorkRequest& request, std::span<const Segment> segments, bool last);

  std::size_t size() const { return waiting_.size() - next_; }

  /// Posts as many as the transport takes, and calls issued(tag) for every operation whose last
  /// request was among them; about_to_post() is called before each time. Answers whether the
  /// transport took any.
  template <class AboutToPost, class Issued>
  bool post(Transport& transport, AboutToPost&& about_to_post, Issued&& issued) {
    bool moved = false;
    while (next_ < waiting_.size()) {
      about_to_post();
      const std::size_t taken = post_batch(transport);
      moved = moved || taken != 0;
      const bool all = taken == batch_.size();
      // `issued` may add more behind.
      for (std::size_t k = 0; k < taken; ++k) {
        const Waiting& posted = waiting_[next_++];
        if (posted.last) issued(posted.request.tag);
      }
      if (!all) return post_others(transport, about_to_post, issued) || moved;
    }
    waiting_.clear();
    segments_.clear();
    next_ = 0;
    return moved;
  }

 private:
  struct Waiting {
    WorkRequest request;
    std::uint32_t segment = 0;  // its first in segments_
    std::uint32_t segments = 0;
    bool last = false;
  };
  // Of a channel, those that its source initiates, or its receives.
  struct Side {
    std::uint32_t channel = 0;
    bool receives = false;
    friend bool operator==(const Side&, const Side&) = default;
  };
  Side side_of(std::size_t waiting) const {
    const WorkRequest& request = waiting_[waiting].request;
    return {request.channel, request.kind == RequestKind::kRecv};
  }
  bool is_full(const Side& side) const {
    return std::find(full_.begin(), full_.end(), side) != full_.end();
  }
  std::size_t post_batch(Transport& transport);
  bool post_one(Transport& transport, std::size_t waiting);

  // Behind the first, for which there is no room.
  template <class AboutToPost, class Issued>
  bool post_others(Transport& transport, AboutToPost&& about_to_post, Issued&& issued) {
    bool moved = false;
    full_.assign(1, side_of(next_));
    for (std::size_t w = next_ + 1; w < waiting_.size();) {
      const Side side = side_of(w);
      if (!is_full(side)) {
        about_to_post();
        if (post_one(transport, w)) {
          moved = true;
          const Waiting posted = waiting_[w];
          waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(w));
          if (posted.last) issued(posted.request.tag);
          continue;
        }
        full_.push_back(side);
      }
      ++w;
    }
    return moved;
  }

  std::vector<Waiting> waiting_;  // those before next_ are posted
  std::size_t next_ = 0;
  std::vector<Segment> segments_;
  std::vector<WorkRequest> batch_;
  std::vector<Side> full_;  // as was found just now
};

/// Makes the requests of one rank's operations.
///
/// fetch_and, fetch_or and fetch_xor are a request of their own where the transport has them
/// (libfabric's providers). Elsewhere (verbs) they are compare_swaps: each swaps what the word
/// would become, had it the value that was seen last, and the operation is complete when one finds
/// that value. Whenever one fails, somebody else's atomic on the word has succeeded.
class RequestMaker {
 public:
  /// Requests' tags are `number` · 2^32 + the operation's number within the rank. All references
  /// must outlive this.
  /// Throws Unsupported, naming the operation, for what this transport cannot do.
  RequestMaker(const RankProgram& program, RankMemory& memory, machine::Operands& operands,
               Transport& transport, const ExecutorChannels& channels, std::uint32_t number);

  /// Bytes that the program's atomics need as scratch: a word each.
  static std::uint64_t scratch_bytes(const RankProgram& program);

  /// The peers' greetings by rank.
  void connect(std::span<const Greeting> greetings);

  /// No message is numbered.
  void reset();

  /// Adds the operation's requests to the queue; answers how many completions they will have: none
  /// if not `signalled`, unless make_last() is to follow. Nothing: there is nothing to post, and
  /// the operation is done at once.
  /// Throws as machine::Operands::read().
  std::optional<std::uint32_t> make(std::uint32_t op, bool signalled, RequestQueue& queue);

  /// The number, on its channel and modulo 2^32, of the message that the operation sent or waits
  /// for the last time it was posted: with regions, the k-th posted meets the k-th posted.
  std::uint32_t message(std::uint32_t op) const {
    return number_.empty() ? program_.message(op) : number_[op];
  }

  /// When all requests of an operation are complete: whether another one is needed, which is in the
  /// queue then and has one completion. That is the last piece of a put with a notice, where the
  /// transport's writes come in no order.
  bool make_last(std::uint32_t op, RequestQueue& queue);

  /// For gets and atomics, when they are complete: puts the result where the operation wants it.
  /// False if another request is needed, which is in the queue then and has one completion.
  bool deliver_result(std::uint32_t op, RequestQueue& queue);

  /// Where a peer's slice is, `shift` bytes on.
  RemoteMemory remote(const sched::Slice& slice, std::uint64_t shift) const;

 private:
  void number_messages();
  WorkRequest request_of(std::uint32_t op) const;
  void make_message(std::uint32_t op, bool signalled, RequestQueue& queue);
  std::uint32_t make_one_sided(std::uint32_t op, bool signalled, RequestQueue& queue);
  void cut_into_parts(std::uint32_t op, std::uint64_t shift);
  void add_part(std::uint32_t op, std::size_t part, bool signalled, RequestQueue& queue) const;
  void make_atomic(std::uint32_t op, RequestQueue& queue);
  WorkRequest swap_request(std::uint32_t op);
  bool is_swapped(sched::OpKind kind) const;
  std::byte* landed(std::uint32_t op);

  const RankProgram& program_;
  const sched::Schedule& schedule_;
  RankMemory& memory_;
  machine::Operands& operands_;
  const ExecutorChannels& channels_;
  std::uint64_t tag_;
  std::size_t max_segments_;
  bool in_order_;
  bool ordered_writes_;
  bool bitwise_;
  std::vector<std::uint32_t> word_of_op_;  // atomics: their word of scratch; empty without any
  std::vector<std::uint64_t> seen_;        // and what was seen of their word last
  std::vector<std::uint32_t> side_of_op_;  // with regions, if it has a message: whose count it is
  std::vector<std::uint32_t> sides_;       // the messages so far
  std::vector<std::uint32_t> number_;
  std::vector<RemoteMemory> remote_;       // by buffer
  std::vector<RemoteMemory> any_of_rank_;  // for messages without bytes
  // A one-sided operation's remote memory, part by part, and the local segments of each.
  struct Part {
    RemoteMemory remote;
    std::uint64_t bytes = 0;
    std::uint32_t first_segment = 0;
    std::uint32_t segments = 0;
  };
  std::vector<Part> parts_;
  std::vector<Segment> segments_;
  std::vector<bool> holds_last_;  // by operation: its last part is not posted yet
};

}  // namespace slackline::hw
