// What somebody who knows the secret of a run may say while ranks join: what belongs there, a
// little of it changed, or anything.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hw/mesh/wire.h"

namespace slackline::testing {

/// Answers a number below the one it is given, which is 256 at most.
using Choose = std::function<std::uint32_t(std::uint32_t below)>;

class InsiderWords {
 public:
  InsiderWords(std::uint32_t ranks, std::uint64_t run, const Choose& choose)
      : ranks_(ranks), run_(run), choose_(choose) {}

  /// A Hello like the one given, as it is heard; nothing if it is heard as none.
  std::optional<hw::Hello> hello(hw::Hello hello) {
    hello.member.pid = 1'000 + choose_(4);
    if (choose_(4) == 3) change(hello);
    try {
      const hw::Bytes bytes = encode(hello);
      return hw::decode_hello(hello.protocol, std::span(bytes).subspan(hw::kPreambleBytes));
    } catch (const hw::WireError&) {
      return std::nullopt;
    }
  }

  /// Of any kind.
  hw::Frame frame() {
    using enum hw::FrameKind;
    static constexpr std::array kKinds{kWelcome, kTable,     kReady,   kWaiting,  kVerdict, kGo,
                                       kLost,    kHeartbeat, kMessage, kFarewell, kGather};
    hw::Frame frame;
    frame.kind = kKinds[choose_(kKinds.size())];
    frame.payload = payload_of(frame.kind);
    if (choose_(8) == 7) frame.payload.resize(choose_(100));
    return frame;
  }

 private:
  void change(hw::Hello& hello) {
    if (choose_(2) == 1) hello.rank = choose_(ranks_ + 2);
    if (choose_(4) == 3) hello.run = choose_(4);
    if (choose_(4) == 3) hello.ranks = choose_(ranks_ + 2);
    if (choose_(4) == 3) hello.version = "other";
    if (choose_(4) == 3) hello.agreed = {std::string(std::size_t{1} << choose_(19), 'x')};
    if (choose_(4) == 3) hello.member.host.resize(std::size_t{1} << choose_(19), 'x');
    if (choose_(4) == 3) hello.protocol = choose_(4);
  }

  hw::Bytes payload_of(hw::FrameKind kind) {
    hw::WireWriter writer;
    if (kind == hw::FrameKind::kWelcome) writer.u64(choose_(4) == 3 ? 1 : run_);
    if (kind == hw::FrameKind::kTable) {
      const std::vector<hw::Member> members(choose_(4) == 3 ? choose_(10) : ranks_,
                                            {"host", 1, "10.0.0.1", 1});
      writer.u64(choose_(4) == 3 ? ~std::uint64_t{0} : choose_(200));
      writer.raw(encode(std::span(members)));
    }
    if (kind == hw::FrameKind::kVerdict) {
      writer.raw(encode(hw::JoinVerdict{choose_(5), choose_(ranks_ + 2), "a word"}));
    }
    if (choose_(8) == 7) writer.u32(choose_(256));
    return writer.take();
  }

  const std::uint32_t ranks_;
  const std::uint64_t run_;
  const Choose& choose_;
};

}  // namespace slackline::testing
