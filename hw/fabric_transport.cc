#include "hw/fabric_transport.h"

#include <fmt/format.h>
#include <poll.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <utility>

#include "hw/fabric_library.h"
#include "sched/error.h"

namespace slackline::hw {
namespace {

constexpr std::size_t kCompletionQueue = 8192;
constexpr std::size_t kMostSegments = 4;
constexpr std::size_t kBatch = 32;

struct CloseFid {
  template <class Object>
  void operator()(Object* object) const {
    fi_close(&object->fid);
  }
};
template <class Object>
using Fid = std::unique_ptr<Object, CloseFid>;

struct FreeInfo {
  decltype(&::fi_freeinfo) free = nullptr;
  void operator()(fi_info* info) const { free(info); }
};
using Info = std::unique_ptr<fi_info, FreeInfo>;

// The negative answer of a libfabric call, as text.
const char* reason(ssize_t answer) {
  return load_fabric_library().strerror(static_cast<int>(-answer));
}

void require(ssize_t answer, std::string_view provider, std::string_view what) {
  if (answer >= 0) return;
  throw EnvironmentError(
      fmt::format("libfabric {}: {} failed: {}", provider, what, reason(answer)));
}

Info wanted(const FabricLibrary& library, std::string_view provider) {
  Info hints(library.dupinfo(nullptr), {library.freeinfo});
  if (!hints) throw EnvironmentError("libfabric: out of memory");
  hints->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  // Whoever waits polls; a thread of the provider's would only be in the way.
  hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
  hints->tx_attr->msg_order = FI_ORDER_SAS;
  hints->rx_attr->msg_order = FI_ORDER_SAS;
  hints->fabric_attr->prov_name = strdup(std::string(provider).c_str());
  return hints;
}

// Nothing if the machine does not have it.
Info find_provider(std::string_view provider, const std::string& host) {
  const FabricLibrary library = load_fabric_library();
  const Info hints = wanted(library, provider);
  fi_info* found = nullptr;
  const bool bound = !host.empty() && provider != "shm";
  const int answer = library.getinfo(FI_VERSION(1, 17), bound ? host.c_str() : nullptr, nullptr,
                                     bound ? FI_SOURCE : 0, hints.get(), &found);
  if (answer == -FI_ENODATA) return Info(nullptr, {library.freeinfo});
  require(answer, provider, bound ? "looking for " + host : "fi_getinfo");
  return Info(found, {library.freeinfo});
}

// What the provider hands back with a completion. The context must come first.
struct Pending {
  fi_context2 context;
  std::uint64_t tag = 0;
  RequestKind kind = RequestKind::kSend;
  bool signalled = true;
  std::uint32_t channel = 0;
};

// A channel's receives: how many the provider has, and those it has no room for yet.
struct Receives {
  struct Held {
    WorkRequest request;
    std::vector<Segment> segments;
  };
  std::size_t posted = 0;
  std::deque<Held> held;
};

// A channel's writes with immediate, and the receives that wait for them.
struct Arrivals {
  std::deque<std::uint64_t> receives;    // tags
  std::deque<std::uint32_t> immediates;  // that came before their receives
};

class FabricTransport final : public Transport {
 public:
  explicit FabricTransport(Info info)
      : info_(std::move(info)), provider_(info_->fabric_attr->prov_name) {
    fid_fabric* fabric = nullptr;
    require(load_fabric_library().fabric(info_->fabric_attr, &fabric, nullptr), provider_,
            "fi_fabric");
    fabric_.reset(fabric);
    fid_domain* domain = nullptr;
    require(fi_domain(fabric, info_.get(), &domain, nullptr), provider_, "fi_domain");
    domain_.reset(domain);
    if (info_->domain_attr->cq_data_size < 8) {
      throw EnvironmentError(fmt::format("libfabric {}: {} bytes of completion data; expected 8",
                                         provider_, info_->domain_attr->cq_data_size));
    }
    fi_cq_attr cq_attr{};
    cq_attr.size = kCompletionQueue;
    cq_attr.format = FI_CQ_FORMAT_TAGGED;
    cq_attr.wait_obj = FI_WAIT_NONE;
    fid_cq* cq = nullptr;
    require(fi_cq_open(domain, &cq_attr, &cq, nullptr), provider_, "fi_cq_open");
    cq_.reset(cq);
    fi_av_attr av_attr{};
    av_attr.type = FI_AV_TABLE;
    fid_av* av = nullptr;
    require(fi_av_open(domain, &av_attr, &av, nullptr), provider_, "fi_av_open");
    av_.reset(av);
    fid_ep* ep = nullptr;
    require(fi_endpoint(domain, info_.get(), &ep, nullptr), provider_, "fi_endpoint");
    ep_.reset(ep);
    require(fi_ep_bind(ep, &av->fid, 0), provider_, "binding the address vector");
    require(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), provider_, "binding the queue");
    require(fi_enable(ep), provider_, "fi_enable");
    max_segments_ = std::clamp<std::size_t>(
        std::min(info_->tx_attr->iov_limit, info_->rx_attr->iov_limit), 1, kMostSegments);
  }

  ~FabricTransport() override {
    // The endpoint goes before what it is bound to.
    ep_.reset();
  }

  std::string_view name() const override { return provider_; }
  std::size_t max_segments() const override { return max_segments_; }

  // Some claim the capability and lack the calls.
  bool has_atomics() const override {
    std::size_t count = 0;
    return fi_fetch_atomicvalid(ep_.get(), FI_UINT64, FI_SUM, &count) == 0 && count >= 1 &&
           fi_compare_atomicvalid(ep_.get(), FI_UINT64, FI_CSWAP, &count) == 0 && count >= 1;
  }

  LocalMemory register_memory(std::span<std::byte> memory) override {
    if (memory.empty()) throw InternalError("no memory to register");
    fid_mr* mr = nullptr;
    const std::uint64_t access =
        FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
    require(fi_mr_reg(domain_.get(), memory.data(), memory.size(), access, 0, regions_.size() + 1,
                      0, &mr, nullptr),
            provider_, fmt::format("registering {} bytes", memory.size()));
    regions_.emplace_back(mr);
    LocalMemory local;
    local.handle = static_cast<std::uint32_t>(regions_.size() - 1);
    local.remote.key = fi_mr_key(mr);
    local.remote.address = (info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0
                               ? reinterpret_cast<std::uint64_t>(memory.data())
                               : 0;
    return local;
  }

  bool completes_in_order() const override { return false; }

  // Nobody is woken: naps.
  void wait(std::chrono::nanoseconds timeout, int also) override {
    constexpr std::chrono::nanoseconds kNap = std::chrono::microseconds(50);
    const std::chrono::nanoseconds nap = std::min(timeout, kNap);
    const timespec time{0, static_cast<long>(nap.count())};
    pollfd entry{also, POLLIN, 0};
    ppoll(&entry, also < 0 ? 0 : 1, &time, nullptr);
  }

  void close(std::span<const ChannelEnd> ends) override {
    for (const ChannelEnd& end : ends) {
      peer_of_channel_.erase(end.channel);
      arrivals_.erase(end.channel);
      receives_.erase(end.channel);
    }
  }

  Address open(std::span<const ChannelEnd> ends) override {
    for (const ChannelEnd& end : ends) {
      if (end.initiates) {
        peer_of_channel_[end.channel] = end.peer;
      } else {
        receives_.try_emplace(end.channel);
      }
    }
    // shm refuses receives above its size; a share for each channel, so that none starves another.
    // The others take any number.
    if (provider_ == "shm" && !receives_.empty()) {
      most_receives_ = std::max<std::size_t>(1, info_->rx_attr->size / receives_.size());
    }
    Address address(256);
    std::size_t bytes = address.size();
    require(fi_getname(&ep_->fid, address.data(), &bytes), provider_, "fi_getname");
    address.resize(bytes);
    return address;
  }

  void connect(std::span<const Address> peers) override {
    peers_.assign(peers.size(), FI_ADDR_UNSPEC);
    for (std::size_t rank = 0; rank < peers.size(); ++rank) {
      if (peers[rank].empty()) continue;
      const int inserted =
          fi_av_insert(av_.get(), peers[rank].data(), 1, &peers_[rank], 0, nullptr);
      if (inserted != 1) {
        throw EnvironmentError(
            fmt::format("libfabric {}: the address of rank {} cannot be used", provider_, rank));
      }
    }
  }

  std::size_t post(std::span<const WorkRequest> requests) override {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (!post_one(requests[i])) return i;
    }
    return requests.size();
  }

  std::size_t poll(std::span<Completion> completions) override {
    std::size_t filled = 0;
    while (true) {
      while (filled < completions.size() && !ready_.empty()) {
        completions[filled++] = ready_.front();
        ready_.pop_front();
      }
      if (filled == completions.size()) return filled;
      feed_hungry();
      std::array<fi_cq_tagged_entry, kBatch> entries;
      const ssize_t count = fi_cq_read(cq_.get(), entries.data(), entries.size());
      if (count == -FI_EAGAIN) return filled;
      if (count == -FI_EAVAIL) throw_failed();
      require(count, provider_, "fi_cq_read");
      for (ssize_t i = 0; i < count; ++i) complete(entries[static_cast<std::size_t>(i)]);
    }
  }

 private:
  static std::uint64_t completion_data(const WorkRequest& request) {
    return std::uint64_t{request.channel} << 32 | request.immediate;
  }

  fi_addr_t peer(const WorkRequest& request) const {
    const auto found = peer_of_channel_.find(request.channel);
    if (found == peer_of_channel_.end() || found->second >= peers_.size()) {
      throw InternalError(fmt::format("channel {} does not start here", request.channel));
    }
    return peers_[found->second];
  }

  Pending* take() {
    if (free_.empty()) {
      pending_.emplace_back();
      return &pending_.back();
    }
    Pending* const taken = free_.back();
    free_.pop_back();
    return taken;
  }

  // False if there is no room now.
  bool post_one(const WorkRequest& request) {
    if (request.kind == RequestKind::kRecv && request.expects_write) {
      expect_write(request);
      return true;
    }
    if (request.kind == RequestKind::kRecv) {
      Receives& receives = receives_[request.channel];
      if (receives.posted >= most_receives_ || !receives.held.empty()) {
        receives.held.push_back({request, {request.local.begin(), request.local.end()}});
        return true;
      }
      if (!give(request)) return false;
      ++receives.posted;
      return true;
    }
    return give(request);
  }

  // Receives that were held back, as far as there is room.
  void feed_hungry() {
    std::erase_if(hungry_, [&](std::uint32_t channel) {
      Receives& receives = receives_[channel];
      while (!receives.held.empty() && receives.posted < most_receives_) {
        Receives::Held& held = receives.held.front();
        held.request.local = held.segments;
        if (!give(held.request)) return false;
        ++receives.posted;
        receives.held.pop_front();
      }
      return true;
    });
  }

  // False if there is no room now.
  bool give(const WorkRequest& request) {
    Pending* const pending = take();
    pending->tag = request.tag;
    pending->kind = request.kind;
    pending->signalled = request.signalled;
    pending->channel = request.channel;
    const ssize_t answer = submit(request, pending);
    if (answer == 0) return true;
    free_.push_back(pending);
    if (answer == -FI_EAGAIN) return false;
    require(answer, provider_, fmt::format("posting on channel {}", request.channel));
    return true;
  }

  ssize_t submit(const WorkRequest& request, void* context) {
    std::array<iovec, kMostSegments> iov{};
    std::array<void*, kMostSegments> desc{};
    if (request.local.size() > max_segments_) throw InternalError("too many segments");
    const std::size_t count = request.local.size();
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Segment& segment = request.local[i];
      iov[i] = {segment.data, segment.bytes};
      if (segment.handle >= regions_.size()) throw InternalError("unregistered memory");
      desc[i] = fi_mr_desc(regions_[segment.handle].get());
      bytes += segment.bytes;
    }
    switch (request.kind) {
      case RequestKind::kSend: {
        fi_msg_tagged message{};
        message.msg_iov = iov.data();
        message.desc = desc.data();
        message.iov_count = count;
        message.addr = peer(request);
        message.tag = request.channel;
        message.context = context;
        message.data = request.immediate;
        return fi_tsendmsg(ep_.get(), &message, FI_COMPLETION | FI_REMOTE_CQ_DATA);
      }
      case RequestKind::kRecv: {
        fi_msg_tagged message{};
        message.msg_iov = iov.data();
        message.desc = desc.data();
        message.iov_count = count;
        message.addr = FI_ADDR_UNSPEC;
        message.tag = request.channel;
        message.context = context;
        return fi_trecvmsg(ep_.get(), &message, FI_COMPLETION);
      }
      case RequestKind::kWrite:
      case RequestKind::kWriteImm:
      case RequestKind::kRead: {
        const fi_rma_iov target{request.remote.address, bytes, request.remote.key};
        fi_msg_rma message{};
        message.msg_iov = iov.data();
        message.desc = desc.data();
        message.iov_count = count;
        message.addr = peer(request);
        message.rma_iov = &target;
        message.rma_iov_count = 1;
        message.context = context;
        if (request.kind == RequestKind::kRead)
          return fi_readmsg(ep_.get(), &message, FI_COMPLETION);
        // Complete means that the bytes stand there, not that they left. Without bytes there is
        // nothing to wait for, and shm loses such a write.
        std::uint64_t flags = FI_COMPLETION | (bytes != 0 ? FI_DELIVERY_COMPLETE : 0);
        if (request.kind == RequestKind::kWriteImm) {
          flags |= FI_REMOTE_CQ_DATA;
          message.data = completion_data(request);
        }
        return fi_writemsg(ep_.get(), &message, flags);
      }
      case RequestKind::kFetchAdd:
      case RequestKind::kCompareSwap:
        return submit_atomic(request, context, iov, desc);
    }
    throw InternalError("an unknown kind of request");
  }

  ssize_t submit_atomic(const WorkRequest& request, void* context,
                        const std::array<iovec, kMostSegments>& iov,
                        std::array<void*, kMostSegments>& desc) {
    if (request.local.size() != 1 || iov[0].iov_len != 8) {
      throw InternalError("an atomic's result has 8 bytes");
    }
    // Operands must stay in place until the completion.
    auto* const own = static_cast<Pending*>(context);
    Operands& operands = operands_[own];
    operands = {request.operand, request.compare};
    if (request.kind == RequestKind::kFetchAdd) {
      return fi_fetch_atomic(ep_.get(), &operands.value, 1, nullptr, iov[0].iov_base, desc[0],
                             peer(request), request.remote.address, request.remote.key, FI_UINT64,
                             FI_SUM, context);
    }
    return fi_compare_atomic(ep_.get(), &operands.value, 1, nullptr, &operands.compare, nullptr,
                             iov[0].iov_base, desc[0], peer(request), request.remote.address,
                             request.remote.key, FI_UINT64, FI_CSWAP, context);
  }

  void expect_write(const WorkRequest& request) {
    Arrivals& arrivals = arrivals_[request.channel];
    if (arrivals.immediates.empty()) {
      arrivals.receives.push_back(request.tag);
      return;
    }
    ready_.push_back({request.tag, RequestKind::kRecv, arrivals.immediates.front(), 0});
    arrivals.immediates.pop_front();
  }

  void complete(const fi_cq_tagged_entry& entry) {
    if ((entry.flags & FI_REMOTE_WRITE) != 0) {
      Arrivals& arrivals = arrivals_[static_cast<std::uint32_t>(entry.data >> 32)];
      const auto immediate = static_cast<std::uint32_t>(entry.data);
      if (arrivals.receives.empty()) {
        arrivals.immediates.push_back(immediate);
        return;
      }
      ready_.push_back({arrivals.receives.front(), RequestKind::kRecv, immediate, 0});
      arrivals.receives.pop_front();
      return;
    }
    auto* const pending = static_cast<Pending*>(entry.op_context);
    const bool received = pending->kind == RequestKind::kRecv;
    if (received) {
      Receives& receives = receives_[pending->channel];
      --receives.posted;
      if (!receives.held.empty()) hungry_.push_back(pending->channel);
    }
    if (pending->signalled) {
      ready_.push_back({pending->tag, pending->kind,
                        received ? static_cast<std::uint32_t>(entry.data) : 0,
                        received ? entry.len : 0});
    }
    free_.push_back(pending);
  }

  [[noreturn]] void throw_failed() {
    fi_cq_err_entry error{};
    fi_cq_readerr(cq_.get(), &error, 0);
    throw EnvironmentError(fmt::format("libfabric {}: a request failed: {}", provider_,
                                       load_fabric_library().strerror(error.err)));
  }

  struct Operands {
    std::uint64_t value = 0;
    std::uint64_t compare = 0;
  };

  Info info_;
  std::string provider_;
  // Closed in the reverse of this order.
  Fid<fid_fabric> fabric_;
  Fid<fid_domain> domain_;
  Fid<fid_cq> cq_;
  Fid<fid_av> av_;
  std::vector<Fid<fid_mr>> regions_;
  Fid<fid_ep> ep_;
  std::size_t max_segments_ = 1;
  std::vector<fi_addr_t> peers_;                            // by rank
  std::map<std::uint32_t, std::uint32_t> peer_of_channel_;  // of channels that start here
  std::map<std::uint32_t, Arrivals> arrivals_;              // by channel
  std::deque<Pending> pending_;                             // stays in place
  std::vector<Pending*> free_;
  std::map<const Pending*, Operands> operands_;
  std::map<std::uint32_t, Receives> receives_;                           // by channel
  std::size_t most_receives_ = std::numeric_limits<std::size_t>::max();  // of a channel
  std::vector<std::uint32_t> hungry_;  // channels whose receives are held back, and have room
  std::deque<Completion> ready_;
};

}  // namespace

std::unique_ptr<Transport> make_fabric_transport(const FabricOptions& options) {
  std::vector<std::string> providers{options.provider};
  if (options.provider == "tcp") providers = {"net", "tcp;ofi_rxm"};
  for (const std::string& provider : providers) {
    if (Info info = find_provider(provider, options.host)) {
      return std::make_unique<FabricTransport>(std::move(info));
    }
  }
  throw EnvironmentError(
      fmt::format("libfabric has no provider {} that fits{}; `fi_info -l` lists those it has",
                  options.provider, options.host.empty() ? "" : " " + options.host));
}

}  // namespace slackline::hw
