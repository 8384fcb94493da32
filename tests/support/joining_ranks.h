// The ends of a join in memory (join_system.h): connections to rank 0, and the ranks that are to
// join.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "hw/mesh/other_protocol.h"
#include "hw/mesh/wire.h"

namespace slackline::testing {

class BrokenPromise : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

inline void promise(bool kept, const std::string& what) {
  if (!kept) throw BrokenPromise(what);
}

/// Who owns a connection and is no rank.
inline constexpr std::uint32_t kInsider = ~0u;

inline hw::Frame frame_of(std::span<const std::byte> bytes) {
  const hw::FrameHeader header = hw::decode_header(bytes.first<hw::kHeaderBytes>());
  const auto payload = bytes.subspan(hw::kHeaderBytes);
  promise(header.left == payload.size() && bytes.size() <= hw::kPartBytes,
          "a frame that nobody takes");
  return {header.kind, header.topic, hw::Bytes(payload.begin(), payload.end())};
}

/// Something on its way to rank 0.
struct SaidToRoot {
  std::optional<hw::Hello> hello;
  hw::Frame frame;
};

/// To rank 0. What has been sent before it ends still comes, unless it is lost.
struct RootConnection {
  std::uint32_t owner = kInsider;  // rank
  std::deque<SaidToRoot> up;
  std::deque<hw::Frame> down;
  bool left = false;     // by its owner
  bool dropped = false;  // by rank 0
  bool silent = false;   // rank 0 listens to it no more
  std::optional<std::size_t> guest;
  std::optional<hw::Hello> hello;  // as rank 0 has heard it
  std::multiset<hw::FrameKind> told;
  std::vector<std::uint64_t> table;  // processes, as they were told
  bool ready = false;                // rank 0 has heard that
};

/// A rank but rank 0, and what it has to do next.
struct JoiningRank final : hw::OtherActions {
  JoiningRank(std::vector<RootConnection>& all, const hw::MeshOptions& options, hw::Hello hello)
      : connections(all),
        rank(options.rank),
        ranks(options.ranks),
        protocol(options, std::move(hello), *this) {}

  bool waits() const { return !died && !protocol.state().done; }

  void tell_root(std::span<const std::byte> bytes) override {
    const hw::Frame frame = frame_of(bytes);
    said.insert(frame.kind);
    promise(said.count(hw::FrameKind::kReady) <= 1, "a rank is ready twice");
    promise(said.size() <= 2 + ranks, "a rank says too much");
    connections[*connection].up.push_back({std::nullopt, frame});
  }
  void set_deadline(std::chrono::milliseconds) override {}
  void accept() override { promise(!std::exchange(accepts, true), "a rank opens its door twice"); }
  void connect(std::uint32_t to, std::chrono::milliseconds) override {
    promise(to != 0 && to < rank, "a rank connects to one that is not below it");
    connecting.push_back(to);
  }
  void complain_after(std::chrono::milliseconds) override { complains = true; }

  std::vector<RootConnection>& connections;
  std::uint32_t rank;
  std::uint32_t ranks;
  hw::OtherProtocol protocol;
  std::optional<std::size_t> connection;  // to rank 0; none: it has yet to reach it
  std::multiset<hw::FrameKind> heard;     // from there
  std::multiset<hw::FrameKind> said;
  std::vector<std::uint32_t> connecting;  // to these ranks
  std::deque<hw::Hello> callers;          // whose Hello is on its way
  std::set<std::uint32_t> linked;         // by a connection
  bool accepts = false;
  bool complains = false;
  bool died = false;
};

}  // namespace slackline::testing
