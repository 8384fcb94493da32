// Searches that decide as they run: the schedule of what they decided takes as long on the same
// engine, and what was decided is what the rules say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "analysis/engines/event_engine.h"
#include "analysis/engines/flow_engine.h"
#include "analysis/stealing/work_stealing.h"
#include "base/error.h"
#include "base/mix.h"
#include "machine/setting.h"
#include "sched/verify.h"
#include "tests/support/error_of.h"

namespace slackline::analysis {
namespace {

using ::testing::HasSubstr;
using What = StealStep::What;

StealOptions options_of(const std::string& tree, std::uint32_t depth, std::uint32_t ranks) {
  StealOptions options;
  options.tree = *sched::uts_sample(tree);
  if (depth != 0) options.tree.depth = depth;
  options.ranks = ranks;
  return options;
}

StolenSearch search(const StealOptions& options, const machine::Platform& platform,
                    const machine::DelayPlan& delays = machine::kNoDelays,
                    const machine::Engine& engine = kEventEngine) {
  return search_stealing(options, platform, delays, engine, "test");
}

double replayed_s(const StolenSearch& found, const machine::Platform& platform,
                  const machine::DelayPlan& delays = machine::kNoDelays,
                  const machine::Engine& engine = kEventEngine) {
  return engine.run({found.schedule, platform, delays}).makespan_s();
}

const char* const kPlatforms[] = {
    "fractus",
    "cori",
    "star:rate=8Gbps,latency=1us",  // no overheads: things meet in one instant
    "star:rate=1Gbps,latency=3us,o_post=1us,o_complete=2us,gap=5us,interleave=0",
    "star:nic=fair,rate=1Gbps,latency=1us,o_post=300ns,gap=1us,ranks_per_node=3",
    "star:rate=1Gbps,latency=1us,gap=1us,interleave=64B,ranks_per_node=3,scale_up_rate=2Gbps,"
    "scale_up_latency=300ns,host_rate=1:500Mbps",
    "star:rate=1Gbps,latency=1us,mtu=64B,packet_overhead=40B,coding=64/66",
    "fat-tree:arity=4,rate=400Mbps,latency=1us,o_complete=100ns",
};

TEST(Stealing, TheScheduleTakesAsLongAsTheSearch) {
  for (const char* text : kPlatforms) {
    const machine::Platform platform = machine::load_platform(text);
    for (const std::uint32_t ranks : {2u, 3u, 8u, 16u}) {
      for (const StealShare share : {StealShare::kHalf, StealShare::kChunk}) {
        StealOptions options = options_of("T1", 4 + ranks % 3, ranks);
        options.share = share;
        options.chunk = 3;
        options.look = 1 + ranks % 5;
        options.seed = ranks;
        for (const machine::Engine* engine : {&kEventEngine, &kFlowEngine}) {
          const StolenSearch found = search(options, platform, machine::kNoDelays, *engine);
          const double again_s = replayed_s(found, platform, machine::kNoDelays, *engine);
          EXPECT_NEAR(again_s, found.figures.makespan_s, 1e-9 * again_s)
              << text << ", " << ranks << " ranks, " << engine->name;
          EXPECT_TRUE(sched::verify(found.schedule).empty()) << text << ", " << ranks;
          EXPECT_EQ(found.figures.vertices, found.vertices);
          EXPECT_GE(found.figures.makespan_s, found.ideal_s * (1 - 1e-9));
        }
      }
    }
  }
}

// The decisions again, by the rules alone: what each rank has after each step, without time.
class Retold {
 public:
  Retold(const StealOptions& options, const StealLog& log) : options_(options), log_(log) {
    stacks_.resize(options.ranks);
    at_.resize(options.ranks, 0);
    sent_.resize(options.ranks);
    asked_.resize(options.ranks, 0);
    stacks_[0].push_back({tree_.root(), 0});
  }

  // Steps whose message is there already, until there are none. What is wrong, or nothing.
  std::string run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::uint32_t r = 0; r < options_.ranks; ++r) {
        while (at_[r] < log_.steps[r].size()) {
          const StealStep& step = log_.steps[r][at_[r]];
          if (step.what == What::kTake && sent_[step.rank].size() <= step.number) break;
          const std::string wrong = carry_out(r, step);
          if (!wrong.empty()) return "rank " + std::to_string(r) + ": " + wrong;
          ++at_[r];
          moved = true;
        }
      }
    }
    for (std::uint32_t r = 0; r < options_.ranks; ++r) {
      if (at_[r] != log_.steps[r].size()) return "a message that nobody sent was taken";
      if (!stacks_[r].empty()) return "a rank ended with vertices";
    }
    return "";
  }
  std::uint64_t visited() const { return visited_; }

 private:
  struct Vertex {
    sched::Sha1 digest;
    std::uint32_t depth;
  };
  struct Sent {
    std::uint32_t dst;
    StealMessage kind;
    std::deque<Vertex> given;
  };

  std::string carry_out(std::uint32_t r, const StealStep& step) {
    std::deque<Vertex>& stack = stacks_[r];
    switch (step.what) {
      case What::kSearch:
        for (std::uint64_t i = 0; i < step.number; ++i) {
          if (stack.empty()) return "searched more than it had";
          const Vertex vertex = stack.back();
          stack.pop_back();
          ++visited_;
          const std::uint32_t children = tree_.children(vertex.digest, vertex.depth);
          for (std::uint32_t c = children; c-- > 0;) {
            stack.push_back({sched::UtsTree::child(vertex.digest, c), vertex.depth + 1});
          }
        }
        return "";
      case What::kTake: {
        Sent& sent = sent_[step.rank][step.number];
        if (sent.dst != r) return "took what was another's";
        stack.insert(stack.end(), sent.given.begin(), sent.given.end());
        if (sent.kind == StealMessage::kAsk) answers_.push_back({r, step.rank});
        return "";
      }
      case What::kRest:
        return stack.empty() ? "" : "rested with vertices";
      case What::kSend:
        return send(r, step);
    }
    return "";
  }

  std::string send(std::uint32_t r, const StealStep& step) {
    std::deque<Vertex>& stack = stacks_[r];
    Sent sent{step.rank, step.kind, {}};
    if (step.kind == StealMessage::kAsk) {
      if (!stack.empty()) return "asked with vertices";
      const std::uint32_t other =
          sched::below(sched::draw(options_.seed, {5, r, asked_[r]++}), options_.ranks - 1);
      if (step.rank != other + (other >= r ? 1 : 0)) return "asked another than was drawn";
    }
    if (step.kind == StealMessage::kNo || step.kind == StealMessage::kWork) {
      if (answers_.empty() || answers_.back() != std::pair(r, step.rank)) return "answered nobody";
      answers_.pop_back();
      const std::size_t chunk = stack.size() >= 2 * options_.chunk ? options_.chunk : 0;
      const std::size_t due = options_.share == StealShare::kHalf ? stack.size() / 2 : chunk;
      if (due != step.number)
        return "gave " + std::to_string(step.number) + " of " + std::to_string(due);
      if ((due == 0) != (step.kind == StealMessage::kNo)) return "refused with vertices";
      for (std::size_t i = 0; i < due; ++i) {
        sent.given.push_back(stack.front());
        stack.pop_front();
      }
    }
    sent_[r].push_back(std::move(sent));
    return "";
  }

  const StealOptions& options_;
  const StealLog& log_;
  const sched::UtsTree tree_{options_.tree};
  std::vector<std::deque<Vertex>> stacks_;
  std::vector<std::size_t> at_;
  std::vector<std::deque<Sent>> sent_;
  std::vector<std::uint64_t> asked_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>>
      answers_;  // due: an answer follows its question
  std::uint64_t visited_ = 0;
};

TEST(Stealing, EveryDecisionIsWhatTheRulesSay) {
  for (const char* tree : {"T1", "T5"}) {
    for (const StealShare share : {StealShare::kHalf, StealShare::kChunk}) {
      for (std::uint64_t seed = 0; seed < 4; ++seed) {
        StealOptions options = options_of(tree, 6, 7);
        options.share = share;
        options.chunk = 4;
        options.seed = seed;
        const StolenSearch found = search(options, machine::load_platform("fractus"));
        Retold retold(options, found.log);
        EXPECT_EQ(retold.run(), "") << tree << ", seed " << seed;
        EXPECT_EQ(retold.visited(), found.vertices);
        EXPECT_GT(found.figures.moved, 0u);
      }
    }
  }
}

// From the run of the schedule: a rank takes what has come first, and no rank that looks passes
// over what is there. What it decided with, it could know.
TEST(Stealing, NoRankKnowsMoreThanHasCome) {
  StealOptions options = options_of("T1", 6, 6);
  options.look = 4;
  const machine::Platform platform = machine::load_platform("fractus");
  const StolenSearch found = search(options, platform);
  const sched::Trace trace = kEventEngine.run({found.schedule, platform});
  std::size_t takes = 0;
  for (std::uint32_t r = 0; r < options.ranks; ++r) {
    double last_s = 0;
    double search_began_s = -1;
    for (sched::OpId id = found.schedule.first_op(sched::RankId(r));
         id < found.schedule.end_op(sched::RankId(r)); ++id.value) {
      const sched::Op& op = found.schedule.op(id);
      const sched::OpTimes& times = trace.ops[id.value];
      if (op.kind == sched::OpKind::kCalc) search_began_s = times.issued_s;
      if (op.kind != sched::OpKind::kPoll) continue;
      ++takes;
      const double arrival_s = times.wire_s;
      EXPECT_GE(arrival_s, last_s) << "rank " << r;
      last_s = arrival_s;
      // It was not there at the look before: one look is 4 us of work.
      EXPECT_GE(arrival_s + 7e-6,
                times.issued_s < search_began_s + 7e-6 ? times.issued_s : search_began_s + 7e-6);
    }
  }
  EXPECT_GT(takes, 50u);
}

TEST(Stealing, OneRankTakesTheIdeal) {
  const StolenSearch found = search(options_of("T1", 6, 1), machine::load_platform("fractus"));
  EXPECT_NEAR(found.figures.makespan_s, 1e-6 * static_cast<double>(found.vertices), 1e-12);
  EXPECT_EQ(found.figures.messages, 0u);
  EXPECT_EQ(found.schedule.op_count(), 1u);
}

// By hand: a tree that is its root and children, of two ranks that look after each vertex.
// Rank 1's request (24 bytes) leaves at 0.3 us and is there at 1.324; rank 0 has visited the root
// and one child by 2 us, sees it at 2.2, has handled it at 2.3, and posts half of what is left
// by 2.6.
TEST(Stealing, TheFirstStealByHand) {
  StealOptions options = options_of("T1", 1, 2);
  options.look = 1;
  const machine::Platform platform =
      machine::load_platform("star:rate=8Gbps,latency=1us,o_post=300ns,o_complete=200ns,gap=0");
  const StolenSearch found = search(options, platform);
  ASSERT_GE(found.vertices, 4u);
  const std::uint64_t given = (found.vertices - 2) / 2;
  const sched::Trace trace = kEventEngine.run({found.schedule, platform});
  std::vector<const sched::OpTimes*> polls;
  for (std::uint32_t i = 0; i < found.schedule.op_count(); ++i) {
    if (found.schedule.ops()[i].kind == sched::OpKind::kPoll) polls.push_back(&trace.ops[i]);
  }
  EXPECT_NEAR(polls.front()->wire_s, 1.324e-6, 1e-15);
  EXPECT_NEAR(polls.front()->issued_s, 2e-6, 1e-15);
  EXPECT_NEAR(polls.front()->done_s, 2.2e-6, 1e-15);
  const sched::OpId first = found.schedule.first_op(sched::RankId(1));
  const sched::OpTimes& answer = trace.ops[first.value + 1];
  EXPECT_NEAR(answer.wire_s, 3.6e-6 + 1e-9 * static_cast<double>(24 * given + 8), 1e-15);
  EXPECT_NEAR(answer.done_s, answer.wire_s + 0.2e-6, 1e-15);
}

TEST(Stealing, TheSeedDecidesAndTheMachineDoes) {
  const StealOptions options = options_of("T1", 6, 8);
  const machine::Platform platform = machine::load_platform("fractus");
  const auto digest = [](const StolenSearch& found) { return found.schedule.digest(); };
  const auto once = digest(search(options, platform));
  EXPECT_EQ(digest(search(options, platform)), once);
  // Nothing is shared there: the engines have the same times.
  EXPECT_EQ(digest(search(options, platform, machine::kNoDelays, kFlowEngine)), once);
  StealOptions other = options;
  other.seed = 2;
  EXPECT_NE(digest(search(other, platform)), once);
  machine::Platform slower = platform;
  slower.latency = sched::Time{5'000'000};
  EXPECT_NE(digest(search(options, slower)), once);
}

// Who is slow is asked by more, and the others do its work.
TEST(Stealing, DecidingAsItRunsMakesUpForASlowRank) {
  const StealOptions options = options_of("T1", 7, 8);
  const machine::Platform platform = machine::load_platform("fractus");
  machine::DelayPlan slow;
  slow.stragglers.push_back({sched::RankId(3), 3.0, {}});
  const StolenSearch with = search(options, platform, slow);
  EXPECT_NEAR(replayed_s(with, platform, slow), with.figures.makespan_s,
              1e-9 * with.figures.makespan_s);
  const StolenSearch without = search(options, platform);
  EXPECT_LT(1.5 * with.figures.makespan_s, replayed_s(without, platform, slow));
}

std::string refusal(const StealOptions& options, const std::string& platform,
                    const machine::DelayPlan& delays = machine::kNoDelays) {
  return testing::error_of<Error>(
      [&] { search(options, machine::load_platform(platform), delays); });
}

TEST(Stealing, RefusesWhatItDoesNotKnow) {
  const StealOptions good = options_of("T1", 3, 2);
  EXPECT_EQ(refusal(good, "fractus"), "");
  EXPECT_THAT(refusal(good, "star:o_poll=1us"), HasSubstr("completions that cost the processor"));
  EXPECT_EQ(refusal(good,
                    "star:ranks_per_node=2,threads_per_process=2,threads_per_qp=2,"
                    "qp_sharer=1ns"),
            "steal: queue pairs that threads share; expected threads_per_qp=1");
  EXPECT_THAT(refusal(good, "star:ack=64"), HasSubstr("acknowledgements that use the ports"));
  EXPECT_THAT(refusal(good, "star:switches=switch"), HasSubstr("ranks that are switches"));
  EXPECT_THAT(refusal(good, "fat-tree:arity=4,routing=adaptive"), HasSubstr("routing=adaptive"));
  EXPECT_THAT(refusal(options_of("T1", 3, 0), "star"), HasSubstr("0 ranks; expected 1 to 1024"));
  EXPECT_THAT(refusal(options_of("T1", 3, 1025), "star"), HasSubstr("1025 ranks"));
  StealOptions bad = good;
  bad.look = 0;
  EXPECT_THAT(refusal(bad, "star"), HasSubstr("a look after 0 vertices"));
  bad = good;
  bad.chunk = 0;
  EXPECT_THAT(refusal(bad, "star"), HasSubstr("chunks of 0 vertices"));
  bad = good;
  bad.work = sched::Time{10'000'000'000'000'000};
  EXPECT_THAT(refusal(bad, "star"), HasSubstr("all work takes above 2.5 h"));
  bad = good;
  bad.rest = sched::Time{sched::kForever.count() / 2};
  EXPECT_THAT(refusal(bad, "star"), HasSubstr("a rest above 40 h"));
  machine::DelayPlan plan;
  plan.pairs.push_back({sched::RankId(0), sched::RankId(1), sched::Rate{1'000'000'000}});
  EXPECT_THAT(refusal(good, "star", plan), HasSubstr("expected stragglers alone"));
  plan = {};
  plan.stragglers.push_back({sched::RankId(1), 1.0000001, {}});
  EXPECT_THAT(refusal(good, "star", plan),
              HasSubstr("straggler 1: a vertex takes no whole number"));
  plan.stragglers[0] = {sched::RankId(1), 2, sched::Time{5}};
  EXPECT_THAT(refusal(good, "star", plan), HasSubstr("straggler 1"));
}

}  // namespace
}  // namespace slackline::analysis
