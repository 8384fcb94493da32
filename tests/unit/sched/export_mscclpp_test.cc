// What is exported for MSCCL++ is read back and proved, with the same bytes at the same ranks; and
// what a plan cannot say is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "base/read_file.h"
#include "sched/compile.h"
#include "sched/export/mscclpp.h"
#include "sched/export/mscclpp_plan.h"
#include "sched/import/mscclpp.h"
#include "sched/text.h"
#include "sched/verify.h"
#include "tests/support/error_of.h"
#include "tests/support/source_dir.h"
#include "tests/unit/sched/sample_schedules.h"

namespace slackline::sched {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kChunk = 4096;  // of a plan that is read without --chunk

// A chunk of a rank's memory, and which chunk of which value stands there, of how many terms.
using Claim = std::tuple<std::uint32_t, std::uint64_t, std::uint32_t, std::uint64_t, std::uint32_t>;

std::set<Claim> claims(const Schedule& schedule, const std::vector<Fact>& facts,
                       std::uint64_t chunk) {
  std::set<Claim> out;
  for (const Fact& fact : facts) {
    const std::uint32_t rank = schedule.buffers()[fact.slice.buffer.value].rank.value;
    for (std::uint64_t at = 0; at < fact.slice.bytes; at += chunk) {
      out.insert({rank, (fact.slice.offset + at) / chunk, fact.value.value,
                  (fact.value_offset + at) / chunk, fact.terms});
    }
  }
  return out;
}

std::string spec_plan(const std::string& spec) { return write_mscclpp(compile(parse_spec(spec))); }

std::string first_finding(const Schedule& schedule) {
  const Diagnostics found = verify(schedule);
  return found.empty() ? "" : found.front().message;
}

std::string collective_in(const std::string& plan) {
  const std::string key = "\"collective\": \"";
  const std::size_t at = plan.find(key) + key.size();
  return plan.substr(at, plan.find('"', at) - at);
}

TEST(ExportMscclpp, WhatIsReadBackClaimsTheSameAndIsProved) {
  const std::pair<std::string, std::string> cases[] = {
      {"chain:ranks=4,bytes=64KiB,block=16KiB", "broadcast"},
      {"binomial-tree:ranks=8,bytes=32KiB,block=16KiB,root=3", "broadcast"},
      {"binomial-pipeline:ranks=8,bytes=64KiB,block=8KiB", "broadcast"},
      {"scatter-allgather:ranks=6,bytes=48KiB,block=8KiB", "broadcast"},
      {"double-tree:ranks=5,bytes=64KiB,block=16KiB", "broadcast"},
      {"allgather:ranks=5,bytes=16KiB,by=ring", "allgather"},
      {"allgather:ranks=8,bytes=16KiB,by=recursive-doubling", "allgather"},
      {"allreduce:ranks=4,bytes=64KiB,by=ring", "allreduce"},
      {"allreduce:ranks=6,bytes=48KiB,by=recursive-doubling", "allreduce"},
      {"allreduce:ranks=8,bytes=64KiB,by=rabenseifner", "allreduce"},
      {"reduce-scatter:ranks=4,bytes=64KiB,by=ring", "reducescatter"},
      {"reduce-scatter:ranks=8,bytes=64KiB,by=recursive-halving", "reducescatter"},
  };
  int tried = 0;
  for (const auto& [spec, collective] : cases) {
    for (const char* rest : {"", ",ready=none", ",ready=write", ",in-flight=0,window=2"}) {
      SCOPED_TRACE(spec + rest);
      const Schedule schedule = compile(parse_spec(spec + rest));
      const std::string plan = write_mscclpp(schedule);
      EXPECT_EQ(collective_in(plan), collective);
      const Schedule back = read_mscclpp(plan);
      EXPECT_EQ(first_finding(back), "");
      const std::uint64_t chunk = plan_mscclpp(schedule).layout.chunk_bytes();
      EXPECT_EQ(claims(back, back.contract().post, kChunk),
                claims(schedule, schedule.contract().post, chunk));
      ++tried;
    }
  }
  EXPECT_EQ(tried, 48);
}

// Chunks of the first buffer of a rank, in text.
std::string fact_line(const char* kind, const Schedule& in, const Fact& fact, std::uint32_t rank,
                      std::uint64_t chunk) {
  std::uint32_t buffer = 0;
  while (in.buffers()[buffer].rank.value != rank) ++buffer;
  std::ostringstream line;
  line << kind << ' ' << buffer << '[' << fact.slice.offset / chunk * kChunk << '+'
       << (fact.slice.bytes + chunk - 1) / chunk * kChunk << "] value " << fact.value.value;
  if (fact.terms != 1) line << " terms " << fact.terms;
  if (fact.value_offset != 0) line << " at " << fact.value_offset / chunk * kChunk;
  return line.str() + "\n";
}

// Of a custom plan nothing is claimed about the end: the schedule's own contract is put there.
TEST(ExportMscclpp, ACustomPlanCarriesItsBytesToTheSameRanks) {
  for (const char* spec : {"scatter:ranks=8,bytes=16KiB", "scatter:ranks=5,bytes=16KiB,root=2",
                           "gather:ranks=6,bytes=16KiB", "scatter:ranks=4,bytes=8KiB,ready=none",
                           "gather:ranks=4,bytes=8KiB,ready=write"}) {
    SCOPED_TRACE(spec);
    const Schedule schedule = compile(parse_spec(spec));
    const std::string plan = write_mscclpp(schedule);
    EXPECT_EQ(collective_in(plan), "custom");
    const Schedule back = read_mscclpp(plan);
    EXPECT_TRUE(back.contract().post.empty());
    const std::uint64_t chunk = plan_mscclpp(schedule).layout.chunk_bytes();
    std::istringstream lines(write_text(back));
    std::string text;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("pre ") && !line.starts_with("digest ")) text += line + "\n";
    }
    for (const Fact& fact : schedule.contract().pre) {
      const Buffer& buffer = schedule.buffers()[fact.slice.buffer.value];
      if (buffer.bytes == 8) continue;  // credits
      text += fact_line("pre", back, fact, buffer.rank.value, chunk);
    }
    for (const Fact& fact : schedule.contract().post) {
      const Buffer& buffer = schedule.buffers()[fact.slice.buffer.value];
      text += fact_line("post", back, fact, buffer.rank.value, chunk);
    }
    const Schedule claimed = read_text(text);
    EXPECT_FALSE(claimed.contract().post.empty());
    EXPECT_EQ(first_finding(claimed), "");
  }
}

TEST(ExportMscclpp, WhatIsSentAndWhatComesMayBeTwoPartsOfABuffer) {
  const std::string plan = spec_plan("alltoall:ranks=4,bytes=16KiB");
  EXPECT_EQ(collective_in(plan), "alltoall");
  EXPECT_THAT(plan, HasSubstr("\"inplace\": false"));
  EXPECT_EQ(first_finding(read_mscclpp(plan)), "");
}

TEST(ExportMscclpp, WhatWasReadIsWrittenAgain) {
  const std::string folder = slackline::testing::source_dir() + "/tests/data/mscclpp/";
  for (const char* name : {"allgather_pair", "allreduce_pair", "reducescatter_three"}) {
    SCOPED_TRACE(name);
    const Schedule schedule = read_mscclpp(read_file(folder + name + ".json"));
    const std::string plan = write_mscclpp(schedule);
    EXPECT_EQ(std::string(name).substr(0, 9), collective_in(plan).substr(0, 9));
    const Schedule back = read_mscclpp(plan);
    EXPECT_EQ(first_finding(back), "");
    EXPECT_EQ(claims(back, back.contract().post, kChunk),
              claims(schedule, schedule.contract().post, kChunk));
    EXPECT_EQ(write_mscclpp(back), plan);
  }
}

std::vector<std::size_t> all_of(const std::string& text, const std::string& what) {
  std::vector<std::size_t> found;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    found.push_back(at);
  }
  return found;
}

// What the verifier or the reader says of a plan.
std::string fault(const std::string& plan) {
  try {
    return first_finding(read_mscclpp(plan));
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    return error.what();
  }
}

// Only the end of a put that nobody builds on may come late: the last messages', which a plan still
// waits for, since the GPU's part ends with it.
TEST(ExportMscclpp, NothingOfItCanBeLeftOut) {
  const std::string nothing =
      "\"name\": \"wait\",\n\"channel_ids\": [],\n\"channel_type\": \"memory\"";
  const std::pair<const char*, int> cases[] = {
      {"chain:ranks=3,bytes=16KiB,block=8KiB,ready=none,in-flight=0", 2},
      {"allgather:ranks=3,bytes=8KiB,by=ring,ready=none,in-flight=0", 3}};
  for (const auto& [spec, last_messages] : cases) {
    SCOPED_TRACE(spec);
    const std::string plan = spec_plan(spec);
    EXPECT_EQ(fault(plan), "");
    int left_out = 0;
    int unseen = 0;
    for (const char* name : {"nop", "signal", "put"}) {
      const std::string what = std::string("\"name\": \"") + name + "\"";
      for (const std::size_t at : all_of(plan, what)) {
        std::string damaged = plan;
        // An operation of another name, which asks for less.
        const std::string instead = std::string(name) == "put" ? "\"name\": \"flush\"" : nothing;
        std::string op = what;
        if (std::string(name) == "signal") {
          // Its channels are left out with it.
          op = plan.substr(at, plan.find('}', at) - at);
        }
        damaged.replace(at, op.size(), instead);
        ++left_out;
        if (!fault(damaged).empty()) continue;
        EXPECT_STREQ(name, "nop") << at;
        ++unseen;
      }
    }
    EXPECT_GT(left_out, 8);
    EXPECT_EQ(unseen, last_messages);
  }
}

TEST(ExportMscclpp, ALongProgramGoesOnInAnotherThreadBlock) {
  const Schedule schedule = compile(parse_spec("chain:ranks=3,bytes=320KiB,block=4KiB"));
  const MscclppPlan plan = plan_mscclpp(schedule);
  for (const MscclppGpu& gpu : plan.gpus) {
    EXPECT_GT(gpu.blocks.size(), 1u);
    for (std::size_t b = 0; b < gpu.blocks.size(); ++b) {
      EXPECT_LE(gpu.blocks[b].operations.size(), kMscclppOperations);
      EXPECT_EQ(gpu.blocks[b].operations.front().name == "barrier", b != 0);
      EXPECT_EQ(gpu.blocks[b].operations.back().name == "barrier", b + 1 != gpu.blocks.size());
    }
  }
  EXPECT_EQ(first_finding(read_mscclpp(write_mscclpp(schedule))), "");
}

TEST(ExportMscclpp, AReceiveThatFollowsAUseOfItsMemoryTellsItsSender) {
  // Rank 1 receives twice into the same bytes and copies what came the first time. Without the
  // signal back the second put could come before the copy.
  const std::string twice =
      "slackline schedule 1\nranks 2\n"
      "buffer 0 rank 0 bytes 16\nbuffer 1 rank 1 bytes 16\nbuffer 2 rank 1 bytes 8\n"
      "channel 0 from 0 to 1\n"
      "rank 0\n0 send on 0 reads 0[0+8]\n1 send on 0 reads 0[8+8]\n"
      "rank 1\n2 recv on 0 writes 2[0+8]\n3 copy reads 2[0+8] writes 1[0+8] after done:2\n"
      "4 recv on 0 writes 2[0+8] after done:3\n5 copy reads 2[0+8] writes 1[8+8] after done:4\n"
      "pre 0[0+16] value 0\npost 0[0+16] value 0\npost 1[0+16] value 0\n";
  const Schedule schedule = read_text(twice);
  ASSERT_EQ(first_finding(schedule), "");
  const MscclppPlan plan = plan_mscclpp(schedule);
  const auto signals = [&](std::uint32_t gpu) {
    const std::vector<MscclppOperation>& ops = plan.gpus[gpu].blocks[0].operations;
    return std::count_if(ops.begin(), ops.end(),
                         [](const MscclppOperation& op) { return op.name == "signal"; });
  };
  EXPECT_EQ(signals(0), 2);
  EXPECT_EQ(signals(1), 1);
  EXPECT_EQ(first_finding(read_mscclpp(write_mscclpp(schedule))), "");
}

std::string plan_refusal(const Schedule& schedule) {
  return testing::error_of<Unsupported>([&] { write_mscclpp(schedule); });
}

std::string of_two(const std::string& rest) {
  return plan_refusal(read_text(
      "slackline schedule 1\nranks 2\nbuffer 0 rank 0 bytes 32\nbuffer 1 rank 0 bytes 32\n"
      "buffer 2 rank 1 bytes 32\nchannel 0 from 0 to 1\n" +
      rest));
}

TEST(ExportMscclpp, WhatAPlanCannotSayIsRefusedByName) {
  EXPECT_EQ(of_two("rank 0\n0 fetch_add on 0 reads 2[0+8] writes 2[0+8] 0[0+8] operand 1\n"),
            "mscclpp-json: op 0 (fetch_add, rank 0) has no counterpart in MSCCL++");
  EXPECT_EQ(of_two("rank 0\n0 calc for 1us\n"),
            "mscclpp-json: op 0 (calc, rank 0) has no counterpart in MSCCL++");
  EXPECT_EQ(
      of_two("rank 0\n0 reduce reads 0[0+8] 1[0+8] writes 0[0+8] for 1us\n"),
      "mscclpp-json: op 0 (reduce, rank 0) has a time of its own, as what counts has; MSCCL++ "
      "has none");
  EXPECT_EQ(of_two("rank 0\n0 send on 0 reads 0[0+8]\n"),
            "mscclpp-json: op 0 (send, rank 0) has nothing that matches it");
  EXPECT_EQ(of_two("channel 1 from 0 to 0\nrank 0\n0 recv on 1 writes 0[0+8]\n1 send on 1 reads "
                   "0[8+8]\n"),
            "mscclpp-json: op 0 (recv, rank 0) is of a message to its own GPU; MSCCL++'s channels "
            "lead to others");
  EXPECT_EQ(of_two("rank 0\n0 join\n"), "mscclpp-json: the schedule moves no bytes; expected some");
  EXPECT_EQ(of_two("rank 0\n0 copy reads 0[0+8] writes 1[0+8]\npost 0[0+8] value 0\npost 1[0+8] "
                   "value 0\n"),
            "mscclpp-json: the contract speaks of buffers 0 and 1 of rank 0 after; a plan has one "
            "input and one output");
  EXPECT_EQ(plan_refusal(testing::queue_push()),
            "mscclpp-json takes static schedules only: op 2 (compare_swap, rank 0) opens a retry "
            "region");
  EXPECT_THAT(plan_refusal(compile(parse_spec("chain:ranks=2,bytes=2000,block=1,ready=none"))),
              HasSubstr("is too much for its GPU; MSCCL++'s limit is 64 operations in each of 17 "
                        "thread blocks"));
  EXPECT_EQ(of_two("rank 0\n0 put on 0 reads 0[0+8] writes 2[8+8]\n"), "");
}

TEST(ExportMscclpp, ABroadcastIsReadWithOneRoot) {
  const std::string plan = spec_plan("chain:ranks=3,bytes=16KiB,ready=none");
  std::string damaged = plan;
  // GPU 1 puts nothing, so that nothing comes to GPU 2.
  std::size_t at = damaged.rfind("\"name\": \"put\"");
  ASSERT_NE(at, std::string::npos);
  damaged.replace(at, 13, "\"name\": \"nop\"");
  EXPECT_EQ(fault(damaged),
            "mscclpp: collective: a broadcast in which 2 GPUs get nothing from others; expected "
            "one, the root");
}

}  // namespace
}  // namespace slackline::sched
