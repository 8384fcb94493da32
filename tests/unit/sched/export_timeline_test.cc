#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "sched/compile.h"
#include "sched/event_graph.h"
#include "sched/export/timeline.h"
#include "sched/export/timeline_chrome.h"
#include "sched/export/timeline_intervals.h"
#include "sched/export/timeline_svg.h"
#include "tests/unit/sched/sample_schedules.h"

namespace slackline::sched {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr double kNever = std::numeric_limits<double>::infinity();

// Times that respect the arcs: a tick of 1 µs between any two events that wait for each other.
Trace ticking_trace(const Schedule& schedule) {
  Trace trace;
  trace.schedule = schedule.digest();
  trace.engine = "test";
  trace.ops.resize(schedule.op_count());
  const ChannelOrder order = channel_order(schedule);
  std::vector<double> at(2 * schedule.op_count(), 0);
  const std::vector<EventId> events = topological_order(schedule).value();
  for (const EventId event : events) {
    OpTimes& op = trace.ops[event.op().value];
    double& time = at[event.value];
    for_each_arc_into(schedule, order, event, true, [&](EventId pred) {
      if (at[pred.value] < time) return;
      time = at[pred.value];
      op.cause = pred.op();
    });
    if (!event.is_done()) op.ready_s = time;
    time += 1e-6;
    if (!event.is_done()) op.issued_s = op.wire_s = time;
    if (event.is_done()) op.done_s = time;
  }
  return trace;
}

TEST(TimelineCsv, HasARowPerOperation) {
  const Schedule schedule = testing::put_with_copy();
  Trace trace = ticking_trace(schedule);
  trace.ops[7] = {2.5e-6, kNever, kNever, kNever, 1, {}};
  std::istringstream rows(find_timeline("csv")->write(schedule, trace));
  std::string row;
  std::getline(rows, row);
  EXPECT_EQ(row, "op,rank,kind,step,ready_s,issued_s,wire_s,done_s,cause,attempts");
  std::getline(rows, row);
  EXPECT_THAT(row, HasSubstr("0,0,put,0,0,1e-06,1e-06,"));
  int count = 1;
  for (std::string next; std::getline(rows, next); ++count) row = next;
  EXPECT_EQ(count, 8);
  EXPECT_EQ(row, "7,1,join,1,2.5e-06,inf,inf,inf,,1");
}

TEST(TimelineChrome, EventsAreWellFormedAndDoNotOverlap) {
  for (const Schedule& schedule :
       {testing::small_chain(), testing::put_with_copy(), testing::small_reduce(),
        compile(parse_spec("binomial-pipeline:ranks=7,bytes=5000,block=1000"))}) {
    const Trace trace = ticking_trace(schedule);
    const Json document = Json::parse(find_timeline("chrome")->write(schedule, trace));
    std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> threads;
    std::map<std::pair<int, int>, std::string> names;
    std::map<std::uint32_t, int> shown;
    std::map<int, const Json*> starts;
    std::size_t arrows = 0;
    for (const Json& event : document.at("traceEvents")) {
      const std::string ph = event.at("ph");
      const std::pair<int, int> thread = {event.at("pid"), event.at("tid")};
      if (ph == "X") {
        const double ts = event.at("ts").get<double>();
        const double dur = event.at("dur").get<double>();
        EXPECT_GE(dur, 0);
        threads[thread].push_back({ts, ts + dur});
        ++shown[event.at("args").at("op").get<std::uint32_t>()];
      } else if (ph == "M" && event.at("name") == "thread_name") {
        names[thread] = event.at("args").at("name");
      } else if (ph == "s") {
        starts[event.at("id")] = &event;
      } else if (ph == "f") {
        ++arrows;
        const Json& start = *starts.at(event.at("id"));
        EXPECT_EQ(start.at("name"), event.at("name"));
        EXPECT_EQ(start.at("cat"), event.at("cat"));
        EXPECT_LE(start.at("ts").get<double>(), event.at("ts").get<double>());
      }
    }
    for (auto& [thread, intervals] : threads) {
      EXPECT_TRUE(names.contains(thread));
      std::sort(intervals.begin(), intervals.end());
      for (std::size_t i = 1; i < intervals.size(); ++i) {
        EXPECT_LE(intervals[i - 1].second, intervals[i].first + 1e-9) << names[thread];
      }
    }
    std::size_t messages = 0;
    for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
      const Op& op = schedule.ops()[i];
      EXPECT_GE(shown[i], 1) << describe(schedule, OpId(i));
      messages += is_fifo_source(op) ? 1 : 0;
    }
    EXPECT_EQ(arrows, messages);
    EXPECT_EQ(starts.size(), messages);
  }
}

TEST(TimelineIntervals, OfARowDoNotOverlapAndCoverWhatHappened) {
  for (const Schedule& schedule :
       {testing::small_chain(), testing::put_with_copy(), testing::small_reduce(),
        compile(parse_spec("binomial-pipeline:ranks=7,bytes=5000,block=1000"))}) {
    const Trace trace = ticking_trace(schedule);
    std::vector<int> shown(schedule.op_count(), 0);
    for (std::uint32_t r = 0; r < schedule.rank_count(); ++r) {
      std::map<std::pair<TimelineTrack, std::uint32_t>, double> free_s;
      for (const TimelineInterval& each : timeline_intervals(schedule, trace, RankId(r))) {
        EXPECT_EQ(schedule.op(each.op).rank, RankId(r));
        EXPECT_LE(each.begin_s, each.end_s);
        double& last_s = free_s[{each.track, each.row}];
        EXPECT_LE(last_s, each.begin_s);
        last_s = each.end_s;
        ++shown[each.op.value];
      }
    }
    EXPECT_THAT(shown, ::testing::Each(::testing::Gt(0)));
  }
}

// Each NIC has rows of its own, and they bear its number.
TEST(TimelineIntervals, OfSeveralNicsStandApart) {
  const Schedule schedule = compile(parse_spec("chain:ranks=3,bytes=5000,block=1000,stripes=2"));
  const Trace trace = ticking_trace(schedule);
  TimelineNics nics;
  for (std::uint32_t i = 0; i < schedule.channels().size(); ++i) {
    nics.at_source.push_back(i % 3);
    nics.at_target.push_back((i + 1) % 3);
  }
  for (std::uint32_t r = 0; r < schedule.rank_count(); ++r) {
    std::map<std::pair<TimelineTrack, std::uint32_t>, std::string> names;
    std::map<std::pair<TimelineTrack, std::uint32_t>, double> free_s;
    std::vector<OpId> shown, shown_of_one;
    for (const TimelineInterval& each : timeline_intervals(schedule, trace, RankId(r), nics)) {
      const Op& op = schedule.op(each.op);
      std::string expected(name(each.track));
      if (each.track == TimelineTrack::kNicOut) {
        expected = fmt::format("nic {} out", op.channel.value % 3);
      } else if (each.track == TimelineTrack::kNicIn) {
        expected = fmt::format("nic {} in", (op.channel.value + 1) % 3);
      }
      EXPECT_EQ(track_name(each, nics), expected);
      EXPECT_EQ(names.try_emplace({each.track, each.row}, expected).first->second, expected);
      double& last_s = free_s[{each.track, each.row}];
      EXPECT_LE(last_s, each.begin_s);
      last_s = each.end_s;
      shown.push_back(each.op);
    }
    for (const TimelineInterval& each : timeline_intervals(schedule, trace, RankId(r))) {
      shown_of_one.push_back(each.op);
    }
    EXPECT_EQ(shown, shown_of_one);
  }
  for (const std::string_view format : {"chrome", "perfetto", "paje"}) {
    const std::string text = find_timeline(format)->write(schedule, trace, nics);
    EXPECT_THAT(text, HasSubstr("nic 1 out")) << format;
    EXPECT_THAT(text, ::testing::Not(HasSubstr("nic out"))) << format;
  }
  EXPECT_THAT(find_timeline("svg")->write(schedule, trace, nics), HasSubstr(">out 1</text>"));
}

TEST(TimelineSvg, HasABarForEachIntervalThatDoesNotOnlyWait) {
  const Schedule schedule = testing::put_with_copy();
  Trace trace = ticking_trace(schedule);
  trace.title = "<a & \"b\">\x1b";
  std::size_t expected = 0;
  for (std::uint32_t r = 0; r < schedule.rank_count(); ++r) {
    for (const TimelineInterval& each : timeline_intervals(schedule, trace, RankId(r))) {
      expected += each.track != TimelineTrack::kWait;
    }
  }
  const std::string svg = find_timeline("svg")->write(schedule, trace);
  std::size_t bars = 0;
  for (std::size_t at = svg.find("<title>"); at != std::string::npos;
       at = svg.find("<title>", at + 1)) {
    ++bars;
  }
  EXPECT_EQ(bars, expected);
  EXPECT_THAT(svg, HasSubstr("&lt;a &amp; &quot;b&quot;&gt;\\x1b"));
}

TEST(TimelineSvg, RefusesMoreThanAPictureShows) {
  const Schedule schedule = compile(parse_spec("chain:ranks=2,bytes=6000,block=1"));
  Trace trace;
  trace.schedule = schedule.digest();
  trace.ops.resize(schedule.op_count());
  ASSERT_GT(schedule.op_count(), kMostSvgOps);
  EXPECT_THROW(find_timeline("svg")->write(schedule, trace), InputError);
}

TEST(TimelineSvg, OfARunThatNeverBeganIsEmpty) {
  const Schedule schedule = testing::small_chain();
  Trace trace = ticking_trace(schedule);
  for (OpTimes& op : trace.ops) op = {0, kNever, kNever, kNever, 1, {}};
  EXPECT_THAT(find_timeline("svg")->write(schedule, trace), ::testing::Not(HasSubstr("<title>")));
}

TEST(TimelineChrome, LeavesOutWhatNeverHappened) {
  const Schedule schedule = testing::small_chain();
  Trace trace = ticking_trace(schedule);
  for (OpTimes& op : trace.ops) op = {0, kNever, kNever, kNever, 1, {}};
  const Json document = Json::parse(find_timeline("chrome")->write(schedule, trace));
  for (const Json& event : document.at("traceEvents")) EXPECT_EQ(event.at("ph"), "M");
}

// Of an operation that was passed over a trace has the moment in which that was known.
TEST(TimelineChrome, LeavesOutWhatWasPassedOver) {
  const Schedule schedule = testing::small_chain();
  Trace trace = ticking_trace(schedule);
  OpId send(0);
  while (schedule.op(send).kind != OpKind::kSend) ++send.value;
  const OpId recv = schedule.op(send).match;
  const auto count_of = [&](OpId id) {
    int found = 0;
    const Json document = Json::parse(find_timeline("chrome")->write(schedule, trace));
    for (const Json& event : document.at("traceEvents")) {
      if (event.at("ph") == "X" && event.at("args").at("op") == id.value) ++found;
    }
    return found;
  };
  const auto flows = [&] {
    int found = 0;
    const Json document = Json::parse(find_timeline("chrome")->write(schedule, trace));
    for (const Json& event : document.at("traceEvents")) found += event.at("ph") == "s" ? 1 : 0;
    return found;
  };
  EXPECT_EQ(count_of(send), 2);  // the post, and the message
  const int before = flows();
  trace.ops[recv.value].attempts = 0;
  EXPECT_EQ(count_of(recv), 0);
  EXPECT_EQ(flows(), before - 1);
  trace.ops[send.value].attempts = 0;
  EXPECT_EQ(count_of(send), 0);
}

TEST(TimelineChrome, ShowsSlackWhereItIsGiven) {
  const Schedule schedule = testing::small_chain();
  const Trace trace = ticking_trace(schedule);
  std::vector<double> total_s;
  std::vector<double> free_s;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    total_s.push_back(i * 2e-6);
    free_s.push_back(i * 1e-6);
  }
  const Json plain = Json::parse(write_chrome_timeline(schedule, trace));
  const Json slack = Json::parse(write_chrome_timeline(schedule, trace, total_s, free_s));
  ASSERT_EQ(plain.at("traceEvents").size(), slack.at("traceEvents").size());
  for (std::size_t i = 0; i < plain.at("traceEvents").size(); ++i) {
    Json event = slack.at("traceEvents")[i];
    if (event.at("ph") == "X") {
      const double op = event.at("args").at("op").get<double>();
      EXPECT_NEAR(event.at("args").at("total_float_us").get<double>(), 2 * op, 1e-9);
      EXPECT_NEAR(event.at("args").at("free_float_us").get<double>(), op, 1e-9);
      event.at("args").erase("total_float_us");
      event.at("args").erase("free_float_us");
    }
    EXPECT_EQ(event, plain.at("traceEvents")[i]);
  }
}

TEST(Timelines, RefuseATraceOfAnotherSchedule) {
  const Trace trace = ticking_trace(testing::put_with_copy());
  for (const TimelineEntry& entry : timelines()) {
    EXPECT_THROW(entry.write(testing::small_chain(), trace), InputError);
    EXPECT_EQ(find_timeline(entry.name)->name, entry.name);
  }
  EXPECT_EQ(find_timeline("pdf"), nullptr);
}

}  // namespace
}  // namespace slackline::sched
