#include "cli/traced_schedule.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "sched/error.h"
#include "sched/export/timeline.h"

namespace slackline::cli {

LoadedSchedule schedule_of(const sched::Trace& trace, const std::string& file,
                           const std::optional<std::string>& given, Console& console) {
  ScheduleSource source;
  if (given) {
    source.require(*given);
    LoadedSchedule loaded = source.load(console);
    sched::require_same(loaded.schedule, trace);
    return loaded;
  }
  if (trace.title.empty()) {
    throw InputError(
        fmt::format("{}: does not say what its schedule, {}, was made from; expected --schedule",
                    file, to_string(trace.schedule)));
  }
  source.require(trace.title);
  const auto unusable = [&](std::string_view why) {
    return InputError(fmt::format("{}: its schedule was '{}', but {}; expected --schedule", file,
                                  trace.title, why));
  };
  std::optional<LoadedSchedule> loaded;
  try {
    loaded = source.load(console);
  } catch (const InputError& error) {
    throw unusable(error.what());
  }
  if (loaded->schedule.digest() != trace.schedule) throw unusable("that is another one now");
  sched::require_same(loaded->schedule, trace);
  return std::move(*loaded);
}

}  // namespace slackline::cli
