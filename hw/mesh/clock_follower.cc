#include "hw/mesh/clock_follower.h"

#include <algorithm>
#include <span>

#include "hw/mesh/wire.h"

namespace slackline::hw {

void ClockFollower::begin_round(bool anew) {
  left_ = kRound;
  best_.reset();
  if (!anew) return;
  const std::lock_guard lock(mutex_);
  samples_.clear();
}

bool ClockFollower::ask(std::int64_t now_ns) {
  if (asked_ns_) return false;
  asked_ns_ = now_ns;
  return true;
}

bool ClockFollower::answered(std::uint64_t asked_ns, std::uint64_t there_ns, std::int64_t now_ns) {
  if (!asked_ns_ || static_cast<std::uint64_t>(*asked_ns_) != asked_ns) {
    throw WireError("a clock's time that nobody asked for");
  }
  if (there_ns > static_cast<std::uint64_t>(kMostClockNs)) {
    throw WireError("a time that no clock shows");
  }
  const ClockSample sample{*asked_ns_, static_cast<std::int64_t>(there_ns), now_ns};
  asked_ns_.reset();
  if (left_ == 0) {
    add(sample);
    return false;
  }
  if (!best_ || sample.round_trip_ns() < best_->round_trip_ns()) best_ = sample;
  if (--left_ != 0) return false;
  add(*best_);
  return true;
}

void ClockFollower::add(const ClockSample& sample) {
  const std::lock_guard lock(mutex_);
  samples_.insert(
      std::ranges::upper_bound(samples_, sample.middle_ns(), {}, &ClockSample::middle_ns), sample);
  if (samples_.size() < kMost) return;
  std::size_t kept = 1;  // the first stays, as what is timed begins there
  for (std::size_t i = 1; i + 1 < samples_.size(); i += 2) {
    const bool later = samples_[i + 1].round_trip_ns() < samples_[i].round_trip_ns();
    samples_[kept++] = samples_[later ? i + 1 : i];
  }
  samples_[kept++] = samples_.back();
  samples_.resize(kept);
}

ClockTrack ClockFollower::track(bool same_host) const {
  const std::lock_guard lock(mutex_);
  return ClockTrack(samples_, same_host);
}

std::size_t ClockFollower::count() const {
  const std::lock_guard lock(mutex_);
  return samples_.size();
}

// The last may have been held up; one of the last few was not.
ClockOffset ClockFollower::latest(bool same_host, std::int64_t now_ns) const {
  constexpr std::size_t kFew = 8;
  const std::lock_guard lock(mutex_);
  const std::size_t count = std::min(kFew, samples_.size());
  return ClockTrack(std::span(samples_).last(count), same_host).at(now_ns);
}

}  // namespace slackline::hw
