// `testbed`: a platform's network built on this machine, and a real run carried out on it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/list_row.h"
#include "cli/program.h"
#include "cli/table.h"
#include "engines/network.h"
#include "hw/end_signals.h"
#include "hw/mesh/secret.h"
#include "hw/testbed/each.h"
#include "hw/testbed/entry.h"
#include "hw/testbed/testbed.h"
#include "machine/congestion.h"
#include "machine/node_count.h"
#include "machine/platform.h"

namespace slackline::cli {
namespace {

// By two hosts of two cores, about.
constexpr sched::Rate kMostCarried{2'000'000'000};
// The highest rate that can be said.
constexpr double kMostBits = 9e18;
constexpr const char* kGuestsJoinWithin = "180s";
// Soft-RoCE's timer goes on once what it was set for is acknowledged, and repeats what is in flight
// when it ends. On a slow cable that costs the time of a block. So it is longer than runs are; the
// mesh notices a lost machine. 4.096 us · 2^24.
constexpr const char* kGuestsRepeatAfter = "68719476736ns";
constexpr std::array<std::string_view, 3> kRealCommands = {"run", "calibrate", "validate"};
// Not slackline's: a program that each host runs.
constexpr std::string_view kEach = "each";

// Whether a word is one of these options, with or without its value: --transport, --transport=tcp,
// -t, -ttcp.
bool names(std::string_view word, std::initializer_list<std::string_view> options) {
  return std::ranges::any_of(options, [&](std::string_view option) {
    if (word == option) return true;
    if (!word.starts_with(option)) return false;
    return !option.starts_with("--") || word[option.size()] == '=';
  });
}

std::string shown_rate(sched::Rate rate) {
  return sched::human_bytes_per_second(rate.bytes_per_second());
}

class TestbedCommand : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.positional("PLATFORM", platform_, "the network, as for simulate --platform");
    arguments.option("--hosts", "N", hosts_,
                     "how many, with a rank on each (default: all that the platform has)");
    arguments.option("--scale", "RATE", scale_,
                     "give the fastest cable this rate, and all others, and latencies, in "
                     "proportion");
    arguments.flag("--bare-latency", bare_latency_,
                   "take this machine's latency, not the platform's");
    arguments.option("--guests", "FOLDER", guests_,
                     "make each host a virtual machine with Soft-RoCE, of the kernel that "
                     "`scripts/guest --image FOLDER` put there");
    arguments.flag("--json", json_, "without COMMAND: print one JSON document");
    arguments.rest("run|calibrate|validate|each …", command_);
    arguments.example(
        "star:rate=400Mbps --hosts 8 --bare-latency -- "
        "run binomial-pipeline:ranks=8,bytes=8MiB,block=512KiB");
    arguments.example("fractus --hosts 4 --scale 400Mbps --bare-latency");
  }

  int run(Console& console) override {
    check_command();
    machine::Platform platform = machine::load_platform(platform_);
    if (platform.ack_bytes != 0) {
      throw Unsupported(
          "ack: a testbed has acknowledgements of its own; expected a platform without it");
    }
    machine::require_no_congestion(platform, "testbed");
    const std::uint32_t hosts = host_count(platform);
    hw::SwitchTree tree = hw::switch_tree(engines::wiring_of_ranks(platform, hosts));
    if (scale_) scale(tree, platform);
    if (command_.empty()) {
      console.print(json_ ? document(tree) : report(tree, platform));
      return 0;
    }
    std::optional<hw::GuestImage> image;
    if (guests_) image = hw::guest_image(*guests_);
    console.phase("building the network");
    const hw::Testbed testbed(tree, latency(), image, [&](std::uint32_t ready) {
      console.progress("building the network", ready, hosts);
    });
    console.clear();
    console.note(summary(tree));
    if (const sched::Rate rate = fastest(tree); rate > kMostCarried) {
      console.note(
          fmt::format("a cable of {} is beyond what this machine carries; --scale keeps the "
                      "ratios between cables",
                      shown_rate(rate)));
    }
    if (command_.front() == kEach) return run_each(tree, testbed, console);
    if (command_.front() == "calibrate" && tree.hosts[0].on != tree.hosts[1].on) {
      console.note(
          fmt::format("calibrate measures between {} and {}, which are at different switches; "
                      "the rate that it finds is the narrowest cable's between them",
                      tree.hosts[0].name, tree.hosts[1].name));
    }
    return run_command(command_on(testbed), console);
  }

 private:
  void check_command() const {
    if (command_.empty()) return;
    if (json_) throw InputError("--json before --; expected it behind, as the command's");
    if (command_.front() == kEach) {
      if (command_.size() > 1) return;
      throw InputError("each behind --; expected a program behind it");
    }
    if (std::ranges::find(kRealCommands, command_.front()) == kRealCommands.end()) {
      throw InputError(fmt::format("'{}' behind --; expected one of {}, {}", command_.front(),
                                   fmt::join(kRealCommands, ", "), kEach));
    }
    for (const std::string& word : command_) {
      if (names(word, {"--hosts", "--place", "--ssh", "--rank", "--ranks", "--root", "--host"})) {
        throw InputError(
            fmt::format("{} behind --: the testbed has a rank on each of its hosts; "
                        "expected none",
                        word));
      }
    }
  }

  std::uint32_t host_count(const machine::Platform& platform) const {
    if (hosts_) {
      return static_cast<std::uint32_t>(
          sched::parse_count(*hosts_, "--hosts", 2, hw::kMostTestbedHosts));
    }
    const std::optional<std::uint32_t> count = machine::node_count(platform);
    if (!count) {
      throw InputError(fmt::format("{} has as many hosts as there are ranks; expected --hosts N",
                                   platform.name));
    }
    if (*count <= hw::kMostTestbedHosts) return *count;
    throw InputError(fmt::format("{} has {} hosts; expected --hosts N, at most {} in a testbed",
                                 platform.name, *count, hw::kMostTestbedHosts));
  }

  hw::TestbedLatency latency() const {
    return bare_latency_ ? hw::TestbedLatency::kBare : hw::TestbedLatency::kTree;
  }

  // Rates by one factor, and latencies by its inverse: the ratios of times stay. Throws InputError
  // where a rate or a time would be none.
  void scale(hw::SwitchTree& tree, machine::Platform& platform) {
    const auto of_cables = [&](const auto& change) {
      for (hw::SwitchTree::Host& host : tree.hosts) change(host.cable);
      for (hw::SwitchTree::Switch& lower : tree.switches) {
        if (lower.above) change(lower.cable);
      }
    };
    const sched::Rate wanted = sched::parse_rate(*scale_, "--scale");
    const double factor = static_cast<double>(wanted.bits_per_second) /
                          static_cast<double>(fastest(tree).bits_per_second);
    const auto scaled = [&](sched::Rate rate) {
      const double bits = static_cast<double>(rate.bits_per_second) * factor;
      if (rate.bits_per_second != 0 && !(bits >= 0.5 && bits < kMostBits)) {
        throw InputError(
            fmt::format("--scale: '{}': a cable of {} would have {:.3g} bits a second; expected a "
                        "scale by which each has 1 to {:g}",
                        *scale_, sched::format_rate(rate), bits, kMostBits));
      }
      return sched::Rate{static_cast<std::uint64_t>(std::llround(bits))};
    };
    const auto stretched = [&](sched::Time time) {
      const double picoseconds = static_cast<double>(time.count()) / factor;
      if (!(picoseconds < static_cast<double>(sched::kForever.count()))) {
        throw InputError(
            fmt::format("--scale: '{}': a latency of {} would be {:.3g} s; expected less than 106 "
                        "days",
                        *scale_, sched::format_time(time), picoseconds * 1e-12));
      }
      return sched::Time(std::llround(picoseconds));
    };
    of_cables([&](hw::SwitchTree::Cable& cable) {
      cable = {scaled(cable.up), scaled(cable.down)};
    });
    for (hw::SwitchTree::Host& host : tree.hosts) {
      for (sched::Time& latency : host.latency_to) latency = stretched(latency);
    }
    factor_ = factor;
    // A file of SimGrid's says all of it itself, and no figure of the platform's.
    if (platform.topology.kind() == machine::TopologyKind::kSimgridFile) return;
    platform.rate = scaled(platform.rate);
    platform.latency = stretched(platform.latency);
    for (auto& host : platform.hosts.rate.runs) host.value = scaled(host.value);
    for (auto& host : platform.hosts.latency.runs) host.value = stretched(host.value);
    platform.topology.link_rate = scaled(platform.topology.link_rate);
    platform.topology.hop_latency = stretched(platform.topology.hop_latency);
    if (auto* const racks = std::get_if<machine::TwoLevel>(&platform.topology.shape)) {
      racks->uplink = scaled(racks->uplink);
    }
  }

  // Ranks on the testbed's hosts, by what carries commands there.
  std::vector<std::string> command_on(const hw::Testbed& testbed) const {
    std::vector<std::string> line = command_;
    line.insert(line.end(), {"--hosts", testbed.host_list(), "--ssh", testbed.entry_program()});
    const auto said = [&](std::initializer_list<std::string_view> options) {
      return std::ranges::any_of(command_,
                                 [&](const std::string& word) { return names(word, options); });
    };
    if (!said({"--transport", "-t"})) {
      line.insert(line.end(), {"--transport", guests_ ? "verbs" : "tcp"});
      if (guests_ && !said({"--qp-timeout"})) {
        line.insert(line.end(), {"--qp-timeout", kGuestsRepeatAfter});
      }
    }
    // Virtual machines boot first.
    if (guests_ && !said({"--join-timeout"})) {
      line.insert(line.end(), {"--join-timeout", kGuestsJoinWithin});
    }
    // Ranks that poll take each other's processors.
    if (!said({"--completion"})) line.insert(line.end(), {"--completion", "interrupt"});
    return line;
  }

  int run_each(const hw::SwitchTree& tree, const hw::Testbed& testbed, Console& console) const {
    const std::vector<std::string> words(command_.begin() + 1, command_.end());
    // Hosts that share the user's files must not all make it at once.
    if (std::ranges::any_of(words, [](const std::string& word) {
          return word.find("{root}") != std::string::npos;
        })) {
      hw::Secret::of_user();
    }
    const hw::EndSignals signals;
    console.phase("running");
    const std::vector<int> statuses =
        hw::run_on_each(tree, testbed.entry_program(), std::filesystem::current_path(), words,
                        signals.descriptor(), [&](const std::string& host, std::string_view line) {
                          console.print(fmt::format("{}: {}\n", host, line));
                        });
    console.clear();
    if (const auto signal = signals.take()) {
      console.error(hw::ended_by(*signal));
      hw::die_by(*signal);
    }
    const auto bad = std::ranges::find_if(statuses, [](int status) { return status != 0; });
    if (bad == statuses.end()) return 0;
    console.note(fmt::format("{} ended with {}", tree.hosts[bad - statuses.begin()].name, *bad));
    return 1;
  }

  std::string latency_words() const {
    return bare_latency_ ? "latency as this machine has it" : "latency by netem";
  }

  // Of all ways between two hosts, by what makes it.
  std::string latency_of_ways(const hw::SwitchTree& tree) const {
    if (bare_latency_) return "this machine's own";
    sched::Time least = sched::Time::max(), most{0};
    for (std::size_t src = 0; src < tree.hosts.size(); ++src) {
      for (std::size_t dst = 0; dst < tree.hosts.size(); ++dst) {
        if (src == dst) continue;
        least = std::min(least, tree.hosts[src].latency_to[dst]);
        most = std::max(most, tree.hosts[src].latency_to[dst]);
      }
    }
    return fmt::format("{}{}, by netem", sched::format_time(least),
                       least == most ? "" : " to " + sched::format_time(most));
  }

  std::string summary(const hw::SwitchTree& tree) const {
    return fmt::format("testbed: {} {} on {} switch{}, host-0's cable at {} of what {} carries; {}",
                       tree.hosts.size(), guests_ ? "virtual machines" : "hosts",
                       tree.switches.size(), tree.switches.size() == 1 ? "" : "es",
                       shown_rate(tree.hosts.front().cable.up), guests_ ? "RoCE" : "TCP",
                       latency_words());
  }

  static sched::Rate fastest(const hw::SwitchTree& tree) {
    sched::Rate most;
    visit_cables(tree, [&](const std::string&, std::uint32_t, const hw::SwitchTree::Cable& cable) {
      most = std::max({most, cable.up, cable.down});
    });
    return most;
  }

  static std::string switch_name(std::size_t number) { return fmt::format("switch-{}", number); }

  // Calls visit(name, on, cable) for every cable.
  template <class Visit>
  static void visit_cables(const hw::SwitchTree& tree, const Visit& visit) {
    for (const hw::SwitchTree::Host& host : tree.hosts) visit(host.name, host.on, host.cable);
    for (std::size_t s = 0; s < tree.switches.size(); ++s) {
      const hw::SwitchTree::Switch& lower = tree.switches[s];
      if (lower.above) visit(switch_name(s), *lower.above, lower.cable);
    }
  }

  std::string report(const hw::SwitchTree& tree, const machine::Platform& platform) const {
    Table head({Align::kLeft, Align::kLeft});
    if (platform.topology.kind() != machine::TopologyKind::kSimgridFile) {
      add_list_row(head, "figures", platform.spec());
    }
    if (factor_) {
      head.add({"scaled", fmt::format("rates by {0:.6g}, latencies by {1:.6g}; not this machine's "
                                      "own overheads",
                                      *factor_, 1 / *factor_)});
    }
    head.add({"hosts",
              fmt::format("{}, {} to {}", tree.hosts.size(), hw::testbed_address(0),
                          hw::testbed_address(static_cast<std::uint32_t>(tree.hosts.size()) - 1))});
    head.add({"latency", latency_of_ways(tree)});
    Table table({Align::kLeft, Align::kLeft, Align::kRight, Align::kRight});
    table.add({"cable of", "to", "up", "down"});
    visit_cables(
        tree, [&](const std::string& name, std::uint32_t on, const hw::SwitchTree::Cable& cable) {
          table.add({name, switch_name(on), shown_rate(cable.up), shown_rate(cable.down)});
        });
    return platform.name + "\n" + head.text("  ") + "\n" + table.text("  ") +
           "\n  nothing was built; it is for a command behind --, as long as that takes\n";
  }

  std::string document(const hw::SwitchTree& tree) const {
    JsonOutput document(std::nullopt, false);
    document.set("hosts", tree.hosts.size());
    document.set("switches", tree.switches.size());
    document.set("scale", factor_);
    document.set("bare_latency", bare_latency_);
    document.begin_list("cables");
    visit_cables(
        tree, [&](const std::string& name, std::uint32_t on, const hw::SwitchTree::Cable& cable) {
          document.begin_object();
          document.set("of", name);
          document.set("to", switch_name(on));
          document.set("up_bits_per_s", cable.up.bits_per_second);
          document.set("down_bits_per_s", cable.down.bits_per_second);
          document.end();
        });
    document.end();
    std::vector<double> latency_s;
    for (const hw::SwitchTree::Host& host : tree.hosts) {
      for (const sched::Time latency : host.latency_to)
        latency_s.push_back(sched::seconds(latency));
    }
    document.set("latency_s", std::span<const double>(latency_s));
    return document.text();
  }

  std::string platform_;
  std::optional<std::string> hosts_, scale_, guests_;
  bool bare_latency_ = false;
  bool json_ = false;
  std::vector<std::string> command_;
  std::optional<double> factor_;  // of --scale
};

}  // namespace

std::unique_ptr<Command> make_testbed() { return std::make_unique<TestbedCommand>(); }

}  // namespace slackline::cli
