// Whether a thread that had something to do had a processor to do it on: what the kernel counts.
//
// A rank that polls is ready to run all the time. Where others want its processor (foreign load,
// more ranks than cores, a limit of its control group), it stands in a queue meanwhile, and what it
// waits for is seen late. Its times are then those of the queue, not of its schedule.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/descriptor.h"

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

/// Of the thread that makes it; the calls must be that thread's.
class ProcessorWatch {
 public:
  ProcessorWatch();

  /// A time begins in which it is watched. It takes some microseconds.
  void begin();
  /// It is over. `counts`: it is one of those of which use() tells.
  void end(bool counts);

  const ProcessorUse& use() const { return use_; }

 private:
  struct Reading {
    std::int64_t at_ns = 0;
    std::optional<std::int64_t> waited_ns;  // since the thread began
    std::uint64_t preemptions = 0;
  };
  Reading read() const;

  Descriptor file_;
  Reading begun_;
  ProcessorUse use_;
};

/// What the kernel's file schedstat of a thread says: for how many nanoseconds it waited. Nothing
/// if the text is none, and if the kernel does not count (all of its figures are 0 then).
std::optional<std::int64_t> waited_of_schedstat(std::string_view text);

}  // namespace slackline::hw
