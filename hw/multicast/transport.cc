#include "hw/multicast/transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "hw/bytes.h"
#include "hw/multicast/address.h"
#include "hw/multicast/receiver.h"
#include "hw/multicast/sender.h"
#include "hw/multicast/word_channel.h"
#include "hw/passing_transport.h"
#include "hw/random_bytes.h"

namespace slackline::hw {
namespace {

using Clock = MulticastReceiver::Clock;

constexpr std::uint32_t kWayBack = 0x80000000;
// Requests of words have tags that no executor has.
constexpr std::uint64_t kTags = std::uint64_t{0xffff'fffe} << 32;
constexpr std::uint64_t kTagsEnd = kTags + (std::uint64_t{1} << 32);
constexpr std::uint64_t kTagsOfEnd = 2 * WordChannel::kSlots;

constexpr std::size_t kBatch = 32;
constexpr std::size_t kMostDatagrams = 512;  // taken in one poll
// What waits to be taken is not missing. Where that never ends, others than flows may be to blame:
// after so many times the patience, what has not come is asked for all the same.
constexpr int kPatiences = 8;
constexpr std::chrono::microseconds kNap{50};
// Of packets that are sent again, in one word; a datagram has no more.
constexpr std::size_t kRepairBytes = 8192;

// An end of a flow's channel: one of the two.
struct FlowEnd {
  FlowEnd(Transport& under, const ChannelEnd& what, std::uint64_t serial, std::uint64_t own_salt)
      : end(what),
        salt(own_salt),
        out(under, way(what, true), kTags + serial * kTagsOfEnd,
            what.initiates ? kThereBytes : kBackBytes),
        in(under, way(what, false), kTags + serial * kTagsOfEnd + WordChannel::kSlots,
           what.initiates ? kBackBytes : kThereBytes) {}

  // A sender's words may have a payload, a receiver's runs of packets.
  static constexpr std::size_t kThereBytes = kWordHeadBytes + kRepairBytes;
  static constexpr std::size_t kBackBytes = kWordHeadBytes + kMostRuns * sizeof(PacketRun);

  // The channel below on which this end sends words, or gets them.
  static ChannelEnd way(const ChannelEnd& what, bool out) {
    ChannelEnd end = what;
    end.flow = kNoFlow;
    end.small = false;
    end.requests = WordChannel::kSlots;
    end.initiates = out;
    if (what.initiates != out) end.channel |= kWayBack;
    return end;
  }

  const ChannelEnd end;
  const std::uint64_t salt;  // of datagrams that it sends
  WordChannel out;
  WordChannel in;
  std::optional<MulticastSender> sender;  // once connected, one of them
  std::optional<MulticastReceiver> receiver;
};

// What its datagrams are known by, and whom they are for.
struct Flow {
  std::uint64_t salt = 0;
  std::vector<FlowEnd*> receivers;
};

class MulticastTransport final : public PassingTransport {
 public:
  MulticastTransport(std::unique_ptr<Transport> under, std::unique_ptr<Datagrams> datagrams,
                     const RepairOptions& options)
      : PassingTransport(std::move(under)), options_(options), datagrams_(std::move(datagrams)) {
    if (datagrams_->most_bytes() > kRepairBytes) throw InternalError("datagrams too large");
  }

  ~MulticastTransport() override {
    datagrams_.reset();
    // Before the memory of words that are under way.
    end_under();
  }

  bool multicasts() const override { return true; }

  TransportFacts facts() const override {
    TransportFacts facts = PassingTransport::facts();
    facts.multicast = counts_;
    for (const auto& [key, end] : ends_) add_counts(*end, *facts.multicast);
    return facts;
  }

  Address open(std::span<const ChannelEnd> ends) override {
    opened_.clear();
    // Another one each time: channels' numbers are opened anew, and what was sent on the former
    // ones may still be on its way.
    salt_ = drawn_number();
    MulticastAddress own{salt_, datagrams_->most_bytes(), {}, {}, {}};
    std::vector<ChannelEnd> below;
    for (const ChannelEnd& end : ends) {
      if (end.channel >= kWayBack) {
        throw Unsupported(
            fmt::format("multicast: channel {}; expected numbers below 2^31: make another session",
                        end.channel));
      }
      if (end.flow == kNoFlow) {
        below.push_back(end);
        continue;
      }
      FlowEnd& made = add_end(end);
      below.insert(below.end(), {made.out.end(), made.in.end()});
      if (end.initiates && end.flow == end.channel) own.flows.push_back(end.flow);
    }
    if (!own.flows.empty()) own.group = datagrams_->group();
    own.under = under().open(below);
    return pack(own);
  }

  void connect(std::span<const Address> peers) override {
    std::vector<Address> below(peers.size());
    std::map<std::uint32_t, MulticastAddress> sources;  // by flow
    std::size_t most_bytes = datagrams_->most_bytes();
    for (std::uint32_t p = 0; p < peers.size(); ++p) {
      if (peers[p].empty()) continue;
      MulticastAddress theirs =
          read_from(p, "address of a multicast", peers[p], read_multicast_address);
      most_bytes = std::min<std::size_t>(most_bytes, theirs.most_bytes);
      below[p] = std::move(theirs.under);
      for (const std::uint32_t flow : theirs.flows) sources[flow] = theirs;
    }
    packet_bytes_ = most_bytes - sizeof(DatagramHead);
    under().connect(below);
    drained_at_ = Clock::now();
    for (FlowEnd* const end : opened_) begin(*end, sources);
    opened_.clear();
  }

  void close(std::span<const ChannelEnd> ends) override {
    std::vector<ChannelEnd> below;
    std::vector<std::unique_ptr<FlowEnd>> closed;
    for (const ChannelEnd& end : ends) {
      const auto found = ends_.find({end.channel, end.initiates});
      if (found == ends_.end()) {
        below.push_back(end);
        continue;
      }
      below.insert(below.end(), {found->second->out.end(), found->second->in.end()});
      closed.push_back(std::move(found->second));
      ends_.erase(found);
    }
    under().close(below);
    for (const std::unique_ptr<FlowEnd>& end : closed) forget(*end);
  }

  std::size_t post(std::span<const WorkRequest> requests) override {
    std::size_t taken = 0;
    while (taken < requests.size()) {
      if (FlowEnd* const end = end_of(requests[taken])) {
        add(*end, requests[taken++]);
        continue;
      }
      std::size_t run = 1;
      while (taken + run < requests.size() && end_of(requests[taken + run]) == nullptr) ++run;
      const std::size_t posted = under().post(requests.subspan(taken, run));
      taken += posted;
      if (posted < run) break;
    }
    return taken;
  }

  std::size_t poll(std::span<Completion> completions) override {
    if (ends_.empty() && ready_.empty()) return under().poll(completions);
    const Clock::time_point now = Clock::now();
    if (take_datagrams(now)) drained_at_ = now;
    const bool may_ask = drained_at_ == now || now - drained_at_ > kPatiences * options_.patience;
    take_completions(now);
    for (const auto& [key, end] : ends_) {
      if (end->sender) speak(*end, *end->sender);
      if (end->receiver) {
        speak(*end, *end->receiver, may_ask ? std::optional(now) : std::nullopt);
      }
      end->out.post_waiting();
      end->in.post_waiting();
    }
    const std::size_t count = std::min(completions.size(), ready_.size());
    std::copy_n(ready_.begin(), count, completions.begin());
    ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
  }

  void wait(std::chrono::nanoseconds timeout, int also) override {
    if (!ready_.empty()) return;
    under().wait(ends_.empty() ? timeout : std::min<std::chrono::nanoseconds>(timeout, kNap), also);
  }

 private:
  using Key = std::pair<std::uint32_t, bool>;  // channel, and whether it starts here

  FlowEnd& add_end(const ChannelEnd& end) {
    auto made = std::make_unique<FlowEnd>(under(), end, next_serial_, salt_);
    FlowEnd& here = *made;
    if (!ends_.try_emplace({end.channel, end.initiates}, std::move(made)).second) {
      throw InternalError(fmt::format("channel {} is open already", end.channel));
    }
    if (++next_serial_ * kTagsOfEnd > kTagsEnd - kTags - kTagsOfEnd) {
      throw Unsupported("multicast: too many channels; make another session");
    }
    by_serial_[next_serial_ - 1] = &here;
    opened_.push_back(&here);
    return here;
  }

  void begin(FlowEnd& end, const std::map<std::uint32_t, MulticastAddress>& sources) {
    if (end.end.initiates) {
      end.sender.emplace(end.end.flow == end.end.channel, packet_bytes_);
    } else {
      const auto source = sources.find(end.end.flow);
      if (source == sources.end()) {
        throw InternalError(fmt::format("flow {} has no source", end.end.flow));
      }
      end.receiver.emplace(packet_bytes_, options_.patience, options_.early_bytes);
      join(source->second.group);
      Flow& flow = flows_[end.end.flow];
      flow.salt = source->second.salt;
      flow.receivers.push_back(&end);
    }
    end.out.begin();
    end.in.begin();
  }

  void join(const Address& group) {
    if (std::ranges::find(joined_, group) != joined_.end()) return;
    datagrams_->join(group);
    joined_.push_back(group);
  }

  void forget(FlowEnd& end) {
    add_counts(end, counts_);
    end.out.unregister();
    end.in.unregister();
    std::erase(opened_, &end);
    std::erase_if(by_serial_, [&](const auto& entry) { return entry.second == &end; });
    const auto flow = flows_.find(end.end.flow);
    if (flow == flows_.end()) return;
    std::erase(flow->second.receivers, &end);
    if (flow->second.receivers.empty()) flows_.erase(flow);
  }

  static void add_counts(const FlowEnd& end, MulticastCounts& counts) {
    if (end.sender) counts.repairing += end.sender->repaired_packets();
    if (!end.receiver) return;
    const MulticastReceiver::Counts& own = end.receiver->counts();
    counts += {0, own.datagrams, own.repeated, own.early, own.repaired, 0};
  }

  // Nothing: it is the transport's below.
  FlowEnd* end_of(const WorkRequest& request) {
    const auto found = ends_.find({request.channel, request.kind != RequestKind::kRecv});
    return found == ends_.end() ? nullptr : found->second.get();
  }

  void add(FlowEnd& end, const WorkRequest& request) {
    if (request.kind == RequestKind::kSend && end.sender) {
      end.sender->add_send(request);
      speak(end, *end.sender);
    } else if (request.kind == RequestKind::kRecv && !request.expects_write && end.receiver) {
      end.receiver->add_receive(request);
    } else {
      throw InternalError(
          fmt::format("channel {} of a multicast takes sends and receives", request.channel));
    }
  }

  // False: there are more.
  bool take_datagrams(Clock::time_point now) {
    for (std::size_t i = 0; i < kMostDatagrams; ++i) {
      const std::span<const std::byte> datagram = datagrams_->receive();
      if (datagram.empty()) return true;
      DatagramHead head;
      if (datagram.size() < sizeof head) continue;
      std::memcpy(&head, datagram.data(), sizeof head);
      const auto flow = flows_.find(head.flow);
      if (flow == flows_.end() || flow->second.salt != head.salt) continue;
      for (FlowEnd* const end : flow->second.receivers) {
        end->receiver->take(head, datagram.subspan(sizeof head), now);
      }
    }
    return false;
  }

  void take_completions(Clock::time_point now) {
    std::array<Completion, kBatch> batch;
    const std::size_t count = under().poll(batch);
    for (std::size_t i = 0; i < count; ++i) {
      if (batch[i].tag < kTags || batch[i].tag >= kTagsEnd) {
        ready_.push_back(batch[i]);
      } else {
        take_word(batch[i], now);
      }
    }
  }

  void take_word(const Completion& completion, Clock::time_point now) {
    const std::uint64_t tag = completion.tag - kTags;
    const auto found = by_serial_.find(tag / kTagsOfEnd);
    if (found == by_serial_.end()) return;  // of an end that was closed
    FlowEnd& end = *found->second;
    WordChannel& channel = tag % kTagsOfEnd < WordChannel::kSlots ? end.out : end.in;
    try {
      if (const auto word = channel.take(completion)) {
        if (end.sender) end.sender->take(*word);
        if (end.receiver) end.receiver->take(*word, now);
      }
    } catch (const BadBytes& error) {
      throw EnvironmentError(fmt::format("rank {} says on channel {} of a multicast: {}",
                                         end.end.peer, end.end.channel, error.what()));
    }
    channel.done(completion);
  }

  void speak(FlowEnd& end, MulticastSender& sender) {
    std::array<std::byte, sizeof(DatagramHead)> head_bytes;
    while (const auto packet = sender.next_packet()) {
      const DatagramHead head{end.salt, packet->message, end.end.flow, packet->packet};
      std::memcpy(head_bytes.data(), &head, sizeof head);
      payload_.resize(packet->bytes);
      sender.read(*packet, payload_);
      if (!datagrams_->send(head_bytes, payload_)) break;
      ++counts_.sent;
      sender.sent();
    }
    for (auto room = end.out.room(); !room.empty(); room = end.out.room()) {
      const auto word = sender.next_word(room);
      if (!word) break;
      end.out.send(*word);
    }
    while (const auto completion = sender.next_completion()) ready_.push_back(*completion);
  }

  void speak(FlowEnd& end, MulticastReceiver& receiver, std::optional<Clock::time_point> now) {
    while (!end.out.room().empty()) {
      const auto word = receiver.next_word(now);
      if (!word) break;
      end.out.send(*word);
    }
    while (const auto completion = receiver.next_completion()) ready_.push_back(*completion);
  }

  const RepairOptions options_;
  std::unique_ptr<Datagrams> datagrams_;
  std::uint64_t salt_ = 0;  // of ends that are opened
  std::size_t packet_bytes_ = 0;
  std::map<Key, std::unique_ptr<FlowEnd>> ends_;
  std::unordered_map<std::uint64_t, FlowEnd*> by_serial_;
  std::uint64_t next_serial_ = 0;
  std::vector<FlowEnd*> opened_;  // not yet connected
  std::unordered_map<std::uint32_t, Flow> flows_;
  std::vector<Address> joined_;
  Clock::time_point drained_at_;  // when no datagram was left that had come
  std::deque<Completion> ready_;
  std::vector<std::byte> payload_;
  MulticastCounts counts_;  // of ends that were closed, and what was sent
};

}  // namespace

std::unique_ptr<Transport> make_multicast_transport(std::unique_ptr<Transport> under,
                                                    std::unique_ptr<Datagrams> datagrams,
                                                    const RepairOptions& options) {
  return std::make_unique<MulticastTransport>(std::move(under), std::move(datagrams), options);
}

}  // namespace slackline::hw
