#include "cli/traced_schedule.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "sched/export/timeline.h"

namespace slackline::cli {
namespace {

// Where the schedule may be that `title` names: there, as seen from here, or else beside the file
// that names it. Whoever keeps or moves a trace and its schedule keeps them together.
std::string place_of(const std::string& title, const std::string& file) {
  namespace fs = std::filesystem;
  std::error_code none;
  const fs::path folder = fs::path(file).parent_path();
  if (fs::exists(title, none)) return title;
  for (const fs::path& name : {fs::path(title), fs::path(title).filename()}) {
    if (name.is_relative() && fs::is_regular_file(folder / name, none)) return folder / name;
  }
  return title;
}

}  // namespace

LoadedSchedule schedule_of(const sched::Trace& trace, const std::string& file,
                           const std::optional<std::string>& given, const MemoryOption& memory,
                           Console& console) {
  LoadedSchedule loaded = [&] {
    if (!given) return schedule_of(trace.schedule, trace.title, file, given, memory, console);
    ScheduleSource source;
    source.require(*given, memory);
    return source.load(console);
  }();
  sched::require_same(loaded.schedule, trace);
  return loaded;
}

LoadedSchedule schedule_of(sched::Digest digest, const std::string& title, const std::string& file,
                           const std::optional<std::string>& given, const MemoryOption& memory,
                           Console& console) {
  ScheduleSource source;
  if (given) {
    source.require(*given, memory);
    LoadedSchedule loaded = source.load(console);
    if (loaded.schedule.digest() != digest) {
      throw InputError(fmt::format("--schedule {}: its digest is {}; expected that of {}, {}",
                                   *given, to_string(loaded.schedule.digest()), file,
                                   to_string(digest)));
    }
    return loaded;
  }
  if (title.empty()) {
    throw InputError(
        fmt::format("{}: does not say what its schedule, {}, was made from; expected --schedule",
                    file, to_string(digest)));
  }
  source.require(place_of(title, file), memory);
  const auto unusable = [&](std::string_view why) {
    return InputError(
        fmt::format("{}: its schedule was '{}', but {}; expected --schedule", file, title, why));
  };
  std::optional<LoadedSchedule> loaded;
  try {
    loaded = source.load(console);
  } catch (const InputError& error) {
    throw unusable(error.what());
  }
  if (loaded->schedule.digest() != digest) throw unusable("that is another one now");
  return std::move(*loaded);
}

}  // namespace slackline::cli
