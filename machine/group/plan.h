// What a group needs to know of its pattern before any message has a size: which channels there are
// at most, and on which of them a member's first block comes.
//
// From two blocks on, the patterns offered here bring a member its first block from the same source
// whatever the number of blocks. A single block may come from elsewhere (the binomial pipeline of a
// number of ranks that is no power of two); such a message takes the tree that the first blocks of
// longer messages take.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sched/compile.h"
#include "sched/schedule.h"

namespace slackline::machine {

/// A one-way channel between two members, named by their places in the list of members.
struct GroupLine {
  std::uint32_t src = 0;
  std::uint32_t dst = 0;
  bool credit = false;  // carries the readiness of the line from dst to src
  friend auto operator<=>(const GroupLine&, const GroupLine&) = default;
};

inline constexpr std::uint32_t kNoLine = 0xffffffffu;

/// The largest message: its size travels in 32 bits.
inline constexpr std::uint64_t kMostGroupBytes = 0xffffffffu;

/// What of a group's options decides its schedules.
struct GroupShape {
  std::string pattern = "binomial-pipeline";
  std::uint32_t members = 1;
  std::uint64_t block_bytes = 1 << 20;
  /// Blocks that a member has under way at once; 0: no bound.
  std::uint32_t in_flight = 1;
  sched::Ready ready = sched::Ready::kSend;
  std::uint32_t window = 1;

  /// The spec of a message of so many bytes.
  std::string spec(std::uint64_t bytes) const;
};

/// The patterns that groups take.
std::span<const std::string_view> group_patterns();

/// How messages of one size run.
struct GroupMessage {
  sched::Schedule schedule;
  std::vector<std::uint32_t> line_of_channel;  // of the schedule; index into GroupPlan::lines()
  /// Of each member: the buffer its first block lands in before it is copied; none() of the root.
  std::vector<sched::BufferId> staging;
};

/// Safe to use from several threads.
class GroupPlan {
 public:
  /// Throws InputError for options out of their range, Unsupported for a pattern that is not among
  /// group_patterns(), and for ready = write.
  explicit GroupPlan(GroupShape shape);

  const GroupShape& shape() const { return shape_; }
  /// Every channel that any message may need.
  std::span<const GroupLine> lines() const { return lines_; }
  /// The line that brings a member its first block; kNoLine for the root.
  std::uint32_t first_line(std::uint32_t member) const { return first_line_[member]; }
  /// The line of its readiness; kNoLine without credits.
  std::uint32_t credit_of(std::uint32_t line) const { return credit_of_[line]; }

  /// Compiled, or what was compiled before. Throws InputError above kMostGroupBytes and as
  /// sched::parse_spec does.
  std::shared_ptr<const GroupMessage> message(std::uint64_t bytes);

 private:
  std::shared_ptr<const GroupMessage> make(std::uint64_t bytes) const;
  void add_lines();

  GroupShape shape_;
  std::vector<GroupLine> lines_;
  std::map<GroupLine, std::uint32_t> line_number_;
  std::vector<std::uint32_t> first_line_;
  std::vector<std::uint32_t> credit_of_;

  // The latest at the back.
  struct Kept {
    std::uint64_t bytes;
    std::shared_ptr<const GroupMessage> message;
  };
  std::mutex mutex_;
  std::vector<Kept> kept_;
};

/// The source of each rank's first block; the root's is none().
std::vector<sched::RankId> first_sources(const sched::Plan& plan);

/// One block along the tree that the first blocks of the longer message take.
sched::Plan tree_of_first_blocks(const sched::Plan& longer, std::uint64_t bytes);

}  // namespace slackline::machine
