#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/named.h"
#include "base/suggest.h"
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/human.h"
#include "engines/engines.h"
#include "engines/other_simulators.h"
#include "hw/transport_choice.h"
#include "hw/transports.h"
#include "machine/node_count.h"
#include "machine/platform.h"
#include "machine/platform_figures.h"
#include "machine/topology_entry.h"
#include "sched/export/exporter.h"
#include "sched/export/timeline.h"

namespace slackline::cli {
namespace {

struct Entry {
  std::string name;
  std::string detail;  // of some topics; Topic::detail says what
  std::string summary;
  std::optional<std::uint32_t> count = {};  // the detail as a number, of topics that have one
};
using Entries = std::vector<Entry>;

Entries list_patterns() {
  Entries entries;
  for (const sched::PatternEntry& p : sched::patterns()) {
    entries.push_back({std::string(p.name), "", std::string(p.summary)});
  }
  return entries;
}

void add_options(const sched::PatternEntry& pattern, Entries& entries) {
  for (const sched::Option& o : pattern.options) {
    Entry entry{std::string(o.key), std::string(o.values), o.explained()};
    const auto same = std::ranges::find(entries, entry.name, &Entry::name);
    if (same == entries.end()) {
      entries.push_back(std::move(entry));
    } else if (same->detail != entry.detail || same->summary != entry.summary) {
      same->detail = "by pattern";
      same->summary = "its own in some: `slackline list options PATTERN`";
    }
  }
}

// Of all patterns together: each key once.
Entries list_options() {
  Entries entries;
  for (const sched::PatternEntry& p : sched::patterns()) add_options(p, entries);
  return entries;
}

Entries list_options_of(std::string_view pattern) {
  Entries entries;
  add_options(sched::pattern_named(pattern), entries);
  return entries;
}

Entries list_platforms() {
  Entries entries;
  for (const machine::PresetEntry& p : machine::presets()) {
    const auto nodes = machine::node_count(machine::load_platform(p.name));
    entries.push_back({std::string(p.name), nodes ? human_count(*nodes, "node") : "any number",
                       std::string(p.summary), nodes});
  }
  return entries;
}

Entries list_networks() {
  Entries entries;
  for (const machine::TopologyEntry* t : machine::topologies()) {
    entries.push_back({std::string(t->name), "", std::string(t->summary)});
  }
  return entries;
}

void add_figures(std::span<const machine::PlatformFigure> figures, Entries& entries) {
  for (const machine::PlatformFigure& f : figures) {
    std::string values(f.expected);  // as a spec has it: without a file's quotes
    std::erase(values, '"');
    Entry entry{std::string(f.key), std::move(values), std::string(f.meaning)};
    const auto same = std::ranges::find(entries, entry.name, &Entry::name);
    if (same == entries.end()) {
      entries.push_back(std::move(entry));
    } else if (same->detail != entry.detail || same->summary != entry.summary) {
      same->detail = same->detail == entry.detail ? entry.detail : "by network";
      same->summary = "its own in some: `slackline list figures NETWORK`";
    }
  }
}

// Of all networks together: each key once, those of every platform last.
Entries list_figures() {
  Entries entries;
  for (const machine::TopologyEntry* t : machine::topologies()) add_figures(t->figures, entries);
  add_figures(machine::platform_figures(), entries);
  return entries;
}

// Of a network, or of that which a preset has.
Entries list_figures_of(std::string_view name) {
  const std::vector<const machine::TopologyEntry*> networks = machine::topologies();
  machine::Topology topology;
  if (const machine::TopologyEntry* network = base::find_named(networks, name)) {
    topology.shape = network->shape;
  } else if (base::find_named(machine::presets(), name)) {
    topology = machine::load_platform(name).topology;
  } else {
    std::vector<std::string_view> names = base::names_of(networks);
    std::ranges::copy(base::names_of(machine::presets()), std::back_inserter(names));
    throw InputError("list figures: " + sched::unknown_name("network or platform", name, names));
  }
  Entries entries;
  for (const machine::PlatformFigure* figure : machine::figures_of(topology)) {
    add_figures(std::span(figure, 1), entries);
  }
  return entries;
}

Entries list_engines() {
  Entries entries;
  for (const machine::Engine* engine : engines::engines()) {
    entries.push_back({std::string(engine->name),
                       engine->shares_links ? "shared" : "each message's own",
                       std::string(engine->summary)});
  }
  return entries;
}

Entries list_transports() {
  Entries entries = {
      {std::string(hw::kAutoTransport), "", "shm where all ranks are on one host, else tcp"}};
  for (const hw::TransportEntry& t : hw::transports()) {
    entries.push_back({std::string(t.name), "", std::string(t.summary)});
  }
  return entries;
}

Entries list_formats() {
  Entries entries;
  for (const sched::ExporterEntry& e : sched::exporters()) {
    entries.push_back({std::string(e.name), "export", std::string(e.summary)});
  }
  for (const engines::OtherSimulator& other : engines::other_simulators()) {
    entries.push_back({std::string(other.name), "export", std::string(other.summary)});
  }
  for (const sched::TimelineEntry& e : sched::timelines()) {
    entries.push_back({std::string(e.name), "convert", std::string(e.summary)});
  }
  return entries;
}

struct Topic {
  std::string_view name;
  std::string_view summary;
  Entries (*list)();
  const char* detail;    // the key of Entry::detail; null if it has none
  bool counted = false;  // in JSON its detail is the number
  Entries (*list_of)(std::string_view name) = nullptr;  // of one alone, where TOPIC takes a name
};
constexpr std::array kTopics = {
    Topic{"patterns", "multicasts, collectives, calls and workloads: what a spec begins with",
          list_patterns, nullptr},
    Topic{"options", "what a spec says of its pattern; `list options PATTERN`: of one alone",
          list_options, "values", false, list_options_of},
    Topic{"platforms", "machines to simulate that are described already", list_platforms, "nodes",
          true},
    Topic{"networks", "what a platform of one's own begins with", list_networks, nullptr},
    Topic{"figures", "what a platform says of it; `list figures NETWORK`: of one alone",
          list_figures, "values", false, list_figures_of},
    Topic{"engines", "what says how long a schedule takes", list_engines, "links"},
    Topic{"transports", "what carries a real run", list_transports, nullptr},
    Topic{"formats", "what schedules and traces are written as", list_formats, "by"},
};

Entries list_topics() {
  Entries entries;
  for (const Topic& t : kTopics)
    entries.push_back({std::string(t.name), "", std::string(t.summary)});
  return entries;
}
constexpr Topic kTopicOfTopics = {"topics", "", list_topics, nullptr};

class List : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.positional("TOPIC", topic_, "of what; `slackline list` alone shows all topics",
                         false);
    arguments.positional("NAME", name_,
                         "the pattern whose options, or the network or platform whose figures; "
                         "all unless given",
                         false);
    arguments.flag("--json", json_, "print one JSON document");
  }

  int run(Console& console) override {
    const Topic& topic = find_topic();
    if (!name_.empty() && topic.list_of == nullptr) {
      throw InputError(
          fmt::format("list: '{}' is not an argument of it; see `slackline list --help`", name_));
    }
    const Entries entries = name_.empty() ? topic.list() : topic.list_of(name_);
    const Columns columns = columns_of(topic, entries);
    const Rows rows = rows_of(entries.size());
    if (!json_) {
      console.print(table_of(columns, rows, false).text());
    } else {
      JsonOutput json(std::nullopt, false);
      add_list(json, topic.name, rows, columns);
      console.print(json.text());
    }
    return 0;
  }

 private:
  const Topic& find_topic() const {
    if (topic_.empty()) return kTopicOfTopics;
    if (const Topic* found = base::find_named(kTopics, topic_)) return *found;
    throw InputError("list: " + sched::unknown_name("topic", topic_, base::names_of(kTopics)));
  }

  // In JSON the number of what is counted stands in the place of its text.
  static Columns columns_of(const Topic& topic, const Entries& entries) {
    Columns columns = {{"name", "", [&](auto i) { return entries[i].name; }}};
    if (topic.detail != nullptr) {
      columns.push_back({topic.detail, "", [&](auto i) {
                           return topic.counted
                                      ? Value(entries[i].count).shown_as(entries[i].detail)
                                      : Value(entries[i].detail);
                         }});
    }
    columns.push_back({"summary", "", [&](auto i) { return entries[i].summary; }});
    for (Column& column : columns) column.align = Align::kLeft;
    return columns;
  }

  std::string topic_;
  std::string name_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_list() { return std::make_unique<List>(); }

}  // namespace slackline::cli
