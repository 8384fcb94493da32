#include "sched/pattern/irregular_options.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <limits>
#include <type_traits>

#include "sched/error.h"

namespace slackline::sched {
namespace {

using Options = IrregularOptions;
using Text = std::string_view;

constexpr std::uint64_t kMostCount = 1ull << 31;

template <auto member>
void read_count(Text key, Text text, Options& options) {
  options.*member = static_cast<std::remove_reference_t<decltype(options.*member)>>(
      parse_count(text, key, 1, kMostCount));
}
// 0 means something.
template <auto member>
void read_number(Text key, Text text, Options& options) {
  constexpr std::uint64_t kMost =
      std::numeric_limits<std::remove_reference_t<decltype(options.*member)>>::max();
  options.*member = static_cast<std::remove_reference_t<decltype(options.*member)>>(
      parse_count(text, key, 0, kMost));
}
template <auto member>
std::string format_number(const Options& options) {
  return fmt::format("{}", options.*member);
}
template <auto member>
void read_size(Text key, Text text, Options& options) {
  options.*member = parse_bytes(text, key);
}
template <auto member>
std::string format_size(const Options& options) {
  return format_bytes(options.*member);
}
template <auto member>
void read_span(Text key, Text text, Options& options) {
  const Time time = parse_time(text, key);
  if (time > std::chrono::hours(1)) {
    throw InputError(fmt::format("{}: '{}'; expected at most an hour", key, text));
  }
  options.*member = time;
}
template <auto member>
std::string format_span(const Options& options) {
  return format_time(options.*member);
}

// Names of an enumeration's values, in their order.
constexpr std::array<Text, 2> kAddressings = {"linear", "2d"};
constexpr std::array<Text, 3> kAggregations = {"none", "destination", "hierarchical"};
constexpr std::array<Text, 4> kAccesses = {"fetch-add", "add", "read", "write"};
constexpr std::array<Text, 3> kCaches = {"read-only", "read-write", "write-only"};
constexpr std::array<Text, 3> kBundles = {"none", "trad", "ovfl"};

template <auto member, const auto& names>
void read_name(Text key, Text text, Options& options) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != text) continue;
    options.*member = static_cast<std::remove_reference_t<decltype(options.*member)>>(i);
    return;
  }
  throw InputError(fmt::format("{}: '{}'; expected {}", key, text, fmt::join(names, " or ")));
}
template <auto member, const auto& names>
std::string format_name(const Options& options) {
  return std::string(names[static_cast<std::size_t>(options.*member)]);
}

void read_tree(Text, Text text, Options& options) { options.tree = text; }
std::string format_tree(const Options& options) { return options.tree; }

template <auto member>
constexpr IrregularOption count(Text key, Text values, Text meaning) {
  return {key, values, meaning, read_count<member>, format_number<member>};
}
template <auto member>
constexpr IrregularOption size(Text key, Text values, Text meaning) {
  return {key, values, meaning, read_size<member>, format_size<member>};
}
template <auto member>
constexpr IrregularOption span(Text key, Text meaning) {
  return {key, "a time, 0 or more", meaning, read_span<member>, format_span<member>};
}

constexpr std::array kIrregular = {
    IrregularOption{"seed", "0 or more", "irregular: of all draws; 1", read_number<&Options::seed>,
                    format_number<&Options::seed>},
    count<&Options::tasks>("tasks", "1 or more", "irregular: of each core; 16"),
    span<&Options::switch_cost>("switch", "irregular: to switch to a task; 38ns"),
    span<&Options::work>("work", "searches: a task's, a vertex or playout; 0ns"),
    size<&Options::record>("record", "16 or more", "irregular: bytes of a request; 32"),
    IrregularOption{"aggregation", "none|destination|hierarchical",
                    "irregular: queues of small messages; none",
                    read_name<&Options::aggregation, kAggregations>,
                    format_name<&Options::aggregation, kAggregations>},
    size<&Options::flush_bytes>("flush", "a size", "aggregation: a queue is sent when full; 4KiB"),
    span<&Options::flush_age>("age", "aggregation: …or its oldest message this old; 1ms"),
    count<&Options::cores>("cores", "1 or more", "hierarchical: ranks of a node; 1"),
    count<&Options::group>("group", "2 or more", "hierarchical: nodes of a group; 8"),
    count<&Options::accesses>("accesses", "1 or more", "random-access: of each rank; 1000"),
    count<&Options::words>("words", "1 or more", "random-access: of each rank; 1024"),
    IrregularOption{"access", "fetch-add|add|read|write", "delegates: to a word; fetch-add",
                    read_name<&Options::access, kAccesses>,
                    format_name<&Options::access, kAccesses>},
    IrregularOption{"address", "linear|2d", "random-access: where words are; linear",
                    read_name<&Options::address, kAddressings>,
                    format_name<&Options::address, kAddressings>},
    IrregularOption{"cache", "read-only|read-write|write-only", "by=cached: the mode; read-write",
                    read_name<&Options::cache, kCaches>, format_name<&Options::cache, kCaches>},
    size<&Options::cache_bytes>("cache-bytes", "a size", "by=cached: of an acquire; 256B"),
    IrregularOption{"tree", "T1|T5|T2|T3|T1L|T2L", "tree-search: of the benchmark; T1", read_tree,
                    format_tree},
    IrregularOption{"depth", "0 or more", "tree-search: instead of the tree's own; 0: that",
                    read_number<&Options::depth>, format_number<&Options::depth>},
    count<&Options::scale>("scale", "1 to 24", "breadth-first-search: 2^scale vertices; 8"),
    count<&Options::edge_factor>("edge-factor", "1 to 1024", "…edges drawn per vertex; 16"),
    count<&Options::threshold>("threshold", "1 or more", "…a loop's parts are as long; 4"),
    count<&Options::rollouts>("rollouts", "1 to 1048576", "hex-search: of all ranks together; 64"),
    count<&Options::playouts>("playouts", "1 to 4096", "hex-search: from each leaf; 16"),
    IrregularOption{"bundle", "none|trad|ovfl", "hex-search: of its channels; none",
                    read_name<&Options::bundle, kBundles>, format_name<&Options::bundle, kBundles>},
};

}  // namespace

std::span<const IrregularOption> irregular_options() { return kIrregular; }

}  // namespace slackline::sched
