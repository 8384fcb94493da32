// Every reason for which a schedule does not go onto queues, and the limits of each.
#include "offload/refusals.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "offload/compile_queues.h"
#include "sched/text.h"
#include "tests/support/error_of.h"

namespace slackline::offload {
namespace {

const std::string kHead =
    "slackline schedule 1\nranks 2\nbuffer 0 rank 0 bytes 64\nbuffer 1 rank 1 bytes 64\n";
const std::string kPair = kHead + "channel 0 from 0 to 1\n";

std::string refusal(const std::string& text) {
  try {
    const sched::Schedule schedule = sched::read_text(text, "s");
    require_offloadable(schedule, credit_channels(schedule));
  } catch (const Unsupported& error) {
    return error.what();
  } catch (const InputError& error) {
    return std::string("input: ") + error.what();
  }
  return "";
}

TEST(Refusals, NameEveryKindOfOperation) {
  const auto of = [](const std::string& op) { return refusal(kPair + "rank 0\n  0 " + op + "\n"); };
  const std::string result = "what follows depends on a result, and a queue cannot branch";
  for (const std::string kind : {"fetch_add", "fetch_and", "fetch_or", "fetch_xor"}) {
    EXPECT_EQ(of(kind + " on 0 reads 1[0+8B] writes 1[0+8B] 0[0+8B] operand 1"),
              "offload: op 0 (" + kind + ", rank 0): " + result);
  }
  EXPECT_EQ(of("get on 0 reads 1[0+8B] writes 0[0+8B]"),
            "offload: op 0 (get, rank 0): a get has no completion at its target that a queue there "
            "could wait for");
  EXPECT_EQ(of("copy reads 0[0+8B] writes 0[8+8B]"),
            "offload: op 0 (copy, rank 0): a queue moves bytes between ranks only; this needs a "
            "CPU");
  EXPECT_EQ(of("reduce reads 0[0+4B] 0[4+4B] writes 0[8+4B]"),
            "offload: op 0 (reduce, rank 0): a queue moves bytes between ranks only; this needs a "
            "CPU");
  for (const std::string kind : {"calc", "delay"}) {
    EXPECT_EQ(of(kind + " for 1us"),
              "offload: op 0 (" + kind + ", rank 0): a queue does not compute or keep time");
  }
  EXPECT_EQ(
      of("put on 0 reads 0[0+8B] writes 1[0+8B]"),
      "offload: op 0 (put, rank 0): without an immediate its target has no completion to wait "
      "for");
  EXPECT_EQ(of("join"), "");
  EXPECT_EQ(of("send on 0 reads 0[0+8B]"),
            "input: offload: op 0 (send, rank 0) has no match; expected a schedule that check "
            "proves");
}

// Three pieces to send or receive, two to write, and one place to write to.
TEST(Refusals, PiecesFitOneBlock) {
  const auto pieces = [](int buffer, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) {
      all += " " + std::to_string(buffer) + "[" + std::to_string(8 * i) + "+" +
             std::to_string(count == 0 ? 0 : 12 / count) + "B]";
    }
    return all;
  };
  const auto send = [&](int from, int to) {
    return refusal(kPair + "rank 0\n  0 send on 0 reads" + pieces(0, from) +
                   "\nrank 1\n  1 recv on 0 writes" + pieces(1, to) + "\n");
  };
  EXPECT_EQ(send(1, 1), "");
  EXPECT_EQ(send(3, 3), "");
  EXPECT_EQ(
      send(4, 1),
      "offload: op 0 (send, rank 0): it gathers more than 3 pieces, which do not fit one work "
      "request block");
  EXPECT_EQ(send(3, 4), "offload: op 1 (recv, rank 1): it scatters over more than 3 pieces");
  const auto put = [&](int from, int to) {
    return refusal(kPair + "rank 0\n  0 put on 0 reads" + pieces(0, from) + " writes" +
                   pieces(1, to) + " imm\nrank 1\n  1 recv on 0\n");
  };
  const std::string both =
      "offload: op 0 (put, rank 0): it has more than 2 pieces to gather or 1 to write, which do "
      "not "
      "fit one work request block";
  EXPECT_EQ(put(1, 1), "");
  EXPECT_EQ(put(2, 1), "");
  EXPECT_EQ(put(3, 1), both);
  EXPECT_EQ(put(1, 2), both);
  EXPECT_EQ(put(2, 2), both);
}

// Every byte is written once, by the contract or by a message.
TEST(Refusals, MemoryIsWrittenOnce) {
  // Two messages into `first` and `second`, beside what the contract has put there.
  const auto into = [](const std::string& first, const std::string& second,
                       const std::string& pre = "") {
    return refusal(kPair +
                   "rank 0\n  0 send on 0 reads 0[0+8B]\n  1 send on 0 reads 0[0+8B]\n"
                   "rank 1\n  2 recv on 0 writes " +
                   first + "\n  3 recv on 0 writes " + second + "\n" + pre);
  };
  const auto of = [](const std::string& op) {
    return "offload: op " + op +
           " (recv, rank 1): it writes memory that holds something already, and receives posted at "
           "the start cannot be held back";
  };
  EXPECT_EQ(into("1[0+8B]", "1[8+8B]"), "");
  EXPECT_EQ(into("1[8+8B]", "1[0+8B]"), "");
  EXPECT_EQ(into("1[0+8B]", "1[7+8B]"), of("3"));
  EXPECT_EQ(into("1[7+8B]", "1[0+8B]"), of("3"));
  EXPECT_EQ(into("1[0+8B]", "1[0+8B]"), of("3"));
  EXPECT_EQ(into("1[0+8B]", "1[8+8B]", "pre 1[16+8B] value 0\n"), "");
  EXPECT_EQ(into("1[0+8B]", "1[8+8B]", "pre 1[15+8B] value 0\n"), of("3"));
  EXPECT_EQ(into("1[8+8B]", "1[16+8B]", "pre 1[0+9B] value 0\n"), of("2"));
  EXPECT_EQ(into("1[8+8B]", "1[16+8B]", "pre 1[0+8B] value 0\n"), "");
  // What the contract names twice reaches to the further end.
  EXPECT_EQ(into("1[8+8B]", "1[16+8B]", "pre 1[0+12B] value 0\npre 1[0+4B] value 0\n"), of("2"));
  EXPECT_EQ(into("1[8+8B]", "1[16+8B]", "pre 1[0+12B] value 0\npre 1[2+4B] value 0 at 2\n"),
            of("2"));
  EXPECT_EQ(into("1[8+8B]", "1[16+8B]", "pre 1[0+8B] value 0\npre 1[2+4B] value 0 at 2\n"), "");
  // The same bytes of another rank's buffer, and no bytes.
  EXPECT_EQ(into("1[0+8B]", "1[8+8B]", "pre 0[0+16B] value 0\n"), "");
  EXPECT_EQ(into("1[0+8B]", "1[8+8B]", "pre 1[4+0B] value 0\n"), "");
}

// A channel that another names carries credits while it carries nothing but flags and messages
// without bytes.
TEST(Refusals, CreditsAreFlagsAndEmptyMessages) {
  const auto of = [](const std::string& channels, const std::string& ops) {
    const auto found = credit_channels(sched::read_text(kHead + channels + ops, "s"));
    return std::vector<int>(found.begin(), found.end());
  };
  const std::string plain = "channel 0 from 0 to 1\nchannel 1 from 1 to 0\n";
  const std::string named = "channel 0 from 0 to 1 credit_on 1\nchannel 1 from 1 to 0\n";
  const std::string empty = "rank 0\n  0 recv on 1\nrank 1\n  1 send on 1\n";
  EXPECT_EQ(of(plain, empty), (std::vector<int>{0, 0}));
  EXPECT_EQ(of(named, empty), (std::vector<int>{0, 1}));
  EXPECT_EQ(
      of(named, "rank 0\n  0 recv on 1 writes 0[0+8B]\nrank 1\n  1 send on 1 reads 1[0+8B]\n"),
      (std::vector<int>{0, 0}));
  EXPECT_EQ(of("channel 0 from 0 to 1\nchannel 1 from 1 to 0 credit_on 1\n", empty),
            (std::vector<int>{0, 0}));
  // A flag of a channel of credits is dropped, so that it is not refused.
  const std::string flags = "rank 1\n  0 put on 1 reads 1[0+8B] writes 0[0+8B] ";
  EXPECT_EQ(of(named, flags + "flag\n"), (std::vector<int>{0, 1}));
  EXPECT_EQ(of(named, flags + "imm\n"), (std::vector<int>{0, 0}));
  EXPECT_EQ(refusal(kHead + named + flags + "flag\n"), "");
  EXPECT_NE(refusal(kHead + plain + flags + "flag\n").find("without an immediate"),
            std::string::npos);
}

TEST(Refusals, OptionsHaveRanges) {
  const auto error_of = [](const QueueOptions& options) -> std::string {
    return testing::error_of([&] { require_in_range(options); });
  };
  QueueOptions options;
  for (const auto& [depth, message] : std::vector<std::pair<std::uint32_t, std::string>>{
           {3, "offload: a queue of 3 entries; expected 4 … 32768"},
           {4, ""},
           {32768, ""},
           {32769, "offload: a queue of 32769 entries; expected 4 … 32768"}}) {
    options.limits.queue_depth = depth;
    EXPECT_EQ(error_of(options), message);
  }
  options = {};
  options.readiness = Readiness::kWindow;
  options.window = 1;
  EXPECT_EQ(error_of(options), "");
  options.window = 0;
  EXPECT_EQ(error_of(options), "offload: a window of 0; expected at least 1");
  options.readiness = Readiness::kHandshake;
  EXPECT_EQ(error_of(options), "");
  options.mode = Mode::kRdmcMq;
  EXPECT_EQ(error_of(options),
            "offload: rdmc-mq enables receives step by step; expected no readiness, not handshake");
  options.readiness = Readiness::kNone;
  EXPECT_EQ(error_of(options), "");
}

}  // namespace
}  // namespace slackline::offload
