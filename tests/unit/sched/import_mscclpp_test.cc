// MSCCL++'s plans as schedules: what is right is proved, and each seeded defect is found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/error.h"
#include "base/read_file.h"
#include "sched/file.h"
#include "sched/import/mscclpp.h"
#include "sched/verify.h"
#include "tests/support/source_dir.h"

namespace slackline::sched {
namespace {

using ::testing::HasSubstr;

std::string plan_file(const std::string& name) {
  return slackline::testing::source_dir() + "/tests/data/mscclpp/" + name + ".json";
}

// The plan, with the first `from` behind `after` turned into `to`.
std::string changed(const std::string& name, const std::string& from, const std::string& to,
                    const std::string& after = "") {
  std::string text = read_file(plan_file(name));
  const std::size_t at = text.find(from, text.find(after));
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// What the verifier says first; or the error. Empty if it is proved.
std::string plan_fault(const std::string& text, const MscclOptions& options = {}) {
  try {
    const Diagnostics found = verify(read_mscclpp(text, "p", options));
    return found.empty() ? "" : found.front().message;
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    return error.what();
  }
}

TEST(ImportMscclpp, PlansAreProved) {
  for (const char* name : {"allgather_pair", "allreduce_pair", "reducescatter_three"}) {
    const std::string text = read_file(plan_file(name));
    EXPECT_EQ(plan_fault(text), "") << name;
    MscclOptions options;
    options.chunk_bytes = 1 << 20;
    EXPECT_EQ(plan_fault(text, options), "") << name;
    EXPECT_EQ(load_schedule(plan_file(name)).digest(), read_mscclpp(text).digest());
    EXPECT_FALSE(read_mscclpp(text).contract().post.empty());
  }
}

TEST(ImportMscclpp, AThreadBlockIsALaneAndAnOperationAStep) {
  const Schedule schedule = read_mscclpp(read_file(plan_file("allreduce_pair")), "p");
  // Of each GPU: signal, wait, nop; get, reduce, put; nop, signal, wait.
  ASSERT_EQ(schedule.op_count(), 18u);
  const OpKind kinds[] = {OpKind::kSend, OpKind::kRecv,   OpKind::kJoin,
                          OpKind::kGet,  OpKind::kReduce, OpKind::kPut,
                          OpKind::kJoin, OpKind::kSend,   OpKind::kRecv};
  const std::uint32_t steps[] = {0, 1, 2, 3, 3, 3, 4, 5, 6};
  for (std::uint32_t i = 0; i < 9; ++i) {
    EXPECT_EQ(schedule.ops()[i].kind, kinds[i]) << i;
    EXPECT_EQ(schedule.ops()[i].step, steps[i]) << i;
  }
  EXPECT_EQ(schedule.title(), "allreduce_pair");
}

TEST(ImportMscclpp, SeededDefectsAreFound) {
  // Without the nop behind the gets, the sum may be taken before they end.
  EXPECT_THAT(plan_fault(changed("reducescatter_three", "\"name\": \"nop\"",
                                 "\"name\": \"wait\", \"channel_ids\": [], \"channel_type\": "
                                 "\"memory\"")),
              HasSubstr("no path leads"));
  // Another chunk.
  EXPECT_NE(plan_fault(changed("allgather_pair", "\"index\": 0", "\"index\": 1", "\"dst_buff\"")),
            "");
  // Signals without a wait, and the other way round.
  EXPECT_THAT(plan_fault(changed("allgather_pair", "\"name\": \"wait\"", "\"name\": \"signal\"")),
              HasSubstr("expected as many waits as signals"));
  EXPECT_THAT(plan_fault(changed("reducescatter_three", "\"num_threadblocks\": 2",
                                 "\"num_threadblocks\": 3")),
              HasSubstr("expected 3, as another thread block says of barrier 0"));
  EXPECT_THAT(plan_fault(changed("reducescatter_three", "\"barrier_id\": 0", "\"barrier_id\": 1")),
              HasSubstr("1 thread blocks come to it, of 2; expected all"));
}

// What MSCCL++'s kernel does of such operations is less than they say, or something else.
TEST(ImportMscclpp, WhatItsRuntimeWouldNotDoIsRefused) {
  const std::string file = "allreduce_pair";
  const std::string second = ", {\"type\": \"o\", \"index\": 1, \"size\": 1}]";
  const auto with_plan = [&](const std::string& field) {
    return changed(file, "\"protocol\"", field + ", \"protocol\"");
  };
  const std::pair<std::string, std::string> cases[] = {
      {changed(file, "\"rres\"", "\"res\""),
       "p: gpus[0].threadblocks[0].ops[3]: res with a further source of another GPU; expected "
       "those of its own"},
      {changed(file, "\"rres\"", "\"rre\""),
       "p: gpus[0].threadblocks[0].ops[3]: rre with several targets; expected one"},
      {changed(file, "\"buffer_id\": 0", "\"type\": \"o\"", "\"rres\""),
       "p: gpus[0].threadblocks[0].ops[3]: rres with a further source of its own GPU; expected "
       "those of others"},
      {changed(file, "\"buffer_id\": 0", "\"type\": \"o\"", "\"dst_buff\""),
       "p: gpus[0].threadblocks[0].ops[3]: rres with a further target of its own GPU; expected "
       "those of others"},
      {changed(file, "\"sum\"", "\"min\""),
       "p: gpus[0].threadblocks[0].ops[3].reduce_op: 'min' is not supported; expected sum"},
      {changed("allgather_pair", "\"put\"", "\"pws\""),
       "p: gpus[0].threadblocks[0].ops[1].channel_type: pws signals nothing over memory channels; "
       "expected port, or a put and a signal"},
      {changed("reducescatter_three", "\"memory\"", "\"port\"", "\"get\""),
       "p: gpus[0].threadblocks[1].ops[1].channel_type: get over port channels; expected memory"},
      {with_plan("\"buffer_alignment\": 96"), "p: chunks of 4096 bytes; expected a multiple of 96"},
      {with_plan("\"buffer_alignment\": 0"), "p: buffer_alignment: 0 bytes; expected 1 or more"},
      {with_plan("\"max_message_size\": 8191"),
       "p: a message of 8192 bytes; expected 0 to 8191, which the plan is for (--chunk)"},
      {with_plan("\"min_message_size\": 8193, \"max_message_size\": 9000"),
       "p: a message of 8192 bytes; expected 8193 to 9000, which the plan is for (--chunk)"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(plan_fault(text), expected);
  EXPECT_EQ(plan_fault(with_plan("\"max_message_size\": 8192, \"buffer_alignment\": 64")), "");
  // Two pairs, of which it would copy the first.
  std::string text = changed("allgather_pair", "]", second, "\"src_buff\"");
  text = text.replace(text.find("]", text.find("\"dst_buff\"")), 1, second);
  EXPECT_EQ(plan_fault(text), "p: gpus[0].threadblocks[0].ops[0]: 2 sources; expected one");
  // Two sources, of which a put over memory would take the first one's buffer for both.
  text = changed("allgather_pair", "]", second, "\"put\"");
  EXPECT_EQ(plan_fault(text),
            "p: gpus[0].threadblocks[0].ops[1].src_buff[1].type: buffer o, and of the first source "
            "i; expected one for all sources of a put over memory channels");
}

TEST(ImportMscclpp, IsRefusedWithThePlace) {
  const std::string file = "allreduce_pair";
  const std::pair<std::string, std::string> cases[] = {
      {changed(file, "\"Simple\"", "\"LL\""),
       "p: protocol: protocol 'LL' is not supported; expected Simple"},
      {changed(file, "\"reuse_resources\": false", "\"reuse_resources\": true"),
       "p: reuse_resources: scratch memory that is used again is not supported; expected false"},
      {changed(file, "\"allreduce\"", "\"sendrecv\""),
       "p: collective: 'sendrecv' is not supported; expected allreduce, allgather, reducescatter, "
       "alltoall, broadcast or custom"},
      {changed(file, "\"allreduce\"", "\"allgather\""),
       "p: collective: 2 chunks of input and 2 of output; expected 2 and 4, as allgather among 2 "
       "GPUs has them"},
      {changed(file, "\"id\": 0", "\"id\": 3"), "p: gpus[0].id: expected 0: GPUs stand in order"},
      {changed(file, "\"memory\"", "\"switch\"", "\"semaphores\""),
       "p: gpus[1].threadblocks[0].ops[0].channel_type: 'switch' channels are not supported; "
       "expected "
       "memory or port"},
      {changed(file, "\"rlxsignal\"", "\"pipeline\""),
       "p: gpus[0].threadblocks[0].ops[0].name: operation 'pipeline' is not supported; expected "
       "nop, "
       "barrier, signal, rlxsignal, wait, rlxwait, flush, put, pws, pwsf, get, copy, re, res, rre "
       "or "
       "rres"},
      {changed(file, "\"index\": 0", "\"index\": 2", "\"rres\""),
       "p: gpus[0].threadblocks[0].ops[3].src_buff[0]: chunks 2 to 2 of the input of GPU 0; "
       "expected "
       "some of its 2 chunks"},
      {changed(file, "\"buffer_id\": 0", "\"buffer_id\": 1"),
       "p: gpus[0].threadblocks[0].ops[3].src_buff[1].buffer_id: its thread block has no so many "
       "of "
       "kind 'memory'; expected one that it has"},
      {changed(file, "\"type\": \"i\"", "\"type\": \"x\""),
       "p: gpus[0].threadblocks[0].ops[3].src_buff[0].type: buffer 'x'; expected i, o or s"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(plan_fault(text), expected);
  MscclOptions options;
  options.chunk_bytes = 100;
  EXPECT_EQ(plan_fault(read_file(plan_file(file)), options),
            "p: chunks of 100 bytes; expected a multiple of 16");
  EXPECT_THAT(plan_fault("{\"name\": "), HasSubstr("p: "));
}

}  // namespace
}  // namespace slackline::sched
