// What ranks of a session tell each other survives the way; what is none of it is refused where it
// is read, and the rank that sent it is named.
#include "hw/run_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "hw/call/service_wire.h"
#include "hw/call/service_words.h"
#include "hw/leader_words.h"
#include "tests/support/error_of.h"

namespace slackline {
namespace {

using hw::ByteReader;
using Bytes = std::vector<std::byte>;
using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kNever = std::numeric_limits<double>::infinity();

// What is said of them; nothing if they are what they should be.
template <class Read>
std::string refusal(const Bytes& bytes, const Read& read) {
  return testing::error_of<EnvironmentError>([&] { hw::read_from(7, "word", bytes, read); });
}

// The whole is taken, no part of it is, and nothing with more behind it.
template <class Read>
void expect_whole(const Bytes& bytes, const Read& read) {
  EXPECT_EQ(refusal(bytes, read), "");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Bytes part(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_THAT(refusal(part, read), HasSubstr("rank 7 sent what is no word: ")) << size;
  }
  Bytes more = bytes;
  more.push_back(std::byte{0});
  EXPECT_EQ(refusal(more, read), "rank 7 sent what is no word: more bytes than it has");
}

template <class T>
Bytes with(Bytes bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
  return bytes;
}

constexpr const char* kNoTime = "rank 7 sent what is no word: a time that is none";
constexpr const char* kNoFlag = "rank 7 sent what is no word: a flag that is neither 0 nor 1";
constexpr const char* kNoChoice = "rank 7 sent what is no word: a choice that there is not";

TEST(RunWords, Greetings) {
  hw::RunGreeting greeting;
  greeting.schedule = {1, 2};
  greeting.has_another_clock = true;
  greeting.greeting = {hw::Address(3, std::byte{5}), {{1, 2}, {3, 4}}};
  const Bytes bytes = encode(greeting);
  expect_whole(bytes, hw::read_run_greeting);
  ByteReader reader(bytes);
  const hw::RunGreeting read = hw::read_run_greeting(reader);
  EXPECT_EQ(read.schedule, greeting.schedule);
  EXPECT_TRUE(read.has_another_clock);
  EXPECT_EQ(read.greeting, greeting.greeting);
  EXPECT_EQ(refusal(with(bytes, 0, std::uint8_t{7}), hw::read_run_greeting), kNoChoice);
  EXPECT_EQ(refusal(with(bytes, 25, std::uint8_t{2}), hw::read_run_greeting), kNoFlag);
  EXPECT_EQ(refusal(with(bytes, 26, ~std::uint64_t{0} / 16), hw::read_run_greeting),
            "rank 7 sent what is no word: cut short");
  // Why there will be no run, and nothing more.
  greeting.failed = {hw::Failed::Fault::kInput, "why"};
  expect_whole(encode(greeting), hw::read_run_greeting);
}

TEST(RunWords, Starts) {
  hw::RunStart before{0, false, false, false};
  const auto read = [&](ByteReader& reader) { return hw::read_run_start(reader, before); };
  expect_whole(encode(hw::RunStart{12.5, true, false, true}), read);
  expect_whole(encode(hw::RunStart{12.5, false, false, true}), read);
  expect_whole(encode(hw::RunStart{12.5, true, true, false}), read);
  for (const double at_s : {kNan, kNever, -1.0, 1e300}) {
    EXPECT_EQ(refusal(encode(hw::RunStart{at_s, true, false, false}), read), kNoTime) << at_s;
  }
  const Bytes bytes = encode(hw::RunStart{});
  for (const std::size_t at : {8, 9, 10}) {
    EXPECT_EQ(refusal(with(bytes, at, std::uint8_t{2}), read), kNoFlag) << at;
  }
  EXPECT_THAT(refusal(encode(hw::RunStart{1, false, true, false}), read),
              HasSubstr("a last one that does not count"));
  EXPECT_THAT(refusal(encode(hw::RunStart{1, true, true, true}), read),
              HasSubstr("a question after the last"));
  before.counts = true;
  EXPECT_THAT(refusal(encode(hw::RunStart{1, false, false, false}), read),
              HasSubstr("a warm-up after what counts"));
}

TEST(RunWords, EndsOfAnIteration) {
  using Fault = hw::Failed::Fault;
  const auto of_one = [](ByteReader& reader) { return hw::read_rank_finish(reader, 3); };
  expect_whole(encode(hw::RankFinish{{}, {1, 2, 3}}), of_one);
  expect_whole(encode(hw::RankFinish{{Fault::kInput, "why"}, {kNever, 0, 0}}), of_one);
  for (const double time_s : {kNan, -1.0, 1e300}) {
    EXPECT_EQ(refusal(encode(hw::RankFinish{{}, {time_s, 0, 0}}), of_one), kNoTime);
    EXPECT_EQ(refusal(encode(hw::RankFinish{{}, {0, time_s, 0}}), of_one), kNoTime);
  }
  const auto of_three = [](ByteReader& reader) { return hw::read_all_finished(reader, 3); };
  expect_whole(encode(hw::AllFinished{{}, std::vector<hw::Finish>(3)}), of_three);
  const hw::Failed lost{Fault::kLost, "why", 2};
  const hw::Failed lost_none{Fault::kLost, "why", 3};
  expect_whole(encode(hw::RankFinish{lost, {kNever, 0, 0}}), of_one);
  expect_whole(encode(hw::AllFinished{lost, std::vector<hw::Finish>(3)}), of_three);
  EXPECT_THAT(refusal(encode(hw::RankFinish{lost_none, {}}), of_one),
              HasSubstr("the loss of a rank that is none"));
  EXPECT_THAT(refusal(encode(hw::AllFinished{lost_none, std::vector<hw::Finish>(3)}), of_three),
              HasSubstr("the loss of a rank that is none"));
  for (const std::size_t count : {0u, 1u, 2u, 4u}) {
    EXPECT_NE(refusal(encode(hw::AllFinished{{}, std::vector<hw::Finish>(count)}), of_three), "");
  }
}

// Each kind of error comes out at the other ranks as it went in.
TEST(RunWords, Failures) {
  const auto told = [](const auto& error) {
    hw::ByteWriter writer;
    write_failed(hw::describe_failure(error), writer);
    const Bytes bytes = writer.take();
    ByteReader reader(bytes);
    return hw::read_failed(reader);
  };
  const auto expect_same = [&](const auto& error) {
    using Kind = std::decay_t<decltype(error)>;
    EXPECT_EQ(testing::error_of<Kind>([&] { hw::rethrow(told(error)); }), error.what());
  };
  expect_same(InputError("one"));
  expect_same(Unsupported("two"));
  expect_same(EnvironmentError("three"));
  expect_same(InternalError("four"));
  expect_same(hw::Stalled("five"));
  expect_same(hw::PeerLost(7, "six"));
  EXPECT_EQ(told(hw::PeerLost(7, "six")).rank, 7u);
  EXPECT_EQ(testing::error_of<EnvironmentError>([&] { hw::rethrow(told(std::bad_alloc())); }),
            "out of memory");
  EXPECT_EQ(
      testing::error_of<InternalError>([&] { hw::rethrow(told(std::length_error("too long"))); }),
      "too long");
}

TEST(RunWords, EndsOfARun) {
  expect_whole(encode(hw::RunEnds{1, {1, 2, kNever}, "a byte"}), hw::read_run_ends);
  EXPECT_EQ(refusal(encode(hw::RunEnds{kNan, {}, ""}), hw::read_run_ends), kNoTime);
  EXPECT_EQ(refusal(encode(hw::RunEnds{1, {1, kNan}, ""}), hw::read_run_ends), kNoTime);
  EXPECT_EQ(refusal(encode(hw::RunEnds{1, {-1}, ""}), hw::read_run_ends), kNoTime);
  for (const hw::ProcessorUse& use : {hw::ProcessorUse{4, 1.5, 6}, hw::ProcessorUse{4, {}, 6}}) {
    const hw::RunEnds ends{1, {2}, "", use};
    expect_whole(encode(ends), hw::read_run_ends);
    const auto bytes = encode(ends);
    ByteReader reader(bytes);
    EXPECT_EQ(hw::read_run_ends(reader).processor, use);
  }
  for (const double time_s : {kNan, -1.0, kNever}) {
    EXPECT_EQ(refusal(encode(hw::RunEnds{1, {}, "", {time_s, 0, 0}}), hw::read_run_ends), kNoTime);
    EXPECT_EQ(refusal(encode(hw::RunEnds{1, {}, "", {0, time_s, 0}}), hw::read_run_ends), kNoTime);
  }
}

TEST(RunWords, RecordsOfOperations) {
  const auto of_two = [](ByteReader& reader) { return hw::read_run_times(reader, 2); };
  hw::RunTimes times;
  times.record.times = {{0, 1, 2, 3, 1, sched::OpId::none()},
                        {0, 1, kNever, kNever, 1, sched::OpId(1)}};
  times.record.results = {1, 2};
  times.record.memory = Bytes(5);
  times.errors = {{1, 0.1}, {1, 0.2}, {2, 0.1}};
  expect_whole(encode(times), of_two);
  const auto refused = [&](const auto& change) {
    hw::RunTimes other = times;
    change(other);
    return refusal(encode(other), of_two);
  };
  EXPECT_EQ(refused([](hw::RunTimes& t) { t.record.times[0].done_s = kNan; }), kNoTime);
  EXPECT_EQ(refused([](hw::RunTimes& t) { t.record.times[1].ready_s = -1; }), kNoTime);
  EXPECT_THAT(refused([](hw::RunTimes& t) { t.record.times[1].cause = sched::OpId(2); }),
              HasSubstr("an operation that is none"));
  EXPECT_THAT(refused([](hw::RunTimes& t) { t.record.times.resize(3); }), HasSubstr("more of"));
  EXPECT_THAT(refused([](hw::RunTimes& t) { t.record.results.resize(3); }), HasSubstr("more of"));
  EXPECT_EQ(refused([](hw::RunTimes& t) { t.errors[2].until_s = 0.5; }), kNoTime);
  EXPECT_EQ(refused([](hw::RunTimes& t) { t.errors[1].error_s = kNan; }), kNoTime);
}

TEST(LeaderWords, ComeWholeOrAreRefused) {
  hw::RunOptions options;
  const std::vector<double> slack = {1, 2};
  options.order = {machine::IssuePolicy::kLeastSlack, slack};
  options.waiting = hw::Waiting::kHybrid;
  const Bytes bytes = hw::encode_run(options, "a schedule");
  expect_whole(hw::encode_end(), hw::read_leader_order);
  expect_whole(bytes, hw::read_leader_order);
  expect_whole(hw::encode_run(options, ""), hw::read_leader_order);
  ByteReader reader(bytes);
  const hw::LeaderOrder order = hw::read_leader_order(reader);
  EXPECT_EQ(order.word, hw::LeaderWord::kRun);
  EXPECT_EQ(order.options.order.policy, machine::IssuePolicy::kLeastSlack);
  EXPECT_EQ(order.slack_s, slack);
  EXPECT_EQ(order.schedule, "a schedule");
  EXPECT_EQ(order.options.stall_timeout, options.stall_timeout);
  // A straggler's receives and a switch's posts take their lanes as long at followers.
  hw::RunOptions slow;
  slow.platform = machine::parse_platform_spec("star:o_post=1us,o_post_recv=3us,switches=switch");
  const Bytes told = hw::encode_run(slow, "");
  expect_whole(told, hw::read_leader_order);
  ByteReader of_platform(told);
  const machine::Platform platform = hw::read_leader_order(of_platform).options.platform;
  EXPECT_EQ(platform.post_of_receive(), slow.platform.post_of_receive());
  EXPECT_EQ(platform.switches, slow.platform.switches);
  const auto refused = [&](std::size_t at, auto value) {
    return refusal(with(bytes, at, value), hw::read_leader_order);
  };
  EXPECT_EQ(refused(0, std::uint8_t{3}), kNoChoice);   // word
  EXPECT_EQ(refused(9, std::uint8_t{2}), kNoFlag);     // prove
  EXPECT_EQ(refused(10, std::uint8_t{3}), kNoChoice);  // waiting
  EXPECT_EQ(refused(11, std::int64_t{-1}), kNoTime);   // poll_for
  EXPECT_EQ(refused(11, std::int64_t{1} << 62), kNoTime);
  EXPECT_EQ(refused(19, std::uint8_t{3}), kNoChoice);  // policy
  EXPECT_EQ(refused(32, kNan), kNoTime);               // slack
  const std::size_t behind = bytes.size() - 8 - std::strlen("a schedule");
  EXPECT_EQ(refused(behind - 8, std::int64_t{1} << 62), kNoTime);  // duration
  EXPECT_EQ(refused(behind - 25, std::uint8_t{9}), kNoFlag);       // timestamps
  EXPECT_EQ(refused(behind - 26, std::uint8_t{9}), kNoChoice);     // which rail a channel takes
  EXPECT_THAT(refused(behind - 30, std::uint32_t{0}), HasSubstr("no rails"));
  EXPECT_THAT(refused(behind - 46, std::uint64_t{0}), HasSubstr("a rate of nothing"));
}

// By which each follower reckons how long a straggler's lane is held.
TEST(LeaderWords, TellWhatStragglersGoBy) {
  hw::RunOptions options;
  machine::Platform& platform = options.platform;
  platform.o_post = sched::Time{300};
  platform.copy_rate = sched::Rate{70};
  for (const auto receive : {std::optional<sched::Time>(), std::optional(sched::Time{500})}) {
    for (const char* const switches : {"", "rack-0+core"}) {
      platform.o_post_recv = receive;
      platform.switches = {};
      if (*switches != '\0') platform.switches = machine::parse_switches(switches, "test");
      const Bytes bytes = hw::encode_run(options, "a schedule");
      expect_whole(bytes, hw::read_leader_order);
      ByteReader reader(bytes);
      const machine::Platform told = hw::read_leader_order(reader).options.platform;
      EXPECT_EQ(told.o_post, platform.o_post);
      EXPECT_EQ(told.post_of_receive(), platform.post_of_receive());
      EXPECT_EQ(told.copy_rate, platform.copy_rate);
      EXPECT_EQ(told.switches, platform.switches);
    }
  }
}

TEST(ServiceWords, ComeWholeOrAreRefused) {
  using Kind = hw::ServiceRequest::Kind;
  const hw::ServiceRequest chunks{Kind::kChunks, 4096, 2};
  expect_whole(encode(chunks), hw::read_service_request);
  expect_whole(encode(hw::ServiceRequest{Kind::kLeave, 0, 0}), hw::read_service_request);
  EXPECT_EQ(refusal(with(encode(chunks), 0, std::uint8_t{6}), hw::read_service_request), kNoChoice);
  EXPECT_THAT(refusal(encode(hw::ServiceRequest{Kind::kAllocate, std::uint64_t{1} << 47, 0}),
                      hw::read_service_request),
              HasSubstr("more bytes than any machine has"));
  EXPECT_THAT(refusal(with(encode(chunks), 13, std::int32_t{-2}), hw::read_service_request),
              HasSubstr("a NUMA node that is none"));
  for (const std::uint32_t count : {0u, hw::kMostChunksAtOnce + 1, ~0u}) {
    EXPECT_THAT(
        refusal(encode(hw::ServiceRequest{Kind::kChunks, 4096, count}), hw::read_service_request),
        HasSubstr("a number of chunks that is none"));
  }
  const auto of_chunks = [&](ByteReader& reader) {
    return hw::read_service_answer(reader, chunks);
  };
  expect_whole(encode(hw::ServiceAnswer{"", 3, {{1, 2}, {3, 4}}}), of_chunks);
  expect_whole(encode(hw::ServiceAnswer{"no", 0, {}}), of_chunks);
  // The longest of each kind go in one message.
  hw::ServiceAnswer longest;
  longest.error = std::string(10'000, 'x');
  longest.nodes.resize(hw::kMostNodes);
  EXPECT_LE(encode(longest).size(), hw::ServiceWire::kMostBytes);
  longest = {};
  longest.memory.resize(hw::kMostChunksAtOnce);
  EXPECT_LE(encode(longest).size(), hw::ServiceWire::kMostBytes);
  const hw::ServiceRequest in_node{Kind::kAllocateInNode, 4096, 1, 3};
  const auto of_memory = [&](ByteReader& reader) {
    return hw::read_service_answer(reader, in_node);
  };
  hw::ServiceAnswer memory{"", 3, {{1, 2}}};
  memory.pages = {hw::PageKind::kTransparent, 2 << 20, 8 << 20, 3};
  expect_whole(encode(memory), of_memory);
  const Bytes told = encode(memory);
  ByteReader reader(told);
  EXPECT_EQ(hw::read_service_answer(reader, in_node).pages, memory.pages);
  for (const std::size_t count : {0u, 1u, 3u}) {
    EXPECT_THAT(
        refusal(encode(hw::ServiceAnswer{"", 3, std::vector<hw::RemoteMemory>(count)}), of_chunks),
        HasSubstr("another number of grants"));
  }
}

}  // namespace
}  // namespace slackline
