#include "machine/topology/routing.h"

#include <fmt/format.h>

#include <limits>

#include "base/error.h"
#include "machine/input_text.h"

namespace slackline::machine {
namespace {

std::string_view name_of(Routing::Kind kind) {
  switch (kind) {
    case Routing::Kind::kOwn:
      return "";
    case Routing::Kind::kEcmp:
      return "ecmp";
    case Routing::Kind::kValiant:
      return "valiant";
  }
  return "";
}

}  // namespace

Routing parse_routing(std::string_view text, std::string_view what, std::string_view own,
                      Routing::Kind other) {
  if (text == own) return {};
  const std::string_view name = name_of(other);
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
             : fmt::format("{}:{}", name_of(routing.kind), routing.seed);
}

}  // namespace slackline::machine
