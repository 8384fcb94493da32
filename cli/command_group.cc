#include <fmt/format.h>

#include <optional>
#include <string>

#include "analysis/group/failure_run.h"
#include "base/error.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/delay_options.h"
#include "cli/group_report.h"
#include "cli/inline_delays.h"
#include "cli/simulation_report.h"
#include "machine/platform.h"
#include "sched/digest.h"
#include "sched/pattern/spec.h"

namespace slackline::cli {
namespace {

constexpr std::uint32_t kMostMessages = 1u << 20;

// What a group is told of a spec. Throws InputError if the spec says more.
machine::GroupShape shape_of(const sched::Spec& spec, const std::string& text) {
  machine::GroupShape shape;
  shape.pattern = spec.pattern;
  shape.members = spec.multicast.ranks;
  shape.block_bytes = spec.multicast.block_bytes;
  shape.in_flight = spec.transfers.in_flight;
  shape.ready = spec.credits.ready;
  shape.window = spec.credits.window;
  sched::Spec given = spec;
  given.transfers.copy_first_block = true;
  const sched::Spec taken = sched::parse_spec(shape.spec(spec.multicast.bytes));
  if (sched::format_spec(given) != sched::format_spec(taken)) {
    throw InputError(fmt::format(
        "{}: a group is told ranks, bytes, block, in-flight, ready and window; expected no more",
        text));
  }
  return shape;
}

class Group : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.positional("SPEC", spec_, "how each message goes: PATTERN:ranks=N,bytes=SIZE,…");
    arguments.option(
        "--kill", "rank=R,at=TIME|after=N", kill_,
        "that rank's process ends then, or in the instant of the N-th thing that it does; "
        "also detect=TIME, seen-by=R+R|all|nobody");
    arguments.number("--count", "N", count_, "messages, one behind the other (default: 1)", 1,
                     kMostMessages);
    arguments.flag("--atomic", atomic_, "a message is complete once every member has it");
    arguments.option("--timeout", "TIME", timeout_,
                     "how long a rank that lives and does nothing is waited for (default: 30 s)",
                     sched::parse_time);
    arguments.option(
        "-p,--platform", "PLATFORM", platform_,
        fmt::format("a preset's name, a TOML file, or TOPOLOGY:key=value,… (default: {})",
                    machine::kDefaultPlatform));
    delays_.declare(arguments);
    reader_.declare(arguments, "every rank and message, not the first few");
    arguments.example("binomial-pipeline:ranks=8,bytes=64MiB,block=1MiB --kill rank=2,at=10ms");
    arguments.example(
        "chain:ranks=4,bytes=1MiB,block=64KiB --count 4 --atomic --kill "
        "rank=1,after=40,seen-by=0");
  }

  int run(Console& console) override {
    const sched::Spec spec = sched::parse_spec(spec_);
    analysis::GroupScenario scenario;
    scenario.shape = shape_of(spec, spec_);
    scenario.messages.assign(count_.value_or(1), spec.multicast.bytes);
    scenario.atomic_delivery = atomic_;
    if (timeout_) scenario.timeout = *timeout_;
    if (kill_) scenario.kill = parse_group_kill(*kill_);
    const machine::Platform platform =
        machine::load_platform(platform_ ? *platform_ : std::string(machine::kDefaultPlatform));
    const machine::DelayPlan delays = delays_.resolve();
    machine::GroupPlan plan(scenario.shape);
    const auto message = plan.message(spec.multicast.bytes);
    console.phase("simulating");
    const analysis::GroupRun found = analysis::run_group(scenario, platform, delays);
    Answer answer(reader_,
                  {sched::format_spec(sched::parse_spec(scenario.shape.spec(spec.multicast.bytes))),
                   to_string(message->schedule.digest()), false, spec.multicast.bytes});
    answer_group(answer, {scenario, found, platform, summary_of(delays)});
    console.print(answer.text());
    return 0;
  }

 private:
  std::string spec_;
  std::optional<std::string> kill_, platform_;
  std::optional<std::uint32_t> count_;
  std::optional<sched::Time> timeout_;
  bool atomic_ = false;
  DelayOptions delays_{{false, true}};
  Reader reader_;
};

}  // namespace

std::unique_ptr<Command> make_group() { return std::make_unique<Group>(); }

}  // namespace slackline::cli
