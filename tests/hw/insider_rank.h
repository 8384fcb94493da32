// A rank of a mesh that the test speaks for: it joins as any rank does, and then says what it
// pleases.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hw/mesh/join.h"
#include "hw/mesh/wire.h"
#include "tests/hw/mesh_socket.h"

namespace slackline::testing {

/// The highest rank of a mesh of which all ranks are neighbours.
class InsiderRank {
 public:
  /// Joins; all others must be on their way. `root_port`: where rank 0 listens on loopback.
  InsiderRank(const hw::MeshOptions& options, std::uint16_t root_port) {
    hw::Hello hello = hw::hello_of(options);
    hello.member.address = "127.0.0.1";
    hello.member.port = 1;
    if (!connect(root_port, options)) return;
    to(0).put(encode(hello));
    const RootsWord told = told_by_root(to(0));
    if (told.members.size() != options.ranks) return;
    hello.run = told.run;
    for (std::uint32_t r = 1; r + 1 < options.ranks; ++r) {
      if (!connect(static_cast<std::uint16_t>(told.members[r].port), options)) return;
      to(r).put(encode(hello));
    }
    to(0).put(hw::encode_frame(hw::FrameKind::kReady));
    const auto word = to(0).next();
    joined_ = word && hw::decode_header(std::span(*word).first<hw::kHeaderBytes>()).kind ==
                          hw::FrameKind::kGo;
  }

  bool joined() const { return joined_; }
  Insider& to(std::uint32_t rank) { return *links_[rank]; }
  void leave() {
    for (const auto& link : links_) link->leave();
  }

 private:
  bool connect(std::uint16_t port, const hw::MeshOptions& options) {
    links_.push_back(std::make_unique<Insider>(connected_to(port), options.secret));
    return links_.back()->known();
  }

  std::vector<std::unique_ptr<Insider>> links_;  // by rank
  bool joined_ = false;
};

}  // namespace slackline::testing
