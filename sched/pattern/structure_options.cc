#include "sched/pattern/structure_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "sched/error.h"

namespace slackline::sched {
namespace {

constexpr std::array<std::string_view, 13> kKeys = {
    "operations", "op",      "phases", "level",   "via",      "slots",     "load",
    "seed",       "clients", "queues", "compute", "progress", "contention"};
constexpr std::uint64_t kMostCount = 1u << 31;
constexpr std::uint64_t kMostSlots = 1ull << 31;

template <class Value>
struct Choice {
  std::string_view name;
  Value value;
};
constexpr std::array kTableWork = {Choice<StructureWork>{"insert", StructureWork::kWrite},
                                   Choice<StructureWork>{"find", StructureWork::kRead},
                                   Choice<StructureWork>{"both", StructureWork::kBoth}};
constexpr std::array kQueueWork = {Choice<StructureWork>{"push", StructureWork::kWrite},
                                   Choice<StructureWork>{"pop", StructureWork::kRead},
                                   Choice<StructureWork>{"both", StructureWork::kBoth}};
constexpr std::array kLevels = {
    Choice<Promise>{"crw", Promise::kReadWrite}, Choice<Promise>{"cw", Promise::kWrite},
    Choice<Promise>{"cr", Promise::kRead}, Choice<Promise>{"cl", Promise::kLocal},
    Choice<Promise>{"checksum", Promise::kChecksum}};
constexpr std::array kVias = {Choice<StructureVia>{"rdma", StructureVia::kRdma},
                              Choice<StructureVia>{"am", StructureVia::kAm}};
constexpr std::array kHosts = {Choice<QueueHosts>{"each", QueueHosts::kEach},
                               Choice<QueueHosts>{"one", QueueHosts::kOne}};
constexpr std::array kProgress = {Choice<Progress>{"main", Progress::kMain},
                                  Choice<Progress>{"thread", Progress::kThread}};

template <class Value, std::size_t n>
Value choose(std::string_view key, std::string_view text,
             const std::array<Choice<Value>, n>& choices) {
  std::string expected;
  for (const Choice<Value>& choice : choices) {
    if (choice.name == text) return choice.value;
    expected += (expected.empty() ? "" : " or ") + std::string(choice.name);
  }
  throw InputError(fmt::format("{}: '{}'; expected {}", key, text, expected));
}

template <class Value, std::size_t n>
std::string_view name_of(const std::array<Choice<Value>, n>& choices, Value value) {
  return std::find_if(choices.begin(), choices.end(),
                      [&](const Choice<Value>& choice) { return choice.value == value; })
      ->name;
}

PartsPerMillion parse_load(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool number = error == std::errc() && end == text.data() + text.size();
  const double ppm = std::round(value * 1e6);
  if (!number || !(ppm >= 1) || !(value <= 1)) {
    throw InputError(fmt::format("load: '{}'; expected a load factor above 0 and at most 1", text));
  }
  return {static_cast<std::uint32_t>(ppm)};
}

Time parse_span(std::string_view text, std::string_view what) {
  const Time time = parse_time(text, what);
  if (time < Time{0} || time == kForever) {
    throw InputError(fmt::format("{}: '{}'; expected a time of 0 or more", what, text));
  }
  return time;
}

std::uint32_t count32(std::string_view text, std::string_view key, std::uint64_t low) {
  return static_cast<std::uint32_t>(parse_count(text, key, low, kMostCount));
}

}  // namespace

std::string_view name(Promise level) { return name_of(kLevels, level); }

std::span<const std::string_view> structure_keys() { return kKeys; }

void read_structure_option(std::string_view pattern, std::string_view key, std::string_view value,
                           StructureOptions& options) {
  if (key == "operations") {
    options.operations = count32(value, key, 1);
  } else if (key == "op") {
    options.work = choose(key, value, pattern == "queue" ? kQueueWork : kTableWork);
  } else if (key == "phases") {
    options.phases = static_cast<std::uint32_t>(parse_count(value, key, 1, 2));
  } else if (key == "level") {
    options.level = choose(key, value, kLevels);
  } else if (key == "via") {
    options.via = choose(key, value, kVias);
  } else if (key == "slots") {
    options.slots = parse_count(value, key, 1, kMostSlots);
  } else if (key == "load") {
    options.load = parse_load(value);
  } else if (key == "seed") {
    options.seed = parse_count(value, key, 0, (1ull << 63) - 1);
  } else if (key == "clients") {
    options.clients = count32(value, key, 1);
  } else if (key == "queues") {
    options.queues = choose(key, value, kHosts);
  } else if (key == "compute") {
    options.compute = parse_span(value, key);
  } else if (key == "progress") {
    options.progress = choose(key, value, kProgress);
  } else if (key == "contention") {
    options.contention = parse_span(value, key);
  }
}

std::string format_structure_options(std::string_view pattern, const StructureOptions& options) {
  const StructureOptions defaults;
  std::string text;
  const auto add = [&](bool differs, std::string_view key, const auto& value) {
    if (differs) text += fmt::format(",{}={}", key, value);
  };
  add(options.operations != defaults.operations, "operations", options.operations);
  add(options.work != defaults.work, "op",
      name_of(pattern == "queue" ? kQueueWork : kTableWork, options.work));
  add(options.phases != defaults.phases, "phases", options.phases);
  add(options.level != defaults.level, "level", name(options.level));
  add(options.via != defaults.via, "via", name_of(kVias, options.via));
  add(options.slots != 0, "slots", options.slots);
  add(options.load != defaults.load, "load", options.load.value / 1e6);
  add(options.seed != 0, "seed", options.seed);
  add(options.clients != 0, "clients", options.clients);
  add(options.queues != defaults.queues, "queues", name_of(kHosts, options.queues));
  add(options.compute != defaults.compute, "compute", format_time(options.compute));
  add(options.progress != defaults.progress, "progress", name_of(kProgress, options.progress));
  add(options.contention != defaults.contention, "contention", format_time(options.contention));
  return text;
}

}  // namespace slackline::sched
