// Which of several ways the messages between two hosts take.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "machine/network.h"
#include "machine/platform_figures.h"

namespace slackline::machine {

/// What a topology that has several ways between two hosts does unless it is told.
enum class OwnRouting : std::uint8_t { kDModK, kMinimal };

/// "ecmp", "ecmp:SEED", "valiant", "valiant:SEED" or "spray"; "adaptive" where the topology's own
/// rule is d-mod-k; or the name of that rule. Throws InputError.
Routing parse_routing(std::string_view text, std::string_view what, OwnRouting own);
/// Which of `count` ways all messages of a flow take at a place, by a hash.
std::uint32_t hashed_choice(const Routing& routing, const Network::Flow& flow, std::uint64_t place,
                            std::uint32_t count);
/// Nothing for a topology's own rule; "ecmp:SEED" and so on otherwise.
std::string format_routing(const Routing& routing);

template <OwnRouting own>
PlatformFigure constexpr routing_figure() {
  return meaning(
      "the way of each flow; the first of these",
      {"routing", "network", "routing",
       own == OwnRouting::kDModK ? "d-mod-k, ecmp:SEED, valiant:SEED, spray or adaptive"
                                 : "minimal, ecmp:SEED, valiant:SEED or spray",
       [](Platform& platform, std::string_view text, std::string_view what) {
         platform.topology.routing = parse_routing(text, what, own);
       },
       [](const Platform& platform) { return format_routing(platform.topology.routing); }});
}

}  // namespace slackline::machine
