// The bare cost of a schedule's messages in SimGrid, which an engine built on it is held against:
// every transfer of a binomial pipeline as one communication on a star. It keeps no times, orders
// nothing and models neither overheads nor credits. What a message costs SimGrid depends on how
// many begin and end in one instant and how many are under way. So there are two floors: all
// messages of a step at once, each step when the last of the one before has ended; or, with
// --as-run, each message when the machine model has it begin (computed before the clock starts).
//
//   simgrid_floor RANKS BLOCKS [--as-run] [--json]
#include <fmt/format.h>
#include <sys/resource.h>
#include <xbt/log.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/event_engine.h"
#include "machine/platform.h"
#include "sched/compile.h"
#include "sched/error.h"

namespace {

namespace s4u = simgrid::s4u;
using slackline::InputError;
using slackline::machine::Platform;
using slackline::sched::OpKind;
using slackline::sched::Plan;
using slackline::sched::RankId;
using slackline::sched::Schedule;
using slackline::sched::Trace;
using slackline::sched::Transfer;

constexpr std::uint64_t kBlockBytes = 1 << 20;
constexpr double kBytesPerSecond = 12.5e9;

struct Options {
  std::uint64_t ranks = 0;
  std::uint64_t blocks = 0;
  bool as_run = false;
  bool json = false;
};

Options parse(std::span<char*> arguments) {
  Options options;
  std::vector<std::string_view> numbers;
  for (const std::string_view argument : arguments) {
    if (argument == "--json") {
      options.json = true;
    } else if (argument == "--as-run") {
      options.as_run = true;
    } else {
      numbers.push_back(argument);
    }
  }
  if (numbers.size() != 2) {
    throw InputError("expected simgrid_floor RANKS BLOCKS [--as-run] [--json]");
  }
  options.ranks = slackline::sched::parse_count(numbers[0], "RANKS", 2, 1 << 16);
  options.blocks = slackline::sched::parse_count(numbers[1], "BLOCKS", 1, 1 << 20);
  return options;
}

// The exact model: bandwidth shared max-min and nothing else, no latency.
std::vector<s4u::Host*> make_star(std::uint32_t ranks) {
  for (const char* setting : {"network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:0",
                              "surf/precision:1e-12", "maxmin/precision:1e-9"}) {
    s4u::Engine::set_config(setting);
  }
  s4u::NetZone* zone = s4u::create_star_zone("star");
  std::vector<s4u::Host*> hosts;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    s4u::Host* host = zone->create_host(fmt::format("rank{}", rank), 1e9)->seal();
    s4u::SplitDuplexLink* link =
        zone->create_split_duplex_link(fmt::format("nic{}", rank), kBytesPerSecond);
    link->set_latency(0.0)->seal();
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                    {s4u::LinkInRoute(link, s4u::LinkInRoute::Direction::UP)}, true);
    hosts.push_back(host);
  }
  zone->seal();
  return hosts;
}

// Sends a step's messages, and the next step's when all of them have ended.
class StepRunner {
 public:
  StepRunner(const Plan& plan, std::vector<s4u::Host*> hosts)
      : plan_(plan), hosts_(std::move(hosts)) {}

  void start_step() {
    // The messages of the step before may still be in use by the callback that called this: they
    // are let go a step later.
    previous_ = std::move(current_);
    current_.clear();
    const std::size_t begin = next_;
    while (next_ < plan_.transfers.size() &&
           plan_.transfers[next_].step == plan_.transfers[begin].step) {
      const Transfer& transfer = plan_.transfers[next_++];
      current_.push_back(
          s4u::Comm::sendto_init(hosts_[transfer.src.value], hosts_[transfer.dst.value]));
      current_.back()->set_payload_size(plan_.bytes_of(transfer.block));
    }
    left_ = current_.size();
    for (const s4u::CommPtr& message : current_) message->start();
  }

  void on_completion(const s4u::Activity& message) {
    if (message.get_state() != s4u::Activity::State::FINISHED) return;
    ++finished_;
    if (--left_ == 0) start_step();
  }

  std::size_t finished() const { return finished_; }

 private:
  const Plan& plan_;
  std::vector<s4u::Host*> hosts_;
  std::vector<s4u::CommPtr> current_;
  std::vector<s4u::CommPtr> previous_;
  std::size_t next_ = 0;
  std::size_t left_ = 0;
  std::size_t finished_ = 0;
};

struct Beginning {
  double time_s;
  RankId src;
  RankId dst;
  std::uint64_t bytes;
};

// When each large message of the schedule leaves its NIC, in order of time.
std::vector<Beginning> beginnings(const std::string& spec) {
  const Schedule schedule = compile(slackline::sched::parse_spec(spec));
  const Platform platform = slackline::machine::load_platform("fractus");
  const Trace trace = slackline::analysis::run_events(schedule, platform);
  std::vector<Beginning> result;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const slackline::sched::Op& op = schedule.ops()[i];
    const std::uint64_t bytes = schedule.payload_bytes(op);
    if (op.kind != OpKind::kSend || bytes <= platform.interleave_bytes) continue;
    result.push_back({trace.ops[i].wire_s, op.rank, schedule.channel(op.channel).dst, bytes});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Beginning& a, const Beginning& b) { return a.time_s < b.time_s; });
  return result;
}

// Sends each message at its time: one timer per instant.
class TimedRunner {
 public:
  TimedRunner(std::vector<Beginning> messages, std::vector<s4u::Host*> hosts)
      : messages_(std::move(messages)), hosts_(std::move(hosts)) {}

  void arm() {
    if (next_ == messages_.size()) return;
    simgrid::kernel::timer::Timer::set(messages_[next_].time_s, [this] { start_instant(); });
  }
  void on_completion(const s4u::Activity& message) {
    if (message.get_state() != s4u::Activity::State::FINISHED) return;
    ++finished_;
  }
  std::size_t finished() const { return finished_; }

 private:
  void start_instant() {
    std::erase_if(live_, [](const s4u::CommPtr& message) {
      return message->get_state() == s4u::Activity::State::FINISHED;
    });
    const double now_s = messages_[next_].time_s;
    for (; next_ < messages_.size() && messages_[next_].time_s < now_s + 1e-12; ++next_) {
      const Beginning& message = messages_[next_];
      live_.push_back(s4u::Comm::sendto_init(hosts_[message.src.value], hosts_[message.dst.value]));
      live_.back()->set_payload_size(message.bytes);
      live_.back()->start();
    }
    arm();
  }

  std::vector<Beginning> messages_;
  std::vector<s4u::Host*> hosts_;
  std::vector<s4u::CommPtr> live_;
  std::size_t next_ = 0;
  std::size_t finished_ = 0;
};

int run(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  const Options options = parse(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
  const std::string spec = fmt::format("binomial-pipeline:ranks={},bytes={},block={}",
                                       options.ranks, options.blocks * kBlockBytes, kBlockBytes);
  const Plan plan = slackline::sched::plan_of(slackline::sched::parse_spec(spec));
  std::vector<Beginning> times;
  if (options.as_run) times = beginnings(spec);

  xbt_log_control_set("xbt_cfg.thres:warning");
  const auto begin = Clock::now();
  int engine_argc = 1;
  s4u::Engine engine(&engine_argc, argv);
  const std::vector<s4u::Host*> hosts = make_star(plan.ranks);
  StepRunner steps(plan, hosts);
  TimedRunner timed(std::move(times), hosts);
  s4u::Activity::on_completion_cb([&](const s4u::Activity& message) {
    options.as_run ? timed.on_completion(message) : steps.on_completion(message);
  });
  options.as_run ? timed.arm() : steps.start_step();
  engine.run();
  const std::size_t finished = options.as_run ? timed.finished() : steps.finished();
  const double wall_s = std::chrono::duration<double>(Clock::now() - begin).count();

  if (finished != plan.transfers.size()) {
    throw slackline::InternalError(
        fmt::format("{} of {} messages ended", finished, plan.transfers.size()));
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double messages = static_cast<double>(plan.transfers.size());
  const double peak_mib = static_cast<double>(usage.ru_maxrss) / 1024;
  const double simulated_s = s4u::Engine::get_clock();
  if (options.json) {
    fmt::print(
        "{{\"ranks\": {}, \"blocks\": {}, \"as_run\": {}, \"messages\": {}, \"wall_s\": {}, "
        "\"us_per_message\": {}, \"peak_rss_bytes\": {}, \"simulated_s\": {}}}\n",
        plan.ranks, plan.blocks, options.as_run, plan.transfers.size(), wall_s,
        wall_s / messages * 1e6, usage.ru_maxrss * 1024, simulated_s);
  } else {
    fmt::print(
        "{} ranks, {} blocks: {} messages in {:.3f} s, {:.2f} us each, peak {:.1f} MiB; {} of the "
        "simulated machine\n",
        plan.ranks, plan.blocks, plan.transfers.size(), wall_s, wall_s / messages * 1e6, peak_mib,
        slackline::sched::human_seconds(simulated_s));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const slackline::Error& error) {
    fmt::print(stderr, "simgrid_floor: {}\n", error.what());
    return error.exit_code();
  }
}
