// How an iteration ends, known to all ranks alike: each tells rank 0 that it has finished, or why
// it cannot, and rank 0 tells all. Before, those that move tell those that wait for them: how long
// messages take, and a rank over what is repeated, is not known beforehand.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <vector>

#include "hw/failed.h"
#include "hw/mesh.h"
#include "hw/run_words.h"

namespace slackline::hw {

class Conclusion {
 public:
  using Clock = std::chrono::steady_clock;

  /// The mesh must outlive this. Who moves tells so after each `interval`; zero: never.
  explicit Conclusion(Mesh& mesh, Clock::duration interval = {})
      : mesh_(mesh), interval_(interval) {}

  /// An iteration begins. All ranks have heard how the one before ended.
  void begin();

  /// This rank has finished, or never will.
  void tell(const Finish& finish);
  void tell(const Failed& failed);

  /// Something broke at this rank, which makes no more progress: tells all, unless they know of a
  /// failure, and part()s from them. Who cannot even do that leaves, and they see it.
  void leave(const std::exception& error, Clock::duration patience);

  /// After a failure: returns when all ranks have called it, so that none finds another gone and
  /// does not know why; or when rank 0 has left, or after `patience`.
  void part(Clock::duration patience);

  /// Hears what others have told. Never waits. `moved`: this rank has, since it was asked last.
  /// Answers whether another has, as far as was told.
  bool listen(bool moved);

  /// Whether it is known how the iteration ended: all ranks have finished, or one has failed, or
  /// has left. Looks for news, of one rank only: made to be asked often.
  bool is_over();
  /// Whether a rank has failed, as far as this one knows.
  bool failed() const { return failure_.fault != Failed::Fault::kNone; }
  /// The first failure that rank 0 learned of.
  const Failed& failure() const { return failure_; }
  /// By rank, when all have finished.
  const std::vector<Finish>& finishes() const { return finishes_; }

 private:
  void tell(const Failed& failed, const Finish& finish);
  void hear(std::uint32_t rank, const Failed& failed, const Finish& finish);
  bool has_left(std::uint32_t rank) const;
  bool listen_to(std::uint32_t rank);
  void conclude();
  bool hear_of_movement();
  void tell_of_movement(Clock::time_point now);

  Mesh& mesh_;
  const Clock::duration interval_;
  std::optional<Clock::time_point> told_at_;    // that this rank moves
  std::optional<Clock::time_point> looked_at_;  // for words of movement
  bool moved_ = false;                          // and has not told, or not passed on
  std::vector<Finish> finishes_;
  std::vector<bool> heard_;  // rank 0: by rank
  std::uint32_t left_ = 0;   // rank 0: ranks that were not heard
  std::uint32_t next_ = 0;   // rank 0: the first of them
  Failed failure_;
  bool over_ = false;
};

}  // namespace slackline::hw
