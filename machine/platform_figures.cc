#include "machine/platform_figures.h"

#include <fmt/format.h>

#include <array>

#include "machine/input_text.h"
#include "sched/error.h"

namespace slackline::machine {
namespace {

constexpr std::string_view kATime = "a time such as \"1.5us\"";
constexpr std::string_view kARate = "a rate such as \"100Gbps\"";

// Picoseconds up to 2^63 − 2; the last value stands for ever.
template <Time Platform::*member>
constexpr PlatformFigure time_figure(std::string_view key, std::string_view section) {
  return {key,
          section,
          key,
          kATime,
          [](Platform& platform, std::string_view text, std::string_view what) {
            platform.*member = sched::parse_time(text, what);
            if (platform.*member == sched::kForever) {
              throw InputError(fmt::format("{}: {} is too long; expected less", what, text));
            }
          },
          [](const Platform& platform) { return sched::format_time(platform.*member); }};
}

template <Rate Platform::*member>
constexpr PlatformFigure rate_figure(std::string_view key, std::string_view section) {
  return {key,
          section,
          key,
          kARate,
          [](Platform& platform, std::string_view text, std::string_view what) {
            platform.*member = sched::parse_rate(text, what);
          },
          [](const Platform& platform) { return sched::format_rate(platform.*member); }};
}

void set_discipline(Platform& platform, std::string_view text, std::string_view what) {
  if (text == "serial") {
    platform.nic = NicDiscipline::kSerial;
  } else if (text == "fair") {
    platform.nic = NicDiscipline::kFair;
  } else {
    throw InputError(fmt::format("{}: {} is no discipline of a NIC; expected serial or fair", what,
                                 quoted(text)));
  }
}

std::string get_discipline(const Platform& platform) {
  return platform.nic == NicDiscipline::kSerial ? "serial" : "fair";
}

constexpr std::array<PlatformFigure, 11> kFigures = {{
    {"nic", "nic", "discipline", "\"serial\" or \"fair\"", set_discipline, get_discipline},
    rate_figure<&Platform::rate>("rate", "nic"),
    time_figure<&Platform::latency>("latency", "network"),
    time_figure<&Platform::o_post>("o_post", "cpu"),
    time_figure<&Platform::o_complete>("o_complete", "cpu"),
    time_figure<&Platform::gap>("gap", "nic"),
    time_figure<&Platform::atomic_service>("atomic_service", "nic"),
    rate_figure<&Platform::copy_rate>("copy_rate", "cpu"),
    time_figure<&Platform::poll_cost>("poll_cost", "cpu"),
    time_figure<&Platform::interrupt_cost>("interrupt_cost", "cpu"),
    {"interleave", "nic", "interleave", "a size such as \"4KiB\"",
     [](Platform& platform, std::string_view text, std::string_view what) {
       platform.interleave_bytes = sched::parse_bytes(text, what);
     },
     [](const Platform& platform) { return sched::format_bytes(platform.interleave_bytes); }},
}};

}  // namespace

std::span<const PlatformFigure> platform_figures() { return kFigures; }

std::string_view name(TopologyKind kind) {
  switch (kind) {
    case TopologyKind::kStar:
      return "star";
  }
  throw InternalError("a topology without a name");
}

void set_topology(Platform& platform, std::string_view text, std::string_view what) {
  if (text != name(TopologyKind::kStar)) {
    throw InputError(fmt::format("{}: {} is no topology; expected star", what, quoted(text)));
  }
  platform.topology.kind = TopologyKind::kStar;
}

}  // namespace slackline::machine
