// Acknowledgements of sends over a provider that only says when it has copied a message (`shm` what
// is small, `tcp;ofi_rxm` all but the largest), or says more in the stream in which it carries
// large messages (`net`), behind those. The receiving end answers when the message has landed; only
// then is the send done, as sched/op.h has it.
//
// A send that is to be acknowledged has a number, which stands beside the immediate in what the
// message carries. The answer is a message without bytes and without a tag, which carries the
// number again.
#pragma once

#include <rdma/fabric.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "hw/fabric/context.h"

namespace slackline::hw {

class FabricEndpoint;

/// Messages without a tag are for these alone. One that does not carry this end's salt is a
/// stranger's, and as if it had not come.
class FabricAcknowledgements {
 public:
  /// So many receives of the endpoint's are for acknowledgements.
  static constexpr std::size_t kReceives = 32;

  /// The endpoint must outlive this. Throws EnvironmentError if nothing can be received.
  FabricAcknowledgements(FabricEndpoint& endpoint, std::uint64_t salt);
  FabricAcknowledgements(const FabricAcknowledgements&) = delete;
  FabricAcknowledgements& operator=(const FabricAcknowledgements&) = delete;

  /// A send that is done.
  struct Sent {
    std::uint64_t tag = 0;
    std::uint32_t channel = 0;
  };

  /// A number for a send. It is done once it is acknowledged and, if the provider tells it, once
  /// its memory may be reused: then it is told.
  std::uint32_t await(const Sent& send, bool provider_tells);
  /// The send was not posted after all.
  void forget(std::uint32_t number);

  /// The 64 bits that the message of a send carries.
  static constexpr std::uint64_t data_of(std::uint32_t number, std::uint32_t immediate) {
    return std::uint64_t{number} << 33 | kAsked | immediate;
  }

  /// A message has landed that carries `data`: answers it to the sender, if it asks for that.
  void landed(std::uint64_t data, const FabricPeer& sender);

  /// The provider says that the send's memory may be reused. What that completes.
  std::optional<Sent> reusable(std::uint32_t number) { return one_less(number); }

  /// An answer has come: the completion of a request whose context is of acknowledgements. What it
  /// completes.
  std::optional<Sent> received(FabricContext* context, std::uint64_t data);

  /// Does what there was no room for.
  void flush();

 private:
  static constexpr std::uint64_t kAsked = std::uint64_t{1} << 32;
  struct Waiting {
    Sent send;
    std::uint32_t missing = 0;  // 0: not in use
  };
  struct Answer {
    fi_addr_t place = FI_ADDR_UNSPEC;
    std::uint64_t data = 0;
  };

  bool listen(FabricContext& receive);
  std::optional<Sent> one_less(std::uint32_t number);

  FabricEndpoint& endpoint_;
  const std::uint64_t salt_;
  std::array<FabricContext, kReceives> receives_;
  std::vector<FabricContext*> deaf_;  // receives that are not posted
  std::deque<Answer> answers_;        // not yet sent
  std::deque<Waiting> waiting_;       // by number
  std::deque<std::uint32_t> free_;
};

}  // namespace slackline::hw
