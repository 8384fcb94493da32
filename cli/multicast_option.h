// --multicast: how a real run carries what a schedule's switches copy.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "cli/arguments.h"
#include "cli/joining.h"
#include "sched/schedule.h"

namespace slackline::cli {

class MulticastOption {
 public:
  void declare(Arguments& arguments);
  /// Has the ranks' transports multicast, if that is asked for. Throws Unsupported if the schedule
  /// has nothing that is copied.
  void apply(const sched::Schedule& schedule, Joining& joining) const;

 private:
  enum class By : std::uint8_t { kNone, kUd };
  static std::optional<By> named(std::string_view text);

  std::optional<By> by_;
};

}  // namespace slackline::cli
