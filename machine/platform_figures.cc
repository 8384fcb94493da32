#include "machine/platform_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "base/error.h"
#include "base/suggest.h"
#include "machine/congestion.h"
#include "machine/delay_values.h"
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
    {"nic", "nic", "discipline", "\"serial\" or \"fair\"", set_discipline, get_discipline},
    rate_figure<&Platform::rate>("rate", "nic"),
    time_figure<&Platform::latency>("latency", "network"),
    time_figure<&Platform::o_post>("o_post", "cpu"),
    time_figure<&Platform::o_complete>("o_complete", "cpu"),
    time_figure<&Platform::gap>("gap", "nic"),
    time_figure<&Platform::atomic_service>("atomic_service", "nic"),
    rate_figure<&Platform::copy_rate>("copy_rate", "cpu"),
    time_figure<&Platform::poll_cost>("poll_cost", "cpu"),
    time_figure<&Platform::interrupt_cost>("interrupt_cost", "cpu"),
    {"interleave", "nic", "interleave", kASize,
     [](Platform& platform, std::string_view text, std::string_view what) {
       platform.interleave_bytes = sched::parse_bytes(text, what);
     },
     [](const Platform& platform) { return sched::format_bytes(platform.interleave_bytes); }},
    rare_time<&Platform::atomic_service_shared>("atomic_service_shared", "nic"),
    rare_time<&Platform::nic_read>("nic_read", "nic"),
    optional_time<&Platform::o_post_recv>("o_post_recv", "cpu"),
    rare_time<&Platform::o_signal>("o_signal", "cpu"),
    rare_time<&Platform::o_poll>("o_poll", "cpu"),
    rare_time<&Platform::o_match>("o_match", "cpu"),
    rare_time<&Platform::o_block>("o_block", "cpu"),
    rare_time<&Platform::o_callback>("o_callback", "cpu"),
    {"poll_batch", "cpu", "poll_batch", "a whole number from 1 to 65536",
     [](Platform& platform, std::string_view text, std::string_view what) {
       platform.poll_batch =
           static_cast<std::uint32_t>(sched::parse_count(text, what, 1, kMaxPollBatch));
     },
     [](const Platform& platform) {
       return platform.poll_batch == 1 ? "" : fmt::format("{}", platform.poll_batch);
     },
     FigureForm::kWhole},
    optional_time<&Platform::poll_for>("poll_for", "cpu"),
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
     }},
    rare_time<&Platform::switch_cost>("switch_cost", "cpu"),
    {"ack", "network", "ack", "a size such as \"4B\"",
     [](Platform& platform, std::string_view text, std::string_view what) {
       platform.ack_bytes = parse_size(text, what, kMaxAck);
     },
     [](const Platform& platform) {
       return platform.ack_bytes == 0 ? "" : sched::format_bytes(platform.ack_bytes);
     }},
    rare_size<&Platform::framing, &Framing::mtu_bytes, kMaxMtu>("mtu", "network", kASize),
    rare_size<&Platform::framing, &Framing::packet_overhead, kMaxPacketOverhead>(
        "packet_overhead", "network", "a size such as \"66B\""),
    {"coding", "network", "coding", kACoding, set_coding, get_coding},
    {"pcie_rate", "nic", "pcie_rate", kARate,
     [](Platform& platform, std::string_view text, std::string_view what) {
       platform.pcie.rate = sched::parse_rate(text, what);
     },
     [](const Platform& platform) {
       return platform.pcie.limits() ? sched::format_rate(platform.pcie.rate) : std::string();
     }},
    rare_size<&Platform::pcie, &Pcie::payload_bytes, kMaxPciePayload>("pcie_payload", "nic",
                                                                      "a size such as \"256B\""),
    rare_size<&Platform::pcie, &Pcie::header_bytes, kMaxPacketOverhead>("pcie_header", "nic",
                                                                        "a size such as \"24B\""),
    node_count<&Node::ranks>("ranks_per_node", "ranks"),
    node_count<&Node::threads>("threads_per_process", "threads_per_process"),
    node_count<&Node::zones>("zones_per_node", "zones"),
    node_time<&Node::memory_latency>("memory_latency"),
    node_time<&Node::zone_latency>("zone_latency"),
    node_time<&Node::cpu_atomic>("cpu_atomic"),
    node_time<&Node::cpu_atomic_sharer>("cpu_atomic_sharer"),
    node_count<&Node::threads_per_qp>("threads_per_qp", "threads_per_qp"),
    node_time<&Node::qp_sharer>("qp_sharer"),
    node_time<&Node::update_sharer>("update_sharer"),
    node_time<&Node::numa_hop>("numa_hop"),
    {"own_messages", "node", "own_messages", "\"nic\" or \"memory\"",
     [](Platform& platform, std::string_view text, std::string_view what) {
       if (text != "nic" && text != "memory") {
         throw InputError(fmt::format("{}: {}; expected nic or memory", what, in_quotes(text)));
       }
       platform.node.own_in_memory = text == "memory";
     },
     [](const Platform& platform) {
       return platform.node.own_in_memory ? std::string("memory") : std::string();
     }},
    {"congestion", "congestion", "control", "\"off\", \"pfc\", \"dcqcn\" or \"dcqcn+pfc\"",
     [](Platform& platform, std::string_view text, std::string_view what) {
       set_congestion(platform.congestion, text, what);
     },
     [](const Platform& platform) {
       return platform.congestion.any() ? format_congestion(platform.congestion) : std::string();
     }},
    congestion_time<&Congestion::step>("congestion_step", "step"),
    congestion_size<&Congestion::pfc_xoff_bytes>("pfc_xoff"),
    {"pfc_xon", "congestion", "pfc_xon", kASize,
     [](Platform& platform, std::string_view text, std::string_view what) {
       platform.congestion.pfc_xon_bytes = parse_size(text, what, kMaxQueue);
     },
     [](const Platform& platform) {
       const auto& xon = platform.congestion.pfc_xon_bytes;
       return xon ? sched::format_bytes(*xon) : std::string();
     }},
    congestion_size<&Congestion::ecn_kmin_bytes>("ecn_kmin"),
    congestion_size<&Congestion::ecn_kmax_bytes>("ecn_kmax"),
    {"ecn_pmax", "congestion", "ecn_pmax", "a chance such as \"1%\"",
     [](Platform& platform, std::string_view text, std::string_view what) {
       platform.congestion.ecn_pmax = parse_chance(text, what);
     },
     [](const Platform& platform) {
       const sched::PartsPerMillion pmax = platform.congestion.ecn_pmax;
       return pmax == Congestion{}.ecn_pmax ? std::string() : fmt::format("{}%", pmax.value / 1e4);
     }},
    {"dcqcn_g", "congestion", "dcqcn_g", "a gain such as \"1/256\"", set_gain,
     [](const Platform& platform) {
       const std::uint32_t divisor = platform.congestion.gain_divisor;
       return divisor == Congestion{}.gain_divisor ? std::string() : fmt::format("1/{}", divisor);
     }},
    congestion_time<&Congestion::cnp_interval>("dcqcn_cnp", "dcqcn_cnp"),
    congestion_time<&Congestion::alpha_interval>("dcqcn_alpha", "dcqcn_alpha"),
    congestion_time<&Congestion::timer>("dcqcn_timer", "dcqcn_timer"),
    congestion_size<&Congestion::counter_bytes>("dcqcn_bytes"),
    {"dcqcn_increase", "congestion", "dcqcn_increase", "a rate such as \"40Mbps\"",
     [](Platform& platform, std::string_view text, std::string_view what) {
       platform.congestion.increase = sched::parse_rate(text, what);
     },
     [](const Platform& platform) {
       const Rate increase = platform.congestion.increase;
       return increase == Congestion{}.increase ? std::string() : sched::format_rate(increase);
     }},
    {"dcqcn_recovery", "congestion", "dcqcn_recovery", "a whole number from 1 to 1000",
     [](Platform& platform, std::string_view text, std::string_view what) {
       platform.congestion.recovery_steps =
           static_cast<std::uint32_t>(sched::parse_count(text, what, 1, kMaxRecovery));
     },
     [](const Platform& platform) {
       const std::uint32_t steps = platform.congestion.recovery_steps;
       return steps == Congestion{}.recovery_steps ? std::string() : fmt::format("{}", steps);
     },
     FigureForm::kWhole},
    {"dcqcn_delay", "congestion", "dcqcn_delay", kATime,
     [](Platform& platform, std::string_view text, std::string_view what) {
       platform.congestion.feedback = parse_finite_time(text, what);
     },
     [](const Platform& platform) {
       const auto& feedback = platform.congestion.feedback;
       return feedback ? sched::format_time(*feedback) : std::string();
     }},
    {"rails", "node", "rails", "a whole number from 1 to 256",
     [](Platform& platform, std::string_view text, std::string_view what) {
       platform.node.rails.count =
           static_cast<std::uint32_t>(sched::parse_count(text, what, 1, kMaxRails));
     },
     [](const Platform& platform) {
       return platform.node.rails.count == 1 ? "" : fmt::format("{}", platform.node.rails.count);
     },
     FigureForm::kWhole},
    {"rail", "node", "rail", "\"rank\", \"channel\" or \"pair\"",
     [](Platform& platform, std::string_view text, std::string_view what) {
       platform.node.rails.rule = parse_rail_rule(text, what);
     },
     [](const Platform& platform) {
       const RailRule rule = platform.node.rails.rule;
       return rule == Rails{}.rule ? std::string() : std::string(name(rule));
     }},
    {"rail_wiring", "network", "rail_wiring", "\"one-leaf\" or \"rail-optimized\"",
     [](Platform& platform, std::string_view text, std::string_view what) {
       platform.node.rails.wiring = parse_rail_wiring(text, what);
     },
     [](const Platform& platform) {
       const RailWiring wiring = platform.node.rails.wiring;
       return wiring == Rails{}.wiring ? std::string() : std::string(name(wiring));
     }},
    {"switches", "network", "switches", "switches such as \"rack-0..3+core\"",
     [](Platform& platform, std::string_view text, std::string_view what) {
       platform.switches = parse_switches(text, what);
     },
     [](const Platform& platform) { return format_switches(platform.switches); }},
    {"placement", "network", "placement", "a placement such as \"round-robin\"",
     [](Platform& platform, std::string_view text, std::string_view what) {
       platform.placement = parse_placement(text, what);
     },
     [](const Platform& platform) {
       return platform.placement == Placement{} ? "" : format_placement(platform.placement);
     }},
});

// Figures of what is off would say nothing.
void check_unused_congestion(const Platform& platform, std::string_view what) {
  const Congestion& congestion = platform.congestion;
  for (const PlatformFigure& figure : kFigures) {
    if (figure.section != "congestion" || figure.key == "congestion") continue;
    const bool used = figure.key.starts_with("pfc_")    ? congestion.pfc
                      : figure.key == "congestion_step" ? congestion.any()
                                                        : congestion.dcqcn;
    if (used || figure.get(platform).empty()) continue;
    throw InputError(fmt::format("{}: {} and congestion={}; expected one that has it", what,
                                 figure.key, format_congestion(congestion)));
  }
}

// Under fair NICs messages of several sizes would share the link, of which each takes another part
// for its bytes on the wire.
void check_pcie(const Platform& platform, std::string_view what) {
  const Pcie& pcie = platform.pcie;
  if (pcie.limits()) {
    if (platform.nic == NicDiscipline::kSerial) return;
    throw Unsupported(
        fmt::format("{}: pcie_rate and nic=fair, where messages would share the link to the host's "
                    "memory; expected nic=serial",
                    what));
  }
  if (pcie == Pcie{}) return;
  throw InputError(fmt::format("{}: {} without pcie_rate; expected both", what,
                               pcie.header_bytes != 0 ? "pcie_header" : "pcie_payload"));
}

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

void check_topology(const Platform& platform, std::string_view what) {
  entry_of(platform.topology).check(platform, what);
  const Node& node = platform.node;
  if (node.ranks % node.threads != 0) {
    throw InputError(
        fmt::format("{}: threads_per_process is {}; expected a divisor of ranks_per_node, {}", what,
                    node.threads, node.ranks));
  }
  if (node.threads % node.threads_per_qp != 0) {
    throw InputError(
        fmt::format("{}: threads_per_qp is {}; expected a divisor of threads_per_process, {}", what,
                    node.threads_per_qp, node.threads));
  }
  if (node.numa_hop.count() > 0 && is_without(platform.topology, "numa_hop")) {
    throw Unsupported(
        fmt::format("{}: numa_hop on {}, whose routes have their latencies from the file; expected "
                    "numa_hop=0",
                    what, entry_of(platform.topology).name));
  }
  if (node.rails.are_several() && is_without(platform.topology, "rails")) {
    throw Unsupported(
        fmt::format("{}: {} rails on {}, whose hosts have one NIC each; expected star, "
                    "two-level, fat-tree or dragonfly",
                    what, node.rails.count, entry_of(platform.topology).name));
  }
  check_pcie(platform, what);
  if (platform.switch_cost.count() > 0 && !platform.service_thread) {
    throw InputError(
        fmt::format("{}: switch_cost without completions=service; expected both", what));
  }
  check_unused_congestion(platform, what);
  check_congestion(platform, what);
  if (!platform.switches.any()) return;
  if (node.is_shared()) {
    throw Unsupported(
        fmt::format("{}: switches and {} ranks a node; expected ranks_per_node=1 where ranks are "
                    "switches",
                    what, node.ranks));
  }
  if (node.rails.are_several()) {
    throw Unsupported(
        fmt::format("{}: switches and {} rails; expected rails=1 where ranks are "
                    "switches",
                    what, node.rails.count));
  }
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
  throw InputError(fmt::format("{}: {}; expected one of {}", where, what, fmt::join(keys, ", ")));
}

}  // namespace slackline::machine
