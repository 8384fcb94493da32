// libfabric's objects for a rank's reliable-datagram endpoints, opened and closed in their order.
//
// Over TCP all that an endpoint has for one peer is one stream of bytes: a credit that is posted
// behind a block waits until the block has left. Queue pairs do not make it wait, nor does the
// model of time. So `net` has a second endpoint, with streams of its own, for small messages. shm
// has no streams, and an endpoint of `tcp;ofi_rxm` takes 100 MB.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "hw/transport.h"

namespace slackline::hw {

struct CloseFid {
  template <class Object>
  void operator()(Object* object) const {
    fi_close(&object->fid);
  }
};
template <class Object>
using Fid = std::unique_ptr<Object, CloseFid>;

struct FreeInfo {
  void operator()(fi_info* info) const;
};
using FabricInfo = std::unique_ptr<fi_info, FreeInfo>;

/// What a provider offers of what we need; nothing if the machine does not have it. `host`: the
/// address to bind to, or empty.
FabricInfo find_provider(std::string_view provider, const std::string& host);

/// Who may use registered memory.
enum class Reach {
  kHere,   // this rank's own requests
  kPeers,  // one-sided requests of peers, too
};

class FabricEndpoint {
 public:
  /// Throws EnvironmentError, naming the call, if something cannot be opened.
  explicit FabricEndpoint(FabricInfo info);
  ~FabricEndpoint();
  FabricEndpoint(const FabricEndpoint&) = delete;
  FabricEndpoint& operator=(const FabricEndpoint&) = delete;

  const fi_info& info() const { return *info_; }
  const std::string& provider() const { return provider_; }
  fid_ep* ep() const { return ep_.get(); }
  /// The one for small messages; without one, the same.
  fid_ep* ep(bool small) const { return small && small_ ? small_.get() : ep_.get(); }
  fid_cq* cq() const { return cq_.get(); }

  /// What the provider tells, and where it tells nothing of its interface, the kernel.
  TransportFacts facts() const;

  /// For peers.
  Address address() const;
  /// The places of a peer's endpoints in the address vector; both the same if it has one.
  struct Places {
    fi_addr_t all = FI_ADDR_UNSPEC;
    fi_addr_t small = FI_ADDR_UNSPEC;
  };
  /// `rank` names the peer in errors. Throws EnvironmentError, too, for bytes that are no whole
  /// address of this provider.
  Places insert(const Address& peer, std::size_t rank);

  /// Under a key that nobody can guess, where the provider leaves keys to us.
  Fid<fid_mr> register_memory(std::span<std::byte> memory, Reach reach);

  /// Some providers claim the capability and lack the calls.
  bool has_atomics() const;
  /// And, or and xor.
  bool has_bitwise_atomics() const;
  /// Whether the provider says that writes to one peer become visible in the order in which they
  /// were posted, whatever their sizes.
  bool writes_in_order() const;

  /// Sleeps until there may be something in the queue, the descriptor `also` is readable, or the
  /// time is over. Of a provider that wakes nobody, a short nap.
  void wait(std::chrono::nanoseconds timeout, int also);

  /// Nothing is under way any more. After it, only the destructor.
  void close();
  /// Something may be: from now on no memory is touched, here or by peers. After it, only the
  /// destructor.
  void abandon();

  /// Throws EnvironmentError, naming what failed and why, if `answer` is negative.
  void require(ssize_t answer, std::string_view what) const;

 private:
  void open_queue();
  void open_endpoint(Fid<fid_ep>& opened);
  void close_endpoints();
  void hear_peers();
  Address name_of(const Fid<fid_ep>& ep) const;
  fi_addr_t insert_one(std::span<const std::byte> place, std::size_t rank);
  void name_segment();
  std::uint64_t draw_key() const;

  FabricInfo info_;
  std::string provider_;
  // Closed in the reverse of this order.
  Fid<fid_fabric> fabric_;
  Fid<fid_domain> domain_;
  Fid<fid_cq> cq_;
  Fid<fid_av> av_;
  Fid<fid_ep> ep_;
  Fid<fid_ep> small_;          // where there is one
  int queue_descriptor_ = -1;  // readable when there is something in the queue
};

}  // namespace slackline::hw
