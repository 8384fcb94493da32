// Which pattern, block size and placement move a message fastest on a platform: every candidate
// predicted, the promising ones confirmed by a slower engine, and nothing given up that might still
// be faster.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/delay_plan.h"
#include "machine/placement.h"
#include "machine/platform.h"
#include "machine/wiring.h"
#include "sched/pattern/pattern.h"
#include "sched/pattern/spec.h"

namespace slackline::analysis {

struct AdviceRequest {
  std::uint32_t ranks = 1;
  std::uint64_t bytes = 0;
  machine::Platform platform;
  /// A pattern that multicasts or algorithms make: then `bytes` are what its option says, and
  /// `patterns` name what makes it. Empty: a multicast.
  std::string collective = {};
  std::vector<std::string> patterns;           // by name; series patterns too
  std::vector<std::uint64_t> blocks;           // in bytes; those above the message become it
  std::vector<machine::Placement> placements;  // those that come to the same hosts count once
  std::vector<std::uint32_t> stripes = {1};    // of patterns that have them; others have one
  std::uint64_t most_ops = 1'000'000;          // of a candidate; larger ones are skipped
};

/// One row of the table.
struct Candidate {
  sched::Spec spec;
  std::string by = {};         // what its collective is made of; "" for a multicast
  machine::Platform platform;  // the request's, with its placement
  /// hybrid: what its racks are. "" for other patterns.
  std::string racks;
  /// The racks are the platform's, where no count of even ones says so: the spec needs a file.
  bool needs_rack_map = false;
  std::uint64_t ops = 0;  // before predict() and of what is skipped: no more than that

  double predicted_s = 0;  // by the analytic engine
  bool contended = false;  // …which left out that messages share links
  double floor_s = 0;      // no run is faster; predicted_s where that is exact
  std::optional<double> confirmed_s;
  /// Of noisy runs: the quantile of 95 % over the median.
  std::optional<double> noise_ratio;

  /// Its name among those that were tried.
  const std::string& name() const { return by.empty() ? spec.pattern : by; }
  bool has_blocks() const {
    return !by.empty() || sched::find_plan_pattern(spec.pattern) != nullptr;
  }

  /// What it goes by until it is confirmed.
  double estimate_s() const { return predicted_s > floor_s ? predicted_s : floor_s; }
};

struct CandidateTable {
  std::vector<Candidate> candidates;
  std::vector<Candidate> skipped;  // more operations than allowed
};

/// Block sizes worth trying: powers of two of at least 4 KiB and a 1024th of the message, up to
/// 16 MiB, and the whole message if it is no larger than that, or if there is no such power.
std::vector<std::uint64_t> usual_blocks(std::uint64_t bytes);

/// One, and as many as a host has NICs where a message's parts would take several of them.
std::vector<std::uint32_t> usual_stripes(const machine::Platform& platform);

/// Every pattern that the collective can be made of, or that is a multicast. Throws InputError for
/// another collective than allgather, reduce-scatter or allreduce.
std::vector<std::string_view> patterns_for(std::string_view collective);

/// Patterns × placements × racks × blocks × stripes, in that order. Of a network that only SimGrid
/// can read no racks are known, and placements are not compared. Throws InputError on an unknown
/// pattern, and where the ranks cannot be placed.
CandidateTable candidates_of(const AdviceRequest& request);

/// Told what goes on, how much of it is done, and of how much.
using AdviceProgress =
    std::function<void(std::string_view what, std::uint64_t done, std::uint64_t of)>;

/// The wiring of a platform for a schedule, whoever has to read it.
using WiringOf = std::function<machine::Wiring(const machine::Platform&, const sched::Schedule&)>;

/// Fills in predicted_s, contended and floor_s of each, `jobs` at a time.
void predict(std::span<Candidate> candidates, const WiringOf& wiring_of, std::uint32_t jobs,
             const AdviceProgress& progress);

/// The makespans of some candidates, by an engine that knows about sharing.
using Confirm = std::function<std::vector<double>(std::span<const Candidate* const>)>;

struct ConfirmRequest {
  std::uint32_t at_least = 5;
  /// Goes on, while an unconfirmed candidate's floor is below the best confirmed time, until as
  /// many operations were confirmed.
  std::uint64_t most_ops = 20'000'000;
};

struct Confirmed {
  std::uint32_t count = 0;
  std::uint32_t open = 0;  // unconfirmed ones that might still be faster
};

/// Confirms the best by their estimates, at least one of each placement among those within 2 % of
/// the best, and then whatever its floor does not rule out. What is confirmed does not depend on
/// jobs or time.
Confirmed confirm(std::span<Candidate> candidates, const ConfirmRequest& request,
                  const Confirm& engine, const AdviceProgress& progress);

/// Fills in noise_ratio of the `most` fastest, from `samples` runs of the analytic engine under
/// `noise`.
void sample_noise(std::span<Candidate> candidates, const WiringOf& wiring_of,
                  const machine::DelayPlan& noise, std::uint32_t samples, std::uint32_t most,
                  std::uint32_t jobs, const AdviceProgress& progress);

/// The candidates' places, the confirmed ones first, by time; the first is the one to take. Of
/// equal times the one with fewer operations goes first, then the earlier one.
std::vector<std::uint32_t> ranking(std::span<const Candidate> candidates);

}  // namespace slackline::analysis
