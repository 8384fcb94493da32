#include "machine/rails.h"

#include <fmt/format.h>

#include "base/enum_names.h"
#include "base/error.h"
#include "machine/input_text.h"
#include "sched/channel_numbers.h"

namespace slackline::machine {
namespace {

constexpr base::EnumNames<RailRule, 3> kRules = {"rank", "channel", "pair"};
constexpr base::EnumNames<RailWiring, 2> kWirings = {"one-leaf", "rail-optimized"};

}  // namespace

RailRule parse_rail_rule(std::string_view text, std::string_view what) {
  if (const auto rule = kRules.find(text)) return *rule;
  throw InputError(
      fmt::format("{}: {} says no NIC; expected rank, channel or pair", what, in_quotes(text)));
}

std::string_view name(RailRule rule) { return kRules[rule]; }

RailWiring parse_rail_wiring(std::string_view text, std::string_view what) {
  if (const auto wiring = kWirings.find(text)) return *wiring;
  throw InputError(fmt::format("{}: {} is no wiring of rails; expected one-leaf or rail-optimized",
                               what, in_quotes(text)));
}

std::string_view name(RailWiring wiring) { return kWirings[wiring]; }

std::vector<std::uint32_t> numbers_for_rails(const sched::Schedule& schedule, const Rails& rails) {
  if (!rails.are_several() || rails.rule == RailRule::kRank) {
    return std::vector<std::uint32_t>(schedule.channels().size(), 0);
  }
  std::vector<std::uint32_t> numbers = sched::channel_numbers(schedule);
  for (std::uint32_t& number : numbers) number %= rails.count;
  return numbers;
}

}  // namespace slackline::machine
