#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
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
  Entries (*list)();
  const char* detail;    // the key of Entry::detail; null if it has none
  bool counted = false;  // in JSON its detail is the number
};
constexpr std::array kTopics = {
    Topic{"patterns", list_patterns, nullptr},         Topic{"options", list_options, "values"},
    Topic{"platforms", list_platforms, "nodes", true}, Topic{"engines", list_engines, "links"},
    Topic{"transports", list_transports, nullptr},     Topic{"formats", list_formats, "by"},
};

class List : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.positional("TOPIC", topic_,
                         "patterns, options, platforms, engines, transports or formats");
    arguments.positional("PATTERN", pattern_, "whose options; all patterns' unless given", false);
    arguments.flag("--json", json_, "print one JSON document");
  }

  int run(Console& console) override {
    const Topic& topic = find_topic();
    if (!pattern_.empty() && topic.name != "options") {
      throw InputError(fmt::format(
          "list: '{}' is not an argument of it; see `slackline list --help`", pattern_));
    }
    const Entries entries = pattern_.empty() ? topic.list() : list_options_of(pattern_);
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
  std::string pattern_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_list() { return std::make_unique<List>(); }

}  // namespace slackline::cli
