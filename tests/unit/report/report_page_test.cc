// Whole pages: what they hold, that they take nothing from elsewhere, and that the same is the
// same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "analysis/engines/analytic.h"
#include "analysis/slack/timed_slack.h"
#include "base/error.h"
#include "machine/platform.h"
#include "report/page_parts.h"
#include "report/report.h"
#include "report/ticks.h"
#include "tests/support/compiled.h"
#include "tests/unit/report/unpack.h"

namespace slackline::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A run of a schedule, and the page of it.
struct Ran {
  explicit Ran(const std::string& spec)
      : schedule(testing::compiled(spec)),
        platform(machine::load_platform("fractus")),
        wiring(platform, schedule.rank_count()),
        trace(analysis::run_analytic({schedule, platform, wiring, delays})) {}

  ReportedRun reported() const {
    return {"x.trace", trace, {schedule, platform, wiring, delays}, std::nullopt, std::nullopt};
  }
  Report report() const { return {"chain", schedule, {reported()}, {}, {}, {}}; }

  sched::Schedule schedule;
  machine::Platform platform;
  machine::DelayPlan delays;
  machine::Wiring wiring;
  sched::Trace trace;
};

nlohmann::json facts_of(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"facts\">";
  const std::size_t at = page.find(begin) + begin.size();
  return nlohmann::json::parse(page.substr(at, page.find("</script>", at) - at));
}

std::vector<std::int64_t> column_of(const std::string& page, const std::string& name) {
  const nlohmann::json info = facts_of(page)["columns"][name];
  const std::string begin = "data-column=\"" + name + "\">";
  const std::size_t at = page.find(begin) + begin.size();
  PackedColumn column;
  column.count = info["count"];
  column.planes = info["planes"];
  column.coding = info["coding"] == "values" ? Coding::kValues : Coding::kDifferences;
  column.base64 = page.substr(at, page.find("</script>", at) - at);
  return testing::values_of(column);
}

TEST(ReportPage, HasSlopesInMillionthsWhereTheyAreKnown) {
  const Ran ran("chain:ranks=2,bytes=2MiB,block=1MiB");
  Report report = ran.report();
  EXPECT_FALSE(facts_of(report_page(report))["columns"].contains("run0.slope"));
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  std::vector<double>& slopes = report.runs[0].slopes;
  slopes.assign(ran.schedule.op_count(), 0);
  ASSERT_GE(slopes.size(), 5u);
  slopes = {1.5, -0.25, kInfinite, -kInfinite, std::numeric_limits<double>::quiet_NaN()};
  slopes.resize(ran.schedule.op_count());
  const auto shown = column_of(report_page(report), "run0.slope");
  ASSERT_EQ(shown.size(), slopes.size());
  const std::int64_t expected[] = {1'500'000, -250'000, 1'000'000'000'000, -1'000'000'000'000,
                                   std::int64_t{1} << 50};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(shown[i], expected[i]) << i;
}

TEST(ReportPage, HoldsTheTimesAndFloatsOfEveryOperation) {
  const Ran ran("binomial-pipeline:ranks=4,bytes=4MiB,block=1MiB");
  const std::string page = report_page(ran.report());
  const auto slack = analysis::timed_slack(ran.reported().setting, ran.trace);
  const auto issued = column_of(page, "run0.issued");
  const auto done = column_of(page, "run0.done");
  const auto total = column_of(page, "run0.total_float");
  ASSERT_EQ(issued.size(), ran.trace.ops.size());
  const Ticks ticks(ran.trace.makespan_s());
  EXPECT_EQ(ticks.tick_s(), 1e-12);
  for (std::size_t i = 0; i < issued.size(); ++i) {
    EXPECT_EQ(issued[i], ticks.of(ran.trace.ops[i].issued_s));
    EXPECT_EQ(issued[i] + done[i], ticks.of(ran.trace.ops[i].done_s));
    EXPECT_EQ(total[i], ticks.of(slack.total_float_s[i]));
  }
  EXPECT_EQ(facts_of(page)["runs"][0]["makespan"], ticks.of(ran.trace.makespan_s()));
}

TEST(ReportPage, IsTheSameForTheSame) {
  const Ran ran("binomial-tree:ranks=5,bytes=64KiB");
  EXPECT_EQ(report_page(ran.report()), report_page(ran.report()));
  const Ran again("binomial-tree:ranks=5,bytes=64KiB");
  EXPECT_EQ(report_page(ran.report()), report_page(again.report()));
}

TEST(ReportPage, TakesNothingFromElsewhere) {
  const Ran ran("chain:ranks=3,bytes=1MiB");
  const std::string page = report_page(ran.report());
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, Not(HasSubstr("unsafe-inline")));
  for (const char* part : {"http://", "https://", " src=", "@import", "url("}) {
    EXPECT_THAT(page, Not(HasSubstr(part)));
  }
}

TEST(ReportPage, NamesOfAnybodysStayText) {
  Ran ran("chain:ranks=3,bytes=1MiB");
  const std::string hostile = "</script></title><img src=x onerror=\"document.title='no'\">";
  ran.trace.platform = ran.trace.engine = ran.trace.delays = hostile;
  Report report{hostile, ran.schedule, {ran.reported()}, {}, {}, {}};
  report.runs[0].label = hostile;
  report.runs[0].no_promise = hostile;
  const std::string page = report_page(report);
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  const nlohmann::json facts = facts_of(page);
  EXPECT_EQ(facts["schedule"]["name"], hostile);
  EXPECT_EQ(facts["runs"][0]["platform"], hostile);
  EXPECT_EQ(facts["runs"][0]["label"], hostile);
}

TEST(ReportPage, SaysWhyThereIsNoSlack) {
  Ran ran("chain:ranks=3,bytes=1MiB");
  ran.trace.ops.back().done_s = std::numeric_limits<double>::infinity();
  const nlohmann::json facts = facts_of(report_page(ran.report()));
  EXPECT_EQ(facts["runs"][0]["no_slack"], "the run never ended");
  EXPECT_EQ(facts["runs"][0]["makespan"], -1);
  EXPECT_FALSE(facts["columns"].contains("run0.total_float"));
}

TEST(ReportPage, OfARunOfAnotherScheduleIsRefused) {
  const Ran ran("chain:ranks=3,bytes=1MiB");
  const Ran other("chain:ranks=4,bytes=1MiB");
  Report report = ran.report();
  report.runs.push_back(other.reported());
  EXPECT_THROW(report_page(report), InputError);
}

TEST(ReportPage, HoldsSamplesAndValidationWhereThereAreSome) {
  const Ran ran("chain:ranks=3,bytes=1MiB");
  Report report = ran.report();
  report.samples_s = {1e-3, 2e-3, std::numeric_limits<double>::infinity()};
  report.samples_of = "iterations";
  report.validated = {{sched::OpId(1), 1e-6, 0, 1e-9, true},
                      {sched::OpId(2), 1e-6, 1e-6, 2e-6, false}};
  const std::string page = report_page(report);
  EXPECT_EQ(column_of(page, "sample.makespan"),
            (std::vector<std::int64_t>{1'000'000'000, 2'000'000'000, -1}));
  EXPECT_EQ(column_of(page, "validated.measured"), (std::vector<std::int64_t>{1000, 2'000'000}));
  EXPECT_EQ(column_of(page, "validated.within"), (std::vector<std::int64_t>{1, 0}));
  EXPECT_FALSE(facts_of(report_page(ran.report())).contains("samples"));
}

TEST(ReportPage, WithoutARunHoldsTheRest) {
  const Ran ran("chain:ranks=3,bytes=1MiB");
  Report report{"chain", ran.schedule, {}, {}, {}, {}};
  report.validated = {{sched::OpId(1), 1e-6, 0, 0, true}};
  const nlohmann::json facts = facts_of(report_page(report));
  EXPECT_EQ(facts["runs"], nlohmann::json::array());
  EXPECT_EQ(facts["validation"]["delays"], 1);
}

// A page whose script ended early would be a page that anybody writes.
TEST(PageParts, ScriptAndStyleDoNotEndThemselves) {
  const PageParts parts = page_parts();
  EXPECT_EQ(parts.script.find("</script"), std::string_view::npos);
  EXPECT_EQ(parts.script.find("<!--"), std::string_view::npos);
  EXPECT_EQ(parts.style.find("</style"), std::string_view::npos);
  EXPECT_EQ(parts.script_hash.substr(0, 7), "sha256-");
  EXPECT_EQ(parts.script_hash.size(), 7u + 44u);
}

TEST(Ticks, AreAsFineAsTimesAllow) {
  EXPECT_EQ(Ticks(1).of(1e-12), 1);
  EXPECT_EQ(Ticks(1).of(std::numeric_limits<double>::infinity()), Ticks::kNever);
  EXPECT_EQ(Ticks(2251).tick_s(), 1e-12);
  EXPECT_EQ(Ticks(2252).tick_s(), 1e-11);
  const Ticks coarse(9e6);
  EXPECT_LT(coarse.of(9e6), std::int64_t{1} << 51);
}

}  // namespace
}  // namespace slackline::report
