#include "machine/topology/routing.h"

#include <fmt/format.h>

#include <limits>

#include "base/error.h"
#include "machine/input_text.h"

namespace slackline::machine {
namespace {

struct Names {
  std::string_view own;  // of the topology's rule
  std::string_view other;
};
Names names_beside(Routing::Kind other) {
  return other == Routing::Kind::kEcmp ? Names{"d-mod-k", "ecmp"} : Names{"minimal", "valiant"};
}

}  // namespace

Routing parse_routing(std::string_view text, std::string_view what, Routing::Kind other) {
  const auto [own, name] = names_beside(other);
  if (text == own) return {};
  const std::size_t colon = text.find(':');
  if (text.substr(0, colon) != name) {
    throw InputError(fmt::format("{}: {} is no routing here; expected {}, {} or {}:SEED", what,
                                 in_quotes(text), own, name, name));
  }
  Routing routing{other, 0};
  if (colon != std::string_view::npos) {
    routing.seed = sched::parse_count(text.substr(colon + 1), what, 0,
                                      std::numeric_limits<std::uint64_t>::max());
  }
  return routing;
}

std::string format_routing(const Routing& routing) {
  return routing.kind == Routing::Kind::kOwn
             ? ""
             : fmt::format("{}:{}", names_beside(routing.kind).other, routing.seed);
}

}  // namespace slackline::machine
