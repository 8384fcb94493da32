// Requests that libfabric has, and its receives that are taken back when their channel is closed.
#pragma once

#include <rdma/fi_endpoint.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_set>
#include <vector>

#include "hw/fabric/context.h"
#include "hw/fabric/endpoint.h"
#include "hw/fabric/submit.h"
#include "hw/transport.h"

namespace slackline::hw {

/// Both ends of a channel may be here.
struct FabricChannel {
  /// A receive that the provider has no room for yet.
  struct Held {
    WorkRequest request;
    std::vector<Segment> segments;
  };
  std::uint32_t number = 0;
  bool initiates = false;
  bool receives = false;
  std::uint32_t peer = 0;    // rank, of the side that initiates
  std::uint32_t source = 0;  // rank, of the side that receives
  std::size_t posted = 0;    // receives that the provider has
  std::size_t unlanded = 0;  // sends that are not known to have met their receives
  std::deque<Held> held;     // and those behind them
  bool only_writes = false;  // ChannelEnd::only_writes
  bool closing = false;
  bool small = false;  // ChannelEnd::small, where the provider makes a difference
};

/// What the provider hands back with a completion.
struct FabricPending : FabricContext {
  std::uint64_t tag = 0;
  FabricChannel* channel = nullptr;  // of a receive, while that is open
  std::uint32_t sent_on = 0;         // of a send: the number of its channel
  bool withdrawn = false;            // a receive that was taken back: nobody wants to know
  RequestKind kind = RequestKind::kSend;
  bool signalled = true;
  std::optional<std::uint32_t> acknowledged;  // a send that is: its FabricAcknowledgements::await()
  AtomicOperands operands;
};

class FabricPendings {
 public:
  /// One that is not in use; it stays in place until it is released.
  FabricPending* take();
  void release(FabricPending* pending);

  /// Asks the provider for its receives of all channels that are closing. It gives back each by a
  /// completion, upon which it is to be released.
  void withdraw(const FabricEndpoint& endpoint);
  /// Of these, those that it has not given back.
  std::size_t awaited() const { return awaited_; }
  /// The provider keeps these: their place stays taken, and the numbers of their channels must not
  /// be used again, so that no message can meet them.
  void give_up();
  bool has_kept() const { return kept_ != 0; }
  bool has_kept(std::uint32_t channel) const { return kept_numbers_.contains(channel); }

 private:
  std::deque<FabricPending> all_;  // stay in place
  std::vector<FabricPending*> free_;
  std::size_t awaited_ = 0;
  std::size_t kept_ = 0;
  std::unordered_set<std::uint32_t> kept_numbers_;  // only ever looked up
};

}  // namespace slackline::hw
