// The clocks of a run: when this rank begins what rank 0's clock names, and what its own times are
// on that clock, once it is known how the two went.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hw/mesh.h"
#include "hw/run.h"
#include "hw/transport_clock.h"
#include "sched/trace.h"

namespace slackline::hw {

class RunClock {
 public:
  using Clock = std::chrono::steady_clock;

  /// Follows rank 0's clock by the mesh until end(), or until this goes. The mesh must outlive
  /// this.
  explicit RunClock(Mesh& mesh);
  ~RunClock();
  RunClock(const RunClock&) = delete;
  RunClock& operator=(const RunClock&) = delete;

  /// Whether rank 0's clock may be another one than this rank's.
  bool is_another() const { return is_another_; }

  /// From here on rank 0's clock is asked over the transport too, by the ranks of which
  /// is_another() is so (hw/transport_clock.h). All ranks call it, or none does.
  void ask_over(Transport& transport, std::span<const std::uint32_t> asking,
                std::uint32_t first_channel, TransportClock::Others others);
  /// Asks over the transport, if that is so: between iterations, at all ranks.
  void ask();
  /// All ranks are through end().
  void close();

  /// An iteration begins, `start_s` on rank 0's clock: on this one's, as far as is known now.
  Clock::time_point begin(double start_s);
  /// What began last is an iteration that is told of; they are numbered from 0.
  void keep() { begins_.push_back(last_); }

  /// All iterations are over, at all ranks. After this, the rest.
  void end();

  /// What this rank's clock had for a time from an iteration's start, on rank 0's. Nothing is
  /// before the start, whatever the clocks say. In order as before.
  double put_right(double time_s, std::size_t iteration) const;
  void put_right(std::span<sched::OpTimes> times, std::size_t iteration) const;
  /// For times that are put right, from an iteration's start to its end `finish_s`, as this rank's
  /// clock had it. None where there is no error.
  std::vector<ClockErrors::Span> errors(std::size_t iteration, double finish_s) const;

 private:
  // When this clock had it that an iteration began, and by what it took rank 0's to be ahead.
  struct Begin {
    Clock::time_point at;
    double offset_s = 0;
  };

  Mesh& mesh_;
  const bool is_another_;
  std::optional<TransportClock> transport_;
  Begin last_;
  std::vector<Begin> begins_;
  ClockTrack track_;
};

}  // namespace slackline::hw
