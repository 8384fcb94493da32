#include "hw/driver.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include "base/error.h"
#include "hw/early_messages.h"
#include "hw/failed.h"

namespace slackline::hw {
namespace {

// Sleeps are that long at most, so that every wait ends: what else is to be noticed has no
// descriptor.
constexpr std::chrono::milliseconds kLongestSleep{20};
// A sleeper looks that often at memory, and at the mesh's messages.
constexpr std::chrono::microseconds kNap{50};
constexpr std::chrono::milliseconds kLookAtMesh{1};
// While a message is on its way nobody is told how far it is: it is given the time that it takes at
// this rate.
constexpr sched::Rate kSlowest{10'000'000};
// Empty rounds between looks at the clock: a round takes a microsecond or so.
constexpr std::uint64_t kRoundsPerLook = 64;
// The longest that a rank does not listen. Where cores are shared, a round takes as long as other
// programs have them: a rank that finds something to do now and then would never come to so many
// empty rounds, and others would not hear that it moves.
constexpr std::chrono::milliseconds kLongestDeaf{10};

}  // namespace

std::chrono::duration<double> longest_quiet(const sched::Schedule& schedule,
                                            const machine::Delays& delays,
                                            const machine::BundleDelays* bundle_delays) {
  double sum_s = 0;
  for (const sched::OpArguments& arguments : schedule.argument_table()) {
    sum_s += sched::seconds(arguments.duration);
  }
  for (const sched::Region& region : schedule.regions()) sum_s += sched::seconds(region.backoff);
  std::uint64_t largest = 0;
  for (const sched::Op& op : schedule.ops()) {
    if (sched::is_initiator(op.kind)) largest = std::max(largest, schedule.payload_bytes(op));
  }
  sum_s += static_cast<double>(largest) / kSlowest.bytes_per_second();
  const bool bundles = schedule.has_bundles();
  for (std::uint32_t i = 0; i < schedule.op_count() && bundles; ++i) {
    const sched::Op& op = schedule.ops()[i];
    if (!op.channel.valid() || op.kind == sched::OpKind::kRecv) continue;
    const sched::Time delay = schedule.channel(op.channel).bundle_delay;
    if (delay != sched::kForever) sum_s += sched::seconds(delay);
  }
  for (std::uint32_t i = 0; i < schedule.op_count() && !delays.empty(); ++i) {
    const sched::OpId op(i);
    sum_s += delays.post_delay_s(op) + delays.lane_delay_s(op);
  }
  for (std::uint32_t r = 0; r < schedule.rank_count() && bundle_delays != nullptr; ++r) {
    const sched::RankId rank(r);
    if (bundle_delays->strike(rank)) sum_s += bundle_delays->most_s(rank);
  }
  return std::chrono::duration<double>(sum_s);
}

void require_bearable(const sched::Schedule& schedule, const machine::Delays& delays) {
  constexpr double kMost_s = 600;
  if (delays.empty()) return;
  for (std::uint32_t rank = 0; rank < schedule.rank_count(); ++rank) {
    double sum_s = 0;
    for (std::uint32_t i = schedule.first_op(sched::RankId(rank)).value;
         i < schedule.end_op(sched::RankId(rank)).value; ++i) {
      sum_s += delays.lane_delay_s(sched::OpId(i));
    }
    if (sum_s <= kMost_s) continue;
    throw InputError(
        fmt::format("delay plan: it holds the processor of rank {} for {:.3g} s in each iteration; "
                    "expected at most {:g} s of a real run",
                    rank, sum_s, kMost_s));
  }
}

void sleep_until(Executor::Clock::time_point at, const std::function<void()>& before_spin) {
  // A sleep ends late, by the timer's slack and until a core is free.
  constexpr std::chrono::microseconds kSpin{300};
  std::this_thread::sleep_until(at - kSpin);
  if (before_spin) before_spin();
  while (Executor::Clock::now() < at) sched_yield();
}

void require_nobody_lost(const Mesh& mesh) {
  if (!mesh.any_lost()) return;
  const std::vector<Loss> lost = mesh.lost();
  std::string text;
  for (const Loss& loss : lost) {
    text += fmt::format("{}rank {} is lost: {}", text.empty() ? "" : "; ", loss.rank, loss.how);
    if (loss.seen_by != mesh.rank()) text += fmt::format(", as rank {} saw", loss.seen_by);
  }
  throw PeerLost(lost.empty() ? mesh.rank() : lost.front().rank, text);
}

void await_loss(const Mesh& mesh, std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  do {
    std::optional<std::uint32_t> gone;
    for (std::uint32_t rank = 0; rank < mesh.ranks() && !gone; ++rank) {
      if (mesh.is_gone(rank)) gone = rank;
    }
    require_nobody_lost(mesh);
    if (gone) throw PeerLost(*gone, why_left(*gone));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  } while (std::chrono::steady_clock::now() < deadline);
}

Driver::Driver(Mesh& mesh, Transport& transport, Executor& executor, const RunOptions& options,
               std::chrono::duration<double> patience, Listen listen)
    : mesh_(mesh),
      transport_(transport),
      executor_(executor),
      options_(options),
      patience_(patience),
      listen_(std::move(listen)),
      unmoved_(patience) {}

void Driver::restart() {
  idle_ = 0;
  sleepy_ = false;
  unmoved_.restart(Clock::now());
  quiet_ = std::chrono::seconds(0);
}

bool Driver::progress() {
  return naming_the_lost(mesh_, options_.failure_timeout, [this] { return executor_.progress(); });
}

void Driver::glance(Clock::time_point now) {
  if (!is_due(now)) return;
  require_nobody_lost(mesh_);
  listen(now);
}

bool Driver::is_due(Clock::time_point now) const { return now - listened_at_ >= kLongestDeaf; }

// Whether another rank has moved.
bool Driver::listen(Clock::time_point now) {
  listened_at_ = now;
  return listen_(std::exchange(told_, busy_) != busy_);
}

void Driver::idle() {
  require_nobody_lost(mesh_);
  ++idle_;
  if (idle_ == 1 || sleepy_ || idle_ % kRoundsPerLook == 0) {
    const Clock::time_point now = Clock::now();
    // Not each time that there is nothing to do for a moment.
    const bool heard = (idle_ != 1 || is_due(now)) && listen(now);
    if (idle_ == 1 || heard) {
      unmoved_.restart(now);
      quiet_ = std::chrono::seconds(0);
    }
    unmoved_.look(now);
    tell_quiet();
    require_movement();
    sleepy_ = options_.waiting == Waiting::kInterrupt ||
              (options_.waiting == Waiting::kHybrid && unmoved_.watched() >= options_.poll_for);
    if (sleepy_) return sleep(now);
  }
  sched_yield();
}

void Driver::sleep(Clock::time_point now) {
  std::chrono::nanoseconds longest = kLongestSleep;
  if (executor_.watches_memory()) longest = kNap;
  if (executor_.finished()) longest = kLookAtMesh;
  if (const auto timer = executor_.next_timer()) {
    longest = std::min<std::chrono::nanoseconds>(longest, *timer - now);
  }
  if (longest.count() > 0) transport_.wait(longest, mesh_.lost_descriptor());
}

// What a rank waits for that has something to do yet.
std::string Driver::awaited() const {
  return describe(executor_.program().schedule(), executor_.first_unfinished());
}

void Driver::tell_quiet() {
  if (!options_.on_quiet || unmoved_.watched() < quiet_ + std::chrono::seconds(1)) return;
  quiet_ = std::chrono::duration_cast<std::chrono::seconds>(unmoved_.watched());
  options_.on_quiet(executor_.finished() ? "the other ranks" : awaited(), unmoved_.watched(),
                    patience_);
}

void Driver::require_movement() {
  // Who has finished knows least of what is amiss: those that have not say it first.
  const WatchedTime::Duration more = executor_.finished()
                                         ? WatchedTime::Duration(options_.failure_timeout)
                                         : WatchedTime::Duration();
  if (unmoved_.watched() < patience_ + more) return;
  const std::string what = executor_.finished() ? "the other ranks have not finished"
                                                : fmt::format("{} is not done", awaited());
  const bool held_up =
      transport_.name() == "net" && has_early_messages(executor_.program().schedule());
  throw Stalled(fmt::format("rank {}: nothing happened for {:.3g} s, and no rank is lost; {}{}",
                            mesh_.rank(), patience_.count(), what,
                            held_up ? ". On net a message before its receive holds up what comes "
                                      "after it: give its channel a window, or take tcp"
                                    : ""));
}

}  // namespace slackline::hw
