// MSCCL's XML as schedules: what is right is proved, and each seeded defect is found.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "base/read_file.h"
#include "sched/compile.h"
#include "sched/export/msccl.h"
#include "sched/import/msccl.h"
#include "sched/text.h"
#include "sched/verify.h"
#include "tests/support/source_dir.h"
#include "tests/unit/sched/sample_schedules.h"

namespace slackline::sched {
namespace {

using ::testing::StartsWith;

std::string folder() { return slackline::testing::source_dir() + "/tests/data/msccl/"; }

std::vector<std::string> files() {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    found.push_back(entry.path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// Nothing where it is proved; else what the reader or the verifier says first.
std::string fault_of(const std::string& text) {
  try {
    const Schedule schedule = read_msccl(text, "x.xml");
    for (const Diagnostic& d : verify(schedule)) {
      if (d.severity == Severity::kError) return fmt::format("{}: {}", name(d.code), d.message);
    }
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    return error.what();
  }
}

TEST(ImportMsccl, EachCollectiveIsProved) {
  EXPECT_EQ(files().size(), 5u);
  for (const std::string& file : files()) EXPECT_EQ(fault_of(read_file(file)), "") << file;
}

TEST(ImportMsccl, StepsAreOperationsOfTheirThreadBlocksLane) {
  const Schedule s =
      read_msccl(read_file(folder() + "allreduce_ring.xml"), "x.xml", {std::uint64_t{100}});
  EXPECT_EQ(s.rank_count(), 3u);
  EXPECT_EQ(s.title(), "allreduce_ring");
  EXPECT_EQ(s.message_bytes(), 600u);
  // s, rrs (3 operations), rrcs (3), rcs (2), r.
  ASSERT_EQ(s.end_op(RankId(0)).value, 20u);
  const std::vector<OpKind> kinds = {OpKind::kSend, OpKind::kRecv,   OpKind::kReduce, OpKind::kSend,
                                     OpKind::kRecv, OpKind::kReduce, OpKind::kSend,   OpKind::kRecv,
                                     OpKind::kSend, OpKind::kRecv};
  const std::vector<std::uint32_t> steps = {0, 1, 1, 1, 2, 2, 2, 3, 3, 4};
  for (std::uint32_t i = 0; i < 10; ++i) {
    EXPECT_EQ(s.op(OpId(i)).kind, kinds[i]) << i;
    EXPECT_EQ(s.op(OpId(i)).step, steps[i]) << i;
    EXPECT_EQ(s.op(OpId(i)).lane, 0) << i;
    EXPECT_EQ(s.op(OpId(i + 10)).lane, 1) << i;
  }
  EXPECT_EQ(s.channels().size(), 6u);
  for (const Channel& channel : s.channels()) EXPECT_EQ(channel.service, Service::kEager);
}

// One step of each is spoilt in each way that there is: a chunk further, another type, a wait less.
TEST(ImportMsccl, SeededDefectsAreFound) {
  int seeded = 0;
  for (const std::string& file : files()) {
    const std::string text = read_file(file);
    for (std::size_t at = text.find("<step"); at != std::string::npos;
         at = text.find("<step", at + 1)) {
      const std::size_t end = text.find("/>", at);
      const std::string step = text.substr(at, end - at);
      std::vector<std::string> spoilt;
      const auto is = [&](const char* type) {
        return step.find(fmt::format("type=\"{}\"", type)) != std::string::npos;
      };
      const auto shifted = [&](const char* which) {
        const std::size_t value = step.find(which) + std::string_view(which).size();
        const int offset = std::stoi(step.substr(value));
        std::string other = step;
        other.replace(value, step.find('"', value) - value, fmt::to_string(offset + 1));
        return other;
      };
      const bool reads = is("s") || is("rrs") || is("rrc") || is("rrcs") || is("cpy") || is("re");
      if (reads) spoilt.push_back(shifted("srcoff=\""));
      if (is("r") || is("rcs") || is("rrc") || is("cpy") || is("re")) {
        spoilt.push_back(shifted("dstoff=\""));
      }
      if (is("rrs")) spoilt.push_back(replaced(step, "\"rrs\"", "\"rcs\""));
      if (is("rrcs")) spoilt.push_back(replaced(step, "\"rrcs\"", "\"rcs\""));
      if (is("rcs")) spoilt.push_back(replaced(step, "\"rcs\"", "\"rrs\""));
      if (is("re")) spoilt.push_back(replaced(step, "\"re\"", "\"cpy\""));
      if (step.find("depid=\"-1\"") == std::string::npos) {
        std::string alone = step;
        const std::size_t depid = alone.find("depid=");
        alone.replace(depid, alone.find(" hasdep") - depid, "depid=\"-1\" deps=\"-1\"");
        spoilt.push_back(alone);
      }
      if (is("s")) spoilt.push_back(replaced(step, "cnt=\"1\"", "cnt=\"2\""));
      for (const std::string& other : spoilt) {
        std::string whole = text;
        whole.replace(at, step.size(), other);
        ++seeded;
        EXPECT_NE(fault_of(whole), "") << file << '\n' << step << '\n' << other;
      }
    }
  }
  EXPECT_GT(seeded, 100);
}

TEST(ImportMsccl, RefusesWhatIsNoAlgorithm) {
  const std::string good = read_file(folder() + "alltoall_pairs.xml");
  ASSERT_EQ(fault_of(good), "");
  const auto with = [&](std::string_view from, std::string_view to) {
    return fault_of(replaced(good, from, to));
  };
  EXPECT_THAT(with("<algo", "<algorithm"), StartsWith("x.xml:"));
  EXPECT_EQ(with("ngpus=\"3\"", "ngpus=\"4\""), "x.xml:2: 3 GPUs; expected 4, as ngpus says");
  EXPECT_EQ(with("ngpus=\"3\"", "ngpus=\"2\""),
            "x.xml:13: send: '2'; expected a whole number from 0 to 1");
  EXPECT_EQ(with("ngpus=\"3\"", "ngpus=\"1025\""),
            "x.xml:2: ngpus: '1025'; expected a whole number from 1 to 1024");
  EXPECT_EQ(with("ngpus=\"3\" ", ""), "x.xml:2: <algo> has no ngpus; expected it");
  EXPECT_EQ(with("coll=\"alltoall\"", "coll=\"alltonext\""),
            "x.xml:2: coll: 'alltonext' is not supported; expected allreduce, allgather, "
            "reduce_scatter, alltoall, broadcast or custom");
  EXPECT_EQ(with("nchunksperloop=\"3\"", "nchunksperloop=\"4\""),
            "x.xml:2: 4 chunks among 3 GPUs; expected a multiple");
  EXPECT_EQ(with("o_chunks=\"3\"", "o_chunks=\"2\""),
            "x.xml:3: 2 chunks of output in GPU 0; expected 3 for alltoall of 3 chunks");
  EXPECT_EQ(with("tb id=\"1\"", "tb id=\"2\""), "x.xml:7: id: '2'; expected 1, in order");
  EXPECT_EQ(with("type=\"cpy\"", "type=\"copy\""),
            "x.xml:5: type: 'copy'; expected s, r, rcs, rrs, rrc, rrcs, cpy, re or nop");
  EXPECT_EQ(with("type=\"cpy\"", "type=\"s\""),
            "x.xml:5: a step that sends in a thread block with send=\"-1\"; expected a peer");
  EXPECT_EQ(with("dstbuf=\"o\"", "dstbuf=\"x\""), "x.xml:5: dstbuf: 'x'; expected i, o or s");
  EXPECT_EQ(with("cnt=\"1\"", "cnt=\"4\""),
            "x.xml:5: chunks 0 to 3 of buffer i of GPU 0; expected at most its 3 chunks");
  EXPECT_EQ(with("depid=\"-1\"", "depid=\"1\""),
            "x.xml:5: depid and deps, of which one is -1; expected both or none");
  EXPECT_EQ(
      with("depid=\"-1\" deps=\"-1\"", "depid=\"1\" deps=\"5\""),
      "x.xml:5: it waits for step 5 of thread block 1, which GPU 0 does not have; expected one "
      "that it has");
  EXPECT_EQ(with("depid=\"-1\" deps=\"-1\"", "depid=\"1\" deps=\"0\""),
            "x.xml:5: it waits for step 0 of thread block 1 (line 8), which tells nobody of its "
            "end; expected hasdep=\"1\" there");
  EXPECT_EQ(with("send=\"2\"", "send=\"1\""),
            "x.xml:13: GPU 0 sends to GPU 1 on channel 0 in the thread block of line 7 already; "
            "expected one thread block");
  EXPECT_THAT(
      with("send=\"1\" recv=\"-1\" chan=\"0\"", "send=\"1\" recv=\"-1\" chan=\"9\""),
      StartsWith("x.xml:28: the step on line 28 of thread block 2 of GPU 1 receives message "
                 "0 of channel 0 from GPU 0 to GPU 1, which no step sends; expected as many "
                 "that receive as send"));
}

TEST(ImportMsccl, StepsThatWaitForEachOtherAreNamed) {
  EXPECT_EQ(fault_of("<algo name=\"x\" nchunksperloop=\"1\" ngpus=\"1\" coll=\"custom\">\n"
                     "<gpu id=\"0\" i_chunks=\"1\" o_chunks=\"1\" s_chunks=\"0\">\n"
                     "<tb id=\"0\" send=\"-1\" recv=\"-1\" chan=\"0\">\n"
                     "<step s=\"0\" type=\"nop\" depid=\"1\" deps=\"0\" hasdep=\"1\"/>\n"
                     "</tb><tb id=\"1\" send=\"-1\" recv=\"-1\" chan=\"0\">\n"
                     "<step s=\"0\" type=\"nop\" depid=\"0\" deps=\"0\" hasdep=\"1\"/>\n"
                     "</tb></gpu></algo>"),
            "x.xml:4: deadlock: the step on line 4 of thread block 0 of GPU 0, the step on line 6 "
            "of thread block 1 of GPU 0 wait for each other; expected an order in which all can "
            "end");
}

TEST(ImportMsccl, WhatIsWrittenIsReadProvedAndWrittenTheSame) {
  for (const char* spec :
       {"chain:ranks=4,bytes=64KiB,block=16KiB",
        "binomial-pipeline:ranks=8,bytes=64KiB,block=16KiB",
        "sequential:ranks=5,bytes=32KiB,block=16KiB", "scatter-allgather:ranks=4,bytes=64KiB",
        "double-tree:ranks=5,bytes=64KiB,block=16KiB"}) {
    const std::string text = write_msccl(compile(parse_spec(spec)));
    EXPECT_EQ(fault_of(text), "") << spec;
    EXPECT_EQ(write_msccl(read_msccl(text)), text) << spec;
  }
  EXPECT_EQ(fault_of(write_msccl(testing::small_chain())), "");
}

TEST(ImportMsccl, EveryPrefixAndEveryChangedByteReadsOrIsRefused) {
  const std::string text = read_file(folder() + "allreduce_pairs.xml");
  const auto attempt = [](const std::string& changed) {
    try {
      const Schedule s = read_msccl(changed);
      ASSERT_EQ(read_text(write_text(s)).digest(), s.digest());
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), 2) << error.what();
    }
  };
  for (std::size_t n = 0; n < text.size(); n += 13) attempt(text.substr(0, n));
  std::string changed = text;
  for (std::size_t i = 0; i < text.size(); i += 3) {
    for (const char c : {'0', '9', '"', '<', '>', ' ', '\0', '\xff'}) {
      changed[i] = c;
      attempt(changed);
    }
    changed[i] = text[i];
  }
}

}  // namespace
}  // namespace slackline::sched
