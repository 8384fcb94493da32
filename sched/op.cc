#include "sched/op.h"

#include "base/enum_names.h"

namespace slackline::sched {
namespace {

using base::EnumNames;

constexpr EnumNames<OpKind, kOpKinds> kKinds = {
    "send",         "recv",  "put",  "get",  "fetch_add", "fetch_and", "fetch_or", "fetch_xor",
    "compare_swap", "flush", "poll", "copy", "reduce",    "calc",      "delay",    "join"};
constexpr EnumNames<Notify, 3> kNotifies = {"none", "imm", "flag"};
constexpr EnumNames<Service, 3> kServices = {"rc", "ud", "eager"};
constexpr EnumNames<Bundle, 3> kBundles = {"none", "trad", "ovfl"};
constexpr EnumNames<On, 2> kOns = {"issued", "done"};
constexpr EnumNames<RegionKind, 3> kRegionKinds = {"retry", "alt", "repeat"};
constexpr EnumNames<RegionOutcome, 2> kOutcomes = {"sampled", "actual"};
constexpr EnumNames<Expect, 2> kExpects = {"equal", "unequal"};

}  // namespace

std::string_view name(OpKind value) { return kKinds[value]; }
std::string_view name(Notify value) { return kNotifies[value]; }
std::string_view name(Service value) { return kServices[value]; }
std::string_view name(Bundle value) { return kBundles[value]; }
std::string_view name(On value) { return kOns[value]; }
std::string_view name(RegionKind value) { return kRegionKinds[value]; }
std::string_view name(RegionOutcome value) { return kOutcomes[value]; }
std::string_view name(Expect value) { return kExpects[value]; }

std::optional<OpKind> op_kind_named(std::string_view text) { return kKinds.find(text); }
std::optional<Notify> notify_named(std::string_view text) { return kNotifies.find(text); }
std::optional<Service> service_named(std::string_view text) { return kServices.find(text); }
std::optional<Bundle> bundle_named(std::string_view text) { return kBundles.find(text); }
std::optional<On> on_named(std::string_view text) { return kOns.find(text); }
std::optional<RegionKind> region_kind_named(std::string_view text) {
  return kRegionKinds.find(text);
}
std::optional<RegionOutcome> outcome_named(std::string_view text) { return kOutcomes.find(text); }
std::optional<Expect> expect_named(std::string_view text) { return kExpects.find(text); }

}  // namespace slackline::sched
