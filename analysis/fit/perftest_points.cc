#include "analysis/fit/perftest_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/named.h"
#include "machine/input_text.h"
#include "sched/import/json_fields.h"

namespace slackline::analysis {
namespace {

using sched::JsonPlace;

constexpr std::string_view kBlanks = " \t\r\n";
constexpr double kMicro = 1e-6;
// Of one, in bytes a second.
constexpr double kMiBs = 1 << 20;
constexpr double kGbs = 1e9 / 8;
// Half of the last place that is printed.
constexpr double kBandwidthRounding = 0.005;
constexpr double kRateRounding = 0.5;  // messages a second

struct Test {
  std::string_view name;  // as test_info.test has it
  PointKind kind;
};
constexpr std::array kTests = {
    Test{"Send_Latency_Test", PointKind::kPingpong},
    Test{"Send_imm_Latency_Test", PointKind::kPingpong},
    Test{"RDMA_Write_Latency_Test", PointKind::kPingpong},
    Test{"RDMA_Write_imm_Latency_Test", PointKind::kPingpong},
    Test{"RDMA_Read_Latency_Test", PointKind::kGet},
    Test{"Atomic_FETCH_AND_ADD_Latency_Test", PointKind::kAtomic},
    Test{"Atomic_CMP_AND_SWAP_Latency_Test", PointKind::kAtomic},
    Test{"Send_BW_Test", PointKind::kStream},
    Test{"Send_imm_BW_Test", PointKind::kStream},
    Test{"RDMA_Write_BW_Test", PointKind::kStream},
    Test{"RDMA_Write_imm_BW_Test", PointKind::kStream},
};

constexpr std::array<std::string_view, 14> kResults = {
    "MsgSize",  "n_iterations",  "BW_peak",         "BW_average", "MsgRate",
    "CPU_util", "t_min",         "t_max",           "t_typical",  "t_avg",
    "t_stdev",  "percentile_99", "percentile_99.9", "tps_average"};

PointKind kind_of(const JsonPlace& info) {
  const JsonPlace place = info.at("test");
  const std::string& name = place.text();
  if (const Test* found = base::find_named(kTests, name)) return found->kind;
  place.fail(fmt::format("{} is no test that points come from; expected one of {}",
                         machine::in_quotes(name), fmt::join(base::names_of(kTests), ", ")));
}

double latency_s(const JsonPlace& results) {
  return results.at(results.has("t_typical") ? "t_typical" : "t_avg").real() * kMicro;
}

// The time of all messages. Either figure tells it; the one that was rounded less does.
double stream_s(const JsonPlace& results, std::uint64_t bytes, std::uint64_t messages) {
  const JsonPlace rate_place = results.at("MsgRate");
  const double per_s = rate_place.real() * 1e6;
  const JsonPlace place = results.at("BW_average");
  const double bandwidth = place.real();
  if (!(per_s > 0)) rate_place.fail("expected a rate above 0, in millions a second");
  const auto size = static_cast<double>(bytes);
  const auto agrees = [&](double unit) {
    return std::abs(bandwidth * unit - per_s * size) <=
           kBandwidthRounding * unit + kRateRounding * size + 1e-3 * per_s * size;
  };
  const bool in_mib = agrees(kMiBs);
  if (!in_mib && !agrees(kGbs)) {
    place.fail(fmt::format(
        "{:g} is not what {:g} messages of {} bytes a second are; expected MiB/s or Gb/s",
        bandwidth, per_s, bytes));
  }
  const auto count = static_cast<double>(messages);
  if (kBandwidthRounding / bandwidth < kRateRounding / per_s) {
    return count * size / (bandwidth * (in_mib ? kMiBs : kGbs));
  }
  return count / per_s;
}

MeasuredPoint point_of(const JsonPlace& root, std::string_view where) {
  const JsonPlace info = root.at("test_info");
  const JsonPlace results = root.at("results");
  for (const std::string_view name : results.names()) {
    if (std::find(kResults.begin(), kResults.end(), name) != kResults.end()) continue;
    results.fail(fmt::format("{} is no field that is known; expected one of {}",
                             machine::in_quotes(name), fmt::join(kResults, ", ")));
  }
  MeasuredPoint point;
  point.kind = kind_of(info);
  if (info.has("Number_of_qps") && info.at("Number_of_qps").number() != 1) {
    info.at("Number_of_qps").fail("expected 1: points are of one queue pair");
  }
  point.bytes = results.at("MsgSize").number();
  const std::uint64_t iterations = results.at("n_iterations").number();
  if (point.kind == PointKind::kStream) {
    point.messages = iterations;
    point.seconds = stream_s(results, point.bytes, iterations);
  } else {
    point.seconds = latency_s(results);
  }
  require_sound(point, where);
  return point;
}

// The first document of several, by its braces. What is none is left to the parser.
std::string_view first_document(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c == '\\') ++at;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth <= 0) {
      ++at;
      break;
    }
  }
  return text.substr(0, at);
}

}  // namespace

bool is_perftest(std::string_view text) {
  const std::size_t at = text.find_first_not_of(kBlanks);
  return at != std::string_view::npos && text[at] == '{';
}

std::vector<MeasuredPoint> read_perftest(std::string_view text, std::string_view file) {
  std::vector<MeasuredPoint> points;
  std::uint32_t line = 1;
  const auto pass = [&](std::size_t count) {
    line += static_cast<std::uint32_t>(
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(count), '\n'));
    text.remove_prefix(count);
  };
  const auto pass_blanks = [&] { pass(std::min(text.find_first_not_of(kBlanks), text.size())); };
  for (pass_blanks(); !text.empty(); pass_blanks()) {
    const std::string where = fmt::format("{}: document {}", file, points.size() + 1);
    const std::string_view first = first_document(text);
    const sched::JsonDocument document(first, where);
    points.push_back(point_of(document.root(), where));
    points.back().line = line;
    pass(first.size());
  }
  return points;
}

}  // namespace slackline::analysis
