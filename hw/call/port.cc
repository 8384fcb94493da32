#include "hw/call/port.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

#include "base/error.h"
#include "hw/call/line.h"
#include "hw/driver.h"
#include "hw/run.h"

namespace slackline::hw {
namespace {

constexpr std::size_t kBatch = 64;
// Who waits yields so often before it sleeps: cores may be fewer than ranks.
constexpr std::uint64_t kYields = 400;
constexpr std::chrono::microseconds kNap{50};
// Who gave its core away and has it back only then was waited out: other ranks keep it for much
// less, unless they compute. For so long everybody naps.
constexpr std::chrono::milliseconds kLongYield{1};
constexpr std::chrono::milliseconds kCrowded{100};

}  // namespace

CallPort::CallPort(Mesh& mesh, std::unique_ptr<Transport> transport, const CallsOptions& options)
    : mesh_(mesh),
      failure_timeout_(options.failure_timeout),
      patience_(options.patience),
      transport_(std::move(transport)),
      in_order_(transport_->completes_in_order()) {}

void CallPort::depart(std::uint32_t rank) {
  std::uint64_t nobody = 0;
  departed_.compare_exchange_strong(nobody, std::uint64_t{rank} + 1, std::memory_order_acq_rel);
}

void CallPort::require_all_here() {
  require_nobody_lost(mesh_);
  const std::uint64_t departed = departed_.load(std::memory_order_acquire);
  if (departed == 0) return;
  const auto rank = static_cast<std::uint32_t>(departed - 1);
  throw PeerLost(rank, fmt::format("calls: rank {} has left; expected finish() first", rank));
}

// A transport often notices first that a rank is gone, and seldom knows which.
void CallPort::require_all_stay() {
  const auto deadline = std::chrono::steady_clock::now() + failure_timeout_;
  do {
    // The service thread, which looks for that, may have ended by the same failure.
    for (std::uint32_t rank = 0; rank < mesh_.ranks(); ++rank) {
      if (mesh_.is_gone(rank)) depart(rank);
    }
    require_all_here();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  } while (std::chrono::steady_clock::now() < deadline);
}

// Whichever thread found it broken: another one may come here before the mesh has named anybody.
void CallPort::require_whole() {
  if (!is_broken()) return;
  require_all_stay();
  const std::lock_guard lock(failure_mutex_);
  std::rethrow_exception(failure_);
}

void CallPort::break_by(std::exception_ptr failure) {
  const std::lock_guard lock(failure_mutex_);
  if (!failure_) failure_ = std::move(failure);
  broken_.store(true, std::memory_order_release);
}

// What the transport refuses to take leaves it whole.
template <class Do>
auto CallPort::guarded(Do&& something) {
  require_whole();
  try {
    const std::lock_guard lock(mutex_);
    return something();
  } catch (const InternalError&) {
    throw;
  } catch (const InputError&) {
    throw;
  } catch (const Unsupported&) {
    throw;
  } catch (const Error&) {
    break_by(std::current_exception());
    require_all_stay();
    throw;
  }
}

bool CallPort::help() {
  require_whole();
  const std::uint64_t polls = polls_.load(std::memory_order_relaxed);
  if (std::exchange(polls_seen_, polls) != polls) return false;
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return false;
  std::array<Completion, kBatch> batch;
  std::size_t count = 0;
  try {
    count = transport_->poll(batch);
  } catch (const Error&) {
    break_by(std::current_exception());
    throw;
  }
  if (count == 0) return false;
  const auto end = batch.begin() + static_cast<std::ptrdiff_t>(count);
  const auto lines = std::stable_partition(batch.begin(), end, [](const Completion& completion) {
    return (completion.tag & kServiceTag) != 0;
  });
  if (lines != end) {
    helped_.insert(helped_.end(), lines, end);
    has_helped_.store(true, std::memory_order_release);
  }
  lock.unlock();
  for (auto at = batch.begin(); at != lines; ++at) service_(*at);
  return true;
}

bool CallPort::post(const WorkRequest& request) {
  return guarded([&] { return transport_->post({&request, 1}) == 1; });
}

bool CallPort::progress() {
  polls_.store(polls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  std::array<Completion, kBatch> batch;
  const std::size_t count = guarded([&] {
    if (has_helped_.load(std::memory_order_relaxed)) {
      taken_.swap(helped_);
      has_helped_.store(false, std::memory_order_relaxed);
    }
    return transport_->poll(batch);
  });
  const auto tell = [&](const Completion& completion) {
    if ((completion.tag & kServiceTag) != 0) return service_(completion);
    lines_[CallLine::peer_of(completion.tag)]->complete(completion.tag);
  };
  const bool moved = count != 0 || !taken_.empty();
  std::ranges::for_each(taken_, tell);
  taken_.clear();
  std::for_each_n(batch.begin(), count, tell);
  return moved;
}

void CallPort::yield(bool naps) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point before = Clock::now();
  const auto crowded_until = crowded_until_.load(std::memory_order_relaxed);
  if (naps || before.time_since_epoch().count() < crowded_until) {
    std::this_thread::sleep_for(kNap);
    return;
  }
  sched_yield();
  const Clock::time_point after = Clock::now();
  if (after - before < kLongYield) return;
  crowded_until_.store((after + kCrowded).time_since_epoch().count(), std::memory_order_relaxed);
}

void CallRest::rest() {
  port_.require_all_here();
  const auto now = WatchedTime::Clock::now();
  if (++idle_ == 1) waited_.restart(now);
  if (waited_.look(now) > port_.patience()) {
    throw Stalled(
        fmt::format("calls: nothing happened for {:.3g} s, and no rank is lost; waited for {}",
                    std::chrono::duration<double>(port_.patience()).count(), what_));
  }
  port_.yield(idle_ > kYields);
}

}  // namespace slackline::hw
