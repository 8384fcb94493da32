#include "hw/rails_transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "base/error.h"
#include "hw/bytes.h"

namespace slackline::hw {
namespace {

constexpr std::chrono::microseconds kNap{50};

// What peers are told of registered memory.
struct RailsMemory {
  std::uint64_t begin = 0;            // as this transport counts
  std::vector<RemoteMemory> of_rail;  // as the rails do
};

class RailsTransport final : public Transport {
 public:
  explicit RailsTransport(std::vector<std::unique_ptr<Transport>> rails)
      : rails_(std::move(rails)) {}

  std::string_view name() const override { return rails_.front()->name(); }

  LocalMemory register_memory(std::span<std::byte> memory) override {
    Registered registered;
    for (const auto& rail : rails_) registered.of_rail.push_back(rail->register_memory(memory));
    registered.begin = reinterpret_cast<std::uintptr_t>(memory.data());
    const std::uint32_t handle = next_handle_++;
    memories_.emplace(handle, std::move(registered));
    return {handle, {reinterpret_cast<std::uintptr_t>(memory.data()), handle}};
  }

  void unregister_memory(const LocalMemory& memory) override {
    const Registered& registered = memories_.at(memory.handle);
    for (std::size_t r = 0; r < rails_.size(); ++r) {
      rails_[r]->unregister_memory(registered.of_rail[r]);
    }
    memories_.erase(memory.handle);
  }

  Address open(std::span<const ChannelEnd> ends) override {
    for (const ChannelEnd& end : ends) {
      if (end.rail >= rails_.size()) {
        throw InternalError(
            fmt::format("channel {} on rail {} of {}", end.channel, end.rail, rails_.size()));
      }
      channels_[end.channel] = {end.rail, end.peer};
    }
    ByteWriter writer;
    writer.add(static_cast<std::uint32_t>(rails_.size()));
    for (std::uint32_t r = 0; r < rails_.size(); ++r) {
      const Address address = rails_[r]->open(on_rail(ends, r));
      writer.add_list(std::span<const std::byte>(address));
    }
    writer.add(static_cast<std::uint64_t>(memories_.size()));
    for (const auto& [handle, registered] : memories_) {
      writer.add(std::uint64_t{handle});
      writer.add(registered.begin);
      for (const LocalMemory& memory : registered.of_rail) {
        writer.add(memory.remote.address);
        writer.add(memory.remote.key);
      }
    }
    return writer.take();
  }

  void connect(std::span<const Address> peers) override {
    std::vector<std::vector<Address>> of_rail(rails_.size(), std::vector<Address>(peers.size()));
    for (std::uint32_t p = 0; p < peers.size(); ++p) {
      if (peers[p].empty()) continue;
      read_from(p, "address", peers[p], [&](ByteReader& reader) {
        read_address(reader, p, of_rail);
        return true;
      });
    }
    for (std::uint32_t r = 0; r < rails_.size(); ++r) rails_[r]->connect(of_rail[r]);
  }

  void close(std::span<const ChannelEnd> ends) override {
    for (std::uint32_t r = 0; r < rails_.size(); ++r) rails_[r]->close(on_rail(ends, r));
    for (const ChannelEnd& end : ends) channels_.erase(end.channel);
  }

  // What follows each other on one rail goes to it together.
  std::size_t post(std::span<const WorkRequest> requests) override {
    std::size_t taken = 0;
    while (taken < requests.size()) {
      const std::uint32_t rail = channels_.at(requests[taken].channel).rail;
      std::size_t end = taken + 1;
      while (end < requests.size() && channels_.at(requests[end].channel).rail == rail) ++end;
      const auto run = requests.subspan(taken, end - taken);
      translate(run, rail);
      const std::size_t posted = rails_[rail]->post(batch_);
      taken += posted;
      if (posted < run.size()) break;
    }
    return taken;
  }

  // Each time another rail comes first.
  std::size_t poll(std::span<Completion> completions) override {
    std::size_t found = 0;
    for (std::size_t i = 0; i < rails_.size() && found < completions.size(); ++i) {
      found += rails_[(first_ + i) % rails_.size()]->poll(completions.subspan(found));
    }
    first_ = (first_ + 1) % rails_.size();
    return found;
  }

  void wait(std::chrono::nanoseconds timeout, int also) override {
    rails_[first_]->wait(std::min<std::chrono::nanoseconds>(timeout, kNap), also);
  }

  std::size_t max_segments() const override {
    std::size_t most = rails_.front()->max_segments();
    for (const auto& rail : rails_) most = std::min(most, rail->max_segments());
    return most;
  }
  bool completes_in_order() const override {
    return std::ranges::all_of(rails_, [](const auto& r) { return r->completes_in_order(); });
  }
  bool writes_in_order() const override {
    return std::ranges::all_of(rails_, [](const auto& r) { return r->writes_in_order(); });
  }
  int numa_node() const override { return rails_.front()->numa_node(); }
  bool has_atomics() const override { return false; }

  // Devices side by side, and their rates together.
  TransportFacts facts() const override {
    TransportFacts all = rails_.front()->facts();
    for (std::size_t r = 1; r < rails_.size(); ++r) {
      const TransportFacts one = rails_[r]->facts();
      all.device +=
          fmt::format("{}{}", all.device.empty() || one.device.empty() ? "" : "+", one.device);
      all.link_bits_per_s += one.link_bits_per_s;
      all.mtu = std::min(all.mtu, one.mtu);
    }
    return all;
  }

 private:
  struct Registered {
    std::uint64_t begin = 0;
    std::vector<LocalMemory> of_rail;
  };
  struct Channel {
    std::uint32_t rail = 0;
    std::uint32_t peer = 0;
  };

  static std::vector<ChannelEnd> on_rail(std::span<const ChannelEnd> ends, std::uint32_t rail) {
    std::vector<ChannelEnd> some;
    std::ranges::copy_if(ends, std::back_inserter(some),
                         [&](const ChannelEnd& end) { return end.rail == rail; });
    return some;
  }

  void read_address(ByteReader& reader, std::uint32_t peer,
                    std::vector<std::vector<Address>>& of_rail) {
    const auto rails = reader.get<std::uint32_t>();
    if (rails != rails_.size()) {
      throw EnvironmentError(fmt::format("rank {} has {} rails; expected {}, as this one", peer,
                                         rails, rails_.size()));
    }
    for (std::size_t r = 0; r < rails_.size(); ++r) {
      of_rail[r][peer] = reader.list<std::byte>();
    }
    const auto count = reader.get<std::uint64_t>();
    std::map<std::uint64_t, RailsMemory>& memories = of_peers_[peer];
    memories.clear();
    for (std::uint64_t m = 0; m < count; ++m) {
      const auto key = reader.get<std::uint64_t>();
      RailsMemory memory;
      memory.begin = reader.get<std::uint64_t>();
      for (std::size_t r = 0; r < rails_.size(); ++r) {
        RemoteMemory remote;
        remote.address = reader.get<std::uint64_t>();
        remote.key = reader.get<std::uint64_t>();
        memory.of_rail.push_back(remote);
      }
      memories[key] = std::move(memory);
    }
  }

  static bool is_one_sided(RequestKind kind) {
    return kind != RequestKind::kSend && kind != RequestKind::kRecv;
  }

  // Into batch_, as that rail knows memory here and there.
  void translate(std::span<const WorkRequest> requests, std::uint32_t rail) {
    batch_.assign(requests.begin(), requests.end());
    std::size_t count = 0;
    for (const WorkRequest& request : requests) count += request.local.size();
    segments_.clear();
    segments_.reserve(count);  // so that spans of it stay
    for (WorkRequest& request : batch_) {
      const std::size_t first = segments_.size();
      for (Segment segment : request.local) {
        // Of a segment without bytes nobody asks whose it is.
        const auto memory = memories_.find(segment.handle);
        if (memory != memories_.end()) segment.handle = memory->second.of_rail[rail].handle;
        segments_.push_back(segment);
      }
      request.local = std::span(segments_).subspan(first);
      if (is_one_sided(request.kind)) request.remote = remote_of(request, rail);
    }
  }

  RemoteMemory remote_of(const WorkRequest& request, std::uint32_t rail) const {
    const std::uint32_t peer = channels_.at(request.channel).peer;
    const auto memories = of_peers_.find(peer);
    if (memories != of_peers_.end()) {
      const auto memory = memories->second.find(request.remote.key);
      if (memory != memories->second.end()) {
        const RemoteMemory& there = memory->second.of_rail[rail];
        return {there.address + (request.remote.address - memory->second.begin), there.key};
      }
    }
    throw InternalError(fmt::format("rank {} has told of no memory {}", peer, request.remote.key));
  }

  const std::vector<std::unique_ptr<Transport>> rails_;
  std::map<std::uint32_t, Channel> channels_;                               // by number
  std::map<std::uint32_t, Registered> memories_;                            // by handle
  std::map<std::uint32_t, std::map<std::uint64_t, RailsMemory>> of_peers_;  // by rank and key
  std::uint32_t next_handle_ = 0;
  std::size_t first_ = 0;  // whom poll() asks first
  std::vector<WorkRequest> batch_;
  std::vector<Segment> segments_;
};

}  // namespace

std::unique_ptr<Transport> join_rails(std::vector<std::unique_ptr<Transport>> rails) {
  if (rails.empty()) throw InternalError("a transport of no rails");
  if (rails.size() == 1) return std::move(rails.front());
  return std::make_unique<RailsTransport>(std::move(rails));
}

}  // namespace slackline::hw
