#include "sched/op.h"

#include <array>

namespace slackline::sched {
namespace {

constexpr std::array<std::string_view, kOpKinds> kKindNames = {
    "send",         "recv",  "put",  "get",  "fetch_add", "fetch_and", "fetch_or", "fetch_xor",
    "compare_swap", "flush", "poll", "copy", "reduce",    "calc",      "delay",    "join"};
constexpr std::array<std::string_view, 3> kNotifyNames = {"none", "imm", "flag"};
constexpr std::array<std::string_view, 2> kServiceNames = {"rc", "ud"};
constexpr std::array<std::string_view, 3> kBundleNames = {"none", "trad", "ovfl"};
constexpr std::array<std::string_view, 2> kOnNames = {"issued", "done"};
constexpr std::array<std::string_view, 3> kRegionNames = {"retry", "alt", "repeat"};
constexpr std::array<std::string_view, 2> kOutcomeNames = {"sampled", "actual"};
constexpr std::array<std::string_view, 2> kExpectNames = {"equal", "unequal"};

template <class Enum, std::size_t n>
std::optional<Enum> find(const std::array<std::string_view, n>& names, std::string_view text) {
  for (std::size_t i = 0; i < n; ++i) {
    if (names[i] == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(OpKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }
std::string_view name(Notify notify) { return kNotifyNames[static_cast<std::size_t>(notify)]; }
std::string_view name(Service service) { return kServiceNames[static_cast<std::size_t>(service)]; }
std::string_view name(Bundle bundle) { return kBundleNames[static_cast<std::size_t>(bundle)]; }
std::string_view name(On on) { return kOnNames[static_cast<std::size_t>(on)]; }
std::string_view name(RegionKind kind) { return kRegionNames[static_cast<std::size_t>(kind)]; }
std::string_view name(Outcome outcome) { return kOutcomeNames[static_cast<std::size_t>(outcome)]; }
std::string_view name(Expect expect) { return kExpectNames[static_cast<std::size_t>(expect)]; }

std::optional<OpKind> op_kind_named(std::string_view text) {
  return find<OpKind>(kKindNames, text);
}
std::optional<Notify> notify_named(std::string_view text) {
  return find<Notify>(kNotifyNames, text);
}
std::optional<Service> service_named(std::string_view text) {
  return find<Service>(kServiceNames, text);
}
std::optional<Bundle> bundle_named(std::string_view text) {
  return find<Bundle>(kBundleNames, text);
}
std::optional<On> on_named(std::string_view text) { return find<On>(kOnNames, text); }
std::optional<RegionKind> region_kind_named(std::string_view text) {
  return find<RegionKind>(kRegionNames, text);
}
std::optional<Outcome> outcome_named(std::string_view text) {
  return find<Outcome>(kOutcomeNames, text);
}
std::optional<Expect> expect_named(std::string_view text) {
  return find<Expect>(kExpectNames, text);
}

}  // namespace slackline::sched
