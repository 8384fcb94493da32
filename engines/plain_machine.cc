#include "engines/plain_machine.h"

#include <fmt/format.h>

#include "base/error.h"
#include "machine/completions.h"

namespace slackline::engines {
namespace {

std::string_view beyond_plain(const machine::Platform& platform) {
  if (platform.framing != machine::Framing{}) return "mtu, packet_overhead or coding";
  if (platform.pcie.limits()) return "pcie_rate";
  if (platform.congestion.any()) return "congestion";
  if (platform.ack_bytes != 0) return "ack";
  if (platform.service_thread) return "completions";
  if (machine::completions_cost(platform)) return machine::completion_figure(platform);
  if (platform.post_of_receive() != platform.o_post) return "o_post_recv";
  if (platform.node.is_shared()) return "ranks_per_node";
  if (platform.node.own_in_memory) return "own_messages";
  if (platform.node.rails.are_several()) return "rails";
  if (platform.switches.any()) return "switches";
  return {};
}

}  // namespace

void require_plain_machine(const machine::Platform& platform, std::string_view who) {
  const std::string_view figure = beyond_plain(platform);
  if (figure.empty()) return;
  throw Unsupported(
      fmt::format("{}: {}, which it has no figure for; expected a platform without", who, figure));
}

void refuse(std::string_view who, std::string_view what, std::string_view expected) {
  throw Unsupported(fmt::format("{}: {}; expected {}", who, what, expected));
}

}  // namespace slackline::engines
