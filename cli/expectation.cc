#include "cli/expectation.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "base/read_file.h"
#include "base/units.h"
#include "cli/human.h"
#include "cli/share_option.h"
#include "sched/import/json_fields.h"

namespace slackline::cli {
namespace {

// The makespan of what `run --json` or `simulate --json` said.
double saved_makespan_s(const std::string& file, const sched::Schedule& schedule) {
  const std::string text = sched::read_file(file);
  const sched::JsonDocument document(text, file);
  const sched::JsonPlace root = document.root();
  const std::string digest = to_string(schedule.digest());
  if (const std::string& of = root.at("digest").text(); of != digest) {
    root.fail(fmt::format("of schedule {}; expected a run of this one, {}", of, digest));
  }
  const sched::JsonPlace makespan = root.at("makespan_s");
  if (makespan.is_null()) makespan.fail("the run never ended; expected one that did");
  if (makespan.real() < 0) makespan.fail("expected a time of at least 0");
  return makespan.real();
}

}  // namespace

bool Expectation::allows(double measured_s) const {
  return measured_s <= makespan_s * (1 + within);
}

std::string Expectation::line(double measured_s) const {
  const double by_s = measured_s - makespan_s;
  const std::string share = makespan_s > 0 ? fmt::format(" ({}{})", by_s < 0 ? "−" : "+",
                                                         human_share(std::abs(by_s), makespan_s))
                                           : "";
  return fmt::format(
      "measured {}, expected {} ({}): {}{}; {} {:g} %", sched::human_seconds(measured_s),
      sched::human_seconds(makespan_s), from, human_difference(by_s), share,
      allows(measured_s) ? "not slower by more than" : "slower by more than", 100 * within);
}

void Expectation::say(Answer& answer, double measured_s) const {
  answer.set("expected_s", makespan_s);
  answer.set("expected_from", from);
  answer.set("expected_within", within);
  answer.set("slower_by_s", measured_s - makespan_s);
  answer.set("as_expected", allows(measured_s));
  answer.row("expected", line(measured_s));
}

void ExpectOptions::declare(Arguments& arguments) {
  arguments.option("--expect", "SHARE", within_,
                   "end with 1 if it is slower by more than that, as 10%, than --platform's "
                   "prediction, or --of a "
                   "saved run",
                   [](const std::string& text, const std::string& name) {
                     return parse_share(text, name, "the expected makespan");
                   });
  arguments.option("--of", "FILE", of_, "the saved run: what `run --json` printed");
}

std::optional<Expectation> ExpectOptions::resolve(const sched::Schedule& schedule,
                                                  const RunSetting& predicted,
                                                  const std::optional<std::string>& platform,
                                                  Console& console) const {
  if (!within_) {
    if (!of_) return std::nullopt;
    throw InputError("--of without --expect; expected how much slower a run may be, as 10%");
  }
  if (of_) return Expectation{saved_makespan_s(*of_, schedule), *of_, *within_};
  if (!platform) {
    throw InputError(
        "--expect without --platform or --of; expected the machine that this one is like, or a "
        "saved run");
  }
  const double makespan_s = SettledRun(predicted, schedule, console).run(console).makespan_s();
  if (!std::isfinite(makespan_s)) {
    throw InputError(
        fmt::format("--expect: on {} the run never ends; expected one that does", *platform));
  }
  return Expectation{makespan_s, "simulated on " + *platform, *within_};
}

}  // namespace slackline::cli
