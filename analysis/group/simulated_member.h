// A member of a group that is simulated: what its decisions (machine/group/core.h) ask for, and
// what comes to it. The simulation sees all of it.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/group/failure_run.h"
#include "machine/group/core.h"
#include "sched/ids.h"

namespace slackline::analysis {

class SimulatedMember;

/// What members ask of the simulation that they are in.
class GroupSurroundings {
 public:
  virtual double now_s() const = 0;
  virtual std::uint32_t size() const = 0;
  virtual std::uint64_t message_count() const = 0;
  /// How many writes a member has made, or has to make, that has so many messages: of the root's
  /// those of one message are one.
  virtual std::uint64_t small_writes(std::uint32_t member, std::uint64_t messages) const = 0;
  /// Its operations are issued no more.
  virtual void stop(std::uint32_t member) = 0;
  virtual void tell(SimulatedMember& from, std::uint32_t to,
                    const machine::GroupSaying& saying) = 0;
  /// `from` writes its row, of so many messages, at `to`, which hears of it by row_came(); `from`
  /// knows by row_written().
  virtual void write_row(SimulatedMember& from, std::uint32_t to, std::uint64_t count) = 0;

 protected:
  ~GroupSurroundings() = default;
};

class SimulatedMember final : public machine::GroupHost {
 public:
  SimulatedMember(GroupSurroundings& of, std::uint32_t place, const GroupScenario& scenario);

  double now_s() const override;
  void tell(std::uint32_t member, const machine::GroupSaying& saying) override;
  bool is_idle() const override;
  bool is_written_everywhere() const override;
  void complete() override;
  void stop() override;
  void report_failure(std::uint32_t) override {}
  void end() override;

  /// Goes on as far as it can.
  void progress();
  /// One message more stands here.
  void finish();
  /// The row of `from`, its own too, says here that it has so many messages.
  void row_came(std::uint32_t from, std::uint64_t count);
  /// The own row has come to `to`.
  void row_written(std::uint32_t to);

  GroupSurroundings& simulation;
  const std::uint32_t self;
  GroupMemberRun run;
  bool alive = true;
  bool knows_loss = false;             // its mesh does
  std::uint32_t message = 0;           // the one under way
  sched::OpId next;                    // …of whose operations this is the first to come
  double last_done_s = 0;              // …of those before it
  std::uint64_t small_done = 0;        // its small messages, or counts, that were written…
  double small_done_s = 0;             // …since then
  std::uint64_t small_written = 0;     // …and that it knows of
  double posts_from_s = 0;             // words and rows
  std::vector<std::uint64_t> rows;     // as they stand here, by member
  std::vector<std::uint64_t> written;  // the own row as it was last written to each
  std::vector<bool> is_writing;        // …and is being written now
  machine::GroupCore core;             // last: it asks for the time at once

 private:
  void publish();  // the own row, where it is not being written
};

}  // namespace slackline::analysis
