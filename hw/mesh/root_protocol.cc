#include "hw/mesh/root_protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/shown_text.h"

namespace slackline::hw {
namespace {

using Milliseconds = std::chrono::milliseconds;

// How long it stays to tell others why there is no run; longer if some may still come.
constexpr Milliseconds kStay{1'000};
constexpr Milliseconds kStayForOthers{3'000};

// Characters of a verdict, whose words may be a rank's: a frame must hold them.
constexpr std::size_t kMostShown = 4'000;
// Members that a frame surely holds.
constexpr std::size_t kMembersAtOnce = 256;
static_assert(kMembersAtOnce * (kMostHostText + kMostAddressText + 20) + 100 < kPartBytes);

std::string named(const std::vector<std::uint32_t>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  constexpr std::size_t kShown = 4;
  for (std::size_t i = 0; i < std::min(ranks.size(), kShown); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", ranks[i]);
  }
  if (ranks.size() > kShown) text += fmt::format(" and {} more", ranks.size() - kShown);
  return text;
}

}  // namespace

RootProtocol::RootProtocol(const MeshOptions& options, Hello hello, std::uint64_t run,
                           RootActions& actions)
    : options_(options), actions_(actions), guest_of_(options.ranks) {
  state_.members.resize(options.ranks);
  state_.members[0] = hello.member;
  state_.hello = std::move(hello);
  state_.hello.run = run;
}

bool RootProtocol::hears(const Hello& hello) const {
  if (going_) return false;
  const bool counts_as_i_do = hello.protocol == kMeshProtocol && hello.ranks == options_.ranks;
  return !counts_as_i_do || hello.rank < options_.ranks;
}

bool RootProtocol::greet(const Hello& hello, Milliseconds left) {
  guests_.push_back({hello.rank});
  came_.insert(hello.rank);
  if (!state_.verdict) return judge(hello, left);
  tell_all();
  return false;
}

// Takes the rank in, or decides that there will be no run.
bool RootProtocol::judge(const Hello& hello, Milliseconds left) {
  if (auto breach = disagreement(state_.hello, hello)) {
    decide(std::move(*breach));
    return false;
  }
  if (hello.rank == 0 || guest_of_[hello.rank]) {
    const Member& first = state_.members[hello.rank];
    decide({2, 0,
            fmt::format("rank {} is there twice: as process {} and as process {}{}; expected each "
                        "rank once",
                        hello.rank, first.pid, hello.member.pid,
                        first.host == hello.member.host ? "" : " of another host")});
    return false;
  }
  guest_of_[hello.rank] = guests_.size() - 1;
  state_.members[hello.rank] = hello.member;
  actions_.send(guests_.size() - 1,
                encode_frame(FrameKind::kWelcome, WireWriter().u64(state_.hello.run).take()));
  const auto missing = std::count(guest_of_.begin(), guest_of_.end(), std::nullopt) - 1;
  if (options_.on_join) options_.on_join(options_.ranks - static_cast<std::uint32_t>(missing));
  if (missing == 0) send_table(left);
  return true;
}

void RootProtocol::send_table(Milliseconds left) {
  const auto left_ms = static_cast<std::uint64_t>(std::max(left, Milliseconds(0)).count());
  std::span<const Member> members = state_.members;
  while (!members.empty()) {
    const auto part = members.first(std::min(members.size(), kMembersAtOnce));
    send_to_ranks(
        encode_frame(FrameKind::kTable, WireWriter().u64(left_ms).raw(encode(part)).take()));
    members = members.subspan(part.size());
  }
}

void RootProtocol::heed(std::size_t guest, const Frame& frame) {
  if (going_) return;
  const std::uint32_t rank = guests_[guest].rank;
  if (frame.kind == FrameKind::kReady) {
    ready_.insert(rank);
    if (ready_.size() + 1 == options_.ranks && !state_.verdict) go();
  } else if (frame.kind == FrameKind::kWaiting) {
    waiting_.insert(rank);
  } else if (frame.kind == FrameKind::kVerdict) {
    decide(decode_verdict(frame.payload, options_.ranks));
  }
}

void RootProtocol::go() {
  going_ = true;
  send_to_ranks(encode_frame(FrameKind::kGo));
  actions_.finish();
}

void RootProtocol::send_to_ranks(const Bytes& bytes) {
  for (std::uint32_t r = 1; r < options_.ranks; ++r) actions_.send(*guest_of_[r], bytes);
}

void RootProtocol::ended(std::size_t guest) {
  guests_[guest].ended = true;
  if (state_.verdict) {
    end_if_all_told();
  } else if (!going_) {
    const std::uint32_t rank = guests_[guest].rank;
    decide({1, rank,
            fmt::format("rank {} was lost while the ranks joined: its connection ended", rank)});
  }
}

std::vector<std::uint32_t> RootProtocol::not_ready(bool waiting) const {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t r = 1; r < options_.ranks; ++r) {
    if (!ready_.contains(r) && waiting_.contains(r) == waiting) ranks.push_back(r);
  }
  return ranks;
}

void RootProtocol::late(bool starved, std::uint64_t strangers) {
  if (going_ || state_.verdict) return;
  late_ = true;
  std::vector<std::uint32_t> missing;
  for (std::uint32_t r = 1; r < options_.ranks; ++r) {
    if (!guest_of_[r]) missing.push_back(r);
  }
  const double waited = std::chrono::duration<double>(options_.join_timeout).count();
  if (!missing.empty() && starved) {
    decide({3, 0,
            fmt::format("rank 0 has no descriptor left for {}: too many open files; see `ulimit "
                        "-n`",
                        named(missing))});
    return;
  }
  if (!missing.empty()) {
    const std::string unknown =
        strangers == 0 ? ""
                       : fmt::format(
                             "; {} who came did not know the run's secret, for which all ranks "
                             "need the same --secret FILE",
                             strangers);
    decide({1, missing[0],
            fmt::format("{} did not come within {} s{}", named(missing), waited, unknown)});
    return;
  }
  // Those that say they wait for others are not the ones.
  missing = not_ready(false);
  if (missing.empty()) missing = not_ready(true);
  decide({1, missing[0],
          fmt::format("{} came, but did not connect to all others within {} s", named(missing),
                      waited)});
}

void RootProtocol::decide(JoinVerdict verdict) {
  if (state_.verdict) return;
  verdict.message = sched::shown_ends(verdict.message, kMostShown);
  state_.verdict = std::move(verdict);
  tell_all();
  actions_.stay(late_ ? kStay : kStayForOthers);
  end_if_all_told();
}

void RootProtocol::tell_all() {
  const Bytes word = encode_frame(FrameKind::kVerdict, encode(*state_.verdict));
  for (std::size_t guest = 0; guest < guests_.size(); ++guest) {
    if (!std::exchange(guests_[guest].told, true)) actions_.send(guest, word);
  }
}

// Ranks close when they were told.
void RootProtocol::end_if_all_told() {
  const bool all_came = late_ || came_.size() + 1 >= options_.ranks;
  const auto ended = [](const Guest& guest) { return guest.ended; };
  if (all_came && std::all_of(guests_.begin(), guests_.end(), ended)) state_.done = true;
}

void RootProtocol::stayed() { state_.done = true; }

void RootProtocol::sent() { state_.done = true; }

}  // namespace slackline::hw
