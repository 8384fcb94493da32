#include "engines/plain_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

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
  if (platform.node.qp_lock.count() > 0) return "qp_lock";
  if (platform.node.rails.are_several()) return "rails";
  if (platform.hosts.rate.any()) return "host_rate";
  if (platform.hosts.latency.any()) return "host_latency";
  if (platform.switches.any()) return "switches";
  return {};
}

bool has_kind(const sched::Schedule& schedule, sched::OpKind kind) {
  return std::ranges::any_of(schedule.ops(), [=](const sched::Op& op) { return op.kind == kind; });
}

// Whether the time of an operation is that of bytes which the CPU moves. What counts has its own.
bool copies(const sched::Schedule& schedule) {
  return std::ranges::any_of(schedule.ops(), [&](const sched::Op& op) {
    return op.kind == sched::OpKind::kCopy ||
           (op.kind == sched::OpKind::kReduce && schedule.arguments(op).duration.count() == 0);
  });
}

// Whether small messages and large ones meet at a port.
bool sizes_meet(const machine::Setting& setting) {
  constexpr std::uint8_t kSmall = 1, kLarge = 2, kBoth = 3;
  const sched::Schedule& schedule = setting.schedule;
  std::vector<std::uint8_t> out(schedule.rank_count()), in(schedule.rank_count());
  for (const sched::Op& op : schedule.ops()) {
    if (op.kind != sched::OpKind::kSend && op.kind != sched::OpKind::kPut) continue;
    const sched::Channel& channel = schedule.channel(op.channel);
    const bool large = schedule.payload_bytes(op) > setting.platform.interleave_bytes;
    out[channel.src.value] |= large ? kLarge : kSmall;
    in[channel.dst.value] |= large ? kLarge : kSmall;
  }
  const auto both = [](std::uint8_t sizes) { return sizes == kBoth; };
  return std::ranges::any_of(out, both) || std::ranges::any_of(in, both);
}

}  // namespace

void require_plain_machine(const machine::Platform& platform, std::string_view who) {
  const std::string_view figure = beyond_plain(platform);
  if (figure.empty()) return;
  throw Unsupported(
      fmt::format("{}: {}, which it has no figure for; expected a platform without", who, figure));
}

void require_serial_nics(const machine::Platform& platform, std::string_view who) {
  if (platform.nic == machine::NicDiscipline::kSerial) return;
  refuse(who, "nic=fair, and its links carry one message after another", "nic=serial");
}

std::string unheeded_figures(const machine::Setting& setting, const HeededFigures& heeded) {
  const machine::Platform& platform = setting.platform;
  using sched::OpKind;
  std::vector<std::string_view> figures;
  const auto add = [&](std::string_view figure, bool matters) {
    if (matters) figures.push_back(figure);
  };
  add("o_post", !heeded.o_post && platform.o_post.count() > 0);
  add("o_complete", platform.o_complete.count() > 0);
  add("gap", !heeded.gap && platform.gap.count() > 0);
  add("copy_rate", copies(setting.schedule));
  add("interleave", !heeded.interleave && sizes_meet(setting));
  add("routing", !heeded.routing && platform.topology.routing != machine::Routing{});
  add("delays that leave the CPU free", has_kind(setting.schedule, OpKind::kDelay));
  return fmt::format("{}", fmt::join(figures, ", "));
}

void refuse(std::string_view who, std::string_view what, std::string_view expected) {
  throw Unsupported(fmt::format("{}: {}; expected {}", who, what, expected));
}

}  // namespace slackline::engines
