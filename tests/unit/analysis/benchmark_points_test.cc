// Points from what perftest, the OSU micro-benchmarks and nccl-tests print.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "analysis/fit/calibrate.h"
#include "analysis/fit/calibration_points.h"
#include "base/append.h"
#include "tests/support/error_of.h"

namespace slackline::analysis {
namespace {

using slackline::testing::error_of;
using ::testing::HasSubstr;

std::string refusal(const std::string& text) {
  return error_of([&] { read_points(text, "out"); });
}

std::string perftest(const std::string& test, const std::string& results,
                     const std::string& info = "") {
  return "{\n\"test_info\": {\n\"test\": \"" + test + "\",\n\"Number_of_qps\": 1" + info +
         "\n},\n\"results\": {\n" + results + "\n}\n}\n";
}

std::string latency(const std::string& test, const std::string& typical) {
  return perftest(test, "\"MsgSize\": 8,\n\"n_iterations\": 1000,\n\"t_typical\": " + typical +
                            ",\n\"t_avg\": 99.0");
}

std::string bandwidth(std::uint64_t bytes, const std::string& average, const std::string& rate) {
  return perftest("RDMA_Write_BW_Test", "\"MsgSize\": " + std::to_string(bytes) +
                                            ",\n\"n_iterations\": 5000,\n\"BW_peak\": 0.00,\n"
                                            "\"BW_average\": " +
                                            average + ",\n\"MsgRate\": " + rate);
}

void expect_point(const MeasuredPoint& point, PointKind kind, std::uint64_t bytes,
                  std::uint64_t messages, double seconds, std::uint32_t line) {
  EXPECT_EQ(name(point.kind), name(kind));
  EXPECT_EQ(point.bytes, bytes);
  EXPECT_EQ(point.messages, messages);
  EXPECT_NEAR(point.seconds, seconds, 1e-9 * seconds);
  EXPECT_EQ(point.line, line);
}

TEST(PerftestPoints, AreOneADocument) {
  const std::string first = latency("Send_Latency_Test", "1.25");
  const auto points = read_points(first + "\n" + latency("RDMA_Read_Latency_Test", "2.5") +
                                      latency("Atomic_FETCH_AND_ADD_Latency_Test", "3") +
                                      perftest("Send_Latency_Test",
                                               "\"MsgSize\": 64,\n\"n_iterations\": 7,\n"
                                               "\"t_avg\": 4.5,\n\"tps_average\": 1.0"),
                                  "out");
  ASSERT_EQ(points.size(), 4u);
  expect_point(points[0], PointKind::kPingpong, 8, 1, 1.25e-6, 1);
  const auto lines = static_cast<std::uint32_t>(std::count(first.begin(), first.end(), '\n'));
  expect_point(points[1], PointKind::kGet, 8, 1, 2.5e-6, lines + 2);
  expect_point(points[2], PointKind::kAtomic, 8, 1, 3e-6, 2 * lines + 2);
  expect_point(points[3], PointKind::kPingpong, 64, 1, 4.5e-6, 3 * lines + 2);
}

// 64 KiB at 12,500 MB/s: 190,734 messages a second.
TEST(PerftestPoints, FindTheUnitOfABandwidth) {
  const double per_s = 12.5e9 / 65536;
  for (const std::string average : {"11920.93", "100.00"}) {
    const auto points = read_points(bandwidth(65536, average, "0.190735"), "out");
    ASSERT_EQ(points.size(), 1u);
    EXPECT_EQ(points[0].messages, 5000u);
    EXPECT_NEAR(points[0].seconds, 5000 / per_s, 1e-4 * points[0].seconds);
  }
  // Of small messages the rate has more places, of large ones the bandwidth.
  EXPECT_NEAR(read_points(bandwidth(2, "9.54", "5.000000"), "out")[0].seconds, 1e-3, 1e-9);
  EXPECT_NEAR(read_points(bandwidth(8u << 20, "11920.93", "0.001490"), "out")[0].seconds,
              5000.0 * (8u << 20) / 12.5e9, 1e-6);
  EXPECT_THAT(refusal(bandwidth(65536, "12500.00", "0.190735")),
              HasSubstr("out: document 1: results.BW_average: 12500 is not what"));
  EXPECT_THAT(refusal(bandwidth(65536, "12500.00", "0.190735")),
              HasSubstr("expected MiB/s or Gb/s"));
  EXPECT_THAT(refusal(bandwidth(65536, "0.00", "0.000000")), HasSubstr("MsgRate: expected a rate"));
}

TEST(PerftestPoints, RefuseOtherTestsAndFields) {
  const std::string good = "\"MsgSize\": 8, \"n_iterations\": 5, \"t_typical\": 1.0";
  EXPECT_THAT(refusal(perftest("Send_Bidirectional_BW_Test", good)),
              HasSubstr("test_info.test: 'Send_Bidirectional_BW_Test' is no test"));
  EXPECT_THAT(refusal(perftest("RDMA_Read_BW_Test", good)), HasSubstr("expected one of Send_"));
  EXPECT_THAT(refusal(perftest("Send_Latency_Test", good + ", \"t_best\": 1.0")),
              HasSubstr("results: 't_best' is no field"));
  EXPECT_THAT(refusal("{\"test_info\": {\"test\": \"Send_Latency_Test\", \"Number_of_qps\": 2}, "
                      "\"results\": {" +
                      good + "}}"),
              HasSubstr("Number_of_qps: expected 1"));
  EXPECT_THAT(refusal(latency("Send_Latency_Test", "\"1.25\"")), HasSubstr("expected a number"));
  EXPECT_THAT(refusal(latency("Send_Latency_Test", "0.0")), HasSubstr("is no time"));
  EXPECT_THAT(refusal(latency("Send_Latency_Test", "1.0") + "{"),
              HasSubstr("out: document 2: not a JSON document"));
  EXPECT_THAT(refusal(latency("Send_Latency_Test", "1.0") + "x"),
              HasSubstr("out: document 2: not a JSON document"));
  EXPECT_THAT(refusal("{}"), HasSubstr("expected a field \"test_info\""));
}

constexpr const char* kOsuLatency =
    "\n# OSU MPI Latency Test v7.4\n# Datatype: MPI_CHAR.\n# Size          Latency (us)\n";
constexpr const char* kOsuBandwidth =
    "# OSU MPI-CUDA Bandwidth Test v5.3.2\n# Size      Bandwidth (MB/s)\n";

TEST(OsuPoints, AreOneALine) {
  const auto points = read_points(std::string(kOsuLatency) +
                                      "0                       1.21\r\n4096          2.50\n\n" +
                                      kOsuBandwidth + "1000000    12500.00\n",
                                  "out");
  ASSERT_EQ(points.size(), 3u);
  expect_point(points[0], PointKind::kPingpong, 0, 1, 1.21e-6, 5);
  expect_point(points[1], PointKind::kPingpong, 4096, 1, 2.5e-6, 6);
  expect_point(points[2], PointKind::kStream, 1'000'000, 64, 64 * 1e6 / 12.5e9, 10);
}

TEST(OsuPoints, RefuseOtherBenchmarksColumnsAndUnits) {
  EXPECT_THAT(refusal("# OSU MPI Allreduce Latency Test v7.4\n# Size  Avg Latency(us)\n8 1\n"),
              HasSubstr("out:1: '# OSU MPI Allreduce Latency Test v7.4'; expected the table of"));
  EXPECT_THAT(refusal("# OSU MPI_Put Latency Test v7.4\n"), HasSubstr("expected the table of"));
  EXPECT_THAT(refusal("# OSU MPI Latency Test\n# Size Latency (ms)\n8 1\n"),
              HasSubstr("out:2: '# Size Latency (ms)'; expected Size and Latency (us)"));
  EXPECT_THAT(refusal("# OSU MPI Bandwidth Test\n# Size Bandwidth (MB/s) Messages/s\n8 1\n"),
              HasSubstr("expected Size and Bandwidth (MB/s)"));
  EXPECT_THAT(refusal("# OSU MPI Latency Test\n8 1\n"), HasSubstr("expected the line"));
  EXPECT_THAT(refusal(std::string(kOsuLatency) + "8 1 2\n"), HasSubstr("expected a size and one"));
  EXPECT_THAT(refusal(std::string(kOsuLatency) + "8 fast\n"), HasSubstr("'fast' is no number"));
  EXPECT_THAT(refusal(std::string(kOsuLatency) + "8 nan\n"), HasSubstr("is no time"));
  EXPECT_THAT(refusal(std::string(kOsuLatency) + "-8 1\n"), HasSubstr("size"));
  EXPECT_THAT(refusal(std::string(kOsuBandwidth) + "8 0.00\n"), HasSubstr("is no time"));
  EXPECT_THAT(refusal(kOsuLatency), HasSubstr("no sizes"));
}

std::string nccl(const std::string& rows, const std::string& test = "sendrecv_perf",
                 const std::string& unit = "(us)") {
  return "# nccl-tests version 2.17.1 nccl-headers=22703 nccl-library=22703\n"
         "# Collective test starting: " +
         test +
         "\n#\n#   out-of-place   in-place\n"
         "#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n"
         "#   (B)  (elements)   " +
         unit + "  (GB/s)  (GB/s)   (us)  (GB/s)  (GB/s)\n" + rows + "# Avg bus bandwidth : 1\n";
}

TEST(NcclPoints, AreOneALine) {
  const auto points = read_points(
      nccl("  8  2  float  sum  -1  9.85  0.00  0.00   0   9.80  0.00  0.00  N/A\n"
           "  1048576  262144  float  sum  -1  1.0e+02  10.24  10.24  N/A  101.10  1  1  0\n"),
      "out");
  ASSERT_EQ(points.size(), 2u);
  expect_point(points[0], PointKind::kPingpong, 8, 1, 9.85e-6, 7);
  expect_point(points[1], PointKind::kPingpong, 1 << 20, 1, 100e-6, 8);
}

TEST(NcclPoints, RefuseOtherTestsColumnsAndUnits) {
  const std::string row = "8 2 float sum -1 9.85 0.00 0.00 0 9.80 0.00 0.00 N/A\n";
  EXPECT_THAT(refusal(nccl(row, "all_reduce_perf")), HasSubstr("out:2: "));
  EXPECT_THAT(refusal(nccl(row, "all_reduce_perf")), HasSubstr("expected sendrecv_perf"));
  EXPECT_THAT(refusal(nccl(row, "sendrecv_perf", "(ms)")), HasSubstr("expected times in us"));
  EXPECT_THAT(refusal(nccl("8 2 float sum -1 9.85 0.00 0.00 3 9.80 0.00 0.00 N/A\n")),
              HasSubstr("expected 0 in #wrong"));
  EXPECT_THAT(refusal(nccl("8 2 float sum -1 9.85\n")), HasSubstr("expected 13 columns"));
  EXPECT_THAT(refusal("# nccl-tests version 2\n# Collective test starting: sendrecv_perf\n" + row),
              HasSubstr("expected the columns"));
  EXPECT_THAT(refusal("# nccl-tests version 2\n" + row), HasSubstr("sendrecv_perf\" first"));
  EXPECT_THAT(refusal("# nccl-tests version 2\n# size count time\n"),
              HasSubstr("expected the columns"));
}

// What nccl-tests say of the run and of its ranks, above the columns.
std::string nccl_of(const std::string& grouped, int ranks) {
  std::string head =
      "# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 1 iters: "
      "20 agg iters: " +
      grouped + " validation: 1 graph: 0 unalign: 0\n# Using devices\n";
  for (int r = 0; r < ranks; ++r) {
    sched::append(head, "#  Rank {:2} Group  0 Pid    7 on host device  {} [0000:07:00] GPU\n", r,
                  r);
  }
  std::string text = nccl("8 2 float sum -1 9.85 0.00 0.00 0 9.80 0.00 0.00 N/A\n");
  return text.insert(text.find("#\n"), head);
}

TEST(NcclPoints, AreOfSingleMessagesBetweenRanks) {
  EXPECT_EQ(read_points(nccl_of("1", 2), "out").size(), 1u);
  EXPECT_EQ(read_points(nccl_of("1", 0), "out").size(), 1u);  // without a list
  for (const char* grouped : {"16", "10"}) {
    EXPECT_THAT(refusal(nccl_of(grouped, 2)), HasSubstr("out:3: "));
    EXPECT_THAT(refusal(nccl_of(grouped, 2)), HasSubstr("expected agg iters: 1"));
  }
  EXPECT_THAT(refusal(nccl_of("1", 1)), HasSubstr("one alone sends to itself"));
  // Each test of several has ranks of its own.
  EXPECT_EQ(read_points(nccl_of("1", 2) + nccl_of("1", 3), "out").size(), 2u);
  EXPECT_THAT(refusal(nccl_of("1", 2) + nccl_of("1", 1)), HasSubstr("out:22: "));
}

// Versions before 2.17 do not name their test.
TEST(NcclPoints, OfOneTestDoNotNameTheNext) {
  const std::string row = "8 2 float sum -1 9.85 0.00 0.00 0 9.80 0.00 0.00 N/A\n";
  const std::string one = nccl(row) + "# Collective test concluded: sendrecv_perf\n";
  const std::string older = nccl(row).substr(nccl(row).find("#\n"));
  EXPECT_EQ(read_points(one + one, "out").size(), 2u);
  EXPECT_THAT(refusal(one + older), HasSubstr("sendrecv_perf\" first"));
}

// What a machine of known figures would have these benchmarks print.
TEST(BenchmarkPoints, TellTheRateOfTheMachine) {
  const double start_s = 1.6e-6;  // o_post, latency and o_complete
  const double rate = 12.5e9;
  std::string text = "# OSU MPI Latency Test v7.4\n# Size Latency (us)\n";
  for (std::uint64_t bytes = 8; bytes <= (4u << 20); bytes *= 4) {
    const double time_s = start_s + static_cast<double>(bytes) / rate;
    sched::append(text, "{} {:.4f}\n", bytes, time_s * 1e6);
  }
  const Calibration found = calibrate(read_points(text, "out"), {});
  EXPECT_NEAR(static_cast<double>(found.platform.rate.bits_per_second), 8 * rate, 0.01 * 8 * rate);
}

}  // namespace
}  // namespace slackline::analysis
