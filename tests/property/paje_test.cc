// Paje traces, parsed by the grammar of the format: events are those that the head defines, with
// its fields, in the order of their times; what they name is there. Held against the intervals.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "sched/export/timeline_intervals.h"
#include "sched/export/timeline_paje.h"
#include "tests/property/timeline_samples.h"

namespace slackline {
namespace {

using sched::OpId;
using sched::RankId;
using sched::Schedule;
using sched::TimelineInterval;
using sched::TimelineTrack;
using sched::Trace;

using Fields = std::map<std::string, std::string>;

// Words, of which those with spaces stand in quotes.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while (at < line.size()) {
    if (line[at] == ' ') {
      ++at;
    } else if (line[at] == '"') {
      const std::size_t end = line.find('"', at + 1);
      EXPECT_NE(end, std::string::npos) << line;
      words.push_back(line.substr(at + 1, end - at - 1));
      at = end + 1;
    } else {
      const std::size_t end = std::min(line.find(' ', at), line.size());
      words.push_back(line.substr(at, end - at));
      at = end;
    }
  }
  return words;
}

struct State {
  std::string container;  // its name, and those above it
  std::string value;
  double begin_s = 0;
  double end_s = 0;
  std::string op, step, bytes;
  friend auto operator<=>(const State&, const State&) = default;
};

struct Link {
  double begin_s = -1;
  double end_s = -1;
};

class Parsed {
 public:
  void read(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with('%')) {
        ASSERT_TRUE(containers_.empty()) << "the head comes first";
        head(words_of(line.substr(1)));
      } else {
        event(words_of(line));
      }
    }
    EXPECT_TRUE(containers_.empty()) << "all are destroyed";
  }

  std::vector<State> states;
  std::map<std::string, Link> links;  // by key

 private:
  struct Definition {
    std::string name;
    std::vector<std::string> fields;
  };
  struct Container {
    std::string name;
    std::string type;
    std::vector<State> open;
  };

  void head(const std::vector<std::string>& words) {
    if (words[0] == "EventDef") {
      ASSERT_EQ(words.size(), 3u);
      EXPECT_TRUE(definitions_.emplace(words[2], Definition{words[1], {}}).second);
      defined_ = words[2];
    } else if (words[0] == "EndEventDef") {
      defined_ = "";
    } else {
      ASSERT_EQ(words.size(), 2u);
      static const std::set<std::string> kTypes = {"string", "int", "date", "color"};
      EXPECT_TRUE(kTypes.contains(words[1]));
      definitions_.at(defined_).fields.push_back(words[0]);
    }
  }

  void event(const std::vector<std::string>& words) {
    const Definition& definition = definitions_.at(words.at(0));
    ASSERT_EQ(words.size(), definition.fields.size() + 1) << definition.name;
    Fields fields;
    for (std::size_t i = 0; i < definition.fields.size(); ++i) {
      fields[definition.fields[i]] = words[i + 1];
    }
    if (fields.contains("Time")) {
      const double time_s = std::stod(fields["Time"]);
      EXPECT_GE(time_s, now_s_);
      now_s_ = time_s;
    }
    apply(definition.name.substr(4), fields);
  }

  void apply(const std::string& what, Fields& f) {
    if (what.starts_with("Define")) {
      EXPECT_TRUE(f["Type"] == "0" || types_.contains(f["Type"])) << f["Type"];
      EXPECT_TRUE(types_.emplace(f["Alias"], f["Name"]).second) << f["Alias"];
    } else if (what == "CreateContainer") {
      const std::string above = f["Container"] == "0" ? "" : containers_.at(f["Container"]).name;
      EXPECT_TRUE(types_.contains(f["Type"]));
      EXPECT_TRUE(names_.insert(f["Name"]).second) << "a name of its own";
      const std::string path = above.empty() ? f["Name"] : above + "/" + f["Name"];
      EXPECT_TRUE(containers_.emplace(f["Alias"], Container{path, f["Type"], {}}).second);
    } else if (what == "DestroyContainer") {
      EXPECT_EQ(containers_.at(f["Name"]).type, f["Type"]);
      EXPECT_TRUE(containers_.at(f["Name"]).open.empty());
      containers_.erase(f["Name"]);
    } else if (what == "PushState") {
      Container& container = containers_.at(f["Container"]);
      EXPECT_TRUE(container.open.empty()) << "states of a track come one after the other";
      container.open.push_back(
          {container.name, types_.at(f["Value"]), now_s_, 0, f["Op"], f["Step"], f["Bytes"]});
    } else if (what == "PopState") {
      Container& container = containers_.at(f["Container"]);
      ASSERT_FALSE(container.open.empty());
      container.open.back().end_s = now_s_;
      states.push_back(container.open.back());
      container.open.pop_back();
    } else {
      ASSERT_TRUE(what == "StartLink" || what == "EndLink") << what;
      const bool starts = what == "StartLink";
      EXPECT_TRUE(containers_.contains(f[starts ? "StartContainer" : "EndContainer"]));
      EXPECT_EQ(types_.at(f["Value"]), "message");
      double& time_s = starts ? links[f["Key"]].begin_s : links[f["Key"]].end_s;
      EXPECT_EQ(time_s, -1);
      time_s = now_s_;
    }
  }

  std::map<std::string, Definition> definitions_;
  std::string defined_;
  std::map<std::string, std::string> types_;  // and values
  std::map<std::string, Container> containers_;
  std::set<std::string> names_;
  double now_s_ = 0;
};

double rounded_s(double time_s) { return std::stod(fmt::format("{:.12f}", time_s)); }

void expect_parsed(const Schedule& schedule, const Trace& trace, const std::string& what) {
  std::string text;
  sched::write_paje_timeline(schedule, trace, [&](std::string_view piece) {
    EXPECT_LE(piece.size(), std::size_t{1} << 17) << "not held whole";
    text += piece;
  });
  Parsed parsed;
  parsed.read(text);

  std::vector<State> expected;
  std::map<std::uint32_t, const TimelineInterval*> shown;  // of a NIC's or a waiting track
  std::vector<std::vector<TimelineInterval>> of_rank;
  for (std::uint32_t r = 0; r < schedule.rank_count(); ++r) {
    of_rank.push_back(timeline_intervals(schedule, trace, RankId(r)));
    for (const TimelineInterval& each : of_rank.back()) {
      const sched::Op& op = schedule.op(each.op);
      const std::string rank = "rank " + std::to_string(r);
      std::string track =
          rank + ' ' + std::string(name(each.track)) + ' ' + std::to_string(each.row);
      if (each.part != 0) track += " part " + std::to_string(each.part);
      expected.push_back(
          {"run/" + rank + '/' + track, (each.posts ? "post " : "") + std::string(name(op.kind)),
           rounded_s(each.begin_s), rounded_s(each.end_s), std::to_string(each.op.value),
           std::to_string(op.step), std::to_string(schedule.payload_bytes(op))});
      if (each.track != TimelineTrack::kLane) shown[each.op.value] = &each;
    }
  }
  std::sort(expected.begin(), expected.end());
  std::sort(parsed.states.begin(), parsed.states.end());
  ASSERT_EQ(parsed.states.size(), expected.size()) << what;
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_EQ(parsed.states[i], expected[i]) << what;

  std::size_t messages = 0;
  for (const auto& [id, from] : shown) {
    const sched::Op& op = schedule.op(OpId(id));
    if (!is_initiator(op.kind) || !op.match.valid() || !shown.contains(op.match.value)) continue;
    ++messages;
    const Link& link = parsed.links.at(std::to_string(id));
    EXPECT_EQ(link.begin_s, rounded_s(from->begin_s)) << what;
    EXPECT_EQ(link.end_s, rounded_s(shown.at(op.match.value)->end_s)) << what;
  }
  EXPECT_EQ(parsed.links.size(), messages) << what;
}

TEST(Paje, ShowsWhatRandomRunsDid) { testing::for_runs(expect_parsed); }

TEST(Paje, TakesTimesThatNoRunWouldHave) { testing::for_odd_traces(expect_parsed); }

}  // namespace
}  // namespace slackline
