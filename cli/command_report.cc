// `report`: a run as a page for a browser.

#include <optional>
#include <string>

#include "cli/commands.h"
#include "cli/output_file.h"
#include "cli/trace_page.h"

namespace slackline::cli {
namespace {

class Report : public Command {
 public:
  void declare(Arguments& arguments) override {
    page_.declare(arguments);
    arguments.output("-o,--output", output_, "where the page goes (default: standard output)");
    arguments.flag("--json", json_, "print one JSON document");
    arguments.example("pipeline.trace -o report.html");
    arguments.example("predicted.trace measured.trace -o both.html");
  }

  int run(Console& console) override {
    const TracePage::Made made = page_.make(console);
    Answer answer({json_, false}, made.subject(output_.value_or("-")));
    made.add_to(answer);
    deliver(output_, made.html, answer, console);
    return 0;
  }

 private:
  TracePage page_;
  std::optional<std::string> output_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_report() { return std::make_unique<Report>(); }

}  // namespace slackline::cli
