// Reads specs, and what they come to; compile.h says what they mean.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <vector>

#include "sched/compile.h"
#include "sched/error.h"
#include "sched/pattern/rack_map.h"
#include "sched/spec_words.h"
#include "sched/suggest.h"
#include "sched/units.h"

namespace slackline::sched {
namespace {

constexpr std::uint32_t kMaxRanks = 1u << 24;
constexpr std::uint32_t kMaxCount = 1u << 31;

template <class Entry, std::size_t n>
std::array<std::string_view, n> names_of(const std::array<Entry, n>& entries) {
  std::array<std::string_view, n> names;
  std::transform(entries.begin(), entries.end(), names.begin(),
                 [](const Entry& entry) { return entry.name; });
  return names;
}

void require_known(const PatternTraits& pattern, std::string_view key) {
  std::vector<std::string_view> taken;
  for (const SpecOption& option : spec_options()) {
    if (option.name == key) return;
    if (is_taken(pattern, option.name) && std::ranges::find(taken, option.name) == taken.end()) {
      taken.push_back(option.name);
    }
  }
  throw InputError(fmt::format("{}: {}", pattern.name, unknown_name("option", key, taken)));
}

// The values as written, by key.
using Values = std::map<std::string_view, std::string_view>;

Values split_values(std::string_view text, const PatternTraits& pattern) {
  Values values;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    const std::size_t equals = item.find('=');
    const std::string_view key = item.substr(0, equals);
    if (item.empty() || (comma != std::string_view::npos && text.empty())) {
      throw InputError(
          fmt::format("{}: a comma without an option; expected key=value,key=value", pattern.name));
    }
    require_known(pattern, key);
    if (equals == std::string_view::npos || equals + 1 == item.size()) {
      throw InputError(fmt::format("{}: no value; expected {}=value", key, key));
    }
    require_taken(pattern, key);
    if (!values.emplace(key, item.substr(equals + 1)).second) {
      throw InputError(fmt::format("{}: given twice", key));
    }
  }
  return values;
}

std::optional<std::string_view> find_value(const Values& values, std::string_view key) {
  const auto found = values.find(key);
  if (found == values.end()) return std::nullopt;
  return found->second;
}

std::string_view required(const Values& values, std::string_view key, std::string_view example) {
  const auto value = find_value(values, key);
  if (!value) throw InputError(fmt::format("{}: missing; expected {}={}", key, key, example));
  return *value;
}

// Reads a count into `out`, which holds the default.
void read_count(const Values& values, std::string_view key, std::uint64_t low, std::uint64_t high,
                std::uint32_t& out) {
  const auto text = find_value(values, key);
  if (text) out = static_cast<std::uint32_t>(parse_count(*text, key, low, high));
}

template <class Value, std::size_t n>
void read_choice(const Values& values, std::string_view key,
                 const std::array<Choice<Value>, n>& choices, Value& out) {
  const auto text = find_value(values, key);
  if (!text) return;
  for (const Choice<Value>& choice : choices) {
    if (choice.name == *text) {
      out = choice.value;
      return;
    }
  }
  throw InputError(
      fmt::format("{}: '{}'; expected {}", key, *text, fmt::join(names_of(choices), " or ")));
}

void check_size(const Spec& spec) {
  const std::uint64_t ops = most_ops(spec);
  if (ops <= kMaxOps) return;
  if (!traits_of(spec.pattern)->takes("messages")) {
    throw InputError(
        fmt::format("{}: up to {} operations; expected at most {}", spec.pattern, ops, kMaxOps));
  }
  if (find_series_pattern(spec.pattern) != nullptr) {
    throw InputError(fmt::format("messages: {} to {} ranks make {} operations; expected at most {}",
                                 spec.messages, spec.multicast.ranks - 1, ops, kMaxOps));
  }
  throw InputError(
      fmt::format("block: {} blocks to {} ranks make {} operations; expected at most {}; use "
                  "larger blocks{}",
                  *block_count(spec), spec.multicast.ranks - 1, ops, kMaxOps,
                  spec.messages > 1 ? " or fewer messages" : ""));
}

void read_structure(const Values& values, std::string_view pattern, StructureOptions& structure) {
  for (const std::string_view key : structure_keys()) {
    const auto value = find_value(values, key);
    if (value) read_structure_option(pattern, key, *value, structure);
  }
}

bool is_aggregation(std::string_view key) { return key == "aggregation" || key == "flush"; }

void read_call_aggregation(const Values& values, CallOptions& call) {
  read_choice(values, "aggregation", kAggregations, call.aggregation);
  if (const auto flush = find_value(values, "flush")) {
    call.flush_bytes = parse_bytes(*flush, "flush");
  }
}

void read_call(const Values& values, bool of_structure, CallOptions& call) {
  if (!of_structure) read_choice(values, "via", kVias, call.via);
  if (const auto chunk = find_value(values, "chunk"))
    call.chunk_bytes = parse_bytes(*chunk, "chunk");
  read_count(values, "chunks", 1, kMaxCount, call.chunks);
  read_count(values, "chunk-limit", 1, kMaxCount, call.chunk_limit);
  read_choice(values, "notify", kNotifies, call.notify);
  read_count(values, "signal", 0, kMaxCount, call.signal);
  if (const auto handler = find_value(values, "handler")) {
    call.handler = parse_time(*handler, "handler");
    if (call.handler < Time{0} || call.handler == kForever) {
      throw InputError(fmt::format("handler: '{}'; expected a time of 0 or more", *handler));
    }
  }
}

void read_racks(const Values& values, Spec& spec) {
  const std::uint32_t ranks = spec.multicast.ranks;
  std::uint32_t racks = default_rack_count(ranks);
  read_count(values, "racks", 1, ranks, racks);
  const auto file = find_value(values, "rack-map");
  if (!file) {
    spec.multicast.rack_of_rank = contiguous_racks(ranks, racks);
    return;
  }
  if (values.contains("racks")) throw InputError("racks: given beside rack-map; expected either");
  spec.rack_map = *file;
  spec.multicast.rack_of_rank = read_rack_map(spec.rack_map, ranks);
}

}  // namespace

bool looks_like_spec(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  if (traits_of(name)) return true;
  const bool could_be_name = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
  std::error_code ignored;
  if (name.empty() || !could_be_name || std::filesystem::exists(std::string(text), ignored)) {
    return false;
  }
  return colon != std::string_view::npos || !nearest_name(name, pattern_names()).empty();
}

Spec parse_spec(std::string_view text) {
  Spec spec = parse_spec_of_any_size(text);
  check_size(spec);
  return spec;
}

Spec parse_spec_of_any_size(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto pattern = traits_of(text.substr(0, colon));
  if (!pattern) {
    throw InputError(unknown_name("pattern", text.substr(0, colon), pattern_names()));
  }
  const Values values = split_values(
      colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1), *pattern);

  Spec spec;
  spec.pattern = pattern->name;
  MulticastOptions& multicast = spec.multicast;
  multicast.ranks = static_cast<std::uint32_t>(
      parse_count(required(values, "ranks", "16"), "ranks", 1, kMaxRanks));
  if (pattern->takes("bytes")) {
    multicast.bytes = parse_bytes(required(values, "bytes", "256MiB"), "bytes");
  }
  multicast.block_bytes = kDefaultBlock;
  if (const auto block = find_value(values, "block")) {
    multicast.block_bytes = parse_bytes(*block, "block");
    if (multicast.block_bytes == 0) throw InputError("block: 0 bytes; expected at least 1");
  }
  multicast.root = RankId(0);
  read_count(values, "root", 0, multicast.ranks - 1, multicast.root.value);
  read_choice(values, "lower", kLowerings, spec.transfers.lowering);
  read_count(values, "in-flight", 0, kMaxCount, spec.transfers.in_flight);
  read_choice(values, "first-block", kFirstBlocks, spec.transfers.copy_first_block);
  read_choice(values, "ready", kReadies, spec.credits.ready);
  read_choice(values, "start", kStarts, spec.credits.start);
  read_count(values, "window", 1, kMaxCount, spec.credits.window);
  read_choice(values, "order", kOrders, spec.order);
  read_count(values, "messages", 1, kMaxCount, spec.messages);
  const bool structure = is_structure(*pattern);
  if (!structure) read_count(values, "slots", 1, kMaxCount, spec.slots);
  read_choice(values, "consume", kConsumes, spec.copy_out);
  spec.by = find_value(values, "by").value_or(default_by(spec.pattern));
  read_call(values, structure, spec.call);
  if (is_call(*pattern)) read_call_aggregation(values, spec.call);
  if (structure) {
    read_structure(values, spec.pattern, spec.structure);
  } else if (is_one_sided(*pattern)) {
    for (const std::string_view key : one_sided_keys()) {
      const auto value = find_value(values, key);
      if (value) read_one_sided_option(key, *value, spec.one_sided);
    }
  } else {
    for (const IrregularOption& option : irregular_options()) {
      const auto value = find_value(values, option.key);
      if (is_call(*pattern) && is_aggregation(option.key)) continue;
      if (value) option.read(option.key, *value, spec.irregular);
    }
  }
  if (pattern->takes_racks) read_racks(values, spec);
  return spec;
}

SeriesOptions series_options(const Spec& spec) {
  SeriesOptions options{format_spec(spec),   spec.multicast.ranks, spec.multicast.bytes,
                        spec.multicast.root, spec.messages,        spec.slots,
                        spec.copy_out};
  options.collective = {spec.by, spec.multicast.block_bytes, spec.transfers.in_flight,
                        spec.credits};
  options.call = spec.call;
  options.irregular = spec.irregular;
  options.structure = spec.structure;
  options.one_sided = spec.one_sided;
  return options;
}

std::optional<std::uint64_t> block_count(const Spec& spec) {
  if (find_series_pattern(spec.pattern) != nullptr) return std::nullopt;
  return std::uint64_t{spec.multicast.blocks()} * spec.messages;
}

std::uint64_t most_ops(const Spec& spec) {
  if (const SeriesEntry* series = find_series_pattern(spec.pattern)) {
    return series->op_count(series_options(spec));
  }
  const std::uint64_t receivers = spec.multicast.ranks - 1;
  // A message has two halves, and so has its credit.
  const std::uint64_t per_transfer = spec.credits.ready == Ready::kNone ? 2 : 4;
  const std::uint64_t of_one = receivers * spec.multicast.blocks() * per_transfer +
                               (spec.transfers.copy_first_block ? receivers : 0);
  return of_one > kMaxOps ? of_one : of_one * spec.messages;
}

Plan plan_of(const Spec& spec) {
  const PatternEntry* pattern = find_pattern(spec.pattern);
  if (pattern == nullptr) {
    if (traits_of(spec.pattern)) {
      throw InputError(fmt::format("{}: it has no blocks and steps; expected a pattern with them",
                                   spec.pattern));
    }
    throw InputError(unknown_name("pattern", spec.pattern, pattern_names()));
  }
  Plan plan = pattern->make(spec.multicast);
  plan.title = format_spec(spec);
  return plan;
}

}  // namespace slackline::sched
