// The bare cost of a schedule's messages in SimGrid, which an engine built on it is held against:
// every transfer of a binomial pipeline as one communication, on a star unless told otherwise. It
// keeps no times, orders nothing and models neither overheads nor credits. What a message costs
// SimGrid depends on how many begin and end in one instant and how many are under way. So there are
// two floors: all messages of a step at once, each step when the last of the one before has ended;
// or, with
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
#include <optional>
#include <simgrid/s4u.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "machine/delay_plan.h"
#include "machine/paths.h"
#include "machine/platform.h"
#include "machine/wiring.h"
#include "sched/compile.h"
#include "sim/simgrid_engine.h"
#include "sim/simgrid_version.h"

namespace {

namespace s4u = simgrid::s4u;
namespace sim = slackline::sim;
using slackline::InputError;
using slackline::machine::Platform;
using slackline::sched::OpKind;
using slackline::sched::Plan;
using slackline::sched::RankId;
using slackline::sched::Schedule;
using slackline::sched::Trace;
using slackline::sched::Transfer;

constexpr std::uint64_t kBlockBytes = 1 << 20;

struct Options {
  std::uint64_t ranks = 0;
  std::uint64_t blocks = 0;
  std::string platform{slackline::machine::kDefaultPlatform};
  slackline::sched::Time noise{0};
  bool as_run = false;
  bool json = false;
};

Options parse(std::span<char*> arguments) {
  Options options;
  std::vector<std::string_view> numbers;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--platform" && i + 1 < arguments.size()) {
      options.platform = arguments[++i];
    } else if (argument == "--noise" && i + 1 < arguments.size()) {
      options.noise = slackline::sched::parse_time(arguments[++i], "--noise");
    } else if (argument == "--json") {
      options.json = true;
    } else if (argument == "--as-run") {
      options.as_run = true;
    } else {
      numbers.push_back(argument);
    }
  }
  if (numbers.size() != 2) {
    throw InputError(
        "expected simgrid_floor RANKS BLOCKS [--platform P] [--as-run [--noise MEAN]] [--json]");
  }
  options.ranks = slackline::sched::parse_count(numbers[0], "RANKS", 2, 1 << 16);
  options.blocks = slackline::sched::parse_count(numbers[1], "BLOCKS", 1, 1 << 20);
  return options;
}

using Hosts = std::vector<s4u::Host*>;  // of every rank

Hosts make_star(std::uint32_t ranks, double bytes_per_s) {
  s4u::NetZone* zone = sim::add_star_zone("star");
  Hosts hosts;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    s4u::Host* host = sim::add_host(zone, fmt::format("rank{}", rank))->seal();
    s4u::SplitDuplexLink* link =
        sim::add_duplex_link(zone, fmt::format("nic{}", rank), bytes_per_s);
    link->set_latency(0.0)->seal();
    sim::add_route(zone, host, nullptr, {s4u::LinkInRoute(link, s4u::LinkInRoute::Direction::UP)},
                   true);
    hosts.push_back(host);
  }
  zone->seal();
  return hosts;
}

// The platform's links, and the routes of the schedule's messages.
Hosts make_network(const Schedule& schedule, const Platform& platform) {
  const slackline::machine::Wiring wiring(platform, schedule.rank_count());
  const slackline::machine::Paths paths(schedule, wiring, {});
  s4u::NetZone* zone = sim::add_full_zone("network");
  Hosts hosts;
  for (std::uint32_t rank = 0; rank < schedule.rank_count(); ++rank) {
    hosts.push_back(sim::add_host(zone, fmt::format("rank{}", rank))->seal());
  }
  std::vector<s4u::Link*> links;
  for (const slackline::machine::Link& link : wiring.links()) {
    links.push_back(sim::add_link(zone, link.name, link.rate.bytes_per_second()));
    links.back()->set_latency(0.0)->seal();
  }
  for (std::uint32_t i = 0; i < paths.size(); ++i) {
    const slackline::machine::PathId id(i);
    std::vector<s4u::LinkInRoute> route;
    for (const slackline::machine::LinkId link : paths.links(id)) {
      route.emplace_back(links[link.value]);
    }
    sim::add_route(zone, hosts[paths[id].src.value], hosts[paths[id].dst.value], route, false);
  }
  zone->seal();
  return hosts;
}

s4u::CommPtr message(const Hosts& hosts, RankId src, RankId dst, std::uint64_t bytes) {
  s4u::CommPtr comm = s4u::Comm::sendto_init(hosts[src.value], hosts[dst.value]);
  comm->set_payload_size(bytes);
  return comm;
}

// Sends a step's messages, and the next step's when all of them have ended.
class StepRunner {
 public:
  StepRunner(const Plan& plan, Hosts hosts) : plan_(plan), hosts_(std::move(hosts)) {}

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
          message(hosts_, transfer.src, transfer.dst, plan_.bytes_of(transfer.block)));
    }
    left_ = current_.size();
    for (const s4u::CommPtr& comm : current_) comm->start();
  }

  void on_completion(const s4u::Comm& comm) {
    if (comm.get_state() != s4u::Activity::State::FINISHED) return;
    ++finished_;
    if (--left_ == 0) start_step();
  }

  std::size_t finished() const { return finished_; }

 private:
  const Plan& plan_;
  Hosts hosts_;
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
std::vector<Beginning> beginnings(const Schedule& schedule, const Platform& platform,
                                  slackline::sched::Time noise) {
  slackline::machine::DelayPlan plan;
  if (noise.count() > 0) {
    plan.noise.emplace_back();
    plan.noise.back().of.kind = slackline::machine::Distribution::Kind::kExponential;
    plan.noise.back().of.mean = noise;
  }
  const Trace trace = sim::run_simgrid({schedule, platform, plan});
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
  TimedRunner(std::vector<Beginning> messages, Hosts hosts)
      : messages_(std::move(messages)), hosts_(std::move(hosts)) {}

  void arm() {
    if (next_ == messages_.size()) return;
    sim::call_at(messages_[next_].time_s, [this] { start_instant(); });
  }
  void on_completion(const s4u::Comm& comm) {
    if (comm.get_state() != s4u::Activity::State::FINISHED) return;
    ++finished_;
  }
  std::size_t finished() const { return finished_; }

 private:
  void start_instant() {
    std::erase_if(live_, [](const s4u::CommPtr& comm) {
      return comm->get_state() == s4u::Activity::State::FINISHED;
    });
    const double now_s = messages_[next_].time_s;
    for (; next_ < messages_.size() && messages_[next_].time_s < now_s + 1e-12; ++next_) {
      const Beginning& begun = messages_[next_];
      live_.push_back(message(hosts_, begun.src, begun.dst, begun.bytes));
      live_.back()->start();
    }
    arm();
  }

  std::vector<Beginning> messages_;
  Hosts hosts_;
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
  const Platform platform = slackline::machine::load_platform(options.platform);
  const bool is_star = platform.topology.kind() == slackline::machine::TopologyKind::kStar;
  std::vector<Beginning> times;
  std::optional<Schedule> schedule;
  if (options.as_run || !is_star) schedule = compile(slackline::sched::parse_spec(spec));
  if (options.as_run) times = beginnings(*schedule, platform, options.noise);

  xbt_log_control_set("xbt_cfg.thres:warning");
  auto begin = Clock::now();
  std::clock_t cpu_begin = std::clock();
  int engine_argc = 1;
  s4u::Engine engine(&engine_argc, argv);
  sim::configure_exact_sharing();
  Hosts hosts;
  if (is_star) {
    hosts = make_star(plan.ranks, platform.rate.bytes_per_second());
  } else {
    hosts = make_network(*schedule, platform);
    begin = Clock::now();
    cpu_begin = std::clock();
  }
  StepRunner steps(plan, hosts);
  TimedRunner timed(std::move(times), hosts);
  sim::on_ended([&](const s4u::Comm& comm) {
    options.as_run ? timed.on_completion(comm) : steps.on_completion(comm);
  });
  options.as_run ? timed.arm() : steps.start_step();
  engine.run();
  const std::size_t finished = options.as_run ? timed.finished() : steps.finished();
  const double wall_s = std::chrono::duration<double>(Clock::now() - begin).count();
  const double cpu_s = static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC;

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
        "\"cpu_s\": {}, "
        "\"us_per_message\": {}, \"peak_rss_bytes\": {}, \"simulated_s\": {}}}\n",
        plan.ranks, plan.blocks, options.as_run, plan.transfers.size(), wall_s, cpu_s,
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
