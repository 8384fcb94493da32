#include "machine/platform_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "base/error.h"
#include "base/suggest.h"
#include "machine/congestion.h"
#include "machine/delay_values.h"
#include "machine/host_figures.h"
#include "machine/input_text.h"
#include "machine/topology_entry.h"

namespace slackline::machine {
namespace {

constexpr std::uint32_t kMaxNodeRanks = 65'536;
constexpr std::string_view kATime = "a time such as \"1.5us\"";
constexpr std::string_view kARate = "a rate such as \"100Gbps\"";
constexpr std::string_view kASize = "a size such as \"4KiB\"";
constexpr std::string_view kACoding = "payload bits of line bits such as \"64/66\"";
constexpr std::uint64_t kMaxAck = 65'536;
constexpr std::uint64_t kMaxMtu = std::uint64_t{1} << 32;
constexpr std::uint64_t kMaxPacketOverhead = 65'535;
constexpr std::uint64_t kMaxPciePayload = 4'096;  // the standard's own
constexpr std::uint32_t kMaxRails = 256;
constexpr std::uint32_t kMaxPollBatch = 65'536;
constexpr std::uint64_t kMaxCodingBits = 65'535;
constexpr std::uint64_t kMaxQueue = std::uint64_t{1} << 40;
constexpr std::uint64_t kMaxGainDivisor = 65'536;
constexpr std::uint64_t kMaxRecovery = 1'000;

template <Time Platform::*member>
constexpr PlatformFigure time_figure(std::string_view key, std::string_view section) {
  return {key,
          section,
          key,
          kATime,
          [](Platform& platform, std::string_view text, std::string_view what) {
            platform.*member = parse_finite_time(text, what);
          },
          [](const Platform& platform) { return sched::format_time(platform.*member); }};
}

// Not written where nobody gave it.
template <std::optional<Time> Platform::*member>
constexpr PlatformFigure optional_time(std::string_view key, std::string_view section) {
  return {key,
          section,
          key,
          kATime,
          [](Platform& platform, std::string_view text, std::string_view what) {
            platform.*member = parse_finite_time(text, what);
          },
          [](const Platform& platform) {
            return platform.*member ? sched::format_time(*(platform.*member)) : "";
          }};
}

template <Rate Platform::*member>
constexpr PlatformFigure rate_figure(std::string_view key, std::string_view section) {
  return {key,
          section,
          key,
          kARate,
          [](Platform& platform, std::string_view text, std::string_view what) {
            platform.*member = sched::parse_rate(text, what);
          },
          [](const Platform& platform) { return sched::format_rate(platform.*member); }};
}

void set_discipline(Platform& platform, std::string_view text, std::string_view what) {
  if (text == "serial") {
    platform.nic = NicDiscipline::kSerial;
  } else if (text == "fair") {
    platform.nic = NicDiscipline::kFair;
  } else {
    throw InputError(fmt::format("{}: {} is no discipline of a NIC; expected serial or fair", what,
                                 in_quotes(text)));
  }
}

std::string get_discipline(const Platform& platform) {
  return platform.nic == NicDiscipline::kSerial ? "serial" : "fair";
}

// Those of what most platforms do without: not written where they are the default.
template <Time Platform::*member>
constexpr PlatformFigure rare_time(std::string_view key, std::string_view section) {
  PlatformFigure figure = time_figure<member>(key, section);
  figure.get = [](const Platform& platform) {
    return platform.*member == Time{0} ? "" : sched::format_time(platform.*member);
  };
  return figure;
}

std::uint64_t parse_size(std::string_view text, std::string_view what, std::uint64_t most) {
  const std::uint64_t bytes = sched::parse_bytes(text, what);
  if (bytes <= most) return bytes;
  throw InputError(
      fmt::format("{}: {}; expected at most {}", what, in_quotes(text), sched::format_bytes(most)));
}

// Of a part of the platform, at most `most`; not written where it is 0.
template <auto part, auto member, std::uint64_t most>
constexpr PlatformFigure rare_size(std::string_view key, std::string_view section,
                                   std::string_view expected) {
  return {key,
          section,
          key,
          expected,
          [](Platform& platform, std::string_view text, std::string_view what) {
            auto& bytes = platform.*part.*member;
            bytes =
                static_cast<std::remove_reference_t<decltype(bytes)>>(parse_size(text, what, most));
          },
          [](const Platform& platform) {
            const auto bytes = platform.*part.*member;
            return bytes == 0 ? "" : sched::format_bytes(bytes);
          }};
}

void set_coding(Platform& platform, std::string_view text, std::string_view what) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    throw InputError(
        fmt::format("{}: {} is no coding; expected {}", what, in_quotes(text), kACoding));
  }
  const std::uint64_t line = sched::parse_count(text.substr(slash + 1), what, 1, kMaxCodingBits);
  const std::uint64_t payload = sched::parse_count(text.substr(0, slash), what, 1, line);
  // One platform has one text: 64/66 and 32/33 are the same.
  const std::uint64_t common = std::gcd(payload, line);
  platform.framing.coding_payload_bits = static_cast<std::uint32_t>(payload / common);
  platform.framing.coding_line_bits = static_cast<std::uint32_t>(line / common);
}

std::string get_coding(const Platform& platform) {
  const Framing& framing = platform.framing;
  return framing.coding_payload_bits == framing.coding_line_bits
             ? ""
             : fmt::format("{}/{}", framing.coding_payload_bits, framing.coding_line_bits);
}

template <Time Node::*member>
constexpr PlatformFigure node_time(std::string_view key) {
  return {key,
          "node",
          key,
          kATime,
          [](Platform& platform, std::string_view text, std::string_view what) {
            platform.node.*member = parse_finite_time(text, what);
          },
          [](const Platform& platform) {
            return platform.node.*member == Node{}.*member
                       ? ""
                       : sched::format_time(platform.node.*member);
          }};
}

template <std::uint32_t Node::*member>
constexpr PlatformFigure node_count(std::string_view key, std::string_view toml_key) {
  return {key,
          "node",
          toml_key,
          "a whole number from 1 to 65536",
          [](Platform& platform, std::string_view text, std::string_view what) {
            platform.node.*member =
                static_cast<std::uint32_t>(sched::parse_count(text, what, 1, kMaxNodeRanks));
          },
          [](const Platform& platform) {
            return platform.node.*member == 1 ? "" : fmt::format("{}", platform.node.*member);
          },
          FigureForm::kWhole};
}

// Those of congestion are written where they are not the default.
template <Time Congestion::*member>
constexpr PlatformFigure congestion_time(std::string_view key, std::string_view toml_key) {
  return {
      key,
      "congestion",
      toml_key,
      kATime,
      [](Platform& platform, std::string_view text, std::string_view what) {
        const Time time = parse_finite_time(text, what);
        if (time == Time{0}) {
          throw InputError(fmt::format("{}: {}; expected a time above 0", what, in_quotes(text)));
        }
        platform.congestion.*member = time;
      },
      [](const Platform& platform) {
        return platform.congestion.*member == Congestion{}.*member
                   ? ""
                   : sched::format_time(platform.congestion.*member);
      }};
}

template <std::uint64_t Congestion::*member>
constexpr PlatformFigure congestion_size(std::string_view key) {
  return {
      key,
      "congestion",
      key,
      kASize,
      [](Platform& platform, std::string_view text, std::string_view what) {
        const std::uint64_t bytes = parse_size(text, what, kMaxQueue);
        if (bytes == 0) {
          throw InputError(fmt::format("{}: {}; expected a size above 0", what, in_quotes(text)));
        }
        platform.congestion.*member = bytes;
      },
      [](const Platform& platform) {
        return platform.congestion.*member == Congestion{}.*member
                   ? ""
                   : sched::format_bytes(platform.congestion.*member);
      }};
}

void set_gain(Platform& platform, std::string_view text, std::string_view what) {
  constexpr std::string_view kOneOf = "1/";
  if (!text.starts_with(kOneOf)) {
    throw InputError(
        fmt::format("{}: {} is no gain; expected one such as 1/256", what, in_quotes(text)));
  }
  platform.congestion.gain_divisor = static_cast<std::uint32_t>(
      sched::parse_count(text.substr(kOneOf.size()), what, 1, kMaxGainDivisor));
}

constexpr auto kFigures = std::to_array<PlatformFigure>({
    meaning("large messages one at a time, or sharing the ports they cross",
            {"nic", "nic", "discipline", "\"serial\" or \"fair\"", set_discipline, get_discipline}),
    meaning("of a NIC's port, each way", rate_figure<&Platform::rate>("rate", "nic")),
    meaning("one way; between any two ranks of a star",
            time_figure<&Platform::latency>("latency", "network")),
    meaning("CPU time to post an operation", time_figure<&Platform::o_post>("o_post", "cpu")),
    meaning("from an event at the NIC until the program has seen it",
            time_figure<&Platform::o_complete>("o_complete", "cpu")),
    meaning("between the starts of two messages of one NIC",
            time_figure<&Platform::gap>("gap", "nic")),
    meaning("of a NIC's atomic, one at a time per address",
            time_figure<&Platform::atomic_service>("atomic_service", "nic")),
    meaning("of memory, by one CPU lane", rate_figure<&Platform::copy_rate>("copy_rate", "cpu")),
    meaning("CPU time of an empty poll; no engine charges it",
            time_figure<&Platform::poll_cost>("poll_cost", "cpu")),
    meaning("CPU time of an interrupt that wakes a program",
            time_figure<&Platform::interrupt_cost>("interrupt_cost", "cpu")),
    meaning(
        "messages up to this size have queues and ports of their own",
        {"interleave", "nic", "interleave", kASize,
         [](Platform& platform, std::string_view text, std::string_view what) {
           platform.interleave_bytes = sched::parse_bytes(text, what);
         },
         [](const Platform& platform) { return sched::format_bytes(platform.interleave_bytes); }}),
    meaning("what that takes longer if it had to wait for its word; 0",
            rare_time<&Platform::atomic_service_shared>("atomic_service_shared", "nic")),
    meaning("of a NIC, to read its host's memory for a get or an atomic; 0",
            rare_time<&Platform::nic_read>("nic_read", "nic")),
    meaning("CPU time to post a receive; o_post",
            optional_time<&Platform::o_post_recv>("o_post_recv", "cpu")),
    meaning("CPU time that a post takes longer which makes a completion; 0",
            rare_time<&Platform::o_signal>("o_signal", "cpu")),
    meaning("CPU time of a look at completions; 0", rare_time<&Platform::o_poll>("o_poll", "cpu")),
    meaning("CPU time that a look takes longer for each receive; 0",
            rare_time<&Platform::o_match>("o_match", "cpu")),
    meaning("CPU time that a look takes longer for each receive of data; 0",
            rare_time<&Platform::o_block>("o_block", "cpu")),
    meaning("CPU time that a look takes longer for the last receive of a message; 0",
            rare_time<&Platform::o_callback>("o_callback", "cpu")),
    meaning("completions that one look takes; 1",
            {"poll_batch", "cpu", "poll_batch", "a whole number from 1 to 65536",
             [](Platform& platform, std::string_view text, std::string_view what) {
               platform.poll_batch =
                   static_cast<std::uint32_t>(sched::parse_count(text, what, 1, kMaxPollBatch));
             },
             [](const Platform& platform) {
               return platform.poll_batch == 1 ? "" : fmt::format("{}", platform.poll_batch);
             },
             FigureForm::kWhole}),
    meaning("how long a lane without work polls before it sleeps; for ever",
            optional_time<&Platform::poll_for>("poll_for", "cpu")),
    meaning("who takes completions: the program, or a thread on its core; program",
            {"completions", "cpu", "completions", "\"program\" or \"service\"",
             [](Platform& platform, std::string_view text, std::string_view what) {
               if (text != "program" && text != "service") {
                 throw InputError(
                     fmt::format("{}: {}; expected program or service", what, in_quotes(text)));
               }
               platform.service_thread = text == "service";
             },
             [](const Platform& platform) {
               return platform.service_thread ? std::string("service") : std::string();
             }}),
    meaning("CPU time between the program's turn and that thread's; 0",
            rare_time<&Platform::switch_cost>("switch_cost", "cpu")),
    meaning("bytes of an acknowledgement; it uses no port",
            {"ack", "network", "ack", "a size such as \"4B\"",
             [](Platform& platform, std::string_view text, std::string_view what) {
               platform.ack_bytes = parse_size(text, what, kMaxAck);
             },
             [](const Platform& platform) {
               return platform.ack_bytes == 0 ? "" : sched::format_bytes(platform.ack_bytes);
             }}),
    meaning("bytes of a message in a packet; no packets",
            rare_size<&Platform::framing, &Framing::mtu_bytes, kMaxMtu>("mtu", "network", kASize)),
    meaning("bytes that each packet has beside; 0",
            rare_size<&Platform::framing, &Framing::packet_overhead, kMaxPacketOverhead>(
                "packet_overhead", "network", "a size such as \"66B\"")),
    meaning("bits of data in bits of the line; all",
            {"coding", "network", "coding", kACoding, set_coding, get_coding}),
    meaning("of the link between a NIC and its host's memory, each way; no limit",
            {"pcie_rate", "nic", "pcie_rate", kARate,
             [](Platform& platform, std::string_view text, std::string_view what) {
               platform.pcie.rate = sched::parse_rate(text, what);
             },
             [](const Platform& platform) {
               return platform.pcie.limits() ? sched::format_rate(platform.pcie.rate)
                                             : std::string();
             }}),
    meaning("bytes of a message in a transaction of that link; no transactions",
            rare_size<&Platform::pcie, &Pcie::payload_bytes, kMaxPciePayload>(
                "pcie_payload", "nic", "a size such as \"256B\"")),
    meaning("bytes that each transaction has beside; 0",
            rare_size<&Platform::pcie, &Pcie::header_bytes, kMaxPacketOverhead>(
                "pcie_header", "nic", "a size such as \"24B\"")),
    meaning("ranks that share a host and its NICs; 1",
            node_count<&Node::ranks>("ranks_per_node", "ranks")),
    meaning("ranks of a host that are threads of one process; 1",
            node_count<&Node::threads>("threads_per_process", "threads_per_process")),
    meaning("NUMA zones of a host, equal runs of its ranks; 1",
            node_count<&Node::zones>("zones_per_node", "zones")),
    meaning("one way, between ranks of one host; 100ns",
            node_time<&Node::memory_latency>("memory_latency")),
    meaning("what that is longer between zones; 0", node_time<&Node::zone_latency>("zone_latency")),
    meaning("of an atomic from a rank of the same host; 0",
            node_time<&Node::cpu_atomic>("cpu_atomic")),
    meaning("what that takes longer for each other rank that has used its line; 0",
            node_time<&Node::cpu_atomic_sharer>("cpu_atomic_sharer")),
    meaning("threads of a process that have their queue pairs together; 1",
            node_count<&Node::threads_per_qp>("threads_per_qp", "threads_per_qp")),
    meaning("what a post takes longer for each other thread of its queue pair; 0",
            node_time<&Node::qp_sharer>("qp_sharer")),
    meaning("part of a post for which it has its queue pair alone; 0",
            node_time<&Node::qp_lock>("qp_lock")),
    meaning("what a small reduce takes longer for each other thread of its process; 0",
            node_time<&Node::update_sharer>("update_sharer")),
    meaning("more latency at each end whose rank is in another zone than its NIC; 0",
            node_time<&Node::numa_hop>("numa_hop")),
    meaning("what a rank's messages to itself pass; nic",
            {"own_messages", "node", "own_messages", "\"nic\" or \"memory\"",
             [](Platform& platform, std::string_view text, std::string_view what) {
               if (text != "nic" && text != "memory") {
                 throw InputError(
                     fmt::format("{}: {}; expected nic or memory", what, in_quotes(text)));
               }
               platform.node.own_in_memory = text == "memory";
             },
             [](const Platform& platform) {
               return platform.node.own_in_memory ? std::string("memory") : std::string();
             }}),
    meaning("of a rank's port of a network within its host, each way; none",
            {"scale_up_rate", "node", "scale_up_rate", kARate,
             [](Platform& platform, std::string_view text, std::string_view what) {
               platform.node.scale_up.rate = sched::parse_rate(text, what);
             },
             [](const Platform& platform) {
               const ScaleUp& scale_up = platform.node.scale_up;
               return scale_up.any() ? sched::format_rate(scale_up.rate) : std::string();
             }}),
    meaning("one way, over that network; 500ns",
            {"scale_up_latency", "node", "scale_up_latency", kATime,
             [](Platform& platform, std::string_view text, std::string_view what) {
               platform.node.scale_up.latency = parse_finite_time(text, what);
             },
             [](const Platform& platform) {
               const Time latency = platform.node.scale_up.latency;
               return latency == ScaleUp{}.latency ? std::string() : sched::format_time(latency);
             }}),
    meaning("what the network has of it; engine fluid carries it out; off",
            {"congestion", "congestion", "control", "\"off\", \"pfc\", \"dcqcn\" or \"dcqcn+pfc\"",
             [](Platform& platform, std::string_view text, std::string_view what) {
               set_congestion(platform.congestion, text, what);
             },
             [](const Platform& platform) {
               return platform.congestion.any() ? format_congestion(platform.congestion)
                                                : std::string();
             }}),
    meaning("the longest step of the fluid model; 100ns",
            congestion_time<&Congestion::step>("congestion_step", "step")),
    meaning("bytes in a switch that came over one link, above which it stops that link",
            congestion_size<&Congestion::pfc_xoff_bytes>("pfc_xoff")),
    meaning("below which that link goes on; two packets less",
            {"pfc_xon", "congestion", "pfc_xon", kASize,
             [](Platform& platform, std::string_view text, std::string_view what) {
               platform.congestion.pfc_xon_bytes = parse_size(text, what, kMaxQueue);
             },
             [](const Platform& platform) {
               const auto& xon = platform.congestion.pfc_xon_bytes;
               return xon ? sched::format_bytes(*xon) : std::string();
             }}),
    meaning("a queue up to which nothing is marked; 5KB",
            congestion_size<&Congestion::ecn_kmin_bytes>("ecn_kmin")),
    meaning("a queue above which all packets are marked; 200KB",
            congestion_size<&Congestion::ecn_kmax_bytes>("ecn_kmax")),
    meaning("the chance of a mark up to ecn_kmax; 1%",
            {"ecn_pmax", "congestion", "ecn_pmax", "a chance such as \"1%\"",
             [](Platform& platform, std::string_view text, std::string_view what) {
               platform.congestion.ecn_pmax = parse_chance(text, what);
             },
             [](const Platform& platform) {
               const sched::PartsPerMillion pmax = platform.congestion.ecn_pmax;
               return pmax == Congestion{}.ecn_pmax ? std::string()
                                                    : fmt::format("{}%", pmax.value / 1e4);
             }}),
    meaning("the gain of alpha's average; 1/256",
            {"dcqcn_g", "congestion", "dcqcn_g", "a gain such as \"1/256\"", set_gain,
             [](const Platform& platform) {
               const std::uint32_t divisor = platform.congestion.gain_divisor;
               return divisor == Congestion{}.gain_divisor ? std::string()
                                                           : fmt::format("1/{}", divisor);
             }}),
    meaning("between two notices to one sender; 50us",
            congestion_time<&Congestion::cnp_interval>("dcqcn_cnp", "dcqcn_cnp")),
    meaning("between two updates of alpha; 55us",
            congestion_time<&Congestion::alpha_interval>("dcqcn_alpha", "dcqcn_alpha")),
    meaning("between two increases of a rate, by time; 55us",
            congestion_time<&Congestion::timer>("dcqcn_timer", "dcqcn_timer")),
    meaning("between two increases of a rate, by bytes sent; 10MB",
            congestion_size<&Congestion::counter_bytes>("dcqcn_bytes")),
    meaning("of one additive increase; 40Mbps",
            {"dcqcn_increase", "congestion", "dcqcn_increase", "a rate such as \"40Mbps\"",
             [](Platform& platform, std::string_view text, std::string_view what) {
               platform.congestion.increase = sched::parse_rate(text, what);
             },
             [](const Platform& platform) {
               const Rate increase = platform.congestion.increase;
               return increase == Congestion{}.increase ? std::string()
                                                        : sched::format_rate(increase);
             }}),
    meaning("increases of fast recovery; 5",
            {"dcqcn_recovery", "congestion", "dcqcn_recovery", "a whole number from 1 to 1000",
             [](Platform& platform, std::string_view text, std::string_view what) {
               platform.congestion.recovery_steps =
                   static_cast<std::uint32_t>(sched::parse_count(text, what, 1, kMaxRecovery));
             },
             [](const Platform& platform) {
               const std::uint32_t steps = platform.congestion.recovery_steps;
               return steps == Congestion{}.recovery_steps ? std::string()
                                                           : fmt::format("{}", steps);
             },
             FigureForm::kWhole}),
    meaning("from a mark to the sender that reacts; the latency there and back",
            {"dcqcn_delay", "congestion", "dcqcn_delay", kATime,
             [](Platform& platform, std::string_view text, std::string_view what) {
               platform.congestion.feedback = parse_finite_time(text, what);
             },
             [](const Platform& platform) {
               const auto& feedback = platform.congestion.feedback;
               return feedback ? sched::format_time(*feedback) : std::string();
             }}),
    meaning("NICs of a host; 1",
            {"rails", "node", "rails", "a whole number from 1 to 256",
             [](Platform& platform, std::string_view text, std::string_view what) {
               platform.node.rails.count =
                   static_cast<std::uint32_t>(sched::parse_count(text, what, 1, kMaxRails));
             },
             [](const Platform& platform) {
               return platform.node.rails.count == 1 ? ""
                                                     : fmt::format("{}", platform.node.rails.count);
             },
             FigureForm::kWhole}),
    meaning("how channels take a host's NICs; rank",
            {"rail", "node", "rail", "\"rank\", \"channel\" or \"pair\"",
             [](Platform& platform, std::string_view text, std::string_view what) {
               platform.node.rails.rule = parse_rail_rule(text, what);
             },
             [](const Platform& platform) {
               const RailRule rule = platform.node.rails.rule;
               return rule == Rails{}.rule ? std::string() : std::string(name(rule));
             }}),
    meaning("a host's NICs at one leaf switch, or each at its own; one-leaf",
            {"rail_wiring", "network", "rail_wiring", "\"one-leaf\" or \"rail-optimized\"",
             [](Platform& platform, std::string_view text, std::string_view what) {
               platform.node.rails.wiring = parse_rail_wiring(text, what);
             },
             [](const Platform& platform) {
               const RailWiring wiring = platform.node.rails.wiring;
               return wiring == Rails{}.wiring ? std::string() : std::string(name(wiring));
             }}),
    meaning("of each NIC of some hosts, in place of rate; none",
            {"host_rate", "nic", "host_rate", "rates of hosts such as \"4..7:50Gbps\"",
             [](Platform& platform, std::string_view text, std::string_view what) {
               platform.hosts.rate = parse_host_rates(text, what);
             },
             [](const Platform& platform) { return format_for_hosts(platform.hosts.rate); }}),
    meaning("added to each way between NICs at an end on such a host; none",
            {"host_latency", "network", "host_latency", "times of hosts such as \"4..7:2us\"",
             [](Platform& platform, std::string_view text, std::string_view what) {
               platform.hosts.latency = parse_host_times(text, what);
             },
             [](const Platform& platform) { return format_for_hosts(platform.hosts.latency); }}),
    meaning(
        "of the ports within some hosts, in place of scale_up_rate; none",
        {"host_scale_up_rate", "node", "host_scale_up_rate",
         "rates of hosts such as \"4..7:1800Gbps\"",
         [](Platform& platform, std::string_view text, std::string_view what) {
           platform.hosts.scale_up_rate = parse_host_rates(text, what);
         },
         [](const Platform& platform) { return format_for_hosts(platform.hosts.scale_up_rate); }}),
    meaning("switches that the last ranks of a schedule are; none",
            {"switches", "network", "switches", "switches such as \"rack-0..3+core\"",
             [](Platform& platform, std::string_view text, std::string_view what) {
               platform.switches = parse_switches(text, what);
             },
             [](const Platform& platform) { return format_switches(platform.switches); }}),
    meaning("which rank is on which host; packed",
            {"placement", "network", "placement", "a placement such as \"round-robin\"",
             [](Platform& platform, std::string_view text, std::string_view what) {
               platform.placement = parse_placement(text, what);
             },
             [](const Platform& platform) {
               return platform.placement == Placement{} ? "" : format_placement(platform.placement);
             }}),
});

}  // namespace

std::span<const PlatformFigure> platform_figures() { return kFigures; }

std::vector<const PlatformFigure*> figures_of(const Topology& topology) {
  std::vector<const PlatformFigure*> all;
  for (const PlatformFigure& figure : entry_of(topology).figures) all.push_back(&figure);
  for (const PlatformFigure& figure : kFigures) {
    if (!is_without(topology, figure.key)) all.push_back(&figure);
  }
  return all;
}

bool is_without(const Topology& topology, std::string_view key) {
  const auto without = entry_of(topology).without;
  return std::find(without.begin(), without.end(), key) != without.end();
}

void set_topology(Platform& platform, std::string_view text, std::string_view what) {
  const TopologyEntry* entry = find_topology(text);
  if (entry == nullptr) {
    throw InputError(
        fmt::format("{}: {} is no topology; expected {}", what, in_quotes(text), topology_names()));
  }
  platform.topology = {};
  platform.topology.shape = entry->shape;
}

void check_exclusions(std::span<const PlatformFigure* const> given, std::string_view where) {
  for (const PlatformFigure* figure : given) {
    for (const PlatformFigure* other : given) {
      if (std::find(figure->excludes.begin(), figure->excludes.end(), other->key) ==
          figure->excludes.end()) {
        continue;
      }
      throw InputError(fmt::format("{}: {} and {} both stand here; expected one of them", where,
                                   figure->key, other->key));
    }
  }
}

bool is_key_of_another_topology(const Platform& platform, std::string_view key) {
  if (is_without(platform.topology, key)) return true;
  const TopologyEntry& own = entry_of(platform.topology);
  const auto has = [&](const TopologyEntry& entry) {
    return std::any_of(entry.figures.begin(), entry.figures.end(),
                       [&](const PlatformFigure& figure) { return figure.key == key; });
  };
  const auto all = topologies();
  return !has(own) && std::any_of(all.begin(), all.end(),
                                  [&](const TopologyEntry* entry) { return has(*entry); });
}

void refuse_key(const Platform& platform, std::string_view key, std::string_view where) {
  std::vector<std::string_view> keys;
  for (const PlatformFigure* figure : figures_of(platform.topology)) keys.push_back(figure->key);
  const std::string what =
      is_key_of_another_topology(platform, key)
          ? fmt::format("{} takes no key {}", entry_of(platform.topology).name, in_quotes(key))
          : fmt::format("unknown key {}{}", in_quotes(key), sched::did_you_mean(key, keys));
  // There are some sixty, too many for a line.
  throw InputError(fmt::format("{}: {}; expected one that `slackline list figures {}` shows", where,
                               what, entry_of(platform.topology).name));
}

}  // namespace slackline::machine
