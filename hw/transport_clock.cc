#include "hw/transport_clock.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/now.h"
#include "hw/run.h"

namespace slackline::hw {
namespace {

// Above those of operations (hw/executor/requests.h); below it the pair, and whether it was heard.
constexpr std::uint64_t kTags = std::uint64_t{0xffff'ffff} << 32;

// Polls in vain between looks at who is there: they would make round trips longer.
constexpr std::uint64_t kPollsPerLook = 64;

std::uint64_t tag_of(std::uint32_t pair, RequestKind kind) {
  return kTags | std::uint64_t{pair} << 1 | (kind == RequestKind::kRecv ? 1 : 0);
}

}  // namespace

TransportClock::TransportClock(Mesh& mesh, Transport& transport,
                               std::span<const std::uint32_t> asking, std::uint32_t first_channel,
                               Others others, WatchedTime::Duration patience)
    : mesh_(mesh),
      transport_(transport),
      others_(std::move(others)),
      patience_(patience),
      waited_(patience) {
  for (std::uint32_t i = 0; i < std::min<std::size_t>(asking.size(), kMostAsking); ++i) {
    const std::uint32_t questions = first_channel + 2 * i;
    const std::uint32_t answers = questions + 1;
    if (mesh.rank() == 0) pairs_.push_back({asking[i], answers, questions});
    if (mesh.rank() == asking[i]) pairs_.push_back({0, questions, answers});
  }
  Address own;
  if (!pairs_.empty()) {
    words_.resize(pairs_.size());
    memory_ = transport_.register_memory(std::as_writable_bytes(std::span(words_)));
    own = transport_.open(ends());
  }
  const std::vector<Bytes> addresses = mesh_.all_gather(own);
  if (!pairs_.empty()) transport_.connect(addresses);
  for (std::uint32_t i = 0; i < pairs_.size(); ++i) listen(i);
  mesh_.barrier();
}

TransportClock::~TransportClock() {
  if (!pairs_.empty()) transport_.unregister_memory(memory_);
}

std::optional<ClockSample> TransportClock::round() {
  if (mesh_.rank() != 0) {
    if (pairs_.empty()) return std::nullopt;
    return ask();
  }
  for (std::uint32_t i = 0; i < pairs_.size(); ++i) answer(i);
  return std::nullopt;
}

void TransportClock::close() {
  if (pairs_.empty()) return;
  transport_.close(ends());
  transport_.unregister_memory(memory_);
  pairs_.clear();
}

std::vector<ChannelEnd> TransportClock::ends() const {
  std::vector<ChannelEnd> ends;
  for (const Pair& pair : pairs_) {
    ends.push_back({pair.out, pair.peer, true, 2, true});
    ends.push_back({pair.in, pair.peer, false, 2, true});
  }
  return ends;
}

// The round's last message is not answered: whoever has heard it knows that its answers have come.
ClockSample TransportClock::ask() {
  std::optional<ClockSample> best;
  for (std::uint32_t i = 0; i < kQuestions; ++i) {
    ClockSample sample;
    sample.asked_ns = base::now_ns();
    say(0, 0);
    sample.there_ns = hear(0);
    if (sample.there_ns < 0 || sample.there_ns > kMostClockNs) {
      throw EnvironmentError("rank 0 tells a time that no clock shows");
    }
    sample.answered_ns = base::now_ns();
    if (!best || sample.round_trip_ns() < best->round_trip_ns()) best = sample;
  }
  say(0, 0);
  settle(0);
  return *best;
}

void TransportClock::answer(std::uint32_t pair) {
  for (std::uint32_t i = 0; i < kQuestions; ++i) {
    hear(pair);
    say(pair, base::now_ns());
  }
  hear(pair);
  settle(pair);
}

void TransportClock::listen(std::uint32_t pair) {
  post(RequestKind::kRecv, pair, words_[pair].heard);
}

// What was said before has been heard, as each message but the last answers the one before it.
void TransportClock::say(std::uint32_t pair, std::int64_t word) {
  words_[pair].said = word;
  post(RequestKind::kSend, pair, words_[pair].said);
  ++pairs_[pair].sent;
}

std::int64_t TransportClock::hear(std::uint32_t pair) {
  while (pairs_[pair].heard == 0) poll(pair);
  --pairs_[pair].heard;
  const std::int64_t word = words_[pair].heard;
  listen(pair);
  return word;
}

void TransportClock::settle(std::uint32_t pair) {
  while (pairs_[pair].sent != 0) poll(pair);
}

void TransportClock::post(RequestKind kind, std::uint32_t pair, std::int64_t& word) {
  const Segment segment{reinterpret_cast<std::byte*>(&word), sizeof word, memory_.handle};
  WorkRequest request;
  request.kind = kind;
  request.channel = kind == RequestKind::kRecv ? pairs_[pair].in : pairs_[pair].out;
  request.tag = tag_of(pair, kind);
  request.local = {&segment, 1};
  while (transport_.post({&request, 1}) == 0) poll(pair);
}

void TransportClock::poll(std::uint32_t awaited) {
  std::array<Completion, 16> completions;
  const std::size_t count = transport_.poll(completions);
  for (const Completion& completion : std::span(completions).first(count)) {
    if (completion.tag < kTags) {
      others_(completion);
      continue;
    }
    Pair& pair = pairs_[(completion.tag - kTags) >> 1];
    if (completion.kind == RequestKind::kRecv) {
      ++pair.heard;
    } else {
      --pair.sent;
    }
  }
  if (count != 0) {
    idle_ = 0;
    return;
  }
  mesh_.throw_if_lost();
  if (++idle_ == 1) waited_.restart(WatchedTime::Clock::now());
  if (idle_ % kPollsPerLook == 0) look(awaited);
  sched_yield();
}

// The other rank may have left for a reason of its own, or live and do something else.
void TransportClock::look(std::uint32_t awaited) {
  const std::uint32_t peer = pairs_[awaited].peer;
  if (mesh_.is_gone(peer)) {
    throw PeerLost(peer, fmt::format("rank {} has left, and rank {} still compares clocks with it",
                                     peer, mesh_.rank()));
  }
  if (waited_.look(WatchedTime::Clock::now()) < patience_) return;
  throw Stalled(
      fmt::format("rank {}: nothing happened for {:.3g} s, and no rank is lost; clocks "
                  "are compared with rank {}",
                  mesh_.rank(), patience_.count(), peer));
}

}  // namespace slackline::hw
