#include "analysis/fit/benchmark_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/number.h"
#include "base/split.h"
#include "base/units.h"
#include "machine/input_text.h"

namespace slackline::analysis {
namespace {

constexpr double kMicro = 1e-6;
constexpr double kMega = 1e6;
constexpr std::uint64_t kOsuWindow = 64;

// A line's words, of which there may be any number of blanks between two.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (const std::string_view word : base::split(line, ' ')) {
    if (const std::string_view text = base::trimmed(word); !text.empty()) words.push_back(text);
  }
  return words;
}

// The same with one blank between two.
std::string words_in(std::string_view line) {
  return fmt::format("{}", fmt::join(words_of(line), " "));
}

double real(std::string_view text, std::string_view what) {
  const auto value = base::whole_number<double>(text);
  if (!value) {
    throw InputError(
        fmt::format("{}: {} is no number; expected one", what, machine::in_quotes(text)));
  }
  return *value;
}

// Calls `take` with each line that is not empty, and where it stands.
template <class Take>
void for_lines(std::string_view text, std::string_view file, const Take& take) {
  for (std::uint32_t number = 1; !text.empty(); ++number) {
    const std::string_view line = base::trimmed(base::take_item(text, '\n'));
    if (line.empty()) continue;
    const std::string where = fmt::format("{}:{}", file, number);
    const std::string words = words_in(line);
    machine::require_plain(words, where);
    take(words, where, number);
  }
}

std::vector<MeasuredPoint> required(std::vector<MeasuredPoint> points, std::string_view file) {
  if (points.empty()) {
    throw InputError(fmt::format("{}: no sizes; expected a line for each", file));
  }
  return points;
}

[[noreturn]] void fail(std::string_view where, std::string_view line, std::string_view expected) {
  throw InputError(fmt::format("{}: {}; expected {}", where, machine::in_quotes(line), expected));
}

bool begins_with(std::string_view text, std::string_view begin) {
  const std::size_t at = text.find_first_not_of(" \t\r\n");
  return at != std::string_view::npos && text.substr(at).starts_with(begin);
}

class OsuReader {
 public:
  void take(std::string_view line, const std::string& where, std::uint32_t number) {
    if (line.starts_with("# OSU ")) return title(line, where);
    if (line.starts_with("# Size")) return columns(line, where);
    if (line.starts_with('#')) return;
    row(line, where, number);
  }

  std::vector<MeasuredPoint> points;

 private:
  void title(std::string_view line, std::string_view where) {
    kind_.reset();
    // Behind "MPI" may stand where the buffers are, and behind "Test" the version.
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() >= 5 && words[2].starts_with("MPI") && !words[2].starts_with("MPI_") &&
        words[4] == "Test") {
      if (words[3] == "Latency") kind_ = PointKind::kPingpong;
      if (words[3] == "Bandwidth") kind_ = PointKind::kStream;
    }
    if (!kind_) fail(where, line, "the table of osu_latency or osu_bw");
    titled_ = false;
  }

  void columns(std::string_view line, std::string_view where) {
    const bool latency = kind_ == PointKind::kPingpong;
    titled_ = latency ? line == "# Size Latency (us)" || line == "# Size Avg Latency(us)"
                      : line == "# Size Bandwidth (MB/s)";
    if (!titled_)
      fail(where, line, latency ? "Size and Latency (us)" : "Size and Bandwidth (MB/s)");
  }

  void row(std::string_view line, const std::string& where, std::uint32_t number) {
    const std::vector<std::string_view> words = words_of(line);
    if (!titled_) fail(where, line, "the line \"# Size …\" first");
    if (words.size() != 2) fail(where, line, "a size and one figure");
    MeasuredPoint point;
    point.kind = *kind_;
    point.line = number;
    point.bytes = sched::parse_count(words[0], where + ": size", 0, kMaxPointBytes);
    const double figure = real(words[1], where);
    if (point.kind == PointKind::kPingpong) {
      point.seconds = figure * kMicro;
    } else {
      point.messages = kOsuWindow;
      point.seconds = static_cast<double>(kOsuWindow * point.bytes) / (figure * kMega);
    }
    require_sound(point, where);
    points.push_back(point);
  }

  std::optional<PointKind> kind_;
  bool titled_ = false;
};

class NcclReader {
 public:
  void take(std::string_view line, const std::string& where, std::uint32_t number) {
    constexpr std::string_view kTest = "# Collective test starting: ";
    constexpr std::string_view kGrouped = "agg iters: ";
    constexpr std::string_view kColumns =
        "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong";
    if (line.starts_with(kTest)) {
      const std::string_view test = line.substr(kTest.size());
      known_ = test.ends_with("sendrecv_perf") || test.ends_with("sendrecv_perf_mpi");
      if (!known_) fail(where, line, "sendrecv_perf: points are of single messages");
      ranks_ = 0;
    } else if (line.starts_with("# Collective test concluded: ")) {
      known_ = false;  // older versions do not say whose table comes next
    } else if (line.starts_with("# nThread ")) {
      const std::string_view from = line.substr(std::min(line.find(kGrouped), line.size()));
      if (!from.empty() && !from.starts_with("agg iters: 1 ")) {
        fail(where, from, "agg iters: 1, as without -m: points are of single messages");
      }
    } else if (line.starts_with("# Rank ")) {
      ++ranks_;
    } else if (line.starts_with("# size ")) {
      titled_ = line == kColumns;
      if (!titled_) fail(where, line, "the columns size to #wrong, twice with a time");
    } else if (line.starts_with("# (B)")) {
      units_ = line == "# (B) (elements) (us) (GB/s) (GB/s) (us) (GB/s) (GB/s)";
      if (!units_) fail(where, line, "times in us");
    } else if (!line.starts_with('#')) {
      row(line, where, number);
    }
  }

  std::vector<MeasuredPoint> points;

 private:
  void row(std::string_view line, const std::string& where, std::uint32_t number) {
    constexpr std::size_t kWords = 13;
    constexpr std::size_t kTime = 5;
    constexpr std::size_t kWrong = 8;
    if (!known_) fail(where, line, "\"# Collective test starting: sendrecv_perf\" first");
    if (!titled_ || !units_) fail(where, line, "the columns and their units first");
    if (ranks_ == 1) fail(where, line, "two ranks or more: one alone sends to itself");
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() != kWords) fail(where, line, fmt::format("{} columns", kWords));
    MeasuredPoint point;
    point.line = number;
    point.bytes = sched::parse_count(words[0], where + ": size", 0, kMaxPointBytes);
    point.seconds = real(words[kTime], where + ": time") * kMicro;
    if (words[kWrong] != "0" && words[kWrong] != "N/A") {
      fail(where, words[kWrong], "0 in #wrong: data that arrived as it was sent");
    }
    require_sound(point, where);
    points.push_back(point);
  }

  bool known_ = false;
  bool titled_ = false;
  bool units_ = false;
  std::uint32_t ranks_ = 0;  // as listed; 0: no list
};

template <class Reader>
std::vector<MeasuredPoint> read(std::string_view text, std::string_view file) {
  Reader reader;
  for_lines(text, file, [&](std::string_view line, const std::string& where, std::uint32_t number) {
    reader.take(line, where, number);
  });
  return required(std::move(reader.points), file);
}

}  // namespace

bool is_osu_table(std::string_view text) { return begins_with(text, "# OSU "); }

std::vector<MeasuredPoint> read_osu_table(std::string_view text, std::string_view file) {
  return read<OsuReader>(text, file);
}

bool is_nccl_table(std::string_view text) { return begins_with(text, "# nccl-tests version"); }

std::vector<MeasuredPoint> read_nccl_table(std::string_view text, std::string_view file) {
  return read<NcclReader>(text, file);
}

}  // namespace slackline::analysis
