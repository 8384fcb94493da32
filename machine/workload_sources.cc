#include "machine/workload_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/error.h"
#include "base/number.h"
#include "base/read_file.h"
#include "base/split.h"
#include "machine/draw.h"
#include "machine/input_text.h"

namespace slackline::machine {
namespace {

using sched::Time;

constexpr std::string_view kSize = "a size such as \"12MiB\"";
constexpr std::string_view kTime = "a time such as \"3ms\"";

std::optional<std::uint64_t> read_size(TomlTable& table, std::string_view key) {
  const auto text = table.text(key, kSize);
  if (!text) return std::nullopt;
  return sched::parse_bytes(*text, table.where(*table.find(key)));
}

// The values of a file with one a line; what follows a # is a comment.
void read_lines(const std::filesystem::path& path,
                const std::function<void(std::string_view, const std::string&)>& take) {
  const std::string text = sched::read_file(path.string());
  std::string_view rest = text;
  for (std::uint32_t line = 1; !rest.empty(); ++line) {
    const std::string_view whole = base::take_item(rest, '\n');
    const std::string where = fmt::format("{}:{}", path.string(), line);
    const std::string_view value = base::trimmed(whole.substr(0, whole.find('#')));
    if (value.empty()) continue;
    require_plain(value, where);
    take(value, where);
  }
}

std::filesystem::path file_of(TomlTable& table, const std::filesystem::path& folder) {
  const auto name = table.text("file", "a path");
  if (name->empty()) {
    throw InputError(fmt::format("{}: no path; expected one", table.where(*table.find("file"))));
  }
  return folder / *name;
}

// The logarithm's deviation, said by itself or by the mean over the median.
double read_sigma(TomlTable& table, std::optional<double> mean_over_median) {
  constexpr std::string_view kExpected = "a number such as 1.3";
  const TomlValue* value = table.find("sigma");
  if ((value != nullptr) == mean_over_median.has_value()) {
    throw InputError(
        fmt::format("{}: {}; expected one of them", table.where(),
                    value == nullptr ? "neither mean nor sigma" : "both mean and sigma"));
  }
  if (value == nullptr) {
    if (!(*mean_over_median >= 1)) {
      throw InputError(fmt::format("{}: the mean is below the median; expected at least that",
                                   table.where(*table.find("mean"))));
    }
    return std::sqrt(2 * portable_log(*mean_over_median));
  }
  const std::string text = *table.text_or_number("sigma", kExpected);
  const auto sigma = base::whole_number<double>(text);
  if (!sigma || !std::isfinite(*sigma) || *sigma < 0) {
    throw InputError(fmt::format("{}: {}; expected {}, 0 or more", table.where(*value),
                                 machine::in_quotes(text), kExpected));
  }
  return *sigma;
}

[[noreturn]] void unknown_distribution(TomlTable& table, std::string_view known) {
  const TomlValue* value = table.find("distribution");
  if (value == nullptr) {
    throw InputError(
        fmt::format("{}: neither distribution nor file stands here; expected one", table.where()));
  }
  throw InputError(fmt::format("{}: {}; expected {}", table.where(*value),
                               machine::in_quotes(value->text), known));
}

SizeSource read_size_table(TomlTable table, const std::filesystem::path& folder) {
  SizeSource source;
  if (table.find("file") != nullptr) {
    source.kind = SizeSource::Kind::kList;
    const std::filesystem::path path = file_of(table, folder);
    read_lines(path, [&](std::string_view text, const std::string& where) {
      source.list.push_back(sched::parse_bytes(text, where));
    });
    if (source.list.empty()) {
      throw InputError(fmt::format("{}: no size stands there; expected one a line", path.string()));
    }
    table.refuse_others();
    return source;
  }
  const std::string kind = table.text("distribution", "lognormal or uniform").value_or("");
  source.min = read_size(table, "min").value_or(source.min);
  source.max = read_size(table, "max").value_or(source.max);
  if (kind == "lognormal") {
    source.kind = SizeSource::Kind::kLognormal;
    source.median = table.required(read_size(table, "median"), "median", kSize);
    if (source.median == 0) {
      throw InputError(
          fmt::format("{}: 0; expected at least 1 byte", table.where(*table.find("median"))));
    }
    const auto mean = read_size(table, "mean");
    source.sigma = read_sigma(
        table, mean ? std::optional(static_cast<double>(*mean) / static_cast<double>(source.median))
                    : std::nullopt);
  } else if (kind == "uniform") {
    source.kind = SizeSource::Kind::kUniform;
    table.required(read_size(table, "min"), "min", kSize);
    table.required(read_size(table, "max"), "max", kSize);
  } else {
    unknown_distribution(table, "lognormal or uniform");
  }
  table.refuse_others();
  if (source.min > source.max) {
    throw InputError(fmt::format("{}: min is above max; expected at most that",
                                 table.where(*table.find("min"))));
  }
  return source;
}

Distribution read_distribution(TomlTable& table) {
  constexpr std::string_view kKnown = "exponential, constant, uniform or lognormal";
  const std::string kind = table.text("distribution", kKnown).value_or("");
  const auto time = [&](std::string_view key) {
    return table.required(read_time(table, key), key, kTime);
  };
  Distribution result;
  if (kind == "exponential") {
    result.kind = Distribution::Kind::kExponential;
    result.mean = time("mean");
  } else if (kind == "constant") {
    result.low = time("every");
  } else if (kind == "uniform") {
    result.kind = Distribution::Kind::kUniform;
    result.low = time("low");
    result.high = time("high");
  } else if (kind == "lognormal") {
    result.kind = Distribution::Kind::kLognormal;
    result.median = time("median");
    const auto mean = read_time(table, "mean");
    if (result.median == Time{0}) {
      throw InputError(fmt::format("{}: 0; expected more", table.where(*table.find("median"))));
    }
    result.sigma = read_sigma(
        table,
        mean ? std::optional(sched::seconds(*mean) / sched::seconds(result.median)) : std::nullopt);
  } else {
    unknown_distribution(table, kKnown);
  }
  validate(result, table.where());
  return result;
}

std::vector<Time> read_times(const std::filesystem::path& path) {
  std::vector<Time> times;
  read_lines(path, [&](std::string_view text, const std::string& where) {
    const Time time = sched::parse_time(text, where);
    if (!times.empty() && time < times.back()) {
      throw InputError(fmt::format("{}: {} stands after {}; expected times in order", where,
                                   sched::format_time(time), sched::format_time(times.back())));
    }
    times.push_back(time);
  });
  if (times.empty()) {
    throw InputError(fmt::format("{}: no time stands there; expected one a line", path.string()));
  }
  return times;
}

}  // namespace

std::uint64_t SizeSource::draw(const DrawStream& stream, std::uint64_t index) const {
  const DrawKey key{stream.seed, stream.number, stream.site(DrawStream::Of::kSize), index};
  switch (kind) {
    case Kind::kConstant:
      return bytes;
    case Kind::kLognormal: {
      const double p = (static_cast<double>(draw_bits(key) >> 12) + 0.5) * 0x1p-52;
      const double drawn =
          portable_exp(sigma * normal_quantile(p)) * static_cast<double>(median) + 0.5;
      if (!(drawn < static_cast<double>(max))) return max;
      return std::max(min, static_cast<std::uint64_t>(drawn));
    }
    case Kind::kUniform:
      return min + draw_below(key, max - min + 1);
    case Kind::kList:
      return list[index % list.size()];
  }
  throw InternalError("sizes of no kind");
}

std::optional<Time> read_time(TomlTable& table, std::string_view key) {
  const auto text = table.text(key, kTime);
  if (!text) return std::nullopt;
  const std::string where = table.where(*table.find(key));
  const Time time = sched::parse_time(*text, where);
  if (time == sched::kForever) {
    throw InputError(fmt::format("{}: {} is too long; expected less", where, *text));
  }
  return time;
}

std::optional<SizeSource> read_sizes(TomlTable& table, const std::filesystem::path& folder) {
  const auto bytes = read_size(table, "bytes");
  auto sizes = table.table("sizes");
  if (bytes && sizes) {
    throw InputError(
        fmt::format("{}: both bytes and sizes stand here; expected one of them", table.where()));
  }
  if (sizes) return read_size_table(std::move(*sizes), folder);
  if (!bytes) return std::nullopt;
  SizeSource source;
  source.bytes = *bytes;
  return source;
}

ArrivalSource read_arrivals(TomlTable& table, const std::filesystem::path& folder) {
  const TomlValue* value = table.find("arrivals");
  if (value == nullptr) return {};
  if (value->kind == TomlValue::Kind::kText) {
    if (value->text == "closed") return {};
    throw InputError(fmt::format("{}: {}; expected \"closed\" or a table", table.where(*value),
                                 machine::in_quotes(value->text)));
  }
  TomlTable arrivals = *table.table("arrivals");
  ArrivalSource source;
  if (arrivals.find("file") != nullptr) {
    source.list = read_times(file_of(arrivals, folder));
  } else {
    source.between = read_distribution(arrivals);
  }
  arrivals.refuse_others();
  return source;
}

}  // namespace slackline::machine
