// Routing by load: which of the equally short ways a large message takes, decided when it starts.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "machine/paths.h"
#include "machine/platform.h"
#include "sched/ids.h"

namespace slackline::machine {

/// A link's load is how many large messages are under way on it. A message takes the way whose
/// fullest link, its NICs' apart, has the least load; of several such ways the first. Messages of
/// one instant choose one after the other, each with those before it counted.
class AdaptiveWays {
 public:
  /// For a schedule of `ops` operations, none of which has two large messages under way. The paths
  /// must outlive this. Does nothing, and begin() must not be called, unless paths.is_adaptive().
  AdaptiveWays(const Paths& paths, std::size_t ops);

  /// The operation's message starts, whose way is `path` or one of those after it.
  PathId begin(sched::OpId op, PathId path);
  /// The way that it has taken; `path` if it has begun none, as small messages do.
  PathId of(sched::OpId op, PathId path) const {
    return way_of_[op.value].valid() ? way_of_[op.value] : path;
  }
  /// It has left, or was lost.
  void end(sched::OpId op);

  /// As another one over the same paths is now.
  void resume(const AdaptiveWays& other) {
    load_ = other.load_;
    way_of_ = other.way_of_;
  }
  bool goes_on_as(const AdaptiveWays& other) const { return way_of_ == other.way_of_; }

 private:
  void count(PathId way, std::int32_t more);

  const Paths& paths_;
  std::vector<std::int32_t> load_;  // of every link
  std::vector<PathId> way_of_;      // of every operation; none() unless its message is under way
};

/// Throws Unsupported, naming `who`, if the platform's routing is adaptive: for those who fix ways
/// beforehand.
void require_fixed_ways(const Platform& platform, std::string_view who);

}  // namespace slackline::machine
