// `sweep`: a study's points, simulated once each, with what they came to in SQLite.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "base/write_folder.h"
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/cores.h"
#include "cli/human.h"
#include "cli/output_file.h"
#include "cli/real_point.h"
#include "cli/report_file.h"
#include "cli/slurm_jobs.h"
#include "cli/study_figure.h"
#include "experiments/plot.h"
#include "sweep/quantity.h"
#include "sweep/results.h"
#include "sweep/study.h"
#include "sweep/sweep.h"

namespace slackline::cli {
namespace {

constexpr std::size_t kFailedShown = 10;

// What curves can be drawn over is a number.
Value as_number(const std::string& text) {
  const auto quantity = sweep::quantity_of(text);
  return quantity ? Value(quantity->value) : Value(text);
}

class Sweep : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.positional("STUDY", study_, "a file that says which points there are (TOML)");
    arguments.option("-o,--output", "FOLDER", folder_,
                     "where what they come to is kept, and is looked for; needed");
    arguments.option("--shard", "K/N|auto", shard_,
                     "answer only this share of them, into a part of its own; auto: as a Slurm "
                     "array, mpirun or srun numbers this process");
    arguments.choice(
        "--submit", "slurm", submit_,
        "answer nothing here: submit --shards shares of them, and a merge after these",
        +[](std::string_view name) {
          return name == "slurm" ? std::optional(std::string(name)) : std::nullopt;
        });
    arguments.number("--shards", "N", shards_, "with --submit: how many", 1, 100'000);
    arguments.flag("--merge", merge_, "answer nothing: make the results of all parts");
    arguments.flag("--show", show_, "answer nothing: say how far it is");
    declare_jobs(arguments, jobs_, "points at a time (default: all cores)");
    arguments.file("--csv", csv_file_, "write there a line for each point that is answered");
    arguments.file("--report", report_file_,
                   "write them there as a page for a browser, with curves");
    arguments.drawing("--plot", plot_file_, "draw curves of them there (SVG)");
    arguments.option("--axes", "X,Y[,BY[,EACH]]", axes_,
                     "with --plot: columns; a curve for each BY, a figure for each EACH (default: "
                     "the first value,median_s,pattern, and the platform if there are several)");
    reader_.declare(arguments, "every point that failed, not the first few");
    arguments.excludes({"--merge"}, {"--show", "--shard", "--jobs"}, "nothing is answered");
    arguments.excludes({"--show"}, {"--shard", "--jobs", "--csv", "--report", "--plot"},
                       "nothing is answered");
    arguments.excludes({"--submit"},
                       {"--shard", "--merge", "--show", "--jobs", "--csv", "--report", "--plot"},
                       "nothing is answered here");
    arguments.excludes({"--shard"}, {"--csv", "--report", "--plot"},
                       "results are made of all shares");
    arguments.example("study.toml -o study --csv study.csv");
    arguments.example("study.toml -o study --plot study.svg --axes bytes,median_s,pattern");
    arguments.example("study.toml -o study --show");
    arguments.example("study.toml -o study --shard auto");
  }

  int run(Console& console) override {
    if (!folder_) throw InputError("--output: missing; expected the folder of the study's results");
    if (submit_.has_value() != shards_.has_value()) {
      throw InputError(submit_ ? "--submit: without --shards; expected how many"
                               : "--shards: without --submit; expected both");
    }
    if (axes_ && !plot_file_) {
      throw InputError("--axes: without --plot; expected the file to draw them to");
    }
    std::optional<sweep::Shard> shard;
    if (shard_) {
      shard = *shard_ == "auto" ? sweep::shard_of_launcher(
                                      [](const char* name) { return std::getenv(name); }, "--shard")
                                : sweep::parse_shard(*shard_, "--shard");
    }
    console.phase("reading");
    const sweep::Study study = sweep::load_study(study_);
    if (submit_) sweep::require_shares(study);
    if (plot_file_) plotted_ = parse_axes(axes_.value_or(""), study, "--axes");
    if (!show_) make_folder();
    if (submit_) return submit(study, console);
    const bool answers = !merge_ && !show_;
    std::size_t fresh = 0;
    const sweep::SweepState state =
        answers ? answered(study, shard, fresh, console) : sweep::state_of(study, *folder_);
    if (!show_ && !shard) write(state, console);
    Answer answer(reader_, {study_, std::nullopt});
    say(answer, state, fresh);
    console.print(answer.text());
    // A share that has an answer for each of its points has done its part, whatever they are: what
    // merges comes after it.
    if (shard) return 0;
    return state.failed == 0 && (show_ || state.there == state.points) ? 0 : 1;
  }

 private:
  void make_folder() const {
    std::error_code error;
    std::filesystem::create_directories(*folder_, error);
    if (error) {
      throw InputError(fmt::format("--output: {}: {}; expected a folder, or where one can be made",
                                   *folder_, error.message()));
    }
    sched::require_writable_folder(*folder_);
  }

  int submit(const sweep::Study& study, Console& console) const {
    console.phase("submitting");
    const SlurmJobs jobs = submit_sweep(study_, *folder_, *shards_);
    Answer answer(reader_, {study_, std::nullopt});
    answer.set("study", study_);
    answer.both("folder", "folder", *folder_);
    answer.both("points", "points", std::uint64_t{study.points.size()});
    answer.both("shards", "shards", std::uint64_t{*shards_});
    answer.both("array_job", "array job", jobs.array);
    answer.both("merge_job", "merge job", jobs.merge);
    console.print(answer.text());
    return 0;
  }

  sweep::SweepState answered(const sweep::Study& study, const std::optional<sweep::Shard>& shard,
                             std::size_t& fresh, Console& console) const {
    sweep::SweepRuns runs;
    runs.jobs = jobs_of(jobs_);
    runs.shard = shard;
    runs.real = run_point;
    runs.progress = [&](std::size_t done, std::size_t of) {
      fresh = done;
      console.progress("answering", done, of);
    };
    return sweep::sweep(study, *folder_, runs);
  }

  void write(const sweep::SweepState& state, Console& console) const {
    console.phase("writing");
    sweep::write_results(*folder_, state.study, state.keys, state.rows, state.best);
    if (csv_file_) {
      write_output_file(*csv_file_, sweep::results_csv(state.study, state.keys, state.rows));
    }
    if (plot_file_) {
      const StudyFigures drawn = study_figures(plotted_, state);
      if (drawn.without_number != 0) {
        console.note(fmt::format("--plot: {} left out, without a number for an axis",
                                 human_count(drawn.without_number, "point")));
      }
      if (drawn.figures.empty()) {
        console.note("--plot: nothing is drawn");
      } else {
        write_output_file(*plot_file_, experiments::draw_svg(drawn.figures, drawn.units));
      }
    }
    write_answer_page(
        report_file_, {study_, std::nullopt},
        [&](Answer& answer) { list_points(answer, state.study, state); }, console);
  }

  void say(Answer& answer, const sweep::SweepState& state, std::size_t fresh) const {
    answer.set("study", study_);
    answer.both("folder", "folder", *folder_);
    answer.both("points", "points", std::uint64_t{state.points});
    answer.both("answered", "answered", std::uint64_t{state.there});
    if (!show_) answer.both("answered_now", "of these now", std::uint64_t{fresh});
    answer.both("failed", "failed", std::uint64_t{state.failed});
    answer.both("left", "left", std::uint64_t{state.points - state.there});
    if (show_) say_underway(answer);
    if (!show_ && !shard_) answer.both("results", "results", *folder_ + "/results.sqlite");
    if (state.study.search) say_best(answer, state);
    say_contended(answer, state);
    say_failed(answer, state.study, state);
  }

  static void say_contended(Answer& answer, const sweep::SweepState& state) {
    const std::set<std::string> keys(state.keys.begin(), state.keys.end());
    std::uint64_t contended = 0;
    for (const std::string& key : keys) {
      const auto row = state.rows.find(key);
      if (row != state.rows.end() && row->second.contended) ++contended;
    }
    answer.set("contended", contended);
    if (contended == 0) return;
    answer.row("contended",
               fmt::format("{}: messages share NICs or links, which the engine leaves out",
                           human_count(contended, "point")));
  }

  void say_underway(Answer& answer) const {
    const sweep::Underway now = sweep::underway(*folder_);
    answer.both("sweeps", "sweeps now", std::uint64_t{now.sweeps});
    answer.set("rate_per_s", now.rate_per_s);
    const std::optional<double> to_go_s =
        now.rate_per_s > 0 ? std::optional(static_cast<double>(now.left) / now.rate_per_s)
                           : std::nullopt;
    answer.set("to_go_s", Value(to_go_s));
    if (now.sweeps == 0) return;
    answer.row("rate", fmt::format("{:.4g} points/s", now.rate_per_s));
    answer.row("to go", to_go_s ? sched::human_seconds(*to_go_s) : "not known yet");
  }

  // The best of each combination, and what each engine said of it.
  static void say_best(Answer& answer, const sweep::SweepState& state) {
    const sweep::Search& search = *state.study.search;
    const auto point = [&state](auto i) -> const sweep::Point& {
      return state.study.points[state.best[i]];
    };
    Columns columns;
    const auto add_text = [&](const char* name) {
      columns.push_back(
          {name, name, [point, name](auto i) { return part_of(point(i), name); }, Align::kLeft});
    };
    for (const std::string& name : search.each) {
      if (name != "schedule" && name != "platform") add_text(name.c_str());
    }
    add_text("schedule");
    add_text("platform");
    add_text("engine");
    columns.push_back({search.by.c_str(), search.by.c_str(), [&, point](auto i) {
                         return in_seconds(
                             time_of(state.rows.at(state.keys[state.best[i]]), search.by));
                       }});
    answer.list("best", rows_of(state.best.size()), columns);
    if (!state.best.empty()) answer.table("best", columns, rows_of(state.best.size()));
  }

  void say_failed(Answer& answer, const sweep::Study& study, const sweep::SweepState& state) const {
    std::vector<const sweep::Row*> rows;
    for (std::size_t i = 0; i < study.points.size(); ++i) {
      const auto row = state.rows.find(state.keys[i]);
      if (row != state.rows.end() && !row->second.error.empty()) rows.push_back(&row->second);
    }
    const Columns columns = {
        {"schedule", "schedule", [&](auto i) { return rows[i]->schedule; }, Align::kLeft},
        {"platform", "platform", [&](auto i) { return rows[i]->platform; }, Align::kLeft},
        {"engine", "engine", [&](auto i) { return rows[i]->engine; }, Align::kLeft},
        {"error", "error", [&](auto i) { return rows[i]->error; }, Align::kLeft}};
    answer.list("failures", rows_of(rows.size()), columns);
    if (!rows.empty()) {
      answer.table("points that failed", columns, rows_of(rows.size()), kFailedShown,
                   "more failure");
    }
  }

  static void list_points(Answer& answer, const sweep::Study& study,
                          const sweep::SweepState& state) {
    std::vector<std::pair<const sweep::Point*, const sweep::Row*>> rows;
    for (std::size_t i = 0; i < study.points.size(); ++i) {
      const auto row = state.rows.find(state.keys[i]);
      if (row != state.rows.end()) rows.emplace_back(&study.points[i], &row->second);
    }
    const auto time = [&](auto sweep::Row::*time_s) {
      return [&rows, time_s](auto i) {
        const sweep::Row& row = *rows[i].second;
        return row.error.empty() ? Value(row.*time_s) : Value();
      };
    };
    Columns columns;
    for (const std::string& name : study.values) {
      columns.push_back({name.c_str(), nullptr, [&rows, name](auto i) {
                           return as_number(sweep::part_of(*rows[i].first, name));
                         }});
    }
    columns.insert(columns.end(),
                   {{"median_makespan_s", nullptr, time(&sweep::Row::median_s)},
                    {"pattern", nullptr,
                     [&](auto i) {
                       const std::string& spec = rows[i].first->schedule;
                       return spec.substr(0, spec.find(':'));
                     }},
                    {"platform", nullptr, [&](auto i) { return rows[i].first->platform; }},
                    {"engine", nullptr, [&](auto i) { return rows[i].first->engine; }},
                    {"delays", nullptr, [&](auto i) { return rows[i].first->delays; }},
                    {"seed", nullptr, [&](auto i) { return rows[i].first->seed; }},
                    {"least_makespan_s", nullptr, time(&sweep::Row::least_s)},
                    {"p90_makespan_s", nullptr, time(&sweep::Row::p90_s)},
                    {"most_makespan_s", nullptr, time(&sweep::Row::most_s)},
                    {"contended", nullptr, [&](auto i) { return rows[i].second->contended; }}});
    if (study.with_slack) {
      const auto of_slack = [&rows](auto sweep::PointSlack::*figure) {
        return [&rows, figure](auto i) {
          const auto& slack = rows[i].second->slack;
          return slack ? Value((*slack).*figure) : Value();
        };
      };
      columns.insert(columns.end(),
                     {{"median_float_s", nullptr, of_slack(&sweep::PointSlack::median_s)},
                      {"most_float_s", nullptr, of_slack(&sweep::PointSlack::most_s)},
                      {"ops", nullptr, of_slack(&sweep::PointSlack::ops)},
                      {"without_float", nullptr, of_slack(&sweep::PointSlack::without)},
                      {"critical_ops", nullptr, of_slack(&sweep::PointSlack::critical_ops)},
                      {"frozen_only", nullptr, of_slack(&sweep::PointSlack::frozen_only)}});
    }
    columns.insert(columns.end(),
                   {{"schedule", nullptr, [&](auto i) { return rows[i].first->schedule; }},
                    {"error", nullptr, [&](auto i) { return rows[i].second->error; }}});
    answer.list("points", rows_of(rows.size()), columns);
  }

  std::string study_;
  std::optional<std::string> folder_, shard_, csv_file_, plot_file_, axes_, report_file_, submit_;
  StudyAxes plotted_;
  std::optional<std::uint32_t> jobs_, shards_;
  bool merge_ = false;
  bool show_ = false;
  Reader reader_;
};

}  // namespace

std::unique_ptr<Command> make_sweep() { return std::make_unique<Sweep>(); }

}  // namespace slackline::cli
