// Whether a thread that had something to do had a processor to do it on: what the kernel counts.
//
// A rank that polls is ready to run all the time. Where others want its processor (foreign load,
// more ranks than cores, a limit of its control group), it stands in a queue meanwhile, and what it
// waits for is seen late. Its times are then those of the queue, not of its schedule.
#pragma once

#include <cstdint>
#include <optional>

namespace slackline::hw {

/// Of a thread, over the times in which somebody looked.
struct ProcessorUse {
  double watched_s = 0;  // how long that was
  /// For how long of these it was ready to run and did not; nothing if the kernel does not tell.
  std::optional<double> waited_s;
  std::uint64_t preemptions = 0;  // how often it lost its processor, and had not given it up

  /// Waited over watched, 0 to 1; nothing if it is not known, or nobody watched.
  std::optional<double> share() const;

  friend bool operator==(const ProcessorUse&, const ProcessorUse&) = default;
};

}  // namespace slackline::hw
