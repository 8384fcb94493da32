#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/group/failure_run.h"
#include "base/error.h"
#include "base/split.h"
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

// "100B,64KiB".
std::vector<std::uint64_t> parse_sizes(const std::string& text, const std::string& option) {
  std::vector<std::uint64_t> sizes;
  for (const std::string_view size : base::split(text, ',')) {
    sizes.push_back(sched::parse_bytes(size, option));
  }
  return sizes;
}

std::uint64_t parse_small_bytes(const std::string& text, const std::string& option) {
  const std::uint64_t bytes = sched::parse_bytes(text, option);
  if (bytes <= machine::kMostSmallBytes) return bytes;
  throw InputError(fmt::format("{}: '{}' is more than a slot takes; expected at most {}", option,
                               text, sched::format_bytes(machine::kMostSmallBytes)));
}

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
  // What the library says of a group that asks for it.
  if (shape.ready == sched::Ready::kWrite) machine::GroupPlan{shape};
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
    arguments.number("--count", "N", count_,
                     "messages, one behind the other (default: one of each size)", 1,
                     kMostMessages);
    arguments.option("--then", "SIZE,SIZE", then_,
                     "messages have that of SPEC and these sizes, by turns", parse_sizes);
    arguments.option("--small-bytes", "SIZE", small_bytes_,
                     "messages up to this, at most 1 MiB, go by slots and not in blocks (default: "
                     "0, none)",
                     parse_small_bytes);
    arguments.option("--small-slots", "N", small_slots_,
                     "slots of every member, 1 to 65536 (default: 16)",
                     [](const std::string& text, const std::string& name) {
                       return static_cast<std::uint32_t>(
                           sched::parse_count(text, name, 1, machine::kMostSmallSlots));
                     });
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
    arguments.example(
        "binomial-pipeline:ranks=4,bytes=1KiB,block=16KiB --then 64KiB,100B --count 30 "
        "--small-bytes 10KiB --atomic --kill rank=0,at=40us");
  }

  int run(Console& console) override {
    const sched::Spec spec = sched::parse_spec(spec_);
    analysis::GroupScenario scenario;
    scenario.shape = shape_of(spec, spec_);
    std::vector<std::uint64_t> sizes = then_.value_or(std::vector<std::uint64_t>{});
    sizes.insert(sizes.begin(), spec.multicast.bytes);
    scenario.messages.resize(count_.value_or(static_cast<std::uint32_t>(sizes.size())));
    for (std::size_t k = 0; k < scenario.messages.size(); ++k) {
      scenario.messages[k] = sizes[k % sizes.size()];
    }
    scenario.small = small();
    scenario.atomic_delivery = atomic_;
    if (timeout_) scenario.timeout = *timeout_;
    if (kill_) scenario.kill = parse_group_kill(*kill_);
    const machine::Platform platform =
        machine::load_platform(platform_ ? *platform_ : std::string(machine::kDefaultPlatform));
    const machine::DelayPlan delays = delays_.resolve();
    console.phase("simulating");
    const analysis::GroupRun found = analysis::run_group(scenario, platform, delays);
    Answer answer(reader_,
                  {sched::format_spec(sched::parse_spec(scenario.shape.spec(spec.multicast.bytes))),
                   to_string(digest_of(scenario, sizes, found)), false, spec.multicast.bytes});
    answer_group(answer, {scenario, sizes, found, platform, summary_of(delays)});
    console.print(answer.text());
    return 0;
  }

 private:
  machine::SmallShape small() const {
    machine::SmallShape small;
    if (small_slots_ && !small_bytes_) {
      throw InputError("--small-slots: there are no small messages; expected --small-bytes, too");
    }
    small.bytes = small_bytes_.value_or(small.bytes);
    small.slots = small_slots_.value_or(small.slots);
    return small;
  }

  // Of the schedule that all messages have, if they have one.
  static sched::Digest digest_of(const analysis::GroupScenario& scenario,
                                 const std::vector<std::uint64_t>& sizes,
                                 const analysis::GroupRun& found) {
    if (scenario.small.bytes != 0 || sizes.size() != 1) return found.digest;
    return machine::GroupPlan(scenario.shape).message(sizes[0])->schedule.digest();
  }

  std::string spec_;
  std::optional<std::string> kill_, platform_;
  std::optional<std::uint32_t> count_, small_slots_;
  std::optional<std::uint64_t> small_bytes_;
  std::optional<std::vector<std::uint64_t>> then_;
  std::optional<sched::Time> timeout_;
  bool atomic_ = false;
  DelayOptions delays_{{false, true}};
  Reader reader_;
};

}  // namespace

std::unique_ptr<Command> make_group() { return std::make_unique<Group>(); }

}  // namespace slackline::cli
