// The part of the executor that repeats regions, or passes them over.
#include <sched.h>

#include <algorithm>
#include <limits>

#include "hw/executor.h"
#include "hw/executor/local_work.h"

namespace slackline::hw {

using sched::OpId;

void Executor::begin_regions() {
  // What each node waits for is the program's to know.
  regions_.emplace(schedule_, program_.regions().tree(), std::span<const std::uint32_t>(),
                   options_.seed);
  again_.clear();
  seen_flags_.clear();
  left_ = 0;
  for (std::uint32_t node = 0; node < waits_.size(); ++node) {
    if (program_.regions().around(node) == RankRegions::kNoRegion) ++left_;
  }
}

// All that the region waits for is there. It begins in this very event.
void Executor::release_region(std::uint32_t node, OpId cause) {
  regions_->release(program_.regions().region(node), cause);
  free_.push_back(node);
}

// The region begins, or another attempt of it does.
void Executor::enter(std::uint32_t node) {
  const std::uint32_t region = program_.regions().region(node);
  const bool taken = regions_->is_taken(region, [&](OpId id) {
    const std::uint32_t op = id.value - program_.id(0).value;
    return times_[op].attempts != 0 && operands_.succeeded(op);
  });
  if (taken) return begin_attempt(node);
  pass_over(node);
  leave(node, regions_->cause(region));
}

void Executor::begin_attempt(std::uint32_t node) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const std::uint32_t region = program_.regions().region(node);
  regions_->begin_attempt(region);
  const OpId cause = regions_->cause(region);
  const auto children = program_.regions().children(node);
  for (const std::uint32_t child : children) {
    waits_[child] = program_.waits(child);
    if (program_.is_region(child)) continue;
    sched::OpTimes& t = times_[child];
    t = {kNever, kNever, kNever, kNever, t.attempts, cause};
  }
  for (const std::uint32_t child : children) {
    if (program_.waits(child) != 0) continue;
    program_.is_region(child) ? release_region(child, cause) : make_ready(child);
  }
}

// After done(): what it means for the region around it.
void Executor::done_within(std::uint32_t op) {
  if (!operands_.succeeded(op)) regions_->fail(program_.id(op));
  const std::uint32_t around = program_.regions().around(op);
  around == RankRegions::kNoRegion ? ended() : ended_within(around, program_.id(op));
}

// Something that stands in the region itself has ended, `last` the latest operation of it.
void Executor::ended_within(std::uint32_t node, OpId last) {
  const std::uint32_t region = program_.regions().region(node);
  if (!regions_->ended_within(region)) return;
  if (regions_->is_over(region)) return leave(node, last);
  regions_->set_cause(region, last);
  const sched::Region& r = schedule_.regions()[region];
  // Cores may be fewer than ranks, and who it waits for may need this one.
  if (r.kind == sched::RegionKind::kRetry && r.outcome == sched::Outcome::kActual) sched_yield();
  const double backoff_s = sched::seconds(r.backoff);
  backoff_s > 0 ? set_timer(node, backoff_s, Timer::What::kEnter) : again_.push_back(node);
}

void Executor::leave(std::uint32_t node, OpId last) {
  for (const std::uint32_t next : program_.after_done(node)) release(next, last);
  const std::uint32_t around = program_.regions().around(node);
  around == RankRegions::kNoRegion ? ended() : ended_within(around, last);
}

// Its operations never run here; their times are the moment when that was known.
void Executor::pass_over(std::uint32_t node) {
  const sched::Region& r = schedule_.regions()[program_.regions().region(node)];
  const std::uint32_t first = r.entry.value - program_.id(0).value;
  for (std::uint32_t i = first; i < first + r.count; ++i) {
    sched::OpTimes& t = times_[i];
    if (t.attempts != 0) continue;
    t = {event_s_, event_s_, event_s_,
         event_s_, 0,        regions_->cause(program_.regions().region(node))};
  }
}

void Executor::keep_flag(std::uint32_t poll) {
  std::erase_if(seen_flags_, [&](const SeenFlag& seen) { return seen.poll == poll; });
  seen_flags_.push_back({poll, {}});
  for (const sched::Slice& slice : schedule_.slices(program_.op(poll).reads)) {
    const auto bytes = memory_.at(slice);
    seen_flags_.back().bytes.insert(seen_flags_.back().bytes.end(), bytes.begin(), bytes.end());
  }
}

// Nobody polls any more: flags are what was put there last.
void Executor::restore_flags() {
  if (left_ != 0) return;
  for (auto seen = seen_flags_.rbegin(); seen != seen_flags_.rend(); ++seen) {
    const auto slices = schedule_.slices(program_.op(seen->poll).reads);
    const bool lowered = std::all_of(slices.begin(), slices.end(), [&](const sched::Slice& slice) {
      return std::ranges::all_of(memory_.at(slice), [](std::byte b) { return b == std::byte{0}; });
    });
    if (!lowered) continue;
    auto from = seen->bytes.begin();
    for (const sched::Slice& slice : slices) {
      const auto bytes = memory_.at(slice);
      std::copy_n(from, bytes.size(), bytes.begin());
      from += static_cast<std::ptrdiff_t>(bytes.size());
    }
  }
  seen_flags_.clear();
}

}  // namespace slackline::hw
