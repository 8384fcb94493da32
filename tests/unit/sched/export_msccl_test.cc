// What is exported for MSCCL is played by a small interpreter of the XML, in random orders of
// thread blocks and with little room on the connections: every order must end, and with the
// message everywhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <deque>
#include <map>
#include <random>
#include <sstream>

#include "base/error.h"
#include "sched/compile.h"
#include "sched/export/msccl.h"
#include "tests/support/error_of.h"
#include "tests/unit/sched/sample_schedules.h"

namespace slackline::sched {
namespace {

using ::testing::HasSubstr;

struct Step {
  std::string type;
  std::string source_buffer;
  std::string target_buffer;
  int source = 0;
  int target = 0;
  int count = 0;
  int depends_on = -1;
  int depends_step = -1;
  bool awaited = false;
};

struct ThreadBlock {
  int send = -1;
  int recv = -1;
  std::vector<Step> steps;
};

struct Gpu {
  std::map<std::string, std::vector<long>> memory;
  std::vector<ThreadBlock> blocks;
};

std::vector<Gpu> parse(const std::string& text) {
  boost::property_tree::ptree tree;
  std::istringstream in(text);
  boost::property_tree::read_xml(in, tree);
  const auto& algo = tree.get_child("algo");
  for (const char* needed : {"outofplace", "minBytes", "maxBytes", "nchannels", "nchunksperloop"}) {
    EXPECT_TRUE(algo.get_optional<long>(std::string("<xmlattr>.") + needed).has_value()) << needed;
  }
  std::vector<Gpu> gpus;
  for (const auto& [gpu_name, gpu] : algo) {
    if (gpu_name != "gpu") continue;
    EXPECT_EQ(gpu.get<int>("<xmlattr>.id"), static_cast<int>(gpus.size()));
    Gpu& made = gpus.emplace_back();
    for (const char* buffer : {"i", "o", "s"}) {
      made.memory[buffer].assign(
          gpu.get<std::size_t>(std::string("<xmlattr>.") + buffer + "_chunks"), 0);
    }
    for (const auto& [block_name, block] : gpu) {
      if (block_name != "tb") continue;
      EXPECT_EQ(block.get<int>("<xmlattr>.id"), static_cast<int>(made.blocks.size()));
      ThreadBlock& thread_block = made.blocks.emplace_back();
      thread_block.send = block.get<int>("<xmlattr>.send");
      thread_block.recv = block.get<int>("<xmlattr>.recv");
      for (const auto& [step_name, step] : block) {
        if (step_name != "step") continue;
        EXPECT_EQ(step.get<int>("<xmlattr>.s"), static_cast<int>(thread_block.steps.size()));
        thread_block.steps.push_back(
            {step.get<std::string>("<xmlattr>.type"), step.get<std::string>("<xmlattr>.srcbuf"),
             step.get<std::string>("<xmlattr>.dstbuf"), step.get<int>("<xmlattr>.srcoff"),
             step.get<int>("<xmlattr>.dstoff"), step.get<int>("<xmlattr>.cnt"),
             step.get<int>("<xmlattr>.depid"), step.get<int>("<xmlattr>.deps"),
             step.get<int>("<xmlattr>.hasdep") == 1});
      }
      EXPECT_LE(thread_block.steps.size(), 64u);
    }
    EXPECT_LE(made.blocks.size(), 32u);
  }
  EXPECT_EQ(gpus.size(), algo.get<std::size_t>("<xmlattr>.ngpus"));
  return gpus;
}

// Plays the steps in an order drawn from `seed`, with room for `slots` messages on each connection.
// Whether all came to their end.
bool play(std::vector<Gpu>& gpus, std::uint64_t seed, std::size_t slots) {
  std::mt19937_64 random(seed);
  std::map<std::pair<int, int>, std::deque<std::vector<long>>> wire;
  std::vector<std::vector<std::size_t>> done;
  std::vector<std::pair<int, int>> turns;
  for (std::size_t g = 0; g < gpus.size(); ++g) {
    done.emplace_back(gpus[g].blocks.size(), 0);
    for (std::size_t b = 0; b < gpus[g].blocks.size(); ++b) turns.emplace_back(g, b);
  }
  const auto advance = [&](int g, int b) {
    Gpu& gpu = gpus[g];
    const ThreadBlock& block = gpu.blocks[b];
    if (done[g][b] == block.steps.size()) return false;
    const Step& step = block.steps[done[g][b]];
    if (step.depends_on >= 0) {
      const auto waited = static_cast<std::size_t>(step.depends_step);
      EXPECT_TRUE(gpu.blocks.at(step.depends_on).steps.at(waited).awaited);
      if (done[g][step.depends_on] <= waited) return false;
    }
    if (step.type == "s") {
      auto& queue = wire[{g, block.send}];
      if (queue.size() == slots) return false;
      std::vector<long> chunks;
      for (int c = 0; c < step.count; ++c) {
        chunks.push_back(gpu.memory.at(step.source_buffer).at(step.source + c));
      }
      queue.push_back(chunks);
    } else if (step.type == "r") {
      auto& queue = wire[{block.recv, g}];
      if (queue.empty()) return false;
      EXPECT_EQ(queue.front().size(), static_cast<std::size_t>(step.count));
      for (int c = 0; c < step.count; ++c) {
        gpu.memory.at(step.target_buffer).at(step.target + c) = queue.front()[c];
      }
      queue.pop_front();
    } else if (step.type == "cpy" || step.type == "re") {
      for (int c = 0; c < step.count; ++c) {
        long& target = gpu.memory.at(step.target_buffer).at(step.target + c);
        const long source = gpu.memory.at(step.source_buffer).at(step.source + c);
        target = step.type == "re" ? target + source : source;
      }
    } else {
      EXPECT_EQ(step.type, "nop");
    }
    ++done[g][b];
    return true;
  };
  for (bool moved = true; moved;) {
    moved = false;
    std::shuffle(turns.begin(), turns.end(), random);
    for (const auto& [g, b] : turns) {
      for (std::uint64_t n = random() % 3; n < 3 && advance(g, b); ++n) moved = true;
    }
    // A drawn turn may be empty: only a sweep in which everybody tried ends it.
    if (!moved) {
      for (const auto& [g, b] : turns) moved = advance(g, b) || moved;
    }
  }
  for (std::size_t g = 0; g < gpus.size(); ++g) {
    for (std::size_t b = 0; b < gpus[g].blocks.size(); ++b) {
      if (done[g][b] != gpus[g].blocks[b].steps.size()) return false;
    }
  }
  return true;
}

TEST(ExportMsccl, EveryPatternDeliversTheMessageInEveryOrder) {
  int played = 0;
  for (const PatternEntry& pattern : plan_patterns()) {
    for (std::uint32_t ranks : {2u, 3u, 5u, 8u}) {
      for (const char* blocks : {"1000", "7500"}) {
        for (const char* rest : {"", ",lower=put,ready=write", ",first-block=copy", ",root=1",
                                 ",in-flight=0,window=2"}) {
          const std::string text = std::string(pattern.name) + ":ranks=" + std::to_string(ranks) +
                                   ",bytes=" + blocks + ",block=1000" + rest;
          const Spec spec = parse_spec(text);
          const std::string xml = write_msccl(compile(spec));
          EXPECT_THAT(xml, HasSubstr("coll=\"broadcast\""));
          for (std::uint64_t seed = 0; seed < 3; ++seed) {
            std::vector<Gpu> gpus = parse(xml);
            std::vector<long>& root = gpus[spec.multicast.root.value].memory["o"];
            for (std::size_t c = 0; c < root.size(); ++c) root[c] = 100 + static_cast<long>(c);
            const std::vector<long> message = root;
            ASSERT_TRUE(play(gpus, seed, 1 + seed)) << text;
            for (const Gpu& gpu : gpus) ASSERT_EQ(gpu.memory.at("o"), message) << text;
            ++played;
          }
        }
      }
    }
  }
  EXPECT_GT(played, 500);
}

TEST(ExportMsccl, ReducesInPlace) {
  const std::string xml = write_msccl(testing::small_reduce());
  EXPECT_THAT(xml, HasSubstr("coll=\"custom\""));
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<Gpu> gpus = parse(xml);
    for (std::size_t g = 0; g < 4; ++g) gpus[g].memory["o"][0] = 1 << g;
    ASSERT_TRUE(play(gpus, seed, 1));
    EXPECT_EQ(gpus[0].memory["o"][0], 15);
  }
}

std::string refusal(const Schedule& schedule) {
  return testing::error_of<Unsupported>([&] { write_msccl(schedule); });
}

TEST(ExportMsccl, NamesTheLimitThatIsPassed) {
  EXPECT_EQ(
      refusal(compile(parse_spec("chain:ranks=2,bytes=65,block=1,ready=none"))),
      "msccl-xml: op 64 (send, rank 0) needs step 65 of its thread block; MSCCL's limit is 64");
  EXPECT_EQ(
      refusal(compile(parse_spec("sequential:ranks=34,bytes=1,block=1,ready=none"))),
      "msccl-xml: op 32 (send, rank 0) needs thread block 33 of its GPU; MSCCL's limit is 32");
  EXPECT_EQ(refusal(compile(parse_spec("chain:ranks=2,bytes=0,block=1,ready=none"))),
            "msccl-xml: op 0 (send, rank 0) moves no bytes; MSCCL steps move at least a chunk");
  EXPECT_EQ(refusal(compile(parse_spec("chain:ranks=1,bytes=8"))),
            "msccl-xml: the schedule moves no bytes; expected some");
  EXPECT_THAT(refusal(testing::put_with_copy()),
              HasSubstr("op 1 (calc, rank 0) has no counterpart in MSCCL"));
}

// What the runtime's reader does with a file: it wants each output that is used to be as long as a
// loop, keeps offsets in 16 bits, and has room for names of 255 characters, of which it keeps 63.
Schedule one_message(std::uint64_t source_bytes, std::uint64_t target_bytes, std::uint64_t offset,
                     const std::string& title) {
  ScheduleBuilder b(2);
  b.set_title(title);
  b.add_buffer(RankId(0), source_bytes);
  b.add_buffer(RankId(1), target_bytes);
  Channel c;
  c.src = RankId(0);
  c.dst = RankId(1);
  Op op;
  op.channel = b.add_channel(c);
  op.kind = OpKind::kSend;
  op.rank = RankId(0);
  op.reads = b.add_slice({BufferId(0), offset, 1});
  b.add(op);
  op.kind = OpKind::kRecv;
  op.rank = RankId(1);
  op.reads = {};
  op.writes = b.add_slice({BufferId(1), 0, 1});
  b.add(op);
  return b.build();
}

TEST(ExportMsccl, EveryOutputIsAsLongAsALoop) {
  const std::string xml = write_msccl(one_message(20, 10, 3, "x"));
  EXPECT_THAT(xml, HasSubstr("nchunksperloop=\"20\""));
  EXPECT_THAT(xml, HasSubstr("<gpu id=\"0\" i_chunks=\"0\" o_chunks=\"20\" s_chunks=\"0\">"));
  EXPECT_THAT(xml, HasSubstr("<gpu id=\"1\" i_chunks=\"0\" o_chunks=\"20\" s_chunks=\"0\">"));
}

TEST(ExportMsccl, NamesTheOffsetThatIsPassed) {
  EXPECT_THAT(write_msccl(one_message(40'000, 10, 32'767, "x")), HasSubstr("srcoff=\"32767\""));
  EXPECT_EQ(refusal(one_message(40'000, 10, 32'769, "x")),
            "msccl-xml: op 0 (send, rank 0) begins at chunk 32769 of 1 bytes; MSCCL's limit is "
            "32767");
}

TEST(ExportMsccl, TheNameIsNoLongerThanItsReaderHasRoomFor) {
  EXPECT_THAT(write_msccl(one_message(20, 10, 3, std::string(300, 'n'))),
              HasSubstr("<algo name=\"" + std::string(63, 'n') + "\" proto"));
}

TEST(ExportMsccl, RefusesChunksOfManySizes) {
  // 1000 bytes at offset 7 leave chunks of one byte.
  ScheduleBuilder b(2);
  b.add_buffer(RankId(0), 2000);
  b.add_buffer(RankId(1), 2000);
  Channel c;
  c.src = RankId(0);
  c.dst = RankId(1);
  Op op;
  op.channel = b.add_channel(c);
  op.kind = OpKind::kSend;
  op.rank = RankId(0);
  op.reads = b.add_slice({BufferId(0), 7, 1000});
  b.add(op);
  op.kind = OpKind::kRecv;
  op.rank = RankId(1);
  op.reads = {};
  op.writes = b.add_slice({BufferId(1), 7, 1000});
  b.add(op);
  EXPECT_EQ(
      refusal(b.build()),
      "msccl-xml: op 0 (send, rank 0) moves 1000 chunks of 1 bytes in one step; MSCCL's limit "
      "is 71");
}

}  // namespace
}  // namespace slackline::sched
