// Chakra's traces: what a schedule is in them, what they are as a schedule, and what is refused.
#include "sched/export/chakra.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/read_file.h"
#include "base/write_file.h"
#include "sched/export/chakra_schema.h"
#include "sched/file.h"
#include "sched/import/chakra.h"
#include "sched/import/chakra_files.h"
#include "sched/import/goal.h"
#include "sched/text.h"
#include "sched/verify.h"
#include "tests/support/error_of.h"
#include "tests/support/source_dir.h"
#include "tests/unit/sched/random_schedule.h"
#include "tests/unit/sched/sample_schedules.h"

namespace slackline::sched {
namespace {

using protozero::pbf_writer;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string with_length(const std::string& message) {
  std::string out;
  protozero::add_varint_to_buffer(&out, message.size());
  return out + message;
}

std::string head() {
  std::string bytes;
  pbf_writer out(bytes);
  out.add_string(chakra::metadata_field::kVersion, "1.0.0");
  return with_length(bytes);
}

struct Attribute {
  const char* name;
  std::int64_t value;
  std::uint32_t type = chakra::attribute_field::kInt64;
};

// A node as other tools write it.
std::string node(std::uint64_t id, int type, const std::vector<std::uint64_t>& waits,
                 const std::vector<Attribute>& attributes, std::uint64_t micros = 0) {
  std::string bytes;
  pbf_writer out(bytes);
  out.add_uint64(chakra::node_field::kId, id);
  out.add_int32(chakra::node_field::kType, type);
  for (const std::uint64_t wait : waits) {
    out.add_uint64(chakra::node_field::kDataDependencies, wait);
  }
  out.add_uint64(chakra::node_field::kDuration, micros);
  for (const Attribute& a : attributes) {
    pbf_writer attribute(out, chakra::node_field::kAttribute);
    attribute.add_string(chakra::attribute_field::kName, a.name);
    if (a.type == chakra::attribute_field::kString) {
      attribute.add_string(a.type, fmt::format("{}", a.value));
    } else {
      attribute.add_int64(a.type, a.value);
    }
  }
  return with_length(bytes);
}

constexpr int kComp = 4, kSendNode = 5, kRecvNode = 6, kColl = 7;

std::string send(std::uint64_t id, std::int64_t to, std::int64_t bytes,
                 const std::vector<std::uint64_t>& waits = {}, std::int64_t tag = 0) {
  return node(id, kSendNode, waits, {{"comm_size", bytes}, {"comm_dst", to}, {"comm_tag", tag}});
}
std::string receive(std::uint64_t id, std::int64_t from, std::int64_t bytes,
                    const std::vector<std::uint64_t>& waits = {}, std::int64_t tag = 0) {
  return node(id, kRecvNode, waits, {{"comm_size", bytes}, {"comm_src", from}, {"comm_tag", tag}});
}
std::string collective(std::uint64_t id, std::int64_t type, std::int64_t bytes,
                       std::vector<Attribute> more = {}) {
  more.push_back({"comm_type", type});
  more.push_back({"comm_size", bytes});
  return node(id, kColl, {}, more);
}

Schedule read(const std::vector<std::string>& ranks, const ChakraOptions& options = {}) {
  return read_chakra(ranks, "x", options);
}

std::string error_of(const std::vector<std::string>& ranks, const ChakraOptions& options = {}) {
  return testing::error_of<Error>([&] { read(ranks, options); });
}

TEST(Chakra, IsWhatIsWritten) {
  const std::string prefix = slackline::testing::source_dir() + "/tests/golden/chain.";
  const std::vector<std::string> traces = write_chakra(testing::small_chain());
  ASSERT_EQ(traces.size(), 3u);
  for (std::size_t r = 0; r < traces.size(); ++r) {
    const std::string path = fmt::format("{}{}.et", prefix, r);
    if (std::getenv("SLACKLINE_REGENERATE_GOLDEN") != nullptr) write_file(path, traces[r]);
    EXPECT_EQ(read_file(path), traces[r]) << path;
  }
}

TEST(Chakra, WhatIsReadAndWrittenAgainStaysTheSame) {
  int written = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const Schedule schedule = testing::random_schedule(seed, 8);
    std::vector<std::string> traces;
    try {
      traces = write_chakra(read(write_chakra(schedule)));
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), 2);
      continue;
    }
    ++written;
    ASSERT_EQ(write_chakra(read(traces)), traces) << seed;
  }
  EXPECT_GT(written, 50);
}

// The lanes, times to the picosecond and waits of a schedule come back.
TEST(Chakra, KeepsLanesAndTimes) {
  const Schedule schedule = read_goal(
      "num_ranks 2\nrank 0 {\ncalc 1500\ncalc 2000 cpu 1\ncalc 499 cpu 2\ncalc 7 cpu 300\n"
      "send 8b to 1 cpu 3\n}\nrank 1 {\nrecv 8b from 0\n}\n");
  const Schedule again = read(write_chakra(schedule));
  ASSERT_EQ(again.op_count(), schedule.op_count());
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const Op& one = schedule.ops()[i];
    const Op& other = again.ops()[i];
    EXPECT_EQ(other.lane, one.lane) << i;
    EXPECT_EQ(again.arguments(other).duration, schedule.arguments(one).duration) << i;
    EXPECT_EQ(other.rank, one.rank) << i;
  }
}

// Of a wait for an issue become waits for what that operation waits for; not twice.
TEST(Chakra, AWaitForAnIssueWaitsForWhatThatWaitsFor) {
  ScheduleBuilder b(1);
  Op op;
  op.kind = OpKind::kCalc;
  op.rank = RankId(0);
  const OpId first = b.add(op, {Time{1'000'000}, {}, {}, {}});
  const OpId second = b.add(op, {Time{2'000'000}, {}, {}, {}});
  const OpId third = b.add(op, {Time{3'000'000}, {}, {}, {}});
  b.add_edge(first, second);
  b.add_edge(second, third, On::kIssued);
  const Schedule again = read(write_chakra(b.build()));
  ASSERT_EQ(again.edges().size(), 2u);
  EXPECT_EQ(again.edges()[1], (Edge{first, third, On::kDone}));

  ScheduleBuilder lanes(1);
  const OpId one = lanes.add(op, {Time{1}, {}, {}, {}});
  op.lane = 1;
  lanes.add_edge(one, lanes.add(op, {Time{1}, {}, {}, {}}), On::kIssued);
  const Schedule refused = lanes.build();
  EXPECT_EQ(testing::error_of<Unsupported>([&] { write_chakra(refused); }),
            "chakra: op 1 (calc, rank 0) waits for the issue of op 0 (calc, rank 0), which is "
            "on another lane; expected one before it on its lane, or a wait for its end");

  const Schedule to_itself = read_text(
      "slackline schedule 1\nranks 1\nchannel 0 from 0 to 0\nrank 0\n0 recv on 0\n1 send on 0\n");
  EXPECT_EQ(testing::error_of<Unsupported>([&] { write_chakra(to_itself); }),
            "chakra: op 0 (recv, rank 0) is of a message to its own rank; Chakra's go to others");
}

// What waits for a join waits for what the join waits for, wherever it stands.
TEST(Chakra, JoinsAreNoNodes) {
  ScheduleBuilder b(1);
  Op op;
  op.kind = OpKind::kCalc;
  op.rank = RankId(0);
  Op join = op;
  join.kind = OpKind::kJoin;
  const OpId early = b.add(op, {Time{1'000'000}, {}, {}, {}});
  const OpId first = b.add(op, {Time{1'000'000}, {}, {}, {}});
  const OpId second = b.add(op, {Time{2'000'000}, {}, {}, {}});
  const OpId both = b.add(join);
  const OpId third = b.add(op, {Time{3'000'000}, {}, {}, {}});
  const OpId behind = b.add(join);  // what `early` waits for
  b.add(join);                      // nobody waits for it
  b.add_edge(first, both);
  b.add_edge(third, behind, On::kIssued);
  b.add_edge(second, both);
  b.add_edge(both, third);
  b.add_edge(behind, early);
  const Schedule again = read(write_chakra(b.build()));
  ASSERT_EQ(again.op_count(), 4u);
  const auto of = [&](std::int64_t micros) {
    for (std::uint32_t i = 0; i < 4; ++i) {
      if (again.arguments(again.op(OpId(i))).duration == Time{micros * 1'000'000} &&
          (micros != 1 || again.edges_into(OpId(i)).empty())) {
        return OpId(i);
      }
    }
    return OpId::none();
  };
  // `third` and `early` both wait for the first two.
  ASSERT_EQ(again.edges().size(), 4u);
  for (const Edge& edge : again.edges()) {
    EXPECT_TRUE(edge.pred == of(1) || edge.pred == of(2)) << edge.pred.value;
    EXPECT_EQ(edge.on, On::kDone);
    EXPECT_TRUE(edge.succ == of(3) || again.edges_into(edge.succ).size() == 2);
  }
}

TEST(Chakra, JoinsOfManyForManyAreRefused) {
  constexpr std::uint32_t kMany = 2060;  // of which the square is more than 2^22 and 16 of each
  ScheduleBuilder b(1);
  Op op;
  op.kind = OpKind::kCalc;
  op.rank = RankId(0);
  std::vector<OpId> before;
  for (std::uint32_t i = 0; i < kMany; ++i) before.push_back(b.add(op, {Time{1}, {}, {}, {}}));
  op.kind = OpKind::kJoin;
  const OpId join = b.add(op);
  for (const OpId each : before) b.add_edge(each, join);
  op.kind = OpKind::kCalc;
  for (std::uint32_t i = 0; i < kMany; ++i) b.add_edge(join, b.add(op, {Time{1}, {}, {}, {}}));
  EXPECT_THAT(testing::error_of<Unsupported>([&] { write_chakra(b.build()); }),
              HasSubstr("with what joins put together the traces have more than"));
}

TEST(Chakra, CollectivesAreProved) {
  namespace type = chakra::collective_type;
  const std::int64_t bytes = 12000;
  for (const std::uint32_t ranks : {1u, 2u, 3u, 5u, 8u}) {
    for (const std::int64_t kind : {type::kAllReduce, type::kAllGather, type::kReduceScatter,
                                    type::kAllToAll, type::kBroadcast, type::kBarrier}) {
      std::vector<std::string> traces;
      for (std::uint32_t r = 0; r < ranks; ++r) {
        const std::vector<Attribute> root = {{"comm_src", ranks - 1}};
        traces.push_back(head() + node(0, kComp, {}, {}, 5 + r) +
                         collective(1, kind, kind == type::kAllToAll ? bytes * ranks : bytes,
                                    kind == type::kBroadcast ? root : std::vector<Attribute>()) +
                         node(2, kComp, {1}, {}, 1));
      }
      const Schedule schedule = read(traces);
      EXPECT_TRUE(verify(schedule).empty()) << ranks << ' ' << kind;
      if (kind != type::kBarrier) {
        EXPECT_FALSE(schedule.contract().post.empty());
      }
    }
  }
}

// Two ranks: each collective's messages, of the sizes that astra-sim's figures mean.
TEST(Chakra, CollectivesSendWhatTheirSizesMean) {
  namespace type = chakra::collective_type;
  const auto sent = [](std::int64_t kind) {
    const std::string trace = head() + collective(0, kind, 1000, {{"comm_src", 0}});
    const Schedule schedule = read({trace, trace, trace, trace});
    std::uint64_t bytes = 0;
    for (const Op& op : schedule.ops()) {
      if (op.kind == OpKind::kSend) bytes += schedule.payload_bytes(op);
    }
    return bytes;
  };
  EXPECT_EQ(sent(type::kAllReduce), 4u * 6 * 250);      // 2 (n − 1) shares of each rank
  EXPECT_EQ(sent(type::kReduceScatter), 4u * 3 * 250);  // n − 1 shares
  EXPECT_EQ(sent(type::kAllGather), 4u * 3 * 1000);     // n − 1 times what each gives
  EXPECT_EQ(sent(type::kAllToAll), 4u * 3 * 250);
  EXPECT_EQ(sent(type::kBroadcast), 3u * 1000);
}

TEST(Chakra, ControlDependenciesCountWhereTheyAreAskedFor) {
  std::string bytes;
  {
    pbf_writer out(bytes);
    out.add_uint64(chakra::node_field::kId, 1);
    out.add_int32(chakra::node_field::kType, kComp);
    out.add_uint64(chakra::node_field::kControlDependencies, 0);
  }
  const std::string trace = head() + node(0, kComp, {}, {}, 3) + with_length(bytes);
  EXPECT_TRUE(read({trace}).edges().empty());
  ChakraOptions options;
  options.control_dependencies = true;
  EXPECT_EQ(read({trace}, options).edges().size(), 1u);
}

TEST(Chakra, SaysFromWhichSizeOnAnExchangeEnds) {
  const std::vector<std::string> exchange = {head() + send(0, 1, 80) + receive(1, 1, 80, {0}),
                                             head() + send(0, 0, 80) + receive(1, 0, 80, {0})};
  EXPECT_THAT(
      error_of(exchange),
      ::testing::AllOf(StartsWith("x.0.et: node 0: deadlock: nodes "),
                       HasSubstr("or --eager 80, with which sends of up to so many bytes")));
  ChakraOptions options;
  options.eager_bytes = 80;
  EXPECT_EQ(error_of(exchange, options), "");
}

TEST(Chakra, IsRefusedWithTheFileAndTheNode) {
  const std::string empty = head();
  const std::string other = head() + receive(0, 0, 8);
  const auto with_attribute = [&](const char* name, std::int64_t value, std::uint32_t kind) {
    return head() + node(0, kSendNode, {},
                         {{"comm_size", 8}, {"comm_dst", 1}, {"comm_tag", 0}, {name, value, kind}});
  };
  constexpr std::uint32_t kInt = chakra::attribute_field::kInt64;
  constexpr std::uint32_t kText = chakra::attribute_field::kString;
  const std::string sound = head() + send(0, 1, 8);
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{sound.substr(0, sound.size() - 1), other},
       "x.0.et: byte 8: a message of 49 bytes, of which 48 are there; expected all"},
      {{""}, "x.0.et: byte 0: no message of Chakra's schema (end of buffer exception); expected "},
      {{"hello, world\n"}, "x.0.et: byte 0: a message of 104 bytes, of which 12 are there"},
      {{"\x1f\x8b\x08"}, "x.0.et: it is compressed; expected what gunzip makes of it"},
      {{head() + node(7, 0, {}, {})}, "x.0.et: byte 8: node 7 has type 0; expected 1 to 7, as "},
      {{head() + node(7, 8, {}, {})}, "x.0.et: byte 8: node 7 has type 8; expected 1 to 7"},
      {{head() + node(7, 2, {}, {})},
       "x.0.et: node 7: a MEM_LOAD_NODE or MEM_STORE_NODE is not supported"},
      {{head() + node(7, kSendNode, {}, {{"comm_dst", 1}, {"comm_tag", 0}}), other},
       "x.0.et: node 7: it has no comm_size; expected one"},
      {{head() + node(7, kSendNode, {}, {{"comm_size", 8}, {"comm_tag", 0}}), other},
       "x.0.et: node 7: it has no comm_dst; expected one"},
      {{head() + node(7, kSendNode, {}, {{"comm_size", 8}, {"comm_dst", 1}}), other},
       "x.0.et: node 7: it has no comm_tag; expected one"},
      {{with_attribute("comm_size", 5, kText), other},
       "x.0.et: byte 8: attribute comm_size of node 0: expected a whole number"},
      {{with_attribute("comm_size", -5, kInt), other},
       "x.0.et: node 0: comm_size is -5; expected 0 to 4611686018427387904"},
      {{with_attribute("comm_dst", 2, kInt), other},
       "x.0.et: node 0: comm_dst is 2; expected 0 to 1"},
      {{with_attribute("comm_dst", 0, kInt), other},
       "x.0.et: node 0: a message to its own rank; expected another one"},
      {{with_attribute("comm_src", 1, kInt), other},
       "x.0.et: node 0: comm_src is 1 in the trace of rank 0; expected that rank"},
      {{with_attribute("is_cpu_op", 1, chakra::attribute_field::kBool), other},
       "x.0.et: node 0: communication on the CPU (is_cpu_op) is not supported"},
      {{with_attribute("pg_name", 3, kText), other},
       "x.0.et: node 0: communication of group '3' (pg_name) is not supported"},
      {{with_attribute("pg_name", 3, kInt), other},
       "x.0.et: byte 8: attribute pg_name of node 0: expected a text"},
      {{with_attribute("involved_dim", 1, kInt), other},
       "x.0.et: byte 8: attribute involved_dim of node 0: expected a list of truths"},
      {{with_attribute("is_cpu_op", 1, kText), other},
       "x.0.et: byte 8: attribute is_cpu_op of node 0: expected a truth"},
      {{with_attribute("slackline_lane", 65536, kInt), other},
       "x.0.et: node 0: slackline_lane is 65536; expected 0 to 65535"},
      {{sound, empty},
       "x.0.et: node 0: the send to rank 1 with tag 0 has no receive; expected one in rank 1"},
      {{empty, other},
       "x.1.et: node 0: the receive from rank 0 with tag 0 has no send; expected one in rank 0"},
      {{sound, head() + receive(4, 0, 9)},
       "x.0.et: node 0: it sends 8 bytes, but node 4 of rank 1 receives 9; expected equal sizes"},
      {{head() + node(0, kComp, {1}, {}) + node(1, kComp, {0}, {})},
       "x.0.et: node 0: dependency cycle: 0 waits for 1 waits for 0; expected none"},
      {{head() + node(0, kComp, {0}, {})},
       "x.0.et: node 0: dependency cycle: 0 waits for 0; expected none"},
      {{head() + node(0, kComp, {9}, {})},
       "x.0.et: node 0: it waits for node 9, which the trace does not have; expected one that it "},
      {{head() + node(0, kComp, {}, {}) + node(0, kComp, {}, {})},
       "x.0.et: node 0: it stands at byte 8 and at byte 15; expected each id once"},
      {{head() + node(0, kComp, {}, {{"num_ops", 5}})},
       "x.0.et: node 0: it says its instructions (num_ops) and no time; expected duration_micros"},
      {{head() + node(0, kComp, {}, {}, ~std::uint64_t{0})},
       "x.0.et: node 0: it takes 18446744073709551615 us; expected at most 9223372036854"},
      {{head() + collective(3, 1, 8)}, "x.0.et: node 3: REDUCE is not supported; expected ALL_RED"},
      {{head() + collective(3, 77, 8)}, "x.0.et: node 3: 77 is not supported; expected ALL_REDUCE"},
      {{head() + collective(3, 5, 8)},
       "x.0.et: node 3: a BROADCAST whose root is not told; expected comm_src, a rank of 0 to 0"},
      {{head() + collective(3, 6, 9), head() + collective(3, 6, 9)},
       "x.0.et: node 3: an ALL_TO_ALL of 9 bytes among 2 ranks; expected a multiple"},
      {{head() + collective(3, 0, 8), head() + collective(4, 0, 9)},
       "x.1.et: node 4: collective 0 is ALL_REDUCE of 9 bytes, but in rank 0 (node 3) ALL_REDUCE "
       "of "
       "8 bytes; expected the same"},
      {{head() + collective(3, 0, 8), empty},
       "x.0.et: node 3: collective 0 of rank 0, but rank 1 has 0; expected one of each rank"},
      {{empty, head() + collective(3, 0, 8)},
       "x.1.et: node 3: collective 0 of rank 1, but rank 0 has 0; expected one of each rank"},
      {{head() + node(3, kColl, {}, {{"comm_size", 8}})},
       "x.0.et: node 3: it has no comm_type; expected one"},
  };
  for (const auto& [ranks, expected] : cases) EXPECT_THAT(error_of(ranks), StartsWith(expected));
}

TEST(Chakra, EveryPrefixAndEveryChangedByteReadsOrIsRefused) {
  const std::vector<std::string> sound = write_chakra(testing::small_chain());
  ASSERT_EQ(error_of(sound), "");
  for (std::size_t n = 0; n < sound[0].size(); ++n) {
    EXPECT_NE(error_of({sound[0].substr(0, n), sound[1], sound[2]}), "") << n;
  }
  for (std::size_t i = 0; i < sound[0].size(); ++i) {
    for (const char byte : {'\0', '\1', '\x7f', '\xff'}) {
      std::vector<std::string> changed = sound;
      changed[0][i] = byte;
      error_of(changed);
    }
  }
}

TEST(ChakraFiles, AreFoundByAnyOfTheirNames) {
  const std::string folder = ::testing::TempDir() + "/chakra_files";
  std::filesystem::create_directories(folder + "/a");
  std::filesystem::create_directories(folder + "/b");
  for (const char* name : {"/a/t.0.et", "/a/t.1.et", "/a/t.01.et", "/a/t.json", "/b/t.0.et",
                           "/b/t.2.et", "/b/u.0.et"}) {
    write_file(folder + name, "");
  }
  for (const char* path : {"/a", "/a/t", "/a/t.0.et", "/a/t.1.et"}) {
    const auto files = chakra_files(folder + path);
    ASSERT_TRUE(files) << path;
    EXPECT_EQ(files->of_rank(1), folder + "/a/t.1.et");
    EXPECT_EQ(files->ranks, 2u);
  }
  EXPECT_FALSE(chakra_files(folder + "/a/t.json"));
  EXPECT_FALSE(chakra_files(folder + "/a/t.2.et"));
  EXPECT_FALSE(chakra_files(folder + "/a/u"));
  const auto error_at = [&](const char* path) -> std::string {
    return testing::error_of([&] { chakra_files(folder + path); });
  };
  EXPECT_EQ(error_at("/b/t.0.et"),
            folder + "/b/t.1.et: it is missing, and " + folder +
                "/b/t.2.et is there; expected the trace of each rank from 0 on");
  EXPECT_EQ(error_at("/b"), folder +
                                "/b: a folder with the traces of 2 programs, 't' and 'u' among "
                                "them; expected one, or a trace's file");
  EXPECT_EQ(error_at(""), folder +
                              ": a folder without traces; expected a file, or a folder of Chakra "
                              "traces NAME.RANK.et");
  std::filesystem::remove_all(folder);
}

// A length of 32,639 bytes is the mark of UTF-16.
TEST(ChakraFiles, AreNoText) {
  std::string bytes;
  {
    pbf_writer out(bytes);
    out.add_string(chakra::metadata_field::kVersion, std::string(32639 - 4, '1'));
  }
  ASSERT_EQ(bytes.size(), 32639u);
  const std::string path = ::testing::TempDir() + "/chakra_mark.0.et";
  write_file(path, with_length(bytes) + node(0, kComp, {}, {}, 1));
  EXPECT_EQ(load_schedule(path).op_count(), 1u);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace slackline::sched
