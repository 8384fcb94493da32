#include "machine/rails.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "base/enum_names.h"
#include "base/error.h"
#include "machine/input_text.h"

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
  const auto channels = schedule.channels();
  std::vector<std::uint32_t> numbers(channels.size(), 0);
  if (!rails.are_several() || rails.rule == RailRule::kRank) return numbers;
  const std::vector<bool> control = schedule.control_channels();
  // The first channel whose credits it carries, if that one is no carrier of credits itself.
  std::vector<sched::ChannelId> credits_of(channels.size());
  for (std::uint32_t c = 0; c < channels.size(); ++c) {
    const sched::ChannelId credits = channels[c].credit_on;
    if (!credits.valid() || control[c] || credits_of[credits.value].valid()) continue;
    credits_of[credits.value] = sched::ChannelId(c);
  }
  std::map<std::pair<sched::RankId, sched::RankId>, std::uint32_t> next;
  for (std::uint32_t c = 0; c < channels.size(); ++c) {
    if (credits_of[c].valid()) continue;
    numbers[c] = next[{channels[c].src, channels[c].dst}]++ % rails.count;
  }
  for (std::uint32_t c = 0; c < channels.size(); ++c) {
    if (credits_of[c].valid()) numbers[c] = numbers[credits_of[c].value];
  }
  return numbers;
}

}  // namespace slackline::machine
