// One point of a study: all that decides what comes out.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slackline::sweep {

/// Raised when any engine gives another makespan for the same point: what older versions answered
/// is then no answer any more. A test holds it against makespans that are written down.
inline constexpr std::uint32_t kModelVersion = 1;

/// The same of the slack of a point, for points that have it.
inline constexpr std::uint32_t kSlackVersion = 2;

struct Point {
  std::string schedule;  // a spec
  std::string platform;  // as --platform takes it
  std::string engine;    // or `run`, `run:TRANSPORT`
  std::string delays;    // a file with a delay plan; empty: none
  std::uint64_t seed = 0;
  std::uint32_t samples = 1;
  /// What the study's values are there, by name; it is in the texts above already.
  std::vector<std::pair<std::string, std::string>> values = {};
  bool with_slack = false;  // what it comes to has its slack too
};

/// The parts that every point has, by which studies speak of it.
inline constexpr std::string_view kParts[] = {"schedule", "pattern", "platform", "engine",
                                              "delays",   "seed",    "samples"};

/// What a part of the point is, or a value of the study there. `pattern` is that of the schedule.
/// Empty where the point has no such value.
std::string part_of(const Point& point, std::string_view name);

/// Whether it is to be carried out for real, and not by one of our engines: its engine is `run`, or
/// `run:TRANSPORT`.
bool is_real(const Point& point);

/// Makes keys of points: 32 hexadecimal digits, XXH3-128 of what decides the answer. Specs and
/// platforms that say the same have the same key, and a file has that of its contents. Of what
/// cannot be read, the text counts. What a text means is found once.
class Keys {
 public:
  std::string of(const Point& point);

 private:
  using Meanings = std::map<std::string, std::string>;
  Meanings schedules_, platforms_, delays_;
};

}  // namespace slackline::sweep
