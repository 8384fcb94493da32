#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <variant>

#include "base/append.h"
#include "base/csv_field.h"
#include "base/error.h"
#include "base/write_folder.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/output_file.h"
#include "cli/table.h"
#include "experiments/facts.h"
#include "experiments/plot.h"
#include "experiments/registry.h"
#include "report/answer_page.h"

namespace slackline::cli {
namespace {

using experiments::ExperimentReport;
using experiments::NumberOrText;
using experiments::shown;

constexpr std::string_view kSpaces = "  ";
constexpr const char* kFolder = "figures";

void set_value(JsonOutput& json, std::string_view key, const NumberOrText& value) {
  std::visit([&](const auto& v) { json.set(key, v); }, value);
}

void set_texts(JsonOutput& json, std::string_view key, std::string_view of,
               const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  json.list(key, texts, [&](const std::string& text) { json.set(of, text); });
}

std::string text_of(const experiments::ReportTable& table) {
  std::vector<Align> columns(table.columns.size(), Align::kRight);
  for (const std::vector<NumberOrText>& row : table.rows) {
    for (std::size_t i = 0; i < row.size() && i < columns.size(); ++i) {
      if (std::holds_alternative<std::string>(row[i])) columns[i] = Align::kLeft;
    }
  }
  Table lines(columns);
  lines.add(table.columns);
  for (const std::vector<NumberOrText>& row : table.rows) {
    std::vector<std::string> cells;
    for (const NumberOrText& value : row) cells.push_back(shown(value));
    lines.add(std::move(cells));
  }
  return fmt::format("{}\n{}\n", table.title, lines.text(kSpaces));
}

// "derived", "stated; near-tautology".
std::string kind_of(const experiments::JudgedFact& fact) {
  return fmt::format("{}{}{}", name(fact.source), fact.because.empty() ? "" : "; ",
                     name(fact.nature));
}

// All but what came out.
void set_fact(JsonOutput& json, const experiments::JudgedFact& fact) {
  json.set("id", fact.id);
  json.set("fact", fact.fact);
  json.set("where", fact.where);
  json.set("source", name(fact.source));
  if (!fact.because.empty()) {
    json.set("nature", name(fact.nature));
    json.set("because", fact.because);
  }
  json.set("expected", fact.expected);
  set_texts(json, "rests_on", "on", fact.rests_on);
  set_texts(json, "history", "change", fact.history);
}

std::string text_of(const experiments::JudgedFact& fact) {
  std::string text =
      fmt::format("  {:<5}  {}: expected {}, got {} [{}]\n", fact.ok ? "holds" : "FAILS", fact.fact,
                  fact.expected, shown(fact.got), kind_of(fact));
  const auto add = [&](std::string_view line) { text += fmt::format("         {}\n", line); };
  if (!fact.ok && !fact.known_gap.empty()) add(fact.known_gap);
  if (!fact.because.empty()) add(fmt::format("{}: {}", name(fact.nature), fact.because));
  for (const std::string& figure : fact.rests_on) add(fmt::format("rests on {}", figure));
  for (const std::string& change : fact.history) add(change);
  return text;
}

// How many hold, and of how many that says little.
std::string count_of(const std::vector<experiments::JudgedFact>& facts) {
  const auto held = std::count_if(facts.begin(), facts.end(),
                                  [](const experiments::JudgedFact& fact) { return fact.ok; });
  const auto count = [&](experiments::Nature nature, const char* one, const char* several) {
    const auto found =
        std::count_if(facts.begin(), facts.end(),
                      [&](const experiments::JudgedFact& fact) { return fact.nature == nature; });
    return found == 0 ? std::string() : fmt::format("; {} {}", found, found == 1 ? one : several);
  };
  return fmt::format(
      "facts: {} of {} hold{}{}\n", held, facts.size(),
      count(experiments::Nature::kIdentity, "is an identity", "are identities"),
      count(experiments::Nature::kNearTautology, "is a near-tautology", "are near-tautologies"));
}

class Reproduce : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.positional(
        "FIGURE", figure_,
        "a figure's name, `list` for all of them, or `facts` for what they are held to");
    arguments.option(
        "--out", "DIR", out_,
        "a folder, made if need be: figures are drawn there (SVG), and their numbers written (CSV) "
        "(default: figures)");
    arguments.file("--report", report_file_,
                   "write numbers, curves and facts there as a page for a browser");
    arguments.flag("--quick", options_.quick, "fewer points and smaller messages");
    arguments.flag("--json", json_, "print one JSON document");
    arguments.example("rdmc-fig8 --out figures");
    arguments.example("list");
  }

  int run(Console& console) override {
    if (figure_ == "list" || figure_ == "facts") {
      if (out_ || report_file_ || options_.quick) {
        throw InputError(fmt::format("{} beside {}: nothing is run; expected a figure's name",
                                     out_           ? "--out"
                                     : report_file_ ? "--report"
                                                    : "--quick",
                                     figure_));
      }
      const bool facts = figure_ == "facts";
      console.print(facts ? (json_ ? facts_document() : facts_lines())
                          : (json_ ? list_document() : list_lines()));
      return 0;
    }
    const experiments::Experiment& experiment = experiments::find_experiment(figure_);
    if (out_) {
      make_folder(*out_);
      sched::require_writable_folder(*out_);
    }
    console.phase(fmt::format("reproducing {}", experiment.name));
    const ExperimentReport report = experiment.run(options_);
    console.phase("drawing");
    const std::vector<Files> files = write(report, console);
    const std::string said = document(experiment, report, files);
    if (report_file_) {
      write_output_file(*report_file_, report::answer_page(experiment.name, said));
    }
    console.print(json_ ? said : text(experiment, report, files));
    return report.holds() ? 0 : 1;
  }

 private:
  static void make_folder(const std::string& path) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error || !std::filesystem::is_directory(path, error)) {
      throw InputError(fmt::format("--out: '{}' cannot be made a folder{}{}; expected a folder",
                                   path, error ? ": " : "", error ? error.message() : ""));
    }
  }

  // What was written of a figure: its numbers, and the picture where there is a program that draws.
  struct Files {
    std::optional<std::string> numbers;
    std::optional<std::string> picture;
  };

  // By figure. Without --out, what cannot be written is only noted.
  std::vector<Files> write(const ExperimentReport& report, Console& console) const {
    const std::filesystem::path folder = out_.value_or(kFolder);
    std::vector<Files> files(report.figures.size());
    bool draws = true;
    try {
      if (!out_ && !report.figures.empty()) make_folder(folder.string());
      for (std::size_t i = 0; i < files.size(); ++i) {
        const experiments::Figure& figure = report.figures[i];
        const std::string numbers = (folder / (figure.name + ".csv")).string();
        write_output_file(numbers, csv_of(figure));
        files[i].numbers = numbers;
        if (!draws) continue;
        try {
          const std::string svg = experiments::draw_svg(figure);
          const std::string picture = (folder / (figure.name + ".svg")).string();
          write_output_file(picture, svg);
          files[i].picture = picture;
        } catch (const EnvironmentError& error) {
          draws = false;
          console.note(fmt::format("no pictures, only their numbers: {}", error.what()));
        }
      }
    } catch (const InputError& error) {
      if (out_) throw;
      console.note(fmt::format("no figure: {}; --out names another folder", error.what()));
    }
    return files;
  }

  static std::string csv_of(const experiments::Figure& figure) {
    std::string text = "series,x,y\n";
    for (const experiments::Series& series : figure.series) {
      const std::string name = sched::csv_field(series.name);
      for (std::size_t i = 0; i < series.x.size(); ++i) {
        sched::append(text, "{},{},{}\n", name, series.x[i], series.y[i]);
      }
    }
    return text;
  }

  static std::string text(const experiments::Experiment& experiment, const ExperimentReport& report,
                          const std::vector<Files>& files) {
    std::string text =
        fmt::format("{}: {}\n{}\n\n", experiment.name, report.title, report.reproduces);
    for (const experiments::ReportTable& table : report.tables) text += text_of(table);
    text += "Constants\n";
    Table constants(std::vector<Align>(3, Align::kLeft));
    for (const experiments::Constant& c : report.constants) {
      constants.add({c.name, c.value, c.source});
    }
    text += constants.text(kSpaces) + '\n';
    for (const std::string& note : report.notes) text += fmt::format("Note: {}\n", note);
    if (!report.notes.empty()) text += '\n';
    for (const Files& of : files) {
      if (of.picture) text += fmt::format("figure {}\n", *of.picture);
      if (of.numbers) text += fmt::format("numbers {}\n", *of.numbers);
    }
    text += count_of(report.facts);
    for (const experiments::JudgedFact& fact : report.facts) text += text_of(fact);
    const std::string moved = experiments::read_fact_file(experiment.name).moved;
    if (!moved.empty()) text += fmt::format("moved, one at a time: {}\n", moved);
    return text;
  }

  static std::string document(const experiments::Experiment& experiment,
                              const ExperimentReport& report, const std::vector<Files>& files) {
    JsonOutput json(std::nullopt, false);
    json.set("figure", experiment.name);
    json.set("title", report.title);
    json.set("reproduces", report.reproduces);
    json.set("ok", report.holds());
    json.list("holds", report.facts, [&](const experiments::JudgedFact& fact) {
      set_fact(json, fact);
      set_value(json, "got", fact.got);
      json.set("ok", fact.ok);
      if (!fact.ok && !fact.known_gap.empty()) json.set("known_gap", fact.known_gap);
    });
    json.list("tables", report.tables, [&](const experiments::ReportTable& table) {
      json.set("title", table.title);
      json.list("rows", table.rows, [&](const std::vector<NumberOrText>& row) {
        for (std::size_t i = 0; i < row.size(); ++i) set_value(json, table.columns[i], row[i]);
      });
    });
    auto file = files.begin();
    json.list("figures", report.figures, [&](const experiments::Figure& figure) {
      json.set("name", figure.name);
      json.set("title", figure.title);
      json.set("file", file->picture);
      json.set("numbers", file->numbers);
      ++file;
      json.set("x_axis", figure.x.label);
      json.set("y_axis", figure.y.label);
      if (figure.x.log_base != 0) json.set("x_log_base", std::uint64_t(figure.x.log_base));
      if (figure.y.log_base != 0) json.set("y_log_base", std::uint64_t(figure.y.log_base));
      json.list("series", figure.series, [&](const experiments::Series& series) {
        json.set("name", series.name);
        json.set("x", series.x);
        json.set("y", series.y);
      });
    });
    json.list("constants", report.constants, [&](const experiments::Constant& c) {
      json.set("name", c.name);
      json.set("value", c.value);
      json.set("source", c.source);
    });
    json.list("notes", report.notes, [&](const std::string& note) { json.set("note", note); });
    return json.text();
  }

  static std::string list_lines() {
    Table table(std::vector<Align>(2, Align::kLeft));
    for (const experiments::Experiment& e : experiments::experiments()) {
      table.add({std::string(e.name), std::string(e.summary)});
    }
    return table.text();
  }

  static std::string list_document() {
    JsonOutput json(std::nullopt, false);
    json.list("figures", experiments::experiments(), [&](const experiments::Experiment& e) {
      json.set("name", e.name);
      json.set("summary", e.summary);
    });
    return json.text();
  }

  // Every fact as its file has it, with nothing measured.
  static std::vector<experiments::JudgedFact> facts_of(const experiments::Experiment& experiment) {
    std::vector<experiments::JudgedFact> facts;
    for (const experiments::FactEntry& entry : experiments::read_fact_file(experiment.name).facts) {
      for (const auto& one : entry.cases) facts.push_back(experiments::unjudged(entry, one));
    }
    return facts;
  }

  static std::string facts_lines() {
    std::string text;
    for (const experiments::Experiment& e : experiments::experiments()) {
      text += fmt::format("{}\n", e.name);
      for (const experiments::JudgedFact& fact : facts_of(e)) {
        text += fmt::format("  {}: {} [{}]\n", fact.fact, fact.expected, kind_of(fact));
      }
    }
    return text;
  }

  static std::string facts_document() {
    JsonOutput json(std::nullopt, false);
    json.list("figures", experiments::experiments(), [&](const experiments::Experiment& e) {
      const experiments::FactFile file = experiments::read_fact_file(e.name);
      json.set("name", e.name);
      json.set("moved", file.moved);
      json.list("facts", facts_of(e), [&](const experiments::JudgedFact& fact) {
        set_fact(json, fact);
        if (!fact.known_gap.empty()) json.set("known_gap", fact.known_gap);
      });
      json.list("not_held", file.not_held, [&](const experiments::NotHeld& open) {
        json.set("fact", open.what);
        json.set("where", open.where);
        json.set("why", open.why);
      });
    });
    return json.text();
  }

  std::string figure_;
  std::optional<std::string> out_, report_file_;
  experiments::Options options_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_reproduce() { return std::make_unique<Reproduce>(); }

}  // namespace slackline::cli
