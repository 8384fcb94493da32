#include "engines/other_simulators.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/child_filter.h"
#include "base/error.h"
#include "base/number.h"
#include "base/split.h"
#include "base/write_file.h"
#include "machine/completions.h"
#include "sched/export/goal_binary.h"

namespace slackline::engines {
namespace {

constexpr std::string_view kLogGopsim = "LogGOPSim";

// A folder that goes with its object.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "slackline-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw EnvironmentError(fmt::format("no folder can be made in {}; set TMPDIR to another place",
                                         std::filesystem::temp_directory_path().string()));
    }
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string path(std::string_view name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// LogGOPSim takes whole numbers below 2^31. Its unit is whatever it is given: the finest in which
// all of its figures fit.
struct LogGops {
  explicit LogGops(const machine::Platform& platform) {
    const double byte_ns = 8e9 / static_cast<double>(platform.rate.bits_per_second);
    // A message of b bytes takes g + (b − 1) G, which must not be below 0 for one of none.
    const double gap_ns = std::max(in_ns(platform.gap), byte_ns);
    const double most_ns = std::max({in_ns(platform.latency), in_ns(platform.o_post), gap_ns});
    while (ticks_per_ns > 1 && most_ns * ticks_per_ns >= 2147483647.0) ticks_per_ns /= 10;
    const auto in_ticks = [&](double ns) { return fmt::format("{:.0f}", ns * ticks_per_ns); };
    latency = in_ticks(in_ns(platform.latency));
    overhead = in_ticks(in_ns(platform.o_post));
    gap = in_ticks(gap_ns);
    of_byte = in_ticks(byte_ns);
  }

  static double in_ns(sched::Time time) { return static_cast<double>(time.count()) * 1e-3; }

  std::uint32_t ticks_per_ns = 1'000'000;
  std::string latency, overhead, gap, of_byte;
};

// Of "Maximum finishing time at host 3: 1050061 (0.00105006 s)", the whole number.
std::optional<std::uint64_t> finish_in(std::string_view told) {
  constexpr std::string_view kLine = "Maximum finishing time at host ";
  const std::size_t at = told.find(kLine);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view line = told.substr(at + kLine.size());
  base::take_item(line, ':');
  line = base::trimmed(line.substr(0, line.find('(')));
  return base::whole_number<std::uint64_t>(line);
}

// What of the platform it has no place for, beside what it is said to leave out.
std::string_view what_it_lacks(const machine::Platform& platform) {
  if (platform.topology.kind() == machine::TopologyKind::kSimgridFile) return "a SimGrid file";
  if (platform.framing != machine::Framing{}) return "mtu, packet_overhead or coding";
  if (platform.ack_bytes != 0) return "ack";
  if (machine::completions_cost(platform)) return machine::completion_figure(platform);
  if (platform.post_of_receive() != platform.o_post) return "o_post_recv";
  if (platform.node.is_shared()) return "ranks_per_node";
  if (platform.node.own_in_memory) return "own_messages";
  if (platform.node.rails.are_several()) return "rails";
  if (platform.switches.any()) return "switches";
  return {};
}

// L is the platform's latency, o the time of a post at either end, G a byte's time at the port's
// rate, and g the gap, or G if that is more. All messages are eager: each has its receive posted,
// by its credit or from the start.
double loggopsim_s(const machine::Setting& setting) {
  if (setting.delays != machine::DelayPlan{}) {
    throw Unsupported("loggopsim: a delay plan; expected none, as its messages have no delays");
  }
  if (const std::string_view figure = what_it_lacks(setting.platform); !figure.empty()) {
    throw Unsupported(fmt::format(
        "loggopsim: {}, which it has no figure for; expected a platform without", figure));
  }
  const LogGops figures(setting.platform);
  const Folder folder;
  const std::string file = folder.path("program.bin");
  sched::write_file(file, sched::write_goal_binary(setting.schedule, figures.ticks_per_ns));
  const std::string cure = fmt::format(
      "put {} (spcl/LogGOPSim) into a folder of PATH, or leave loggopsim out", kLogGopsim);
  const std::string told = base::filter_through(
      {std::string(kLogGopsim), "-b", "-f", file, "-L", figures.latency, "-o", figures.overhead,
       "-g", figures.gap, "-G", figures.of_byte, "-O", "0", "-S", "1000000000"},
      "", cure);
  const std::optional<std::uint64_t> ticks = finish_in(told);
  if (!ticks) {
    throw EnvironmentError(
        fmt::format("{} did not say when its hosts finished; {}", kLogGopsim, cure));
  }
  return static_cast<double>(*ticks) / (1e9 * figures.ticks_per_ns);
}

constexpr OtherSimulator kSimulators[] = {
    {"loggopsim", kLogGopsim, "LogGOPSim (spcl/LogGOPSim): LogGOPS, by the schedule's GOAL program",
     "no links, o_complete, copies and sums; o at both ends; what comes holds up what goes",
     loggopsim_s},
};

}  // namespace

std::span<const OtherSimulator> other_simulators() { return kSimulators; }

const OtherSimulator* find_other_simulator(std::string_view name) {
  for (const OtherSimulator& simulator : kSimulators) {
    if (simulator.name == name) return &simulator;
  }
  return nullptr;
}

bool is_installed(const OtherSimulator& simulator) {
  const char* const folders = getenv("PATH");
  for (const std::string_view folder : base::split(folders == nullptr ? "" : folders, ':')) {
    const std::string file = fmt::format("{}/{}", folder, simulator.program);
    if (access(file.c_str(), X_OK) == 0) return true;
  }
  return false;
}

}  // namespace slackline::engines
