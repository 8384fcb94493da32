// The receives of credits are posted before their credits can come, and not much earlier.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sched/compile.h"
#include "sched/event_graph.h"
#include "sched/verify/order.h"

namespace slackline::sched {
namespace {

constexpr std::size_t kManySteps = 1 << 20;

// Of one channel's credits, in order.
struct Credits {
  std::vector<OpId> grants;
  std::vector<OpId> notices;
  std::uint32_t window = 0;
};

std::vector<Credits> credits_of(const Schedule& schedule) {
  std::vector<Credits> by_channel(schedule.channels().size());
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const Op& op = schedule.ops()[i];
    if (!is_fifo_source(op)) continue;
    by_channel[op.channel.value].grants.push_back(OpId(i));
    by_channel[op.channel.value].notices.push_back(op.match);
  }
  std::vector<Credits> all;
  for (const Channel& channel : schedule.channels()) {
    if (!channel.credit_on.valid()) continue;
    all.push_back(by_channel[channel.credit_on.value]);
    all.back().window = channel.window;
  }
  return all;
}

TEST(CreditNotices, ArePostedBeforeTheirCreditsCanCome) {
  std::vector<std::string> specs;
  for (const PatternEntry& pattern : plan_patterns()) {
    for (const char* way : {"", ",window=2", ",window=3,in-flight=2", ",in-flight=0", ",start=all",
                            ",window=2,in-flight=0,start=all", ",lower=put,window=2"}) {
      specs.push_back(fmt::format("{}:ranks=6,bytes=12,block=1{}", pattern.name, way));
    }
  }
  for (const char* collective : {"reduce", "allreduce", "allgather"}) {
    for (const char* way : {"", ",window=2,in-flight=0"}) {
      specs.push_back(fmt::format("{}:ranks=5,bytes=10,block=1{}", collective, way));
    }
  }
  std::uint32_t proved = 0;
  for (const std::string& spec : specs) {
    SCOPED_TRACE(spec);
    const Schedule schedule = compile(parse_spec(spec));
    const ChannelOrder channels = channel_order(schedule);
    const auto order = issue_order(schedule);
    ASSERT_TRUE(order.has_value());
    OrderProver prover(schedule, channels, *order, kManySteps);
    const auto before = [&](EventId first, OpId second) {
      return prover.before(first, second) == OrderProver::Answer::kProven;
    };
    for (const Credits& credits : credits_of(schedule)) {
      const std::size_t window = credits.window;
      for (std::size_t k = 0; k < credits.notices.size(); ++k) {
        // Those of the first window wait for nothing at either end.
        if (k < window) {
          EXPECT_TRUE(schedule.edges_into(credits.notices[k]).empty());
          continue;
        }
        EXPECT_TRUE(before(EventId::issued(credits.notices[k]), credits.grants[k])) << k;
        ++proved;
        // No more of them wait than the window and one.
        if (k == window) continue;
        EXPECT_TRUE(before(EventId::done(credits.notices[k - window - 1]), credits.notices[k]))
            << k;
      }
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(proved, 1000u);
}

}  // namespace
}  // namespace slackline::sched
