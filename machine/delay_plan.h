// What goes wrong in a run, kept apart from the schedule so that its digest stays the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "machine/distribution.h"
#include "sched/ids.h"
#include "sched/schedule.h"

namespace slackline::machine {

/// A one-off delay of one operation.
struct OpDelay {
  sched::OpId op;
  sched::Time by{0};
  /// false: the operation alone becomes ready later. true: its lane is held that much longer before
  /// the post, as a preemption does, and everything behind it waits too.
  bool whole_lane = false;
  /// The rank that the operation is said to be of; none() if that is not said. It must agree.
  sched::RankId rank = sched::RankId::none();

  friend bool operator==(const OpDelay&, const OpDelay&) = default;
};

/// A one-off delay of what a rank initiates at a step: every send, put, get or atomic of that step
/// that is not a credit. A rank that initiates nothing at the step is delayed by nothing.
struct StepDelay {
  sched::RankId rank;
  std::uint32_t step = 0;
  sched::Time by{0};
  bool whole_lane = false;

  friend bool operator==(const StepDelay&, const StepDelay&) = default;
};

/// A rate for messages from src to dst, when it is below the NIC's.
struct PairRate {
  sched::RankId src;
  sched::RankId dst;
  sched::Rate rate;

  friend bool operator==(const PairRate&, const PairRate&) = default;
};

/// A rank that is slow throughout: what its lanes do takes `slowdown` times as long and `by` more.
struct Straggler {
  sched::RankId rank;
  double slowdown = 1;  // ≥ 1, finite
  sched::Time by{0};    // per operation that holds a lane

  friend bool operator==(const Straggler&, const Straggler&) = default;
};

/// Random delays of operations that hold a lane (posts, copies, calculations). What a plan's n-th
/// noise draws depends on n: DelayPlan::noise is in order.
struct Noise {
  std::vector<sched::RankId> ranks;          // each once; empty: all
  Distribution of;                           // how long
  sched::PartsPerMillion chance{1'000'000};  // that an operation is struck at all
  bool whole_lane = true;                    // as in OpDelay

  friend bool operator==(const Noise&, const Noise&) = default;
};

/// From `at` on, a link of the platform's topology has this rate; at 0, from the start.
struct LinkRate {
  std::string link;
  sched::Rate rate;  // > 0
  sched::Time at{0};

  friend bool operator==(const LinkRate&, const LinkRate&) = default;
};

/// A link, or a rank's whole host, that is gone from `at` on. What is on its way over it then, and
/// what would go over it later, is lost; the ranks whose host is gone start nothing more.
struct Failure {
  std::string link;                            // empty: a host
  sched::RankId rank = sched::RankId::none();  // none(): a link
  sched::Time at{0};

  friend bool operator==(const Failure&, const Failure&) = default;
};

struct DelayPlan {
  std::vector<OpDelay> ops;
  std::vector<StepDelay> steps;
  std::vector<PairRate> pairs;
  std::vector<Straggler> stragglers;
  std::vector<Noise> noise;
  std::vector<LinkRate> link_rates;
  std::vector<Failure> failures;
  std::uint64_t seed = 0;  // of the noise

  bool empty() const {
    return ops.empty() && steps.empty() && pairs.empty() && stragglers.empty() && noise.empty() &&
           link_rates.empty() && failures.empty();
  }

  /// The canonical text (TOML), which delay_plan_from_toml() reads back: in sorted order, since
  /// several delays of one operation add up, but for the noise, which stays in order. The seed is
  /// in it if there is noise; values read from a noise trace are written out. Empty for an empty
  /// plan.
  std::string text() const;

  friend bool operator==(const DelayPlan&, const DelayPlan&) = default;
};

/// The newest `schema` that delay_plan_from_toml() reads.
inline constexpr std::uint32_t kDelayPlanSchema = 1;

/// Reads a delay plan. `file` names it in errors; `folder` is where the files of noise traces are
/// looked for, and without it a plan may name none. Throws InputError "file:line: …", also for what
/// no schedule could make good: a slowdown below 1, low > high, …
DelayPlan delay_plan_from_toml(std::string_view text, std::string_view file,
                               const std::optional<std::string>& folder = std::nullopt);

/// Reads the file at `path`; the files that it names are beside it. Throws InputError.
DelayPlan load_delay_plan(const std::string& path);

/// Throws InputError, naming which,
/// - for an operation, rank or step that the schedule does not have, and an operation of another
///   rank than said, and for a rank's pair with itself if no channel joins the two;
/// - for a time below 0 or kForever, a rate of 0, a slowdown below 1 or not finite, a distribution
///   that is none, a chance above 1, and a failure of both a link and a rank, or of neither;
/// - for what stands twice and would not add up: a pair's rate, a straggler, a noise's rank, a
///   link's rate from one time on.
/// Whether the network has the links is not known here.
void validate(const DelayPlan& plan, const sched::Schedule& schedule);

/// The same but for the delays of operations and steps, which only a schedule has.
void validate(const DelayPlan& plan, std::uint32_t ranks);

}  // namespace slackline::machine
