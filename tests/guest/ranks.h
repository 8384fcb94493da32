// Processes that talk over the verbs transport, for tests of it. The parent carries what they tell
// each other beside it, and ends whoever is left when the time is over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "hw/transport.h"
#include "hw/verbs_options.h"

namespace slackline::guest {

using Bytes = std::vector<std::byte>;

class Rank {
 public:
  static constexpr std::size_t kMemory = 4u << 20;  // bytes

  // `socket` leads to the parent.
  Rank(std::uint32_t index, std::uint32_t count, int socket, const hw::VerbsOptions& options = {});

  std::uint32_t index() const { return index_; }
  hw::Transport& transport() { return *transport_; }
  std::span<std::byte> memory() { return memory_; }

  // What every rank gave, by rank; nothing of ranks that have ended.
  std::vector<Bytes> all_gather(std::span<const std::byte> bytes);
  // Returns when all ranks have called it, but those that have ended.
  void meet() { all_gather({}); }
  // Opens and connects this rank's ends of the channels among `channels` (of all ranks, by number;
  // first to second), and learns where the others' memories are.
  struct Channel {
    std::uint32_t number;
    std::uint32_t from;
    std::uint32_t to;
  };
  std::vector<hw::ChannelEnd> connect(std::span<const Channel> channels);

  hw::Segment segment(std::size_t offset, std::size_t bytes) {
    return {memory_.data() + offset, bytes, local_.handle};
  }
  hw::RemoteMemory remote(std::uint32_t rank, std::size_t offset) const {
    return {remote_[rank].address + offset, remote_[rank].key};
  }

  // Posts all of them, polling as long as there is no room; what completes meanwhile is kept for
  // next().
  void post(std::span<const hw::WorkRequest> requests);
  void post(const hw::WorkRequest& request) { post({&request, 1}); }
  // The next completion. Throws if none comes within 60 s.
  hw::Completion next();

 private:
  std::uint32_t index_;
  std::uint32_t count_;
  int socket_;
  std::vector<std::byte> memory_;
  std::unique_ptr<hw::Transport> transport_;
  hw::LocalMemory local_;
  std::vector<hw::RemoteMemory> remote_;
  std::vector<hw::Completion> kept_;
};

// Runs `body` as `count` processes. What one of them finds wrong, by throwing or by an assertion of
// GoogleTest, fails the test; so does one that is ended by a signal and is not among `killed`.
void run_ranks(std::uint32_t count, const std::function<void(Rank&)>& body,
               const std::set<std::uint32_t>& killed = {});
// The same with the options of each rank's transport.
void run_ranks(std::uint32_t count,
               const std::function<hw::VerbsOptions(std::uint32_t rank)>& options,
               const std::function<void(Rank&)>& body, const std::set<std::uint32_t>& killed = {});

}  // namespace slackline::guest
