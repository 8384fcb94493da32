// A group in simulated time, with a member whose process ends: when each survivor knows, which
// messages it has and completes, and when it closes.
//
// What members decide is machine/group/core.h, the same code as on a machine. Blocks go by the
// event engine. Beside them, the simulation has for itself:
// - Words over the mesh, and the rows of atomic delivery, are small messages. A member posts them
//   one behind the other, o_post each, behind what it posts ahead of the next message in blocks and
//   a count of small messages that is due, as one thread does on a machine. Each takes its way's
//   latency, its bytes at the rate of that way, and o_complete. They wait for no port, and no block
//   waits for them. What completions cost the CPU, and acknowledgements with bytes, blocks alone
//   have.
// - The killed member posts nothing more. What its NIC was given is carried out.
// - Small messages (machine/group/small_shape.h) are operations of the event engine, as blocks are:
//   small_run.h says which. A member's counts leave one behind the other, each half a ring more. On
//   a machine a count that had to wait for the one before may be of several halves, as rings of
//   three slots have it.
// - A member that watches sees the end of the process by its connection with it, whose end comes a
//   latency after that, and behind the last word that was told there; and `detection` later, where
//   it shows in another way. The mesh of whoever learns of it passes that on to all, before the
//   group hears of it (hw/mesh.h).
// Every member wants to close from the beginning.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"
#include "machine/delay_plan.h"
#include "machine/group/core.h"
#include "machine/group/plan.h"
#include "machine/group/small_shape.h"
#include "machine/platform.h"
#include "machine/setting.h"
#include "sched/digest.h"

namespace slackline::analysis {

/// The end of a member's process.
struct GroupKill {
  std::uint32_t member = 0;
  /// At this time, ≥ 0; or…
  std::optional<sched::Time> at;
  /// …in the instant of the n-th thing that it does, n ≥ 1: an operation it issues, a row it writes
  /// to a member, a word it tells one. To look whether a small message or a count is there is none.
  /// Exactly one of the two is set.
  std::optional<std::uint64_t> after;
  /// How long those that watch take to see it, from when the end of their connection with it has
  /// come; ≥ 0.
  sched::Time detection{0};
  /// Who sees it without being told, by member; nothing: all.
  std::optional<std::vector<std::uint32_t>> seen_by;
};

/// How late the thread of a member is that serves the group, which on a machine has more to do, or
/// no core. Times are ≥ 0.
struct GroupLateness {
  sched::Time hears{0};  // of words of others, and of losses, after they have come
  sched::Time sees{0};   // that a message stands here, that its writes are there, and rows
};

struct GroupScenario {
  machine::GroupShape shape;
  /// The bytes of each message, all given to the root at time zero; at least one.
  std::vector<std::uint64_t> messages;
  /// Which of them go by slots and not in blocks.
  machine::SmallShape small;
  bool atomic_delivery = false;
  /// How long a member that lives and does nothing is waited for.
  sched::Time timeout{30'000'000'000'000};
  /// By member. Empty: nobody is late.
  std::vector<GroupLateness> lateness;
  std::optional<GroupKill> kill;
};

/// What becomes of a member. Times are in seconds, and infinite where it never comes to that.
struct GroupMemberRun {
  std::vector<double> finished_s;   // by message: it stands here
  std::vector<double> completed_s;  // by message
  double knew_s = 0;                // that the group has failed
  double settled_s = 0;             // atomic: which messages all survivors have
  double closed_s = 0;
  /// Nothing for the one that was killed before it closed.
  std::optional<machine::GroupOutcome> outcome;
  /// Whether it had issued, when it stopped, each operation of its messages in blocks, one message
  /// behind the other in the order of its own schedule; and each of GroupMessages::ahead.
  std::vector<bool> issued;
  std::vector<bool> issued_ahead;
};

/// What the killed member had done by then, beside what it had issued.
struct GroupCut {
  std::vector<std::uint64_t> rows;   // by member: the highest count written to it
  std::uint64_t words = 0;           // that it told
  std::vector<std::uint64_t> small;  // root: by member, small messages that it had written to it
  std::uint64_t counted = 0;         // others: small messages taken, as the root was last written
};

struct GroupRun {
  /// Of the schedule of all messages.
  sched::Digest digest;
  /// Messages shared a NIC or a link that has not the rate for them, which is left out here: times
  /// may be too short.
  bool contended = false;
  /// Nothing if there was no kill, or the member had closed before.
  std::optional<double> killed_s;
  GroupCut cut;
  std::vector<GroupMemberRun> members;
};

/// Ranks are members, at most 1,024. Throws InputError for a kill of no member, one with both
/// moments or none, a watcher that is none or the killed member, and for a lateness of another
/// number of members or below 0; and as messages_of_group(), Delays and Paths do. Unsupported for
/// more members, for ranks that are switches, for adaptive routing, and for a delay plan with
/// failures: a kill says what fails.
GroupRun run_group(const GroupScenario& scenario, const machine::Platform& platform,
                   const machine::DelayPlan& delays = machine::kNoDelays,
                   const machine::IssueOrder& order = {});

}  // namespace slackline::analysis
