#include "sched/trace_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <random>

#include "base/error.h"
#include "tests/support/error_of.h"

namespace slackline::sched {
namespace {

using ::testing::StartsWith;

constexpr double kNever = std::numeric_limits<double>::infinity();

Trace random_trace(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Trace trace;
  trace.schedule = {random(), random()};
  trace.platform = "star:rate=100Gbps \"quoted\" \\ \n";
  trace.delays = seed % 2 == 0 ? "" : "[[op]]\nop = 3\n";
  trace.engine = "event";
  trace.seed = random();
  trace.contended = random() % 2 == 0;
  const auto time = [&] {
    // Any finite double ≥ 0, whatever its bits.
    for (;;) {
      if (random() % 10 == 0) return kNever;
      const double value = std::bit_cast<double>(random() & ~(1ull << 63));
      if (value < kNever) return value;
    }
  };
  for (std::uint64_t i = 0, n = random() % 30; i < n; ++i) {
    OpTimes op{time(), time(), time(), time(), static_cast<std::uint32_t>(random()), {}};
    if (random() % 3 != 0) op.cause = OpId(static_cast<std::uint32_t>(random() % n));
    trace.ops.push_back(op);
    if (seed % 3 == 0) trace.request_s.push_back(time());
    if (seed % 3 == 0) trace.results.push_back(random());
  }
  return trace;
}

std::string error_of(const std::string& text) {
  return testing::error_of([&] { read_trace(text, "x.trace"); });
}

TEST(TraceFile, EveryBitComesBack) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Trace trace = random_trace(seed);
    const std::string text = write_trace(trace);
    const Trace back = read_trace(text);
    ASSERT_EQ(digest_of(back), digest_of(trace)) << text;
    ASSERT_EQ(write_trace(back), text);
  }
}

TEST(TraceFile, ErrorsNameThePlace) {
  const std::string good = write_trace(random_trace(5));
  ASSERT_EQ(error_of(good), "");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos);
    return error_of(text.replace(at, from.size(), to));
  };
  EXPECT_EQ(with("\"schema\": 1", "\"schema\": 2"),
            "x.trace: schema: file of version 2; this program reads up to 1");
  EXPECT_EQ(with("\"schedule\": \"", "\"schedule\": \"x"),
            "x.trace: schedule: expected a digest of 32 hexadecimal digits");
  EXPECT_EQ(with("\"cause\": [", "\"cause\": [99,"),
            "x.trace: cause: expected " + std::to_string(random_trace(5).ops.size()) +
                " entries, as in done_s");
  EXPECT_EQ(with("\"ready_s\": [", "\"ready_s\": [-1,"),
            "x.trace: ready_s: expected " + std::to_string(random_trace(5).ops.size()) +
                " entries, as in done_s");
  EXPECT_EQ(with("\"engine\"", "\"motor\""), "x.trace: expected a field \"engine\"");
  EXPECT_THAT(error_of("nonsense"),
              StartsWith("x.trace: not a trace; expected what `simulate --trace`"));
}

TEST(TraceFile, EveryPrefixIsRefused) {
  const std::string text = write_trace(random_trace(3));
  for (std::size_t n = 0; n + 2 < text.size(); ++n) {
    EXPECT_NE(error_of(text.substr(0, n)), "") << n;
  }
}

TEST(TraceFile, EveryChangedByteReadsOrIsRefused) {
  std::string text = write_trace(random_trace(3));
  std::size_t read = 0;
  std::size_t refused = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char kept = text[i];
    for (const char c : {'\0', '9', '-', 'e', '"', ']', '\xff', static_cast<char>(kept ^ 1)}) {
      text[i] = c;
      try {
        const Trace trace = read_trace(text);
        if (++read % 16 == 0) {
          const std::string written = write_trace(trace);
          EXPECT_EQ(write_trace(read_trace(written)), written);
        }
      } catch (const InputError& error) {
        EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos);
        ++refused;
      }
    }
    text[i] = kept;
  }
  EXPECT_GT(read, 100u);
  EXPECT_GT(refused, 100u);
}

TEST(TraceFile, IsWrittenToTheLetter) {
  Trace trace;
  trace.schedule = {1, 2};
  trace.title = "a \"chain\"";
  trace.platform = "star:";
  trace.engine = "event";
  trace.seed = 7;
  trace.contended = true;
  trace.ops = {{0, 0.5, 1, 2.25, 1, OpId::none()}, {0.5, 1, kNever, kNever, 0, OpId(0)}};
  trace.request_s = {0, kNever};
  trace.results = {18446744073709551615u, 0};
  const std::string text =
      "{\"schema\": 1,\n"
      "\"schedule\": \"00000000000000010000000000000002\",\n"
      "\"title\": \"a \\\"chain\\\"\",\n"
      "\"platform\": \"star:\",\n"
      "\"delays\": \"\",\n"
      "\"engine\": \"event\",\n"
      "\"seed\": 7,\n"
      "\"contended\": true,\n"
      "\"ready_s\": [0.0,0.5],\n"
      "\"issued_s\": [0.5,1.0],\n"
      "\"wire_s\": [1.0,null],\n"
      "\"done_s\": [2.25,null],\n"
      "\"attempts\": [1,0],\n"
      "\"cause\": [null,0],\n"
      "\"request_s\": [0.0,null],\n"
      "\"results\": [18446744073709551615,0]}\n";
  EXPECT_EQ(write_trace(trace), text);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const std::size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return error_of(changed.replace(at, from.size(), to));
  };
  EXPECT_EQ(with("event", "else"), "");
  EXPECT_EQ(with("\"schema\": 1", "\"schema\": 0"),
            "x.trace: schema: file of version 0; this program reads up to 1");
  EXPECT_THAT(with("[0.0,0.5]", "[0.0,-0.5]"),
              ::testing::EndsWith("expected a time of at least 0"));
  EXPECT_THAT(with("[0.0,null]", "[-1e-9,null]"),
              ::testing::EndsWith("expected a time of at least 0"));
  EXPECT_THAT(with("[null,0]", "[null,2]"),
              ::testing::EndsWith("expected one of the 2 operations"));
  EXPECT_EQ(with("[null,0]", "[null,1]"), "");
  EXPECT_THAT(with("[1,0]", "[1]"), ::testing::EndsWith("expected 2 entries, as in done_s"));
  EXPECT_THAT(with("[0.0,null]", "[0.0,null,1]"),
              ::testing::EndsWith("expected 2 entries, as in done_s"));
  EXPECT_THAT(with("[18446744073709551615,0]", "[1]"),
              ::testing::EndsWith("expected 2 entries, as in done_s"));
  EXPECT_THAT(with("[1,0]", "[1,4294967296]"), ::testing::StartsWith("x.trace: attempts"));
  // Without a title, and without what only gets and atomics have.
  EXPECT_EQ(with("\"title\": \"a \\\"chain\\\"\",\n", ""), "");
  trace.request_s.clear();
  trace.results.clear();
  const Trace back = read_trace(write_trace(trace), "f");
  EXPECT_TRUE(back.request_s.empty());
  EXPECT_TRUE(back.results.empty());
  EXPECT_EQ(back.makespan_s(), kNever);
}

}  // namespace
}  // namespace slackline::sched
