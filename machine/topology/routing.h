// Which of several ways the messages between two hosts take.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "machine/platform_figures.h"

namespace slackline::machine {

/// "ecmp", "ecmp:SEED" and the like, of a topology that can route so; or the name of its own rule,
/// which is d-mod-k beside ECMP, and minimal beside Valiant's. Throws InputError.
Routing parse_routing(std::string_view text, std::string_view what, Routing::Kind other);
/// Nothing for a topology's own rule; "ecmp:SEED" otherwise.
std::string format_routing(const Routing& routing);

/// Of a topology that can route by `other` as well as by its own rule.
template <Routing::Kind other>
PlatformFigure constexpr routing_figure() {
  return {"routing",
          "network",
          "routing",
          other == Routing::Kind::kEcmp ? "d-mod-k, or ecmp:SEED" : "minimal, or valiant:SEED",
          [](Platform& platform, std::string_view text, std::string_view what) {
            platform.topology.routing = parse_routing(text, what, other);
          },
          [](const Platform& platform) { return format_routing(platform.topology.routing); }};
}

}  // namespace slackline::machine
