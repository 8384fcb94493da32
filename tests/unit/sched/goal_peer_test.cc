// What we write as GOAL, read as LogGOPSim and ATLAHS read it.
#include "tests/support/goal_peer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/read_file.h"
#include "base/write_file.h"
#include "sched/builder.h"
#include "sched/compile.h"
#include "sched/event_graph.h"
#include "sched/export/goal.h"
#include "sched/export/goal_binary.h"
#include "sched/file.h"
#include "tests/support/error_of.h"
#include "tests/unit/sched/random_schedule.h"
#include "tests/unit/sched/sample_schedules.h"

namespace slackline::sched {
namespace {

using slackline::testing::GoalPeerReader;
using slackline::testing::PeerDependency;
using slackline::testing::PeerOp;
using slackline::testing::PeerRank;

std::string peer_error(const std::string& text) {
  return testing::error_of<std::runtime_error>([&] { GoalPeerReader::read(text); });
}

// The peer of the tests itself, by what their program was seen to do.
TEST(GoalPeer, LosesTheCharacterBehindBlanksWhereAStatementBegins) {
  const auto program = [](const std::string& statements) {
    return "num_ranks 1\nrank 0 {\n" + statements + "}\n";
  };
  EXPECT_EQ(peer_error(program("op0: calc 1\nop1: calc 1\nop1 requires op0\n")), "");
  EXPECT_NE(peer_error(program("  op0: calc 1\n  op1: calc 1\n  op1 requires op0\n"))
                .find("label op0 is undefined"),
            std::string::npos);
  const std::vector<PeerRank> shifted = GoalPeerReader::read(program("  xcalc 7\n \n"));
  ASSERT_EQ(shifted[0].ops.size(), 1u);
  EXPECT_EQ(shifted[0].ops[0].kind, "calc");
  EXPECT_NE(peer_error(program("  // a comment\n")), "");
  EXPECT_EQ(peer_error(program("// a comment\n")), "");
  EXPECT_NE(peer_error(program("calc 1 // a comment\n")), "");
  EXPECT_NE(peer_error(program("calc 1 }\n")), "");
  EXPECT_EQ(peer_error(program("a:send10bto0tag3cpu1nic2\na: calc 0\nb:calc1\n")), "");
  EXPECT_NE(peer_error(program("send 10b to 0 cpu 0 tag 1\n")), "");
  EXPECT_NE(peer_error("rank 0 {\n}\n"), "");
}

// Every operation, and every dependency: those of the edges, and `irequires` for the order of a
// channel's initiators where no edge keeps it.
std::string difference(const Schedule& schedule, const std::vector<PeerRank>& ranks) {
  if (ranks.size() != schedule.rank_count()) return "number of ranks";
  const ChannelOrder order = channel_order(schedule);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> tags[2];
  for (std::uint32_t r = 0; r < schedule.rank_count(); ++r) {
    const std::uint32_t first = schedule.first_op(RankId(r)).value;
    const std::uint32_t end = schedule.end_op(RankId(r)).value;
    if (ranks[r].ops.size() != end - first) return fmt::format("operations of rank {}", r);
    std::vector<PeerDependency> expected;
    for (std::uint32_t i = first; i != end; ++i) {
      const Op& op = schedule.op(OpId(i));
      const PeerOp& peer = ranks[r].ops[i - first];
      const bool sends = is_fifo_source(op);
      const bool receives = op.kind == OpKind::kRecv;
      if (peer.kind != (sends ? "send" : receives ? "recv" : "calc")) {
        return fmt::format("kind of op {}", i);
      }
      if (peer.cpu != op.lane || peer.nic != 0) return fmt::format("cpu of op {}", i);
      if (sends || receives) {
        const Channel& channel = schedule.channel(op.channel);
        const Op& source = receives ? schedule.op(op.match) : op;
        if (peer.size != schedule.bytes(source.reads)) return fmt::format("size of op {}", i);
        if (peer.peer != (sends ? channel.dst : channel.src).value) {
          return fmt::format("peer of op {}", i);
        }
        const PeerOp& other =
            ranks[peer.peer].ops.at(op.match.value - schedule.first_op(RankId(peer.peer)).value);
        if (other.tag != peer.tag) return fmt::format("tag of op {}", i);
        tags[sends ? 0 : 1][{channel.src.value, channel.dst.value}].push_back(peer.tag);
      }
      bool tied = !order.previous[i].valid() || receives;
      for (const Edge& edge : schedule.edges_into(OpId(i))) {
        expected.push_back({i - first, edge.pred.value - first, edge.on == On::kIssued});
        tied = tied || edge.pred == order.previous[i];
      }
      if (!tied) expected.push_back({i - first, order.previous[i].value - first, true});
    }
    std::vector<PeerDependency> found = ranks[r].dependencies;
    std::sort(found.begin(), found.end());
    std::sort(expected.begin(), expected.end());
    if (found != expected) return fmt::format("dependencies of rank {}", r);
  }
  // Those programs match by tag: each stands once for a pair of ranks, and never as "any".
  for (auto& side : tags) {
    for (auto& [pair, all] : side) {
      std::sort(all.begin(), all.end());
      if (std::adjacent_find(all.begin(), all.end()) != all.end()) return "a tag twice";
      if (!all.empty() && all.back() == 0xffffffffu) return "any tag";
    }
  }
  return "";
}

const std::vector<std::string>& some_specs() {
  static const std::vector<std::string> kSpecs = {
      "sequential:ranks=3,bytes=8KiB,block=4KiB",
      "chain:ranks=4,bytes=13KiB,block=4KiB",
      "binomial-tree:ranks=7,bytes=8KiB,block=4KiB",
      "binomial-pipeline:ranks=8,bytes=16KiB,block=4KiB",
      "binomial-pipeline:ranks=6,bytes=0",
      "circulant:ranks=5,bytes=16KiB,block=4KiB",
      "scatter-allgather:ranks=5,bytes=20KiB,block=4KiB",
      "double-tree:ranks=9,bytes=16KiB,block=4KiB",
  };
  return kSpecs;
}

TEST(GoalPeer, ReadsWhatIsWritten) {
  // Without operations, a program that LogGOPSim's simulator, unlike its reader, does not survive.
  EXPECT_EQ(
      GoalPeerReader::read(write_goal(compile(parse_spec("chain:ranks=1,bytes=1KiB")))).size(), 1u);
  for (const Schedule& schedule :
       {testing::small_chain(), testing::put_with_copy(), testing::small_reduce()}) {
    EXPECT_EQ(difference(schedule, GoalPeerReader::read(write_goal(schedule))), "");
  }
  for (const std::string& spec : some_specs()) {
    const Schedule schedule = compile(parse_spec(spec));
    EXPECT_EQ(difference(schedule, GoalPeerReader::read(write_goal(schedule))), "") << spec;
  }
}

TEST(GoalPeer, ReadsWhatIsWrittenOfRandomSchedules) {
  int written = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const Schedule schedule = testing::random_schedule(seed, 8);
    std::string text;
    try {
      text = write_goal(schedule);
    } catch (const Unsupported&) {
      continue;
    }
    ++written;
    ASSERT_EQ(difference(schedule, GoalPeerReader::read(text)), "") << seed << '\n' << text;
  }
  EXPECT_GT(written, 100);
}

// Other readers of GOAL go by lines: braces, `rank` and `num_ranks` begin theirs, and a statement
// is words with single blanks.
TEST(GoalPeer, NoLineBeginsOrEndsWithABlank) {
  const std::string text = write_goal(testing::put_with_copy());
  EXPECT_EQ(text.find("\n "), std::string::npos);
  EXPECT_EQ(text.find(" \n"), std::string::npos);
  EXPECT_EQ(text.find('\t'), std::string::npos);
}

TEST(GoalPeer, ALaneThatItsCpusCannotNameIsRefused) {
  const auto on_lane = [](std::uint16_t lane) {
    ScheduleBuilder b(1);
    Op op;
    op.rank = RankId(0);
    op.kind = OpKind::kJoin;
    op.lane = lane;
    b.add(op);
    return b.build();
  };
  EXPECT_EQ(GoalPeerReader::read(write_goal(on_lane(255)))[0].ops[0].cpu, 255);
  EXPECT_EQ(testing::error_of<Unsupported>([&] { write_goal(on_lane(256)); }),
            "goal: op 0 (join, rank 0) is on lane 256; GOAL's cpus are 0 to 255");
}

// Where those programs are installed, they read it themselves.
TEST(GoalPeer, TheProgramsThemselvesReadIt) {
  const auto installed = [](const char* program) {
    return std::system(fmt::format("command -v {} >/dev/null 2>&1", program).c_str()) == 0;
  };
  if (!installed("txt2bin")) GTEST_SKIP() << "txt2bin (LogGOPSim or ATLAHS) is not on PATH";
  const bool runs = installed("LogGOPSim");
  const std::filesystem::path folder = ::testing::TempDir();
  const std::string program = (folder / "goal_peer.goal").string();
  const std::string binary = (folder / "goal_peer.bin").string();
  for (const std::string& spec : some_specs()) {
    const Schedule schedule = compile(parse_spec(spec));
    write_file(program, write_goal(schedule));
    ASSERT_EQ(
        std::system(fmt::format("txt2bin -i '{}' -o '{}' >/dev/null", program, binary).c_str()), 0)
        << spec;
    EXPECT_EQ(read_file(binary), write_goal_binary(schedule)) << spec;
    EXPECT_EQ(load_schedule(binary).digest(), load_schedule(program).digest()) << spec;
    if (!runs) continue;
    EXPECT_EQ(std::system(fmt::format("LogGOPSim -f '{}' >/dev/null", binary).c_str()), 0) << spec;
  }
  std::filesystem::remove(program);
  std::filesystem::remove(binary);
}

}  // namespace
}  // namespace slackline::sched
