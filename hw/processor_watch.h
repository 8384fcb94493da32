// Watches whether a thread has a processor, by what the kernel counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/descriptor.h"
#include "hw/processor_use.h"

namespace slackline::hw {

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
