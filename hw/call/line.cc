#include "hw/call/line.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace slackline::hw {
namespace {

constexpr std::uint64_t kNumberMask = (std::uint64_t{1} << 40) - 1;

}  // namespace

CallLine::CallLine(CallPort& port, Slabs& slabs, std::uint32_t peer, std::uint32_t channel,
                   std::uint64_t u_max, bool copies)
    : port_(port),
      slabs_(slabs),
      peer_(peer),
      channel_(channel),
      copies_(copies),
      signalling_(std::min<std::uint64_t>(u_max, kMostInFlight / 2)) {}

void CallLine::write(const Segment& from, const CallTarget& to, std::span<SyncState* const> tell) {
  WorkRequest request;
  request.kind = RequestKind::kWrite;
  post(request, {&from, 1}, to, tell);
}

void CallLine::read(const Segment& to, const CallTarget& from, SyncState* tell) {
  WorkRequest request;
  request.kind = RequestKind::kRead;
  post(request, {&to, 1}, from, {&tell, 1});
}

void CallLine::atomic(RequestKind kind, const Segment& result, const CallTarget& word,
                      std::uint64_t operand, std::uint64_t compare, SyncState* tell) {
  WorkRequest request;
  request.kind = kind;
  request.operand = operand;
  request.compare = compare;
  post(request, {&result, 1}, word, {&tell, 1});
}

// Under the lock, as those of others are which the transport carries out here.
void CallLine::carry_out(const WorkRequest& request, std::byte* here) {
  const Segment& local = request.local[0];
  std::uint64_t old = 0;
  switch (request.kind) {
    case RequestKind::kWrite:
      std::memcpy(here, local.data, local.bytes);
      break;
    case RequestKind::kRead:
      std::memcpy(local.data, here, local.bytes);
      break;
    case RequestKind::kFetchAdd:
    case RequestKind::kCompareSwap: {
      auto* const word = reinterpret_cast<std::uint64_t*>(here);
      if (request.kind == RequestKind::kFetchAdd) {
        old = __atomic_fetch_add(word, request.operand, __ATOMIC_ACQ_REL);
      } else {
        old = request.compare;
        __atomic_compare_exchange_n(word, &old, request.operand, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE);
      }
      std::memcpy(local.data, &old, sizeof old);
      break;
    }
    default:
      throw InternalError("no request of calls");
  }
}

void CallLine::post(WorkRequest request, std::span<const Segment> local, const CallTarget& target,
                    std::span<SyncState* const> tell) {
  request.local = local;
  if (copies_) {
    port_.with_transport([&](Transport&) { carry_out(request, target.here); });
    first_ = ++next_;
    for (SyncState* const state : tell) {
      if (state != nullptr) --state->pending;
    }
    return;
  }
  CallRest rest(port_, "room to post");
  const auto wait = [&] {
    if (port_.progress()) {
      rest.moved();
    } else {
      rest.rest();
    }
  };
  while (posted_.size() >= kMostInFlight) wait();
  const std::uint64_t number = next_++;
  const bool told = std::ranges::any_of(tell, [](const SyncState* s) { return s != nullptr; });
  const auto decision = signalling_.begin(told ? SelectiveSignalling::Want::kCompletion
                                               : SelectiveSignalling::Want::kNothing);
  request.signalled = decision.signalled || !port_.in_order();
  request.channel = channel_;
  request.tag = std::uint64_t{peer_} << 40 | (number & kNumberMask);
  request.remote = target.remote;
  // Before it is posted: progress may find it complete.
  posted_.push_back({decision.flush, decision.signalled, false});
  for (SyncState* const state : tell) {
    if (state != nullptr) told_.push_back({number, state});
  }
  const std::uint64_t silent = std::exchange(silent_, request.signalled ? 0 : silent_ + 1);
  try {
    while (!port_.post(request)) wait();
  } catch (...) {
    take_back(silent);
    throw;
  }
}

// The last one, which was not posted after all.
void CallLine::take_back(std::uint64_t silent) {
  posted_.pop_back();
  --next_;
  while (!told_.empty() && told_.back().number == next_) told_.pop_back();
  silent_ = silent;
}

void CallLine::complete(std::uint64_t tag) {
  // Of the numbers under way, the one that ends so.
  const std::uint64_t number = first_ + ((tag - first_) & kNumberMask);
  const std::uint64_t place = number - first_;
  if (place >= posted_.size()) throw InternalError("a request of calls completes twice");
  posted_[place].done = true;
  if (port_.in_order()) {
    for (std::uint64_t i = 0; i < place; ++i) posted_[i].done = true;
  }
  retire();
}

void CallLine::retire() {
  while (!posted_.empty() && posted_.front().done) {
    if (posted_.front().turn) signalling_.completed(posted_.front().flush);
    posted_.pop_front();
    ++first_;
  }
  while (!told_.empty() && told_.front().number < first_) {
    if (told_.front().state != nullptr) --told_.front().state->pending;
    told_.pop_front();
  }
  while (!used_.empty() && (posted_.empty() || signalling_.is_free(used_.front().tag))) {
    slabs_.give_back(used_.front().unit);
    used_.pop_front();
  }
}

void CallLine::release(const Slabs::Unit& unit) {
  used_.push_back({unit, signalling_.tag()});
  if (posted_.empty()) retire();
}

void CallLine::forget(const SyncState* state) {
  for (Told& told : told_) {
    if (told.state == state) told.state = nullptr;
  }
}

}  // namespace slackline::hw
