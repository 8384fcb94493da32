// The text form of a Spec; compile.h says what it means.
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
#include "sched/suggest.h"
#include "sched/units.h"

namespace slackline::sched {
namespace {

constexpr std::uint32_t kMaxRanks = 1u << 24;
constexpr std::uint32_t kMaxCount = 1u << 31;
constexpr std::uint64_t kDefaultBlock = 1u << 20;

constexpr std::array kOptions = {
    SpecOption{"ranks", "1 to 16777216", "how many ranks; required"},
    SpecOption{"bytes", "a size, 0 or more", "the message; required"},
    SpecOption{"block", "a size, 1 or more", "every block but the last; 1MiB"},
    SpecOption{"root", "a rank", "who has the message; 0"},
    SpecOption{"racks", "1 to ranks", "hybrid: runs of neighbouring ranks; the root of ranks"},
    SpecOption{"rack-map", "a text file", "hybrid: the rack of each rank, one a line"},
    SpecOption{"lower", "send|put", "two-sided, or one-sided with immediate; send"},
    SpecOption{"in-flight", "0 or more", "blocks a rank has under way, 0: no bound; 1"},
    SpecOption{"first-block", "direct|copy", "where a rank's first block lands; direct"},
    SpecOption{"ready", "send|write|none", "how a receiver says that it is ready; send"},
    SpecOption{"start", "pairwise|all", "whose readiness a first message awaits; pairwise"},
    SpecOption{"window", "1 or more", "receives posted ahead; 1"},
    SpecOption{"order", "async|lockstep", "a barrier between steps, or none; async"},
    SpecOption{"messages", "1 or more", "how many, one after the other; 1"},
    SpecOption{"slots", "1 or more", "room for messages or operands at each receiver; 16"},
    SpecOption{"consume", "copy|in-place", "ring-buffer: messages are copied out, or not; copy"},
    SpecOption{"by", "a pattern", "collectives: the multicast they are made of; circulant"},
    SpecOption{"via", "write|send, rdma|am",
               "calls: into chunks or slots; structures; write, rdma"},
    SpecOption{"chunk", "a size, 1 or more", "calls: of a receive buffer; 16MiB"},
    SpecOption{"chunks", "1 or more", "calls: receive buffers obtained at a time; 2"},
    SpecOption{"chunk-limit", "1 or more", "calls: receive buffers of one channel; 16"},
    SpecOption{"notify", "transmit|consume", "calls: once a call is sent, or has run; transmit"},
    SpecOption{"signal", "0 or more", "calls: posts per one that is waited for, 0: none; 64"},
    SpecOption{"handler", "a time, 0 or more", "calls: how long each runs; 0ns"},
    SpecOption{"operations", "1 or more", "structures, one-sided: of each client; 1"},
    SpecOption{"op", "insert|find|push|pop|both, put|get|fetch-add|…",
               "structures: what clients do; both; one-sided: put"},
    SpecOption{"variables", "1 or more", "one-sided: of each rank, to choose from; 1000"},
    SpecOption{"phases", "1|2", "structures: writes and reads in turns, or in phases; 2"},
    SpecOption{"level", "crw|cw|cr|cl|checksum", "structures: what may run beside; crw"},
    SpecOption{"load", "above 0, at most 1", "hash-table: keys a slot, fullest part; 0.5"},
    SpecOption{"seed", "0 or more", "structures, one-sided: draws targets and keys; 0"},
    SpecOption{"clients", "1 to ranks", "structures: how many ranks operate; all"},
    SpecOption{"queues", "each|one", "queue: on every rank, or on rank 0 alone; each"},
    SpecOption{"compute", "a time, 0 or more", "structures: before each operation; 0ns"},
    SpecOption{"progress", "main|thread", "structures: who runs handlers; main"},
    SpecOption{"contention", "a time, 0 or more", "structures: a handler on the thread more; 0ns"},
};
// These only patterns take that make their schedule themselves.
constexpr std::array<std::string_view, 22> kOfSeries = {
    "slots",       "consume",  "by",         "via",      "chunk",      "chunks",
    "chunk-limit", "notify",   "signal",     "handler",  "op",         "phases",
    "level",       "load",     "seed",       "clients",  "operations", "queues",
    "compute",     "progress", "contention", "variables"};

template <class Value>
struct Choice {
  std::string_view name;
  Value value;
};
constexpr std::array kLowerings = {Choice<Lowering>{"send", Lowering::kSend},
                                   Choice<Lowering>{"put", Lowering::kPut}};
constexpr std::array kFirstBlocks = {Choice<bool>{"direct", false}, Choice<bool>{"copy", true}};
constexpr std::array kReadies = {Choice<Ready>{"send", Ready::kSend},
                                 Choice<Ready>{"write", Ready::kWrite},
                                 Choice<Ready>{"none", Ready::kNone}};
constexpr std::array kStarts = {Choice<Start>{"pairwise", Start::kPairwise},
                                Choice<Start>{"all", Start::kAll}};
constexpr std::array kOrders = {Choice<Order>{"async", Order::kAsync},
                                Choice<Order>{"lockstep", Order::kLockstep}};
constexpr std::array kConsumes = {Choice<bool>{"copy", true}, Choice<bool>{"in-place", false}};
constexpr std::array kVias = {Choice<CallVia>{"write", CallVia::kWrite},
                              Choice<CallVia>{"send", CallVia::kSend}};
constexpr std::array kNotifies = {Choice<CallNotify>{"transmit", CallNotify::kTransmit},
                                  Choice<CallNotify>{"consume", CallNotify::kConsume}};
constexpr std::array kAggregations = {Choice<Bundle>{"none", Bundle::kNone},
                                      Choice<Bundle>{"trad", Bundle::kTraditional},
                                      Choice<Bundle>{"ovfl", Bundle::kOverflow}};

template <class Entry, std::size_t n>
std::array<std::string_view, n> names_of(const std::array<Entry, n>& entries) {
  std::array<std::string_view, n> names;
  std::transform(entries.begin(), entries.end(), names.begin(),
                 [](const Entry& entry) { return entry.name; });
  return names;
}

std::vector<std::string_view> pattern_names() {
  std::vector<std::string_view> names;
  for (const PatternEntry& entry : patterns()) names.push_back(entry.name);
  for (const SeriesEntry& entry : series_patterns()) names.push_back(entry.name);
  return names;
}

// What of a pattern decides which options it takes.
struct PatternTraits {
  std::string_view name;
  const SeriesEntry* series = nullptr;
  bool takes_racks = false;

  bool takes(std::string_view key) const {
    return series == nullptr ||
           std::find(series->options.begin(), series->options.end(), key) != series->options.end();
  }
};
std::optional<PatternTraits> traits_of(std::string_view name) {
  if (const PatternEntry* entry = find_pattern(name))
    return {{entry->name, nullptr, entry->takes_racks}};
  if (const SeriesEntry* entry = find_series_pattern(name)) return {{entry->name, entry, false}};
  return std::nullopt;
}

const IrregularOption* find_irregular(std::string_view key) {
  const auto all = irregular_options();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& option) { return option.key == key; });
  return found == all.end() ? nullptr : &*found;
}

// Throws InputError if the pattern does not take the option.
void require_taken(const PatternTraits& pattern, std::string_view key) {
  if (pattern.series != nullptr) {
    if (pattern.takes(key)) return;
    throw InputError(fmt::format("{}: not an option of {}; it takes {}", key, pattern.name,
                                 fmt::join(pattern.series->options, ", ")));
  }
  if ((key == "racks" || key == "rack-map") && !pattern.takes_racks) {
    throw InputError(fmt::format("{}: not an option of {}; hybrid takes it", key, pattern.name));
  }
  if (std::find(kOfSeries.begin(), kOfSeries.end(), key) == kOfSeries.end() &&
      find_irregular(key) == nullptr) {
    return;
  }
  std::vector<std::string_view> takers;
  for (const SeriesEntry& entry : series_patterns()) {
    if (PatternTraits{entry.name, &entry}.takes(key)) takers.push_back(entry.name);
  }
  throw InputError(fmt::format("{}: not an option of {}; {} {} it", key, pattern.name,
                               fmt::join(takers, ", "), takers.size() == 1 ? "takes" : "take"));
}

std::string_view default_by(std::string_view pattern) {
  return pattern == "random-access" ? "delegate" : "circulant";
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
    std::vector<std::string_view> names;
    for (const SpecOption& option : spec_options()) names.push_back(option.name);
    if (std::find(names.begin(), names.end(), key) == names.end()) {
      throw InputError(fmt::format("{}: {}", pattern.name, unknown_name("option", key, names)));
    }
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

template <class Value, std::size_t n>
std::string_view name_of(const std::array<Choice<Value>, n>& choices, Value value) {
  const auto found = std::find_if(choices.begin(), choices.end(),
                                  [&](const auto& choice) { return choice.value == value; });
  return found->name;
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

// Of a pattern that takes "operations", `via` and `slots` mean something of their own.
bool is_structure(const PatternTraits& pattern) {
  return pattern.series != nullptr && pattern.takes("operations") && !pattern.takes("variables");
}
bool is_one_sided(const PatternTraits& pattern) {
  return pattern.series != nullptr && pattern.takes("variables");
}

void read_structure(const Values& values, std::string_view pattern, StructureOptions& structure) {
  for (const std::string_view key : structure_keys()) {
    const auto value = find_value(values, key);
    if (value) read_structure_option(pattern, key, *value, structure);
  }
}

// Calls aggregate in their own way, under the names that irregular patterns have for theirs.
bool is_call(const PatternTraits& pattern) {
  return pattern.series != nullptr && pattern.takes("signal") && pattern.takes("aggregation");
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

// ",racks=…" or ",rack-map=…"; nothing for the default.
std::string format_racks(const Spec& spec) {
  const std::vector<std::uint32_t>& given = spec.multicast.rack_of_rank;
  if (!spec.rack_map.empty()) return fmt::format(",rack-map={}", spec.rack_map);
  if (given.empty()) return "";
  const std::uint32_t ranks = spec.multicast.ranks;
  const std::uint32_t racks = *std::max_element(given.begin(), given.end()) + 1;
  if (given != contiguous_racks(ranks, racks)) return ",rack-map=?";
  return racks == default_rack_count(ranks) ? "" : fmt::format(",racks={}", racks);
}

}  // namespace

std::span<const SpecOption> spec_options() {
  static const std::vector<SpecOption> all = [] {
    std::vector<SpecOption> options(kOptions.begin(), kOptions.end());
    for (const IrregularOption& o : irregular_options()) {
      options.push_back({o.key, o.values, o.meaning});
      if (o.key == "aggregation") {
        options.back().values = "none|trad|ovfl (calls), none|destination|hierarchical";
      }
    }
    return options;
  }();
  return all;
}

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

std::string format_spec(const Spec& spec) {
  const Spec defaults;
  const MulticastOptions& multicast = spec.multicast;
  std::string text = fmt::format("{}:ranks={}", spec.pattern, multicast.ranks);
  const auto add = [&](bool differs, std::string_view key, const auto& value) {
    if (differs) text += fmt::format(",{}={}", key, value);
  };
  const auto traits = traits_of(spec.pattern);
  add(!traits || traits->takes("bytes"), "bytes", format_bytes(multicast.bytes));
  add(multicast.block_bytes != kDefaultBlock, "block", format_bytes(multicast.block_bytes));
  add(multicast.root != RankId(0), "root", multicast.root.value);
  text += format_racks(spec);
  const TransferOptions& transfers = spec.transfers;
  add(transfers.lowering != defaults.transfers.lowering, "lower",
      name_of(kLowerings, transfers.lowering));
  add(transfers.in_flight != defaults.transfers.in_flight, "in-flight", transfers.in_flight);
  add(transfers.copy_first_block != defaults.transfers.copy_first_block, "first-block",
      name_of(kFirstBlocks, transfers.copy_first_block));
  const CreditOptions& credits = spec.credits;
  add(credits.ready != defaults.credits.ready, "ready", name_of(kReadies, credits.ready));
  add(credits.start != defaults.credits.start, "start", name_of(kStarts, credits.start));
  add(credits.window != defaults.credits.window, "window", credits.window);
  add(spec.order != defaults.order, "order", name_of(kOrders, spec.order));
  add(spec.messages != defaults.messages, "messages", spec.messages);
  add(spec.slots != defaults.slots, "slots", spec.slots);
  add(spec.copy_out != defaults.copy_out, "consume", name_of(kConsumes, spec.copy_out));
  add(spec.by != default_by(spec.pattern), "by", spec.by);
  const CallOptions& call = spec.call;
  add(call.via != defaults.call.via, "via", name_of(kVias, call.via));
  add(call.chunk_bytes != defaults.call.chunk_bytes, "chunk", format_bytes(call.chunk_bytes));
  add(call.chunks != defaults.call.chunks, "chunks", call.chunks);
  add(call.chunk_limit != defaults.call.chunk_limit, "chunk-limit", call.chunk_limit);
  add(call.notify != defaults.call.notify, "notify", name_of(kNotifies, call.notify));
  add(call.signal != defaults.call.signal, "signal", call.signal);
  add(call.handler != defaults.call.handler, "handler", format_time(call.handler));
  add(call.aggregation != defaults.call.aggregation, "aggregation",
      name_of(kAggregations, call.aggregation));
  add(call.flush_bytes != defaults.call.flush_bytes, "flush", format_bytes(call.flush_bytes));
  if (traits && is_structure(*traits)) {
    text += format_structure_options(spec.pattern, spec.structure);
    return text;
  }
  if (traits && is_one_sided(*traits)) return text + format_one_sided_options(spec.one_sided);
  for (const IrregularOption& option : irregular_options()) {
    const std::string value = option.format(spec.irregular);
    add(value != option.format(defaults.irregular), option.key, value);
  }
  return text;
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
