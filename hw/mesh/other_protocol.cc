#include "hw/mesh/other_protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "hw/mesh/neighbours.h"

namespace slackline::hw {
namespace {

using Milliseconds = std::chrono::milliseconds;

// How much longer than rank 0 itself this rank waits for rank 0's word.
constexpr Milliseconds kGrace{2'000};

// More than any rank waits for others: a day.
constexpr std::uint64_t kMostJoin_ms = 86'400'000;

}  // namespace

OtherProtocol::OtherProtocol(const MeshOptions& options, Hello hello, OtherActions& actions)
    : options_(options), actions_(actions), connected_(options.ranks) {
  state_.hello = std::move(hello);
  connected_[0] = true;
}

void OtherProtocol::listens_at(std::string_view address, std::uint32_t port) {
  state_.hello.member.address = address;
  state_.hello.member.port = port;
}

void OtherProtocol::heed(const Frame& frame) {
  WireReader reader(frame.payload);
  if (frame.kind == FrameKind::kWelcome) {
    if (std::exchange(welcome_, true)) throw WireError("a second welcome");
    state_.hello.run = reader.u64();
    reader.end();
    // Rank 0's clock counts from here on.
    actions_.set_deadline(options_.join_timeout + kGrace);
    actions_.accept();
  } else if (frame.kind == FrameKind::kTable) {
    take_table(frame);
  } else if (frame.kind == FrameKind::kVerdict) {
    end(decode_verdict(frame.payload, options_.ranks));
  } else if (frame.kind == FrameKind::kGo) {
    reader.end();
    if (!ready_) throw WireError("the word to go before this rank is ready");
    state_.done = true;
  }
}

void OtherProtocol::take_table(const Frame& frame) {
  if (!welcome_ || has_table_) throw WireError("a table too many");
  WireReader reader(frame.payload);
  const std::uint64_t told_ms = reader.u64();
  const auto most = static_cast<std::uint64_t>(options_.join_timeout.count());
  if (told_ms > std::max(most, kMostJoin_ms)) throw WireError("a time that is none");
  std::vector<Member> part = decode_members(std::span(frame.payload).subspan(8));
  if (part.empty() || part.size() > options_.ranks - state_.members.size()) {
    throw WireError("a table of other ranks");
  }
  std::ranges::move(part, std::back_inserter(state_.members));
  if (state_.members.size() < options_.ranks) return;
  has_table_ = true;
  const Milliseconds left(told_ms);
  for (std::uint32_t r = 1; r < options_.rank; ++r) {
    if (is_neighbour(r)) actions_.connect(r, left * 4 / 5);
  }
  actions_.complain_after(left * 9 / 10);
  ready_if_all_there();
}

void OtherProtocol::root_ended() {
  end(problem_.value_or(
      JoinVerdict{1, 0, "rank 0 was lost while the ranks joined: its connection ended"}));
}

bool OtherProtocol::greet(const Hello& hello) {
  if (hello.protocol != kMeshProtocol || hello.run != state_.hello.run) return false;
  if (hello.rank <= options_.rank || hello.rank >= options_.ranks) return false;
  if (!is_neighbour(hello.rank) || connected_[hello.rank]) return false;
  connected(hello.rank);
  return true;
}

void OtherProtocol::connected(std::uint32_t rank) {
  connected_[rank] = true;
  ready_if_all_there();
}

void OtherProtocol::unreachable(std::uint32_t rank, bool gone, std::string_view how) {
  problem_ = JoinVerdict{
      gone ? 1u : 3u, rank,
      fmt::format("rank {} cannot reach rank {} {}{}", options_.rank, rank, how,
                  gone ? "" : "; look at routes and firewalls, or give the address to use")};
  actions_.tell_root(encode_frame(FrameKind::kVerdict, encode(*problem_)));
}

// So that rank 0 blames those who say nothing.
void OtherProtocol::complain() {
  if (!ready_) actions_.tell_root(encode_frame(FrameKind::kWaiting));
}

void OtherProtocol::late(bool refused) {
  const double waited = std::chrono::duration<double>(options_.join_timeout).count();
  end({1, 0,
       fmt::format("rank 0 {} within {} s{}",
                   welcome_ ? "fell silent; the ranks did not join" : "did not come", waited,
                   refused ? fmt::format("; what listens at {} did not take this rank's proof of "
                                         "the secret: all ranks need the same --secret FILE",
                                         options_.root)
                           : "")});
}

// Higher ranks may come before the table does.
void OtherProtocol::ready_if_all_there() {
  if (!has_table_) return;
  for (std::uint32_t r = 0; r < options_.ranks; ++r) {
    if (is_neighbour(r) && !connected_[r]) return;
  }
  if (std::exchange(ready_, true)) return;
  actions_.tell_root(encode_frame(FrameKind::kReady));
}

bool OtherProtocol::is_neighbour(std::uint32_t rank) const {
  return are_neighbours(options_.rank, rank, options_.ranks, options_.full_up_to);
}

void OtherProtocol::end(JoinVerdict verdict) {
  if (!state_.verdict) state_.verdict = std::move(verdict);
  state_.done = true;
}

}  // namespace slackline::hw
