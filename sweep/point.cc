#include "sweep/point.h"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <variant>

#include "base/error.h"
#include "base/read_file.h"
#include "machine/delay_plan.h"
#include "machine/platform.h"
#include "sched/pattern/sized_pieces.h"
#include "sched/pattern/spec.h"

namespace slackline::sweep {
namespace {

std::string digest(const std::string& text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

// What a text means, or the text itself.
template <class Read>
std::string meaning(const std::string& text, const Read& read) {
  try {
    return read();
  } catch (const Error&) {
    return "unreadable: " + text;
  }
}

// Of a file that a text names: what it holds counts beside its name.
std::string contents(const std::string& path) {
  return path.empty() ? "" : "file " + digest(sched::read_file(path));
}

std::string schedule_of(const std::string& text) {
  return meaning(text, [&] {
    const sched::Spec spec = sched::parse_spec_of_any_size(text);
    return sched::format_spec(spec) + contents(spec.rack_map) +
           contents(spec.own<sched::PieceSizes>().file);
  });
}

std::string platform_of(const std::string& text) {
  return meaning(text, [&] {
    const machine::Platform platform = machine::load_platform(text);
    const auto* file = std::get_if<machine::SimgridFile>(&platform.topology.shape);
    return platform.spec() + (file == nullptr ? "" : contents(file->file)) +
           contents(platform.placement.file);
  });
}

std::string delays_of(const std::string& file) {
  if (file.empty()) return "";
  return meaning(file, [&] { return machine::load_delay_plan(file).text(); });
}

}  // namespace

std::string part_of(const Point& point, std::string_view name) {
  if (name == "schedule") return point.schedule;
  if (name == "pattern") return point.schedule.substr(0, point.schedule.find(':'));
  if (name == "platform") return point.platform;
  if (name == "engine") return point.engine;
  if (name == "delays") return point.delays;
  if (name == "seed") return std::to_string(point.seed);
  if (name == "samples") return std::to_string(point.samples);
  const auto found = std::ranges::find(point.values, name, [](const auto& v) { return v.first; });
  return found == point.values.end() ? "" : found->second;
}

bool is_real(const Point& point) {
  return point.engine == "run" || point.engine.starts_with("run:");
}

std::string Keys::of(const Point& point) {
  const auto known = [](Meanings& meanings, const std::string& text,
                        const auto& meaning_of) -> const std::string& {
    const auto [entry, fresh] = meanings.try_emplace(text);
    if (fresh) entry->second = meaning_of(text);
    return entry->second;
  };
  return digest(fmt::format("model {}\n{}\n{}\n{}\n{}\n{}\n{}\n", kModelVersion,
                            known(schedules_, point.schedule, schedule_of),
                            known(platforms_, point.platform, platform_of), point.engine,
                            known(delays_, point.delays, delays_of), point.seed, point.samples) +
                (point.with_slack ? fmt::format("slack {}\n", kSlackVersion) : ""));
}

}  // namespace slackline::sweep
