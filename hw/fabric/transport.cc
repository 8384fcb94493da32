#include "hw/fabric/transport.h"

#include <fmt/format.h>
#include <rdma/fi_tagged.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <deque>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "hw/fabric/acknowledgements.h"
#include "hw/fabric/atomics.h"
#include "hw/fabric/endpoint.h"
#include "hw/fabric/library.h"
#include "hw/fabric/notices.h"
#include "hw/fabric/pending.h"
#include "hw/fabric/submit.h"
#include "hw/random_bytes.h"
#include "hw/shm_cleanup.h"
#include "hw/shm_room.h"

namespace slackline::hw {
namespace {

constexpr std::size_t kBatch = 32;
// The providers give receives back at once; one that does not is not waited for any longer.
constexpr std::chrono::seconds kWithdrawal{1};

using Channel = FabricChannel;
using Pending = FabricPending;

class FabricTransport final : public Transport {
 public:
  explicit FabricTransport(FabricInfo info)
      : endpoint_(std::move(info)),
        max_segments_(std::clamp<std::size_t>(
            std::min(endpoint_.info().tx_attr->iov_limit, endpoint_.info().rx_attr->iov_limit), 1,
            kMostFabricSegments)),
        inject_bytes_(endpoint_.info().tx_attr->inject_size),
        bitwise_(endpoint_.has_bitwise_atomics()),
        notices_(endpoint_.provider()),
        acknowledgements_(endpoint_, salt_) {
    if (endpoint_.has_atomics()) return;
    // Messages without a tag are of one kind.
    if (endpoint_.ep(true) == endpoint_.ep()) {
      throw EnvironmentError(fmt::format("libfabric {} has neither atomics nor acknowledgements",
                                         endpoint_.provider()));
    }
    atomics_.emplace(endpoint_, salt_, [this](std::uint32_t number) -> std::optional<FabricPeer> {
      const auto found = channels_.find(number);
      const bool ends_here = found != channels_.end() && found->second.receives &&
                             found->second.source < peers_.size();
      if (!ends_here) return std::nullopt;
      return peers_[found->second.source].all;
    });
  }

  // The endpoint goes first: it may look at contexts, and at our own messages.
  ~FabricTransport() override {
    if (channels_.empty() && !pending_.has_kept()) {
      endpoint_.close();
    } else {
      endpoint_.abandon();
    }
  }

  std::string_view name() const override { return endpoint_.provider(); }
  std::size_t max_segments() const override { return max_segments_; }
  TransportFacts facts() const override { return endpoint_.facts(); }
  bool completes_in_order() const override { return false; }
  bool writes_in_order() const override { return endpoint_.writes_in_order(); }
  // The provider's own, or made of messages.
  bool has_atomics() const override { return true; }
  bool has_bitwise_atomics() const override { return atomics_ || bitwise_; }
  void wait(std::chrono::nanoseconds timeout, int also) override {
    if (ready_.empty()) endpoint_.wait(timeout, also);
  }

  LocalMemory register_memory(std::span<std::byte> memory) override {
    if (memory.empty()) throw InternalError("no memory to register");
    Fid<fid_mr> region = endpoint_.register_memory(memory, Reach::kPeers);
    LocalMemory local;
    local.remote.key = fi_mr_key(region.get());
    const bool by_address = (endpoint_.info().domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
    local.remote.address = by_address ? reinterpret_cast<std::uint64_t>(memory.data()) : 0;
    if (atomics_) {
      if (by_address) throw InternalError("atomics made of messages count from the memory's start");
      atomics_->add_memory(local.remote.key, memory);
    }
    const auto unused = std::find(regions_.begin(), regions_.end(), nullptr);
    local.handle = static_cast<std::uint32_t>(unused - regions_.begin());
    if (unused == regions_.end()) {
      regions_.push_back(std::move(region));
    } else {
      *unused = std::move(region);
    }
    return local;
  }

  void unregister_memory(const LocalMemory& memory) override {
    if (memory.handle < regions_.size()) regions_[memory.handle].reset();
    if (atomics_) atomics_->remove_memory(memory.remote.key);
  }

  Address open(std::span<const ChannelEnd> ends) override {
    require_room_for(ends);
    for (const ChannelEnd& end : ends) {
      if (pending_.has_kept(end.channel)) {
        throw EnvironmentError(fmt::format(
            "libfabric {} has kept receives of channel {} after it was closed; expected "
            "another number",
            endpoint_.provider(), end.channel));
      }
      Channel& channel = channels_[end.channel];
      channel.number = end.channel;
      channel.small = end.small;
      (end.initiates ? channel.initiates : channel.receives) = true;
      (end.initiates ? channel.peer : channel.source) = end.peer;
      if (!end.initiates) channel.only_writes = end.only_writes;
      if (!end.initiates) notices_.open(end.channel);
    }
    share_receives();
    // For peers: what they reach this end by, its salt, and where there is a bound, how many
    // messages of a channel may wait here for their receives.
    Address address(sizeof salt_);
    std::memcpy(address.data(), &salt_, sizeof salt_);
    const Address place = endpoint_.address();
    address.insert(address.end(), place.begin(), place.end());
    if (is_bounded()) {
      const std::span<const std::byte> share = std::as_bytes(std::span(&most_receives_, 1));
      address.insert(address.end(), share.begin(), share.end());
    }
    return address;
  }

  void connect(std::span<const Address> peers) override {
    peers_.resize(std::max(peers_.size(), peers.size()));
    for (std::size_t rank = 0; rank < peers.size(); ++rank) {
      if (peers[rank].empty()) continue;
      const std::size_t behind = is_bounded() ? sizeof(std::uint64_t) : 0;
      if (peers[rank].size() <= sizeof salt_ + behind) {
        throw EnvironmentError(fmt::format("libfabric {}: the address of rank {} is cut short",
                                           endpoint_.provider(), rank));
      }
      std::uint64_t salt = 0;
      std::memcpy(&salt, peers[rank].data(), sizeof salt);
      const Address place(peers[rank].begin() + sizeof salt,
                          peers[rank].end() - static_cast<std::ptrdiff_t>(behind));
      salt &= kSaltMask;
      Peer& peer = peers_[rank];
      if (peer.place != place || peer.all.salt != salt) {
        const FabricEndpoint::Places found = endpoint_.insert(place, rank);
        peer.all = {found.all, salt};
        peer.small = {found.small, salt};
        peer.place = place;
      }
      if (behind == 0) continue;
      std::uint64_t share = 0;
      std::memcpy(&share, peers[rank].data() + peers[rank].size() - behind, sizeof share);
      peer.most_unlanded = std::max<std::uint64_t>(1, share);
    }
  }

  void close(std::span<const ChannelEnd> ends) override {
    withdraw_receives(ends);
    for (const ChannelEnd& end : ends) {
      channels_.erase(end.channel);
      notices_.close(end.channel);
    }
    share_receives();
  }

  std::size_t post(std::span<const WorkRequest> requests) override {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (!post_one(requests[i])) return i;
    }
    return requests.size();
  }

  std::size_t poll(std::span<Completion> completions) override {
    std::size_t filled = 0;
    if (atomics_) atomics_->flush();
    acknowledgements_.flush();
    while (true) {
      while (filled < completions.size() && !ready_.empty()) {
        completions[filled++] = ready_.front();
        ready_.pop_front();
      }
      if (filled == completions.size()) return filled;
      if (!hungry_.empty()) feed_hungry();
      if (!read_queue()) return filled;
    }
  }

 private:
  struct Peer {
    FabricPeer all;
    FabricPeer small;  // for small messages
    // Messages of a channel that may be on their way to a receive there, or wait for one.
    std::uint64_t most_unlanded = std::numeric_limits<std::uint64_t>::max();
    Address place;
  };

  // Answers whether there was anything in the provider's queue.
  bool read_queue() {
    std::array<fi_cq_tagged_entry, kBatch> entries;
    const ssize_t count = fi_cq_read(endpoint_.cq(), entries.data(), entries.size());
    if (count == -FI_EAGAIN) return false;
    if (count == -FI_EAVAIL) {
      see_failure();
      return true;
    }
    endpoint_.require(count, "fi_cq_read");
    for (ssize_t i = 0; i < count; ++i) complete(entries[static_cast<std::size_t>(i)]);
    return true;
  }

  void withdraw_receives(std::span<const ChannelEnd> ends) {
    for (const ChannelEnd& end : ends) {
      const auto found = channels_.find(end.channel);
      if (found != channels_.end()) found->second.closing = true;
    }
    pending_.withdraw(endpoint_);
    const auto deadline = std::chrono::steady_clock::now() + kWithdrawal;
    while (pending_.awaited() != 0 && std::chrono::steady_clock::now() < deadline) read_queue();
    pending_.give_up();
  }

  Channel& channel_of(const WorkRequest& request) {
    const auto found = channels_.find(request.channel);
    if (found == channels_.end()) {
      throw InternalError(fmt::format("channel {} is not open here", request.channel));
    }
    return found->second;
  }

  bool is_bounded() const { return endpoint_.provider() == "shm"; }
  // Of shm, which counts receives that wait for messages, and messages that wait for receives.
  std::size_t room_for_receives() const {
    return endpoint_.info().rx_attr->size - FabricAcknowledgements::kReceives;
  }
  static bool takes_sends(const Channel& channel) {
    return channel.receives && !channel.only_writes;
  }

  // Each channel on which messages come takes room for one at least: else one that waits for a
  // message of another could keep that out.
  void require_room_for(std::span<const ChannelEnd> ends) const {
    if (!is_bounded()) return;
    std::size_t receiving = 0;
    for (const auto& [number, channel] : channels_) receiving += takes_sends(channel) ? 1 : 0;
    for (const ChannelEnd& end : ends) receiving += end.initiates || end.only_writes ? 0 : 1;
    if (receiving <= room_for_receives()) return;
    throw Unsupported(
        fmt::format("shm: a rank receives messages on {} channels; expected {} at most: take "
                    "--transport tcp, or fewer channels",
                    receiving, room_for_receives()));
  }

  // shm refuses receives above its size, those for acknowledgements among them; a share for each
  // channel, so that none starves another. Messages that come before their receives take the same
  // room, so they have the same bound, which their senders keep. The others take any number.
  void share_receives() {
    if (!is_bounded()) return;
    const auto receiving = static_cast<std::size_t>(
        std::count_if(channels_.begin(), channels_.end(),
                      [](const auto& entry) { return takes_sends(entry.second); }));
    most_receives_ =
        std::max<std::size_t>(1, room_for_receives() / std::max<std::size_t>(1, receiving));
  }

  // False if there is no room now.
  bool post_one(const WorkRequest& request) {
    Channel& channel = channel_of(request);
    if (request.kind == RequestKind::kRecv) {
      if (request.expects_write) {
        tell(notices_.expect(request.channel, request.tag));
        return true;
      }
      if (channel.posted >= most_receives_ || !channel.held.empty()) {
        channel.held.push_back({request, {request.local.begin(), request.local.end()}});
        return true;
      }
      if (!give(request, here_, channel)) return false;
      ++channel.posted;
      return true;
    }
    if (!channel.initiates || channel.peer >= peers_.size()) {
      throw InternalError(fmt::format("channel {} does not start here", request.channel));
    }
    if (request.kind == RequestKind::kSend) return send(request, channel);
    if (atomics_ && is_atomic(request.kind)) {
      return atomics_->post(request, peers_[channel.peer].all);
    }
    return give(request, peer_of(channel), channel);
  }

  const FabricPeer& peer_of(const Channel& channel) const {
    const Peer& peer = peers_[channel.peer];
    return channel.small ? peer.small : peer.all;
  }

  // False if there is no room now. Whoever is not told that a send is done needs no
  // acknowledgement.
  bool send(const WorkRequest& request, Channel& channel) {
    if (channel.unlanded >= peers_[channel.peer].most_unlanded) return false;
    if (!post_send(request, channel)) return false;
    // Of others nobody hears that they have landed.
    if (request.signalled && is_bounded()) ++channel.unlanded;
    return true;
  }

  bool post_send(const WorkRequest& request, Channel& channel) {
    const FabricPeer& peer = peer_of(channel);
    const bool copied = is_small(request);
    if (!request.signalled || !is_acknowledged_here(request)) {
      return copied ? inject(request, channel, request.immediate) : give(request, peer, channel);
    }
    const std::uint32_t number = acknowledgements_.await({request.tag, channel.number}, !copied);
    const std::uint64_t data = FabricAcknowledgements::data_of(number, request.immediate);
    if (copied ? inject(request, channel, data) : give(request, peer, channel, number)) return true;
    acknowledgements_.forget(number);
    return false;
  }

  bool is_small(const WorkRequest& request) const {
    return request.local.empty() ||
           (request.local.size() == 1 && request.local[0].bytes <= inject_bytes_);
  }

  // shm says that a message is complete when its receiver has fetched it, but for those of a few
  // bytes, which it copies. rxm has that of the largest only, whatever it is asked for. What net
  // says comes behind all that the receiver has for the sender just then.
  bool is_acknowledged_here(const WorkRequest& request) const {
    if (endpoint_.provider() != "shm") return true;
    std::size_t bytes = 0;
    for (const Segment& segment : request.local) bytes += segment.bytes;
    return bytes <= inject_bytes_;
  }

  // The provider copies the message, and says no more of it.
  bool inject(const WorkRequest& request, const Channel& channel, std::uint64_t data) {
    const FabricPeer& peer = peer_of(channel);
    const Segment none;
    const Segment& segment = request.local.empty() ? none : request.local[0];
    const ssize_t answer = fi_tinjectdata(endpoint_.ep(channel.small), segment.data, segment.bytes,
                                          data, peer.place, message_tag(peer.salt, channel.number));
    if (answer == -FI_EAGAIN) return false;
    if (answer != 0) fail_to_post(request, answer);
    return true;
  }

  // Receives that were held back, as far as there is room.
  void feed_hungry() {
    std::erase_if(hungry_, [&](std::uint32_t number) {
      const auto found = channels_.find(number);
      if (found == channels_.end()) return true;
      Channel& channel = found->second;
      while (!channel.held.empty() && channel.posted < most_receives_) {
        Channel::Held& held = channel.held.front();
        held.request.local = held.segments;
        if (!give(held.request, here_, channel)) return false;
        ++channel.posted;
        channel.held.pop_front();
      }
      return true;
    });
  }

  // False if there is no room now. `acknowledged`: the number of a send that is.
  bool give(const WorkRequest& request, const FabricPeer& peer, Channel& channel,
            std::optional<std::uint32_t> acknowledged = std::nullopt) {
    if (request.local.size() > max_segments_) throw InternalError("too many segments");
    std::array<void*, kMostFabricSegments> descriptors;
    for (std::size_t i = 0; i < request.local.size(); ++i) {
      const std::uint32_t handle = request.local[i].handle;
      if (handle >= regions_.size() || !regions_[handle]) {
        throw InternalError("unregistered memory");
      }
      descriptors[i] = fi_mr_desc(regions_[handle].get());
    }
    Pending* const pending = pending_.take();
    pending->tag = request.tag;
    pending->channel = request.kind == RequestKind::kRecv ? &channel : nullptr;
    pending->sent_on = channel.number;
    pending->kind = request.kind;
    pending->signalled = request.signalled;
    pending->acknowledged = acknowledged;
    const std::uint64_t data =
        acknowledged ? FabricAcknowledgements::data_of(*acknowledged, request.immediate)
                     : request.immediate;
    const ssize_t answer = submit(endpoint_.ep(channel.small),
                                  {request, data, !acknowledged, peer.salt,
                                   std::span(descriptors).first(request.local.size()), peer.place,
                                   static_cast<FabricContext*>(pending), &pending->operands});
    if (answer == 0) return true;
    pending_.release(pending);
    if (answer != -FI_EAGAIN && !is_full_for(request, answer)) fail_to_post(request, answer);
    return false;
  }

  // In shm, messages that wait for a receive take the room of receives.
  bool is_full_for(const WorkRequest& request, ssize_t answer) const {
    return answer == -FI_ENOMEM && request.kind == RequestKind::kRecv &&
           endpoint_.provider() == "shm";
  }

  [[noreturn]] void fail_to_post(const WorkRequest& request, ssize_t answer) const {
    endpoint_.require(answer, fmt::format("posting on channel {}", request.channel));
    throw InternalError("a post failed without a reason");
  }

  void tell(const std::optional<Completion>& completion) {
    if (completion) ready_.push_back(*completion);
  }

  void tell_sent(const std::optional<FabricAcknowledgements::Sent>& sent) {
    if (!sent) return;
    if (is_bounded()) {
      const auto found = channels_.find(sent->channel);
      if (found != channels_.end() && found->second.unlanded != 0) --found->second.unlanded;
    }
    ready_.push_back({sent->tag, RequestKind::kSend, 0, 0});
  }

  void complete(const fi_cq_tagged_entry& entry) {
    if ((entry.flags & FI_REMOTE_WRITE) != 0) {
      return tell(notices_.arrived(channel_of_data(salt_, entry.data),
                                   static_cast<std::uint32_t>(entry.data)));
    }
    auto* const context = static_cast<FabricContext*>(entry.op_context);
    if (context->use == FabricContext::Use::kAtomics) return tell(atomics_->received(context));
    if (context->use == FabricContext::Use::kAcknowledgement) {
      return tell_sent(acknowledgements_.received(context, entry.data));
    }
    auto* const pending = static_cast<Pending*>(context);
    if (pending->withdrawn) return pending_.release(pending);
    const bool received = pending->kind == RequestKind::kRecv;
    if (received) {
      Channel& channel = *pending->channel;
      --channel.posted;
      if (!channel.held.empty()) hungry_.push_back(channel.number);
      acknowledgements_.landed(entry.data, peers_[channel.source].small);
    }
    if (pending->acknowledged) {
      tell_sent(acknowledgements_.reusable(*pending->acknowledged));
    } else if (pending->signalled && pending->kind == RequestKind::kSend) {
      tell_sent(FabricAcknowledgements::Sent{pending->tag, pending->sent_on});
    } else if (pending->signalled) {
      ready_.push_back({pending->tag, pending->kind,
                        received ? static_cast<std::uint32_t>(entry.data) : 0,
                        received ? entry.len : 0});
    }
    pending_.release(pending);
  }

  void see_failure() {
    fi_cq_err_entry error{};
    const ssize_t answer = fi_cq_readerr(endpoint_.cq(), &error, 0);
    if (answer == -FI_EAGAIN) return;
    endpoint_.require(answer, "fi_cq_readerr");
    auto* const context = static_cast<FabricContext*>(error.op_context);
    if (answer > 0 && error.err == FI_ECANCELED && context != nullptr &&
        context->use == FabricContext::Use::kRequest) {
      auto* const pending = static_cast<Pending*>(context);
      if (pending->withdrawn) return pending_.release(pending);
    }
    throw EnvironmentError(fmt::format("libfabric {}: a request failed: {}", endpoint_.provider(),
                                       load_fabric_library().strerror(error.err)));
  }

  FabricEndpoint endpoint_;
  const std::size_t max_segments_;
  const std::size_t inject_bytes_;
  const bool bitwise_;
  FabricNotices notices_;
  const std::uint64_t salt_ = drawn_number() & kSaltMask;  // of messages that come here
  const FabricPeer here_{FI_ADDR_UNSPEC, salt_};           // for receives: from whomever
  std::vector<Fid<fid_mr>> regions_;  // by handle; closed before the endpoint's domain
  std::vector<Peer> peers_;           // by rank
  std::unordered_map<std::uint32_t, Channel> channels_;  // only ever looked up
  FabricPendings pending_;
  std::uint64_t most_receives_ = std::numeric_limits<std::uint64_t>::max();  // of a channel
  std::vector<std::uint32_t> hungry_;  // channels whose receives are held back, and have room
  std::deque<Completion> ready_;
  std::optional<FabricAtomics> atomics_;     // where the provider has none
  FabricAcknowledgements acknowledgements_;  // of sends that it only copies
};

}  // namespace

void load_fabric_provider(const std::string& provider) { find_provider(provider, ""); }

std::unique_ptr<Transport> make_fabric_transport(const FabricOptions& options) {
  std::vector<std::string> providers{options.provider};
  if (options.provider == "tcp") providers = {"net", "tcp;ofi_rxm"};
  for (const std::string& provider : providers) {
    if (provider == "shm") {
      remove_shm_segments_of_dead();
      require_shm_usable(shm_room());
    }
    if (FabricInfo info = find_provider(provider, options.host)) {
      return std::make_unique<FabricTransport>(std::move(info));
    }
  }
  // It says no more than that where there is too little room.
  if (options.provider == "shm") require_shm_room(1, shm_room());
  throw EnvironmentError(
      fmt::format("libfabric has no provider {} that fits{}; `fi_info -l` lists those it has",
                  options.provider, options.host.empty() ? "" : " " + options.host));
}

}  // namespace slackline::hw
