// Which of several ways the messages between two hosts take.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "machine/platform_figures.h"

namespace slackline::machine {

/// "d-mod-k", "ecmp", "ecmp:SEED" and the like, where a topology's own rule is called `own` and it
/// can do `other` as well. Throws InputError.
Routing parse_routing(std::string_view text, std::string_view what, std::string_view own,
                      Routing::Kind other);
/// Nothing for a topology's own rule; "ecmp:SEED" otherwise.
std::string format_routing(const Routing& routing);

/// Of a topology whose own rule is called d-mod-k, and that can hash instead.
PlatformFigure constexpr ecmp_figure() {
  return {"routing",
          "network",
          "routing",
          "d-mod-k, or ecmp:SEED",
          [](Platform& platform, std::string_view text, std::string_view what) {
            platform.topology.routing = parse_routing(text, what, "d-mod-k", Routing::Kind::kEcmp);
          },
          [](const Platform& platform) { return format_routing(platform.topology.routing); }};
}

/// Of a topology whose own rule is called minimal, and that can go by way of a third place.
PlatformFigure constexpr valiant_figure() {
  return {"routing",
          "network",
          "routing",
          "minimal, or valiant:SEED",
          [](Platform& platform, std::string_view text, std::string_view what) {
            platform.topology.routing =
                parse_routing(text, what, "minimal", Routing::Kind::kValiant);
          },
          [](const Platform& platform) { return format_routing(platform.topology.routing); }};
}

}  // namespace slackline::machine
