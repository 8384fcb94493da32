#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/write_file.h"
#include "sched/compile.h"
#include "sched/event_graph.h"
#include "sched/export/events.h"
#include "sched/export/exporter.h"
#include "sched/export/graph.h"
#include "sched/graph.h"
#include "tests/support/error_of.h"
#include "tests/support/source_dir.h"
#include "tests/unit/sched/random_schedule.h"
#include "tests/unit/sched/sample_schedules.h"

namespace slackline::sched {
namespace {

using ::testing::HasSubstr;

std::size_t messages_of(const Schedule& schedule) {
  std::size_t messages = 0;
  for (const Op& op : schedule.ops()) {
    const bool source = op.kind == OpKind::kSend || op.kind == OpKind::kPut;
    messages += source && op.match.valid() ? 1 : 0;
  }
  return messages;
}

// Runs one of tests/networkx on `text`. 0 if it is content.
int python(const std::string& script, const std::string& text, const std::string& options) {
  const std::string path = (std::filesystem::path(::testing::TempDir()) /
                            (std::string("slackline-") + std::to_string(::getpid()) + ".export"))
                               .string();
  write_file(path, text);
  const std::string command = "python3 '" + slackline::testing::source_dir() + "/tests/networkx/" +
                              script + "' '" + path + "' " + options;
  const int status = std::system(command.c_str());
  std::filesystem::remove(path);
  return status;
}

bool have(const std::string& module) {
  return std::system(("python3 -c 'import " + module + "' 2>/dev/null").c_str()) == 0;
}

TEST(ExportGraphml, NetworkxReadsTheGraphAndFindsNoCycleOfEvents) {
  if (!have("networkx")) GTEST_SKIP() << "networkx is missing (Debian: python3-networkx)";
  for (const Schedule& schedule :
       {testing::small_chain(), testing::put_with_copy(), testing::small_reduce(),
        compile(parse_spec("binomial-pipeline:ranks=6,bytes=5MiB,block=1MiB")),
        compile(parse_spec("chain:ranks=1,bytes=0,block=1"))}) {
    const std::size_t messages = messages_of(schedule);
    EXPECT_EQ(python("check_graphml.py", write_graphml(schedule),
                     "--vertices " + std::to_string(schedule.op_count()) + " --edges " +
                         std::to_string(schedule.edges().size() + messages) + " --messages " +
                         std::to_string(messages)),
              0);
  }
}

// Two operations that wait for each other, with a title that must be quoted.
Schedule deadlock() {
  ScheduleBuilder b(1);
  b.set_title("<a> & \"b\" \x01 \xc3\xa9");
  Op op;
  op.rank = RankId(0);
  const OpId first = b.add(op);
  const OpId second = b.add(op);
  b.add_edge(first, second);
  b.add_edge(second, first, On::kIssued);
  return b.build();
}

TEST(ExportGraphml, NetworkxFindsTheCycleOfADeadlock) {
  if (!have("networkx")) GTEST_SKIP() << "networkx is missing (Debian: python3-networkx)";
  EXPECT_EQ(python("check_graphml.py", write_graphml(deadlock()), "--vertices 2 --cyclic"), 0);
}

// As check_events.py takes it.
std::string arcs_of(const Schedule& schedule) {
  std::map<std::string, int> count;
  const EventGraph graph(schedule);
  for (const Arc& arc : graph.arcs()) ++count[std::string(name(arc.kind))];
  std::string text;
  for (const auto& [kind, arcs] : count) {
    text += (text.empty() ? "" : ",") + kind + "=" + std::to_string(arcs);
  }
  return text;
}

TEST(ExportEvents, NetworkxReadsAGraphWithoutCycles) {
  if (!have("networkx")) GTEST_SKIP() << "networkx is missing (Debian: python3-networkx)";
  for (const Schedule& schedule :
       {testing::small_chain(), testing::put_with_copy(), testing::small_reduce(),
        compile(parse_spec("binomial-pipeline:ranks=6,bytes=5MiB,block=1MiB"))}) {
    const std::string options =
        "--ops " + std::to_string(schedule.op_count()) + " --arcs " + arcs_of(schedule);
    EXPECT_EQ(python("check_events.py", write_events_graphml(schedule), options), 0);
    Trace trace;
    trace.schedule = schedule.digest();
    trace.ops.resize(schedule.op_count());
    double at_s = 0;
    const std::vector<EventId> order = topological_order(schedule).value();
    for (const EventId event : order) {
      OpTimes& op = trace.ops[event.op().value];
      (event.is_done() ? op.done_s : op.issued_s) = at_s += 1e-6;
    }
    EXPECT_EQ(python("check_events.py", write_timed_events_graphml(schedule, trace),
                     options + " --timed"),
              0);
  }
}

TEST(ExportEvents, NetworkxFindsTheCycleOfADeadlock) {
  if (!have("networkx")) GTEST_SKIP() << "networkx is missing (Debian: python3-networkx)";
  EXPECT_EQ(python("check_events.py", write_events_graphml(deadlock()),
                   "--ops 2 --arcs own=2,edge=2 --cyclic"),
            0);
}

TEST(ExportEvents, DotHasEveryArcAndTime) {
  const Schedule schedule = compile(parse_spec("circulant:ranks=5,bytes=3MiB,block=1MiB"));
  Trace trace;
  trace.schedule = schedule.digest();
  trace.ops.resize(schedule.op_count());
  trace.ops[0].issued_s = 2.5e-6;
  trace.ops[0].done_s = std::numeric_limits<double>::infinity();
  const std::string kind(name(schedule.op(OpId(0)).kind));
  const std::string text = write_timed_events_dot(schedule, trace);
  EXPECT_THAT(text, HasSubstr("    i0 [label=\"" + kind + " 0 issued\\n2.5 us\"];\n"));
  EXPECT_THAT(text, HasSubstr("    d0 [label=\"" + kind + " 0 done\\nnever\"];\n"));
  EXPECT_THAT(text, HasSubstr("subgraph cluster_4 {"));
  const EventGraph graph(schedule);
  const std::string untimed = write_events_dot(schedule);
  for (const std::string& each : {text, untimed}) {
    std::set<std::string> lines;
    std::istringstream stream(each);
    for (std::string line; std::getline(stream, line);) {
      if (line.find(" -> ") != std::string::npos)
        lines.insert(line.substr(0, line.find_first_of("[;")));
    }
    std::set<std::string> arcs;
    for (const Arc& arc : graph.arcs()) {
      const auto id = [](std::uint32_t event) {
        return std::string(event % 2 == 0 ? "i" : "d") + std::to_string(event / 2);
      };
      arcs.insert("  " + id(arc.source) + " -> " + id(arc.target) +
                  (arc.kind == ArcKind::kOwn || arc.kind == ArcKind::kEdge ? "" : " "));
    }
    EXPECT_EQ(lines, arcs);
  }
  EXPECT_THAT(untimed, HasSubstr("    i0 [label=\"" + kind + " 0 issued\"];\n"));
}

TEST(ExportGoal, AnotherReaderPlaysTheProgramToItsEnd) {
  if (!have("re")) GTEST_SKIP() << "python3 is missing";
  for (const Schedule& schedule :
       {testing::small_chain(), testing::put_with_copy(), testing::small_reduce(),
        compile(parse_spec("binomial-pipeline:ranks=6,bytes=5MiB,block=1MiB")),
        compile(parse_spec("double-tree:ranks=9,bytes=5000,block=1000"))}) {
    EXPECT_EQ(python("check_goal.py", find_exporter("goal")->write(schedule),
                     "--statements " + std::to_string(schedule.op_count())),
              0);
  }
}

TEST(ExportDot, HoldsEveryOperationAndEdge) {
  const Schedule schedule = compile(parse_spec("circulant:ranks=5,bytes=3MiB,block=1MiB"));
  const std::string text = write_dot(schedule);
  std::size_t arrows = 0;
  for (std::size_t at = text.find("->"); at != std::string::npos; at = text.find("->", at + 2)) {
    ++arrows;
  }
  EXPECT_EQ(arrows, schedule.edges().size() + messages_of(schedule));
  EXPECT_THAT(text, HasSubstr("subgraph cluster_4 {"));
}

TEST(Exporters, RandomSchedulesAreWrittenOrRefusedByName) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Schedule schedule = testing::random_schedule(seed, 10);
    for (const ExporterEntry& entry : exporters()) {
      try {
        if (entry.write_ranks != nullptr) {
          EXPECT_EQ(entry.write_ranks(schedule).size(), schedule.rank_count());
          EXPECT_EQ(entry.write_ranks(schedule), entry.write_ranks(schedule));
          continue;
        }
        EXPECT_FALSE(entry.write(schedule).empty());
        EXPECT_EQ(entry.write(schedule), entry.write(schedule));
      } catch (const Unsupported& error) {
        EXPECT_THAT(error.what(), ::testing::StartsWith(std::string(entry.name)));
      }
    }
  }
}

TEST(Exporters, DynamicSchedulesAreRefusedWhereTheyMeanNothing) {
  const Schedule schedule = testing::queue_push();
  for (const char* format : {"dot", "graphml", "events-dot", "events-graphml", "goal", "goal-bin",
                             "csv", "msccl-xml", "mscclpp-json"}) {
    EXPECT_EQ(testing::error_of<Unsupported>([&] { find_exporter(format)->write(schedule); }),
              std::string(format) +
                  " takes static schedules only: op 2 (compare_swap, rank 0) opens "
                  "a retry region");
  }
}

TEST(Exporters, AFileOfEachRankTakesStaticSchedulesOnly) {
  EXPECT_THAT(testing::error_of<Unsupported>(
                  [&] { find_exporter("chakra")->write_ranks(testing::queue_push()); }),
              ::testing::StartsWith("chakra takes static schedules only: op 2 "));
}

TEST(Exporters, AreFoundByName) {
  for (const ExporterEntry& entry : exporters()) {
    ASSERT_NE(find_exporter(entry.name), nullptr);
    EXPECT_EQ(find_exporter(entry.name)->name, entry.name);
  }
  EXPECT_EQ(find_exporter("pdf"), nullptr);
  EXPECT_EQ(written_whole(*find_exporter("text"), testing::small_chain()),
            find_exporter("text")->write(testing::small_chain()));
  EXPECT_THROW(written_whole(*find_exporter("chakra"), testing::small_chain()), Unsupported);
}

}  // namespace
}  // namespace slackline::sched
