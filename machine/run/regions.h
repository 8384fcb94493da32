// How the regions of a schedule fare in one run: which attempt each is in, and what decides.
#pragma once

#include <cstdint>
#include <vector>

#include "sched/region_tree.h"
#include "sched/schedule.h"

namespace slackline::machine {

/// What sampled regions decide. The n-th decision of a region takes the n-th draw of a site of its
/// own: its number among the regions of its rank. So it depends neither on other ranks nor on the
/// platform.
class RegionDraws {
 public:
  RegionDraws(const sched::Schedule& schedule, std::uint64_t seed);
  /// Whether the retry's attempt succeeds, or the alt is taken.
  bool next(std::uint32_t region);
  /// The same draws come again.
  void reset();

 private:
  struct Site {
    std::uint32_t rank = 0;
    std::uint64_t site = 0;
    std::uint64_t draws = 0;
    std::uint32_t chance_ppm = 0;
  };
  std::uint64_t seed_;
  std::vector<Site> sites_;
};

class RegionRun {
 public:
  /// Keeps references to the schedule and the tree.
  RegionRun(const sched::Schedule& schedule, const sched::RegionTree& tree, std::uint64_t seed);

  /// None has begun.
  void reset();

  /// What a region waits for is there, `cause` the last of it; its attempts begin anew.
  void release(std::uint32_t region, sched::OpId cause);
  sched::OpId cause(std::uint32_t region) const { return states_[region].cause; }
  void set_cause(std::uint32_t region, sched::OpId cause) { states_[region].cause = cause; }

  /// Whether its operations are to run. An alt's outcome is drawn, or it is that of the
  /// tested operations outside that it waits for: all have succeeded, as `succeeded(op)` says.
  template <class Succeeded>
  bool is_taken(std::uint32_t region, const Succeeded& succeeded) {
    const sched::Region& r = schedule_.regions()[region];
    if (r.kind != sched::RegionKind::kAlt) return true;
    if (r.outcome == sched::RegionOutcome::kSampled) return draws_.next(region);
    for (const sched::OpId op : deciding_[region]) {
      if (!succeeded(op)) return false;
    }
    return true;
  }

  void begin_attempt(std::uint32_t region);
  /// A test has failed: so does the innermost retry around it, if that is what decides.
  void fail(sched::OpId op);
  /// Something that stands in the region itself has ended; whether it was the last of the attempt.
  bool ended_within(std::uint32_t region) { return --states_[region].left == 0; }
  /// Whether the attempt that has just ended was the last. Throws InputError, naming the region and
  /// its first operation, if a retry has failed as often as it may.
  bool is_over(std::uint32_t region);

 private:
  struct State {
    sched::OpId cause;
    std::uint32_t attempts = 0;  // of this time that the region was entered
    std::uint32_t left = 0;      // of its children, not ended
    bool failed = false;
  };

  const sched::Schedule& schedule_;
  const sched::RegionTree& tree_;
  std::vector<State> states_;
  RegionDraws draws_;
  std::vector<std::vector<sched::OpId>> deciding_;
};

/// The tested operations that decide an actual alt: those outside it with an edge into it.
std::vector<std::vector<sched::OpId>> deciding_swaps(const sched::Schedule& schedule,
                                                     const sched::RegionTree& tree);

}  // namespace slackline::machine
