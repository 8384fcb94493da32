#include "machine/congestion.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "machine/input_text.h"
#include "machine/platform.h"

namespace slackline::machine {
namespace {

// Of the papers' fluid models.
constexpr std::uint64_t kPaperPacketBytes = 1'000;
// Whoever asks for less waits for ever.
constexpr sched::Time kShortestStep{1'000};
// Of a step in the shortest time that the equations know.
constexpr std::int64_t kStepsPerInterval = 4;

// The most bytes by which a queue may change in a step.
std::uint64_t most_per_step(const Congestion& congestion) {
  std::uint64_t most = congestion.dcqcn ? congestion.ecn_kmax_bytes - congestion.ecn_kmin_bytes
                                        : congestion.pfc_xoff_bytes;
  if (congestion.pfc) most = std::min(most, congestion.pfc_xoff_bytes);
  return most;
}

void check_figures(const Platform& platform, std::string_view what) {
  const Congestion& congestion = platform.congestion;
  if (congestion.step < kShortestStep) {
    throw InputError(fmt::format("{}: congestion_step is {}; expected at least {}", what,
                                 sched::format_time(congestion.step),
                                 sched::format_time(kShortestStep)));
  }
  if (congestion.pfc && xon_bytes(platform) >= static_cast<double>(congestion.pfc_xoff_bytes)) {
    throw InputError(
        fmt::format("{}: pfc_xon is {}; expected less than pfc_xoff, {}", what,
                    sched::format_bytes(static_cast<std::uint64_t>(xon_bytes(platform))),
                    sched::format_bytes(congestion.pfc_xoff_bytes)));
  }
  if (congestion.pfc && xon_bytes(platform) <= 0) {
    throw InputError(
        fmt::format("{}: pfc_xoff is {} and pfc_xon nothing or less; expected room for two packets "
                    "of {:.0f} bytes between them",
                    what, sched::format_bytes(congestion.pfc_xoff_bytes), packet_bytes(platform)));
  }
  if (!congestion.dcqcn) return;
  if (congestion.ecn_kmin_bytes >= congestion.ecn_kmax_bytes) {
    throw InputError(fmt::format("{}: ecn_kmin is {}; expected less than ecn_kmax, {}", what,
                                 sched::format_bytes(congestion.ecn_kmin_bytes),
                                 sched::format_bytes(congestion.ecn_kmax_bytes)));
  }
  if (congestion.ecn_pmax.value == 0) {
    throw InputError(fmt::format("{}: ecn_pmax is 0; expected a chance above 0", what));
  }
  const sched::Time shortest =
      std::min({congestion.cnp_interval, congestion.alpha_interval, congestion.timer});
  if (congestion.step > shortest / kStepsPerInterval) {
    throw InputError(fmt::format(
        "{}: congestion_step is {}; expected at most a quarter of the least of dcqcn_cnp, "
        "dcqcn_alpha and dcqcn_timer, {}",
        what, sched::format_time(congestion.step), sched::format_time(shortest)));
  }
}

}  // namespace

std::string format_congestion(const Congestion& congestion) {
  if (!congestion.dcqcn) return congestion.pfc ? "pfc" : "off";
  return congestion.pfc ? "dcqcn+pfc" : "dcqcn";
}

void set_congestion(Congestion& congestion, std::string_view text, std::string_view what) {
  const bool both = text == "dcqcn+pfc" || text == "pfc+dcqcn";
  if (!both && text != "dcqcn" && text != "pfc" && text != "off") {
    throw InputError(
        fmt::format("{}: {}; expected off, pfc, dcqcn or dcqcn+pfc", what, in_quotes(text)));
  }
  congestion.dcqcn = both || text == "dcqcn";
  congestion.pfc = both || text == "pfc";
}

double packet_bytes(const Platform& platform) {
  const std::uint64_t mtu = platform.framing.mtu_bytes;
  return static_cast<double>(mtu != 0 ? mtu : kPaperPacketBytes);
}

double xon_bytes(const Platform& platform) {
  const Congestion& congestion = platform.congestion;
  if (congestion.pfc_xon_bytes) return static_cast<double>(*congestion.pfc_xon_bytes);
  return static_cast<double>(congestion.pfc_xoff_bytes) - 2 * packet_bytes(platform);
}

void check_congestion(const Platform& platform, std::string_view what) {
  const Congestion& congestion = platform.congestion;
  if (!congestion.any()) return;
  if (platform.topology.kind() == TopologyKind::kSimgridFile) {
    throw Unsupported(fmt::format(
        "{}: congestion={} on a SimGrid platform file, which names no switches; expected another "
        "topology",
        what, format_congestion(congestion)));
  }
  const Routing::Kind routing = platform.topology.routing.kind;
  if (routing == Routing::Kind::kSpray || routing == Routing::Kind::kAdaptive) {
    throw Unsupported(
        fmt::format("{}: congestion={} and routing={}; expected a routing that gives each channel "
                    "one way",
                    what, format_congestion(congestion),
                    routing == Routing::Kind::kSpray ? "spray" : "adaptive"));
  }
  if (platform.switches.any()) {
    throw Unsupported(
        fmt::format("{}: congestion={} and ranks that are switches; expected a platform without "
                    "the figure switches",
                    what, format_congestion(congestion)));
  }
  if (platform.node.scale_up.any()) {
    throw Unsupported(
        fmt::format("{}: congestion={} and scale_up_rate, whose switch has no queues, marks and "
                    "pauses here; expected one of them",
                    what, format_congestion(congestion)));
  }
  if (platform.pcie.limits()) {
    throw Unsupported(fmt::format(
        "{}: congestion={} and pcie_rate, of which no queue knows; expected one of them", what,
        format_congestion(congestion)));
  }
  if (platform.nic != NicDiscipline::kFair) {
    throw InputError(fmt::format(
        "{}: congestion={} and nic=serial, with which no two messages meet at a NIC; expected "
        "nic=fair",
        what, format_congestion(congestion)));
  }
  check_figures(platform, what);
  check_congestion_step(platform, fastest_nic(platform), "a NIC", what);
}

void check_congestion_step(const Platform& platform, sched::Rate rate, std::string_view link,
                           std::string_view what) {
  const Congestion& congestion = platform.congestion;
  const double bytes = rate.bytes_per_second() * sched::seconds(congestion.step);
  const std::uint64_t most = most_per_step(congestion);
  if (bytes <= static_cast<double>(most)) return;
  throw InputError(fmt::format(
      "{}: congestion_step is {}, in which {} moves {:.0f} bytes; expected at most {}, {}", what,
      sched::format_time(congestion.step), link, bytes, sched::format_bytes(most),
      congestion.pfc && most == congestion.pfc_xoff_bytes
          ? "pfc_xoff"
          : "what is between ecn_kmin and ecn_kmax"));
}

std::optional<std::string> why_no_congestion(const Platform& platform) {
  if (!platform.congestion.any()) return std::nullopt;
  return fmt::format(
      "congestion={}: this engine has no queues, marks and pauses; expected --engine fluid, or "
      "congestion=off",
      format_congestion(platform.congestion));
}

void require_no_congestion(const Platform& platform, std::string_view who) {
  if (!platform.congestion.any()) return;
  throw Unsupported(
      fmt::format("{}: congestion={}, with which a message's time depends on all others; expected "
                  "congestion=off",
                  who, format_congestion(platform.congestion)));
}

}  // namespace slackline::machine
