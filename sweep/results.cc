#include "sweep/results.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "base/append.h"
#include "base/csv_field.h"
#include "base/error.h"
#include "base/statistics.h"

namespace slackline::sweep {
namespace {

constexpr std::string_view kResults = "results.sqlite";
constexpr std::int32_t kEnvironment = 3;  // the exit status of an EnvironmentError

constexpr std::string_view kTables[] = {
    "CREATE TABLE IF NOT EXISTS points(key TEXT PRIMARY KEY, schedule TEXT, platform TEXT, "
    "engine TEXT, delays TEXT, seed TEXT, samples INTEGER) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS makespans(key TEXT PRIMARY KEY, mean_s REAL, least_s REAL, "
    "median_s REAL, p90_s REAL, p99_s REAL, most_s REAL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS errors(key TEXT PRIMARY KEY, exit_code INTEGER, message TEXT) "
    "WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS contended(key TEXT PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS study(name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID"};

constexpr std::string_view kSlackTable =
    "CREATE TABLE IF NOT EXISTS slack(key TEXT PRIMARY KEY, ops INTEGER, without_float INTEGER, "
    "critical_ops INTEGER, least_float_s REAL, median_float_s REAL, most_float_s REAL, "
    "frozen_only INTEGER) WITHOUT ROWID";

// Statements that put rows into these tables.
class RowWriter {
 public:
  RowWriter(Database& database, bool with_slack)
      : point_(database.prepare("INSERT OR REPLACE INTO points VALUES(?, ?, ?, ?, ?, ?, ?)")),
        makespan_(database.prepare("INSERT OR REPLACE INTO makespans VALUES(?, ?, ?, ?, ?, ?, ?)")),
        error_(database.prepare("INSERT OR REPLACE INTO errors VALUES(?, ?, ?)")),
        contended_(database.prepare("INSERT OR REPLACE INTO contended VALUES(?)")),
        no_error_(database.prepare("DELETE FROM errors WHERE key = ?")) {
    if (with_slack) {
      slack_.emplace(
          database.prepare("INSERT OR REPLACE INTO slack VALUES(?, ?, ?, ?, ?, ?, ?, ?)"));
    }
  }

  void add(const std::string& key, const Row& row) {
    point_.bind(0, key).bind(1, row.schedule).bind(2, row.platform).bind(3, row.engine);
    point_.bind(4, row.delays).bind(5, std::to_string(row.seed)).bind(6, std::int64_t{row.samples});
    point_.run();
    if (!row.error.empty()) {
      error_.bind(0, key).bind(1, std::int64_t{row.exit_code}).bind(2, row.error).run();
      return;
    }
    no_error_.bind(0, key).run();
    makespan_.bind(0, key).bind(1, row.mean_s).bind(2, row.least_s).bind(3, row.median_s);
    makespan_.bind(4, row.p90_s).bind(5, row.p99_s).bind(6, row.most_s).run();
    if (row.contended) contended_.bind(0, key).run();
    if (!row.slack || !slack_) return;
    const auto count = [](std::uint64_t of) { return static_cast<std::int64_t>(of); };
    slack_->bind(0, key).bind(1, count(row.slack->ops)).bind(2, count(row.slack->without));
    slack_->bind(3, count(row.slack->critical_ops)).bind(4, row.slack->least_s);
    slack_->bind(5, row.slack->median_s).bind(6, row.slack->most_s);
    slack_->bind(7, std::int64_t{row.slack->frozen_only}).run();
  }

 private:
  Statement point_, makespan_, error_, contended_, no_error_;
  std::optional<Statement> slack_;
};

void make_tables(Database& database, bool with_slack) {
  for (const std::string_view table : kTables) database.run(table);
  if (with_slack) database.run(kSlackTable);
  Statement study = database.prepare("INSERT OR REPLACE INTO study VALUES(?, ?)");
  const std::pair<std::string_view, std::string> facts[] = {
      {"schema", std::to_string(kStudySchema)},
      {"model", std::to_string(kModelVersion)},
      {"units", "times in seconds; inf: a rank never finished"}};
  for (const auto& [name, value] : facts) study.bind(0, name).bind(1, value).run();
}

// Held by one process at a time, and let go when it ends. Nothing if another one has it.
sched::Descriptor lock_of(const std::string& path) {
  const std::string name = path + ".lock";
  sched::Descriptor lock(open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!lock) {
    throw EnvironmentError(
        fmt::format("{}: {}; expected a folder that can be written", name, std::strerror(errno)));
  }
  if (flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK) return {};
  throw EnvironmentError(fmt::format("{}: {}; expected a file system on which files can be locked",
                                     name, std::strerror(errno)));
}

// Whether a process has the part's lock; for one who may only read, too.
bool is_written(const std::string& path) {
  const sched::Descriptor lock(open((path + ".lock").c_str(), O_RDONLY | O_CLOEXEC));
  return lock && flock(lock.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

std::set<std::string> parts_of(const std::string& folder) {
  std::set<std::string> paths;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("part-") && name.ends_with(".sqlite")) paths.insert(entry.path());
  }
  return paths;
}

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string number_or_inf(std::optional<double> value) {
  if (!value) return "";
  return std::isfinite(*value) ? fmt::format("{}", *value) : "inf";
}

}  // namespace

Row row_of(const Point& point, const PointOutcome& answer) {
  Row row;
  row.schedule = point.schedule;
  row.platform = point.platform;
  row.engine = point.engine;
  row.delays = point.delays;
  row.seed = point.seed;
  row.samples = point.samples;
  row.error = answer.error;
  row.exit_code = answer.exit_code;
  row.slack = answer.slack;
  row.contended = answer.contended;
  std::vector<double> ordered = answer.makespan_s;
  if (ordered.empty()) return row;
  std::ranges::sort(ordered);
  // By nearest rank, as in runs (analysis/engines/run_statistics.h), but that a time may be
  // infinite.
  const std::size_t count = ordered.size();
  for (const double makespan_s : ordered) row.mean_s += makespan_s / static_cast<double>(count);
  row.least_s = ordered.front();
  row.median_s = (ordered[(count - 1) / 2] + ordered[count / 2]) / 2;
  if (count >= 10) row.p90_s = base::percentile(ordered, 90);
  if (count >= 100) row.p99_s = base::percentile(ordered, 99);
  row.most_s = ordered.back();
  return row;
}

double time_of(const Row& row, std::string_view column) {
  const auto float_of = [&](double PointSlack::*time_s) {
    return row.slack ? std::optional((*row.slack).*time_s) : std::nullopt;
  };
  const std::pair<std::string_view, std::optional<double>> times_s[] = {
      {"mean_s", row.mean_s},
      {"least_s", row.least_s},
      {"median_s", row.median_s},
      {"p90_s", row.p90_s},
      {"p99_s", row.p99_s},
      {"most_s", row.most_s},
      {"least_float_s", float_of(&PointSlack::least_s)},
      {"median_float_s", float_of(&PointSlack::median_s)},
      {"most_float_s", float_of(&PointSlack::most_s)}};
  for (const auto& [name, time_s] : times_s) {
    if (name == column) return time_s.value_or(std::numeric_limits<double>::infinity());
  }
  throw InternalError(fmt::format("no time of a row is called '{}'", column));
}

ResultsPart::ResultsPart(const std::string& path, sched::Descriptor lock)
    : lock_(std::move(lock)), database_(path), begun_ms_(now_ms()) {
  // No journal in shared memory, since folders may be on a parallel file system. What was written
  // survives the end of this process, though not that of the machine.
  database_.prepare("PRAGMA journal_mode = PERSIST").run();
  database_.run("PRAGMA synchronous = OFF");
  make_tables(database_, true);
  database_.run(
      "CREATE TABLE IF NOT EXISTS progress(one INTEGER PRIMARY KEY, begun_ms INTEGER, "
      "at_ms INTEGER, answered INTEGER, left INTEGER)");
}

ResultsPart ResultsPart::free_one(const std::string& folder) {
  for (std::uint32_t number = 0;; ++number) {
    const std::string path = fmt::format("{}/part-{}.sqlite", folder, number);
    if (sched::Descriptor lock = lock_of(path)) return {path, std::move(lock)};
  }
}

ResultsPart ResultsPart::of_shard(const std::string& folder, const Shard& shard) {
  const std::string path =
      fmt::format("{}/part-shard-{}-of-{}.sqlite", folder, shard.number, shard.count);
  if (sched::Descriptor lock = lock_of(path)) return {path, std::move(lock)};
  throw InputError(
      fmt::format("shard {}/{} of {}: another process is writing it; expected one for "
                  "each shard",
                  shard.number, shard.count, folder));
}

void ResultsPart::add(const std::vector<std::pair<std::string, Row>>& rows, std::size_t left) {
  answered_ += static_cast<std::int64_t>(rows.size());
  database_.run("BEGIN IMMEDIATE");
  {
    RowWriter writer(database_, true);
    for (const auto& [key, row] : rows) writer.add(key, row);
    Statement progress = database_.prepare("INSERT OR REPLACE INTO progress VALUES(0, ?, ?, ?, ?)");
    progress.bind(0, begun_ms_).bind(1, now_ms()).bind(2, answered_);
    progress.bind(3, static_cast<std::int64_t>(left)).run();
  }
  database_.run("COMMIT");
}

Underway underway(const std::string& folder) {
  Underway found;
  for (const std::string& path : parts_of(folder)) {
    if (!is_written(path)) continue;
    ++found.sweeps;
    Database part(path, true);
    if (!part.has("progress")) continue;
    Statement progress = part.prepare("SELECT begun_ms, at_ms, answered, left FROM progress");
    progress.run([&] {
      found.answered += static_cast<std::uint64_t>(progress.integer(2));
      found.left += static_cast<std::uint64_t>(progress.integer(3));
      const auto took_ms = std::max<std::int64_t>(1, progress.integer(1) - progress.integer(0));
      found.rate_per_s +=
          1e3 * static_cast<double>(progress.integer(2)) / static_cast<double>(took_ms);
    });
  }
  return found;
}

std::map<std::string, Row> rows_of_parts(const std::string& folder) {
  std::map<std::string, Row> rows;
  for (const std::string& path : parts_of(folder)) {
    Database part(path, true);
    if (!part.has("study")) continue;  // it is just being made
    Statement all = part.prepare(
        "SELECT points.key, schedule, platform, engine, delays, seed, samples, mean_s, least_s, "
        "median_s, p90_s, p99_s, most_s, exit_code, message FROM points LEFT JOIN makespans "
        "USING(key) LEFT JOIN errors USING(key)");
    all.run([&] {
      Row row;
      row.schedule = all.text(1);
      row.platform = all.text(2);
      row.engine = all.text(3);
      row.delays = all.text(4);
      row.seed = std::stoull(all.text(5));
      row.samples = static_cast<std::uint32_t>(all.integer(6));
      row.mean_s = all.real(7).value_or(0);
      row.least_s = all.real(8).value_or(0);
      row.median_s = all.real(9).value_or(0);
      row.p90_s = all.real(10);
      row.p99_s = all.real(11);
      row.most_s = all.real(12).value_or(0);
      row.exit_code = static_cast<std::int32_t>(all.integer(13));
      row.error = all.text(14);
      if (row.exit_code == kEnvironment) return;
      rows.try_emplace(all.text(0), std::move(row));
    });
    if (part.has("contended")) {  // not of an earlier version
      Statement contended = part.prepare("SELECT key FROM contended");
      contended.run([&] {
        const auto row = rows.find(contended.text(0));
        if (row != rows.end()) row->second.contended = true;
      });
    }
    if (!part.has("slack")) continue;  // of an earlier version
    Statement slack = part.prepare(
        "SELECT key, ops, without_float, critical_ops, least_float_s, median_float_s, "
        "most_float_s, frozen_only FROM slack");
    slack.run([&] {
      const auto row = rows.find(slack.text(0));
      if (row == rows.end()) return;
      const auto count = [&](int column) {
        return static_cast<std::uint64_t>(slack.integer(column));
      };
      row->second.slack = {count(1),
                           count(2),
                           slack.real(4).value_or(0),
                           slack.real(5).value_or(0),
                           slack.real(6).value_or(0),
                           count(3),
                           slack.integer(7) != 0};
    });
  }
  return rows;
}

void write_results(const std::string& folder, const Study& study,
                   const std::vector<std::string>& keys, const std::map<std::string, Row>& rows,
                   const std::vector<std::size_t>& best) {
  const std::string path = fmt::format("{}/{}", folder, kResults);
  const std::string aside = fmt::format("{}.{}", path, getpid());
  std::remove(aside.c_str());
  {
    Database results(aside);
    results.prepare("PRAGMA journal_mode = OFF").run();
    results.run("PRAGMA synchronous = OFF");
    results.run("BEGIN");
    make_tables(results, study.with_slack);
    results.run(
        "CREATE TABLE value(key TEXT, name TEXT, value TEXT, PRIMARY KEY(key, name)) "
        "WITHOUT ROWID");
    RowWriter writer(results, study.with_slack);
    Statement value = results.prepare("INSERT INTO value VALUES(?, ?, ?)");
    std::map<std::string, const Point*> points;  // by key: the first of the study's
    for (std::size_t i = 0; i < keys.size(); ++i) points.try_emplace(keys[i], &study.points[i]);
    for (const auto& [key, point] : points) {
      const auto row = rows.find(key);
      if (row == rows.end()) continue;
      // As this study says it, which may not be as the one did that answered it.
      Row own = row->second;
      own.schedule = point->schedule;
      own.platform = point->platform;
      own.delays = point->delays;
      writer.add(key, own);
      for (const auto& [name, text] : point->values) {
        value.bind(0, key).bind(1, name).bind(2, text).run();
      }
    }
    if (study.search) {
      results.run("CREATE TABLE best(key TEXT PRIMARY KEY) WITHOUT ROWID");
      Statement found = results.prepare("INSERT OR IGNORE INTO best VALUES(?)");
      for (const std::size_t point : best) found.bind(0, keys[point]).run();
    }
    results.run("COMMIT");
  }
  if (std::rename(aside.c_str(), path.c_str()) != 0) {
    throw EnvironmentError(
        fmt::format("{}: {}; expected a folder that can be written", path, std::strerror(errno)));
  }
}

std::string results_csv(const Study& study, const std::vector<std::string>& keys,
                        const std::map<std::string, Row>& rows) {
  std::string text = "schedule,platform,engine,delays,seed,samples";
  for (const std::string& name : study.values) sched::append(text, ",{}", name);
  if (study.with_slack) {
    text += ",ops,without_float,critical_ops,least_float_s,median_float_s,most_float_s,frozen_only";
  }
  text += ",mean_s,least_s,median_s,p90_s,p99_s,most_s,contended,error\n";
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto found = rows.find(keys[i]);
    if (found == rows.end()) continue;
    const Point& point = study.points[i];
    const Row& row = found->second;
    sched::append(text, "{},{},{},{},{},{}", sched::csv_field(point.schedule),
                  sched::csv_field(point.platform), point.engine, sched::csv_field(point.delays),
                  point.seed, point.samples);
    for (const std::string& name : study.values) {
      sched::append(text, ",{}", sched::csv_field(part_of(point, name)));
    }
    if (study.with_slack && row.slack) {
      const PointSlack& slack = *row.slack;
      sched::append(text, ",{},{},{},{},{},{},{}", slack.ops, slack.without, slack.critical_ops,
                    slack.least_s, slack.median_s, slack.most_s, slack.frozen_only ? 1 : 0);
    } else if (study.with_slack) {
      text += ",,,,,,,";
    }
    if (row.error.empty()) {
      for (const std::optional<double> time_s :
           {std::optional(row.mean_s), std::optional(row.least_s), std::optional(row.median_s),
            row.p90_s, row.p99_s, std::optional(row.most_s)}) {
        sched::append(text, ",{}", number_or_inf(time_s));
      }
      sched::append(text, ",{},\n", row.contended ? 1 : 0);
    } else {
      sched::append(text, ",,,,,,,,{}\n", sched::csv_field(row.error));
    }
  }
  return text;
}

}  // namespace slackline::sweep
