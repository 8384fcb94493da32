#include "sched/spec_words.h"

#include <fmt/format.h>

#include "sched/error.h"

namespace slackline::sched {
namespace {

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

const IrregularOption* find_irregular(std::string_view key) {
  const auto all = irregular_options();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& option) { return option.key == key; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::string_view> pattern_names() {
  std::vector<std::string_view> names;
  for (const PatternEntry& entry : patterns()) names.push_back(entry.name);
  for (const SeriesEntry& entry : series_patterns()) names.push_back(entry.name);
  return names;
}

std::optional<PatternTraits> traits_of(std::string_view name) {
  if (const PatternEntry* entry = find_pattern(name))
    return {{entry->name, nullptr, entry->takes_racks}};
  if (const SeriesEntry* entry = find_series_pattern(name)) return {{entry->name, entry, false}};
  return std::nullopt;
}

bool is_taken(const PatternTraits& pattern, std::string_view key) {
  if (pattern.series != nullptr) return pattern.takes(key);
  if (key == "racks" || key == "rack-map") return pattern.takes_racks;
  return std::find(kOfSeries.begin(), kOfSeries.end(), key) == kOfSeries.end() &&
         find_irregular(key) == nullptr;
}

void require_taken(const PatternTraits& pattern, std::string_view key) {
  if (is_taken(pattern, key)) return;
  if (pattern.series != nullptr) {
    throw InputError(fmt::format("{}: not an option of {}; it takes {}", key, pattern.name,
                                 fmt::join(pattern.series->options, ", ")));
  }
  if (key == "racks" || key == "rack-map") {
    throw InputError(fmt::format("{}: not an option of {}; hybrid takes it", key, pattern.name));
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

bool is_structure(const PatternTraits& pattern) {
  return pattern.series != nullptr && pattern.takes("operations") && !pattern.takes("variables");
}

bool is_one_sided(const PatternTraits& pattern) {
  return pattern.series != nullptr && pattern.takes("variables");
}

bool is_call(const PatternTraits& pattern) {
  return pattern.series != nullptr && pattern.takes("signal") && pattern.takes("aggregation");
}

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

}  // namespace slackline::sched
