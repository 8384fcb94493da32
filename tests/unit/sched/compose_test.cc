// A whole of two parts, word by word.
#include "sched/compose.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "sched/text.h"

namespace slackline::sched {
namespace {

// One message with a credit, and a word that the sender adds to.
const char* const kPart =
    "slackline schedule 1\nranks 2\nmessage 8\n"
    "buffer 0 rank 0 bytes 8\nbuffer 1 rank 1 bytes 16\n"
    "channel 0 from 0 to 1 credit_on 1\nchannel 1 from 1 to 0\n"
    "rank 0\n"
    "  0 recv on 1\n"
    "  1 send step 1 on 0 reads 0[0+8] after done:0\n"
    "  2 fetch_add on 0 reads 1[8+8] writes 1[8+8]\n"
    "  3 fetch_add on 0 reads 1[8+8] writes 1[8+8] operand result:2 after done:2\n"
    "rank 1\n"
    "  4 recv step 1 on 0 writes 1[0+8]\n"
    "  5 send on 1 after issued:4\n"
    "pre 0[0+8] value 0\npost 1[0+8] value 0\n";

// The text without what names it: version, digest and title.
std::string program_of(const Schedule& schedule) {
  const std::string text = write_text(schedule);
  return text.substr(text.find("\nranks"));
}

TEST(Compose, WritesPartsBehindEachOther) {
  const Schedule part = read_text(kPart);
  const Part parts[] = {
      {&part, {RankId(2), RankId(0)}, Time{0}, std::nullopt},
      {&part, {RankId(0), RankId(2)}, Time{5'000}, 0, RankId(1)},
  };
  const Composition whole = compose(parts, 3, "both");
  EXPECT_EQ(whole.schedule.title(), "both");
  EXPECT_EQ(program_of(whole.schedule),
            "\nranks 3\nmessage 16\n"
            "buffer 0 rank 2 bytes 8\nbuffer 1 rank 0 bytes 16\n"
            "buffer 2 rank 0 bytes 8\nbuffer 3 rank 2 bytes 16\n"
            "channel 0 from 2 to 0 credit_on 1\nchannel 1 from 0 to 2\n"
            "channel 2 from 0 to 2 credit_on 3\nchannel 3 from 2 to 0\n"
            "rank 0\n"
            "  0 recv step 1 on 0 writes 1[0+8]\n"
            "  1 send on 1 after issued:0\n"
            "  2 join after done:0 done:1\n"
            "  3 recv on 3 after done:2\n"
            "  4 send step 1 on 2 reads 2[0+8] after done:3\n"
            "  5 fetch_add on 2 reads 3[8+8] writes 3[8+8]\n"
            "  6 fetch_add on 2 reads 3[8+8] writes 3[8+8] operand result:5 after done:5\n"
            "rank 2\n"
            "  7 recv on 1\n"
            "  8 send step 1 on 0 reads 0[0+8] after done:7\n"
            "  9 fetch_add on 0 reads 1[8+8] writes 1[8+8]\n"
            "  10 fetch_add on 0 reads 1[8+8] writes 1[8+8] operand result:9 after done:9\n"
            "  11 delay for 5ns\n"
            "  12 join after done:8 done:10 done:11\n"
            "  13 recv step 1 on 2 writes 3[0+8] after done:12\n"
            "  14 send on 3 after issued:13\n"
            "pre 0[0+8] value 0\npre 2[0+8] value 1\n"
            "post 1[0+8] value 0\npost 3[0+8] value 1\n");
  EXPECT_EQ(whole.parts.count(), 2u);
  EXPECT_EQ(whole.parts.of_op,
            (std::vector<std::uint32_t>{0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1}));
  const PartRange& delayed = whole.parts.ops(1, RankId(1));
  EXPECT_EQ(delayed.first, OpId(11));
  EXPECT_EQ(delayed.own, OpId(13));
  EXPECT_EQ(delayed.end, OpId(15));
}

// Of one rank of the whole, whatever it is in the parts.
TEST(Compose, EdgesLeadFromPartToPart) {
  const Schedule two =
      read_text("slackline schedule 1\nranks 2\nrank 0\n0 join\nrank 1\n1 calc for 1us\n2 join\n");
  const Part parts[] = {{&two, {RankId(0), RankId(1)}, Time{0}, std::nullopt},
                        {&two, {RankId(1), RankId(0)}, Time{0}, std::nullopt}};
  const PartEdge edges[] = {{0, OpId(1), 1, OpId(0)}, {1, OpId(2), 0, OpId(0), On::kIssued}};
  EXPECT_EQ(program_of(compose(parts, 2, "", edges).schedule),
            "\nranks 2\nrank 0\n  0 join after issued:2\n  1 calc for 1us\n  2 join\n"
            "rank 1\n  3 calc for 1us\n  4 join\n  5 join after done:3\n");
  const auto refusal = [&](const PartEdge& edge) {
    try {
      compose(parts, 2, "", {&edge, 1});
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal({0, OpId(0), 2, OpId(0)}), "part 2: an edge names it; expected one of 2");
  EXPECT_EQ(refusal({0, OpId(3), 1, OpId(0)}),
            "part 0: an edge names its operation 3; expected one below 3");
  EXPECT_EQ(refusal({0, OpId(0), 1, OpId(0)}),
            "part 1: an edge leads to it from rank 0 to 1; expected one rank");
}

TEST(Compose, TheEarlierStartComesFirst) {
  const Schedule calc = read_text("slackline schedule 1\nranks 1\nrank 0\n0 calc for 1us\n");
  const Schedule join = read_text("slackline schedule 1\nranks 1\nrank 0\n0 join\n");
  const Part parts[] = {{&calc, {RankId(0)}, Time{2'000}, std::nullopt},
                        {&join, {RankId(0)}, Time{1'000}, std::nullopt},
                        {&join, {RankId(0)}, Time{0}, 0},
                        {&calc, {RankId(0)}, Time{0}, std::nullopt}};
  // The third is no earlier than the first, which it comes after.
  EXPECT_EQ(program_of(compose(parts, 1).schedule),
            "\nranks 1\nrank 0\n"
            "  0 calc for 1us\n"
            "  1 delay for 1ns\n  2 join after done:1\n"
            "  3 delay for 2ns\n  4 calc for 1us after done:3\n"
            "  5 join after done:4\n  6 join after done:5\n");
}

std::string refusal(const std::vector<Part>& parts, std::uint32_t ranks) {
  try {
    compose(parts, ranks);
  } catch (const InputError& error) {
    return error.what();
  } catch (const Unsupported& error) {
    return std::string("unsupported: ") + error.what();
  }
  return "";
}

TEST(Compose, RefusesWhatFitsNoWhole) {
  const Schedule two = read_text("slackline schedule 1\nranks 2\nrank 0\n0 join\nrank 1\n1 join\n");
  const Schedule dynamic = read_text(
      "slackline schedule 1\nranks 1\nrank 0\n0 join\nregion retry entry 0 count 1 attempts 2\n");
  const auto ranks = [](std::uint32_t a, std::uint32_t b) {
    return std::vector<RankId>{RankId(a), RankId(b)};
  };
  const Part good{&two, ranks(0, 2), Time{0}, std::nullopt};
  const auto with = [&](auto&& change) {
    Part second = good;
    change(second);
    return refusal({good, second}, 3);
  };
  EXPECT_EQ(with([](Part&) {}), "");
  EXPECT_EQ(with([](Part& p) { p.rank_of.pop_back(); }), "part 1: 1 ranks are named; expected 2");
  EXPECT_EQ(with([](Part& p) { p.rank_of.emplace_back(1); }),
            "part 1: 3 ranks are named; expected 2");
  EXPECT_EQ(with([&](Part& p) { p.rank_of = ranks(0, 3); }),
            "part 1: 3 is no rank; expected 0 to 2");
  EXPECT_EQ(with([&](Part& p) { p.rank_of = ranks(1, 1); }),
            "part 1: rank 1 stands twice; expected it once");
  EXPECT_EQ(with([](Part& p) { p.start = Time{-1}; }),
            "part 1: its start is out of range; expected 0 or later");
  EXPECT_EQ(with([](Part& p) { p.start = kForever; }),
            "part 1: its start is out of range; expected 0 or later");
  EXPECT_EQ(with([](Part& p) { p.after = 0; }), "");
  EXPECT_EQ(with([](Part& p) { p.after = 1; }),
            "part 1: it comes after part 1; expected an earlier one");
  EXPECT_EQ(with([](Part& p) { p.start_rank = RankId(1); }), "");
  EXPECT_EQ(with([](Part& p) { p.start_rank = RankId(2); }),
            "part 1: start rank 2 is none of its ranks");
  EXPECT_EQ(refusal({{&dynamic, {RankId(0)}, Time{0}, std::nullopt}}, 1).substr(0, 42),
            "unsupported: compose takes static schedule");
  EXPECT_EQ(compose({}, 2).schedule.op_count(), 0u);
}

// The values of a part stand behind those of the parts before it, sums and all.
TEST(Compose, ValuesStandBehindEachOther) {
  const auto part = [](const std::string& value, const std::string& facts = "") {
    return read_text("slackline schedule 1\nranks 1\nbuffer 0 rank 0 bytes 8\npre 0[0+8] value " +
                     value + "\n" + facts);
  };
  const auto values = [](const Schedule& first, const Schedule& second) {
    const Composition whole =
        compose(std::vector<Part>{{&first, {RankId(0)}, Time{0}, std::nullopt},
                                  {&second, {RankId(0)}, Time{0}, std::nullopt}},
                1);
    return whole.schedule.contract().pre.back().value.value;
  };
  EXPECT_EQ(values(part("0"), part("0")), 1u);
  EXPECT_EQ(values(part("4"), part("2")), 7u);
  EXPECT_EQ(values(part("0", "post 0[0+8] value 3 terms 4\n"), part("0")), 7u);
  EXPECT_EQ(values(part("4294967292"), part("0")), 4294967293u);
  const Schedule most = part("4294967293"), one = part("0"), two = part("1");
  EXPECT_EQ(refusal({{&one, {RankId(0)}, Time{0}, std::nullopt},
                     {&most, {RankId(0)}, Time{0}, std::nullopt}},
                    1),
            "");
  EXPECT_EQ(refusal({{&two, {RankId(0)}, Time{0}, std::nullopt},
                     {&most, {RankId(0)}, Time{0}, std::nullopt}},
                    1),
            "part 1: its values do not fit behind the others'");
}

// 2^16 times one schedule of 2^15 operations.
TEST(Compose, RefusesMoreOperationsThanAScheduleHas) {
  std::string text = "slackline schedule 1\nranks 1\nrank 0\n";
  for (int i = 0; i < 1 << 15; ++i) text += std::to_string(i) + " join\n";
  const Schedule joins = read_text(text);
  const Part part{&joins, {RankId(0)}, Time{0}, std::nullopt};
  EXPECT_EQ(refusal(std::vector<Part>(1 << 16, part), 1),
            "part 65535: with it the whole has 2147483648 operations; expected less than "
            "2147483648");
}

// A delayed rank that has nothing to do keeps its delay, and what comes after waits for that.
TEST(Compose, APartWithoutOperationsIsItsDelay) {
  const Schedule none = read_text("slackline schedule 1\nranks 1\n");
  const Schedule calc = read_text("slackline schedule 1\nranks 1\nrank 0\n0 calc for 1us\n");
  const Part parts[] = {{&none, {RankId(0)}, Time{3'000}, std::nullopt},
                        {&calc, {RankId(0)}, Time{0}, 0}};
  EXPECT_EQ(program_of(compose(parts, 1).schedule),
            "\nranks 1\nrank 0\n  0 delay for 3ns\n  1 join after done:0\n"
            "  2 calc for 1us after done:1\n");
  const Part without[] = {{&none, {RankId(0)}, Time{0}, std::nullopt},
                          {&calc, {RankId(0)}, Time{0}, 0}};
  EXPECT_EQ(program_of(compose(without, 1).schedule), "\nranks 1\nrank 0\n  0 calc for 1us\n");
}

}  // namespace
}  // namespace slackline::sched
