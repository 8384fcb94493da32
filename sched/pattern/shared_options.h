// Options that more than one kind of pattern has.
#pragma once

#include "sched/pass/stripe.h"
#include "sched/pattern/option.h"

namespace slackline::sched {

inline constexpr Option kRanksOption = count_option<&Spec::multicast, &MulticastOptions::ranks>(
                                           "ranks", "1 to 16777216", "how many ranks", 1, 1u << 24)
                                           .required("16");
inline constexpr Option kBytesOption = size_option<&Spec::multicast, &MulticastOptions::bytes>(
                                           "bytes", "a size, 0 or more", "the message")
                                           .required("256MiB");
inline constexpr Option kBlockOption =
    size_option<&Spec::multicast, &MulticastOptions::block_bytes>("block", "a size, 1 or more",
                                                                  "every block but the last", 1);
inline constexpr Option kRootOption = {
    "root", "a rank", "who has the message",
    [](const Option& option, std::string_view text, Spec& spec) {
      spec.multicast.root.value =
          static_cast<std::uint32_t>(parse_count(text, option.key, 0, spec.multicast.ranks - 1));
    },
    [](const Option&, const Spec& spec) { return std::to_string(spec.multicast.root.value); }};
inline constexpr Option kInFlightOption =
    count_option<&Spec::transfers, &TransferOptions::in_flight>(
        "in-flight", "0 or more", "what a rank has under way at once, 0: no bound", 0);
inline constexpr Option kReadyOption = choice_option<&Spec::credits, &CreditOptions::ready>(
    "ready", "send|write|none", "how a receiver says that it is ready");
inline constexpr Option kStartOption = choice_option<&Spec::credits, &CreditOptions::start>(
    "start", "pairwise|all", "whose readiness a first message awaits");
inline constexpr Option kWindowOption = count_option<&Spec::credits, &CreditOptions::window>(
    "window", "1 or more", "receives posted ahead");
inline constexpr Option kStripesOption = count_option<&Spec::stripes>(
    "stripes", "1 to 256", "parts of each message, on channels of their own", 1, kMostStripes);
inline constexpr Option kMessagesOption =
    count_option<&Spec::messages>("messages", "1 or more", "how many, one after the other");
inline constexpr Option kSlotsOption = count_option<&Spec::slots>(
    "slots", "1 or more", "room for messages or operands at each receiver");
inline constexpr Option kHandlerOption =
    time_option<&Spec::handler>("handler", "calls: how long each runs");

/// What a Plan is made from, and how it becomes a schedule.
inline constexpr auto kPlanOptions =
    option_list(kRanksOption, kBytesOption, kBlockOption, kRootOption);
inline constexpr auto kLoweringOptions = option_list(
    choice_option<&Spec::transfers, &TransferOptions::lowering>(
        "lower", "send|put", "two-sided, or one-sided with immediate"),
    kInFlightOption,
    choice_option<&Spec::transfers, &TransferOptions::copy_first_block>(
        "first-block", "direct|copy", "where a rank's first block lands"),
    kReadyOption, kStartOption, kWindowOption,
    choice_option<&Spec::order>("order", "async|lockstep", "a barrier between steps, or none"),
    kMessagesOption, kStripesOption);
inline constexpr auto kMulticastOptions = option_list(kPlanOptions, kLoweringOptions);

}  // namespace slackline::sched
