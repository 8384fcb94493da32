#include "machine/topology/routing.h"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "base/error.h"
#include "base/mix.h"
#include "machine/input_text.h"

namespace slackline::machine {
namespace {

struct Name {
  std::string_view name;
  Routing::Kind kind;
};
constexpr std::array<Name, 4> kNames = {{
    {"ecmp", Routing::Kind::kEcmp},
    {"valiant", Routing::Kind::kValiant},
    {"spray", Routing::Kind::kSpray},
    {"adaptive", Routing::Kind::kAdaptive},
}};

bool draws(Routing::Kind kind) {
  return kind == Routing::Kind::kEcmp || kind == Routing::Kind::kValiant;
}

}  // namespace

Routing parse_routing(std::string_view text, std::string_view what, OwnRouting own) {
  const std::string_view own_name = own == OwnRouting::kDModK ? "d-mod-k" : "minimal";
  if (text == own_name) return {};
  const std::size_t colon = text.find(':');
  for (const Name& known : kNames) {
    if (text.substr(0, colon) != known.name) continue;
    // Of a dragonfly's or a torus's ways the loads would be those of longer ones, too.
    if (known.kind == Routing::Kind::kAdaptive && own != OwnRouting::kDModK) break;
    Routing routing{known.kind, 0};
    if (colon == std::string_view::npos) return routing;
    if (known.kind == Routing::Kind::kAdaptive) {
      throw InputError(
          fmt::format("{}: {} has a seed, and adaptive routing draws nothing; expected adaptive",
                      what, in_quotes(text)));
    }
    if (known.kind == Routing::Kind::kSpray) {
      throw InputError(fmt::format("{}: {} has a seed, and spraying draws nothing; expected spray",
                                   what, in_quotes(text)));
    }
    routing.seed = sched::parse_count(text.substr(colon + 1), what, 0,
                                      std::numeric_limits<std::uint64_t>::max());
    return routing;
  }
  throw InputError(
      fmt::format("{}: {} is no routing here; expected {}, ecmp, ecmp:SEED, valiant, valiant:SEED"
                  "{}",
                  what, in_quotes(text), own_name,
                  own == OwnRouting::kDModK ? ", spray or adaptive" : " or spray"));
}

std::uint32_t hashed_choice(const Routing& routing, const Network::Flow& flow, std::uint64_t place,
                            std::uint32_t count) {
  const std::uint64_t bits =
      flow.channel == 0 ? sched::draw(routing.seed, {flow.src, flow.dst, place})
                        : sched::draw(routing.seed, {flow.src, flow.dst, place, flow.channel});
  return sched::below(bits, count);
}

std::string format_routing(const Routing& routing) {
  for (const Name& known : kNames) {
    if (known.kind != routing.kind) continue;
    return draws(known.kind) ? fmt::format("{}:{}", known.name, routing.seed)
                             : std::string(known.name);
  }
  return "";
}

}  // namespace slackline::machine
