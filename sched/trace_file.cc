#include "sched/trace_file.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text_scan.h"
#include "sched/import/json_fields.h"

namespace slackline::sched {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

struct TimeField {
  std::string_view key;
  double OpTimes::*time;
};
constexpr TimeField kTimes[] = {{"ready_s", &OpTimes::ready_s},
                                {"issued_s", &OpTimes::issued_s},
                                {"wire_s", &OpTimes::wire_s},
                                {"done_s", &OpTimes::done_s}};

void text_field(std::string& out, std::string_view key, const std::string& text) {
  const nlohmann::json value = text;
  out.append(",\n\"").append(key).append("\": ");
  out += value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

nlohmann::json time_value(double time_s) {
  return std::isfinite(time_s) ? nlohmann::json(time_s) : nlohmann::json(nullptr);
}

double time_of(const JsonPlace& entry) {
  const double time_s = entry.is_null() ? kNever : entry.real();
  if (time_s < 0) entry.fail("expected a time of at least 0");
  return time_s;
}

// A list with one entry per operation.
template <class Entry>
void list(std::string& out, std::string_view key, const Trace& trace, Entry&& entry) {
  out.append(",\n\"").append(key).append("\": [");
  for (std::size_t i = 0; i < trace.ops.size(); ++i) {
    if (i != 0) out += ',';
    const nlohmann::json value = entry(trace.ops[i]);
    out += value.dump();
  }
  out += ']';
}

}  // namespace

std::string write_trace(const Trace& trace) {
  std::string out = fmt::format("{{\"schema\": {},\n\"schedule\": \"{}\"", kTraceSchema,
                                to_string(trace.schedule));
  text_field(out, "title", trace.title);
  text_field(out, "platform", trace.platform);
  text_field(out, "delays", trace.delays);
  text_field(out, "engine", trace.engine);
  out += fmt::format(",\n\"seed\": {},\n\"contended\": {}", trace.seed, trace.contended);
  for (const auto& [key, time] : kTimes) {
    list(out, key, trace, [member = time](const OpTimes& op) { return time_value(op.*member); });
  }
  list(out, "attempts", trace, [](const OpTimes& op) -> nlohmann::json { return op.attempts; });
  list(out, "cause", trace, [](const OpTimes& op) -> nlohmann::json {
    if (!op.cause.valid()) return nullptr;
    return op.cause.value;
  });
  if (!trace.request_s.empty()) {
    std::size_t i = 0;
    list(out, "request_s", trace, [&](const OpTimes&) { return time_value(trace.request_s[i++]); });
  }
  if (!trace.results.empty()) {
    std::size_t i = 0;
    list(out, "results", trace,
         [&](const OpTimes&) -> nlohmann::json { return trace.results[i++]; });
  }
  return out + "}\n";
}

Trace read_trace(std::string_view text, std::string_view file) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || text[start] != '{') {
    throw InputError(fmt::format(
        "{}: not a trace; expected what `simulate --trace` or `run --trace` wrote", file));
  }
  const JsonDocument document(text, file);
  const JsonPlace root = document.root();
  const JsonPlace schema = root.at("schema");
  const std::uint64_t version = schema.number();
  if (version == 0 || version > kTraceSchema) {
    schema.fail(
        fmt::format("file of version {}; this program reads up to {}", version, kTraceSchema));
  }
  Trace trace;
  const JsonPlace schedule = root.at("schedule");
  const std::optional<Digest> digest = digest_from(schedule.text());
  if (!digest) schedule.fail("expected a digest of 32 hexadecimal digits");
  trace.schedule = *digest;
  if (root.has("title")) trace.title = root.at("title").text();
  trace.platform = root.at("platform").text();
  trace.delays = root.at("delays").text();
  trace.engine = root.at("engine").text();
  trace.seed = root.at("seed").number();
  trace.contended = root.at("contended").boolean();
  trace.ops.resize(root.list("done_s").size());
  const auto each = [&](std::string_view key, const auto& take) {
    const JsonPlace list = root.list(key);
    if (list.size() != trace.ops.size()) {
      list.fail(fmt::format("expected {} entries, as in done_s", trace.ops.size()));
    }
    for (std::size_t i = 0; i < trace.ops.size(); ++i) take(trace.ops[i], list.entry(i));
  };
  for (const auto& [key, time] : kTimes) {
    each(key,
         [member = time](OpTimes& op, const JsonPlace& entry) { op.*member = time_of(entry); });
  }
  each("attempts", [](OpTimes& op, const JsonPlace& entry) { op.attempts = entry.number32(); });
  each("cause", [&](OpTimes& op, const JsonPlace& entry) {
    if (entry.is_null()) return;
    op.cause = OpId(entry.number32());
    if (op.cause.value >= trace.ops.size()) {
      entry.fail(fmt::format("expected one of the {} operations", trace.ops.size()));
    }
  });
  if (root.has("request_s")) {
    each("request_s",
         [&](OpTimes&, const JsonPlace& entry) { trace.request_s.push_back(time_of(entry)); });
  }
  if (root.has("results")) {
    each("results",
         [&](OpTimes&, const JsonPlace& entry) { trace.results.push_back(entry.number()); });
  }
  return trace;
}

}  // namespace slackline::sched
