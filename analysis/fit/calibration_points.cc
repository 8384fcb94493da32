#include "analysis/fit/calibration_points.h"

#include <fmt/format.h>

#include "analysis/fit/benchmark_tables.h"
#include "analysis/fit/perftest_points.h"
#include "base/enum_names.h"
#include "base/error.h"
#include "base/number.h"
#include "base/split.h"
#include "base/suggest.h"
#include "base/units.h"
#include "machine/input_text.h"

namespace slackline::analysis {
namespace {

constexpr std::string_view kHead = "kind,bytes,messages,seconds";
constexpr std::size_t kFields = 4;
constexpr base::EnumNames<PointKind, kPointKinds> kNames = {
    "post", "pingpong", "send",      "get",      "atomic", "stream",    "burst",
    "copy", "behind",   "post_recv", "signaled", "drain",  "drain_recv"};

std::vector<std::string_view> fields_of(std::string_view line, std::string_view where) {
  std::vector<std::string_view> fields = base::split(line);
  if (fields.size() != kFields) {
    throw InputError(fmt::format("{}: {} has not {} fields; expected {}", where,
                                 machine::in_quotes(line), kFields, kHead));
  }
  return fields;
}

double parse_seconds(std::string_view text, std::string_view what) {
  const auto value = base::whole_number<double>(text);
  // Not a number fails every comparison.
  if (!value || !(*value >= kMinPointSeconds) || !(*value <= kMaxPointSeconds)) {
    throw InputError(
        fmt::format("{}: {} is no time; expected seconds from {:g} to {:g}, such as 1.52e-6", what,
                    machine::in_quotes(text), kMinPointSeconds, kMaxPointSeconds));
  }
  return *value;
}

MeasuredPoint point_of(std::string_view line, std::string_view where) {
  const auto fields = fields_of(line, where);
  MeasuredPoint point;
  const auto kind = point_kind_named(fields[0]);
  if (!kind) {
    throw InputError(fmt::format(
        "{}: {}", where, sched::unknown_name("kind of measurement", fields[0], kNames.names)));
  }
  point.kind = *kind;
  point.bytes = sched::parse_count(fields[1], fmt::format("{}: bytes", where), 0, kMaxPointBytes);
  point.messages =
      sched::parse_count(fields[2], fmt::format("{}: messages", where), 1, kMaxPointMessages);
  point.seconds = parse_seconds(fields[3], fmt::format("{}: seconds", where));
  require_sound(point, where);
  return point;
}

}  // namespace

std::string_view name(PointKind kind) { return kNames[kind]; }

std::optional<PointKind> point_kind_named(std::string_view text) { return kNames.find(text); }

void require_sound(const MeasuredPoint& point, std::string_view where) {
  if (point.bytes > kMaxPointBytes || point.messages == 0 || point.messages > kMaxPointMessages) {
    throw InputError(fmt::format("{}: {} messages of {} bytes; expected 1 to {}, of at most {}",
                                 where, point.messages, point.bytes, kMaxPointMessages,
                                 kMaxPointBytes));
  }
  // Not a number fails every comparison.
  if (!(point.seconds >= kMinPointSeconds) || !(point.seconds <= kMaxPointSeconds)) {
    throw InputError(fmt::format("{}: {:g} s is no time; expected {:g} to {:g}", where,
                                 point.seconds, kMinPointSeconds, kMaxPointSeconds));
  }
  if (point.kind == PointKind::kAtomic && point.bytes != kAtomicBytes) {
    throw InputError(fmt::format("{}: bytes: an atomic carries {}; expected {}", where, point.bytes,
                                 kAtomicBytes));
  }
  if (point.kind == PointKind::kCopy && point.bytes == 0) {
    throw InputError(fmt::format("{}: bytes: a copy of nothing; expected 1 or more", where));
  }
}

std::vector<MeasuredPoint> read_points(std::string_view text, std::string_view file) {
  if (is_perftest(text)) return read_perftest(text, file);
  if (is_osu_table(text)) return read_osu_table(text, file);
  if (is_nccl_table(text)) return read_nccl_table(text, file);
  std::vector<MeasuredPoint> points;
  bool head = false;
  for (std::uint32_t number = 1; !text.empty(); ++number) {
    std::string_view line = base::take_item(text, '\n');
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    const std::string where = fmt::format("{}:{}", file, number);
    machine::require_plain(line, where);
    if (!head) {
      if (line != kHead) {
        throw InputError(
            fmt::format("{}: {}; expected the head {}", where, machine::in_quotes(line), kHead));
      }
      head = true;
      continue;
    }
    points.push_back(point_of(line, where));
    points.back().line = number;
  }
  if (points.empty()) {
    throw InputError(fmt::format("{}:1: no points; expected {}, and then a point a line", file,
                                 head ? "that head" : "the head " + std::string(kHead)));
  }
  return points;
}

std::string write_points(std::span<const MeasuredPoint> points) {
  std::string text = std::string(kHead) + '\n';
  for (const MeasuredPoint& point : points) {
    text +=
        fmt::format("{},{},{},{}\n", name(point.kind), point.bytes, point.messages, point.seconds);
  }
  return text;
}

}  // namespace slackline::analysis
