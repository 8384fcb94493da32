#include "machine/platform_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/suggest.h"
#include "machine/congestion.h"
#include "machine/delay_values.h"
#include "machine/figure_kinds.h"
#include "machine/host_figures.h"
#include "machine/input_text.h"
#include "machine/topology_entry.h"

namespace slackline::machine {
namespace {

constexpr std::uint64_t kMaxAck = 65'536;
constexpr std::uint64_t kMaxMtu = std::uint64_t{1} << 32;
constexpr std::uint64_t kMaxPacketOverhead = 65'535;
constexpr std::uint64_t kMaxPciePayload = 4'096;  // the standard's own
constexpr std::uint64_t kMaxCodingBits = 65'535;
constexpr std::uint64_t kMaxQueue = std::uint64_t{1} << 40;
constexpr std::uint64_t kMaxGainDivisor = 65'536;

struct PositiveTime : TimeFigure {
  static Time read(std::string_view text, std::string_view what) {
    const Time time = TimeFigure::read(text, what);
    if (time != Time{0}) return time;
    throw InputError(fmt::format("{}: {}; expected a time above 0", what, in_quotes(text)));
  }
};

template <std::uint64_t most>
struct SizeFigure {
  static constexpr std::string_view kExpected = "a size such as \"4KiB\"";
  static constexpr FigureForm kForm = FigureForm::kText;
  static std::uint64_t read(std::string_view text, std::string_view what) {
    const std::uint64_t bytes = sched::parse_bytes(text, what);
    if (bytes <= most) return bytes;
    throw InputError(fmt::format("{}: {}; expected at most {}", what, in_quotes(text),
                                 sched::format_bytes(most)));
  }
  static std::string write(std::uint64_t bytes) { return sched::format_bytes(bytes); }
};
using AnySize = SizeFigure<std::numeric_limits<std::uint64_t>::max()>;
using QueueSize = SizeFigure<kMaxQueue>;

struct PositiveQueueSize : QueueSize {
  static std::uint64_t read(std::string_view text, std::string_view what) {
    const std::uint64_t bytes = QueueSize::read(text, what);
    if (bytes != 0) return bytes;
    throw InputError(fmt::format("{}: {}; expected a size above 0", what, in_quotes(text)));
  }
};

// Of ranks and the like.
struct NodeCount : CountFigure<65'536> {
  static constexpr std::string_view kExpected = "a whole number from 1 to 65536";
};

// Off and on, by these two words.
template <const std::array<std::string_view, 2>& words>
struct TwoWords {
  static constexpr FigureForm kForm = FigureForm::kText;
  static bool read(std::string_view text, std::string_view what) {
    if (text == words[0] || text == words[1]) return text == words[1];
    throw InputError(
        fmt::format("{}: {}; expected {} or {}", what, in_quotes(text), words[0], words[1]));
  }
  static std::string write(bool value) { return std::string(words[value ? 1 : 0]); }
};
constexpr std::array<std::string_view, 2> kWhoCompletes = {"program", "service"};
constexpr std::array<std::string_view, 2> kWhatOwnMessagesPass = {"nic", "memory"};

NicDiscipline parse_discipline(std::string_view text, std::string_view what) {
  if (text == "serial") return NicDiscipline::kSerial;
  if (text == "fair") return NicDiscipline::kFair;
  throw InputError(fmt::format("{}: {} is no discipline of a NIC; expected serial or fair", what,
                               in_quotes(text)));
}

std::string_view name(NicDiscipline discipline) {
  return discipline == NicDiscipline::kSerial ? "serial" : "fair";
}

constexpr std::string_view kACoding = "payload bits of line bits such as \"64/66\"";

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

std::uint64_t parse_gain(std::string_view text, std::string_view what) {
  constexpr std::string_view kOneOf = "1/";
  if (!text.starts_with(kOneOf)) {
    throw InputError(
        fmt::format("{}: {} is no gain; expected one such as 1/256", what, in_quotes(text)));
  }
  return sched::parse_count(text.substr(kOneOf.size()), what, 1, kMaxGainDivisor);
}

using Gain =
    FigureBy<parse_gain, [](std::uint32_t divisor) { return fmt::format("1/{}", divisor); }>;
using Chance = FigureBy<parse_chance, [](sched::PartsPerMillion chance) {
  return fmt::format("{}%", chance.value / 1e4);
}>;

// What name() names.
template <auto reader>
using Named = FigureBy<reader, [](auto value) { return name(value); }>;
template <auto reader>
using ForHostsBy = FigureBy<reader, [](const auto& runs) { return format_for_hosts(runs); }>;

// Where its key in a file is another.
constexpr PlatformFigure in_file(std::string_view toml_key, PlatformFigure figure) {
  figure.toml_key = toml_key;
  return figure;
}

constexpr auto kFigures = std::to_array<PlatformFigure>({
    meaning("large messages one at a time, or sharing the ports they cross",
            in_file("discipline", figure<Named<parse_discipline>, &Platform::nic>(
                                      "nic", "nic", "\"serial\" or \"fair\""))),
    meaning("of a NIC's port, each way", figure<RateFigure, &Platform::rate>("rate", "nic")),
    meaning("one way; between any two ranks of a star",
            figure<TimeFigure, &Platform::latency>("latency", "network")),
    meaning("CPU time to post an operation",
            figure<TimeFigure, &Platform::o_post>("o_post", "cpu")),
    meaning("from an event at the NIC until the program has seen it",
            figure<TimeFigure, &Platform::o_complete>("o_complete", "cpu")),
    meaning("between the starts of two messages of one NIC",
            figure<TimeFigure, &Platform::gap>("gap", "nic")),
    meaning("of a NIC's atomic, one at a time per address",
            figure<TimeFigure, &Platform::atomic_service>("atomic_service", "nic")),
    meaning("of memory, by one CPU lane",
            figure<RateFigure, &Platform::copy_rate>("copy_rate", "cpu")),
    meaning("CPU time of an empty poll; no engine charges it",
            figure<TimeFigure, &Platform::poll_cost>("poll_cost", "cpu")),
    meaning("CPU time of an interrupt that wakes a program",
            figure<TimeFigure, &Platform::interrupt_cost>("interrupt_cost", "cpu")),
    meaning("messages up to this size have queues and ports of their own",
            figure<AnySize, &Platform::interleave_bytes>("interleave", "nic")),
    meaning("what that takes longer if it had to wait for its word; 0",
            rare<TimeFigure, &Platform::atomic_service_shared>("atomic_service_shared", "nic")),
    meaning("of a NIC, to read its host's memory for a get or an atomic; 0",
            rare<TimeFigure, &Platform::nic_read>("nic_read", "nic")),
    meaning("CPU time to post a receive; o_post",
            rare<TimeFigure, &Platform::o_post_recv>("o_post_recv", "cpu")),
    meaning("CPU time that a post takes longer which makes a completion; 0",
            rare<TimeFigure, &Platform::o_signal>("o_signal", "cpu")),
    meaning("CPU time of a look at completions; 0",
            rare<TimeFigure, &Platform::o_poll>("o_poll", "cpu")),
    meaning("CPU time that a look takes longer for each receive; 0",
            rare<TimeFigure, &Platform::o_match>("o_match", "cpu")),
    meaning("CPU time that a look takes longer for each receive of data; 0",
            rare<TimeFigure, &Platform::o_block>("o_block", "cpu")),
    meaning("CPU time that a look takes longer for the last receive of a message; 0",
            rare<TimeFigure, &Platform::o_callback>("o_callback", "cpu")),
    meaning("completions that one look takes; 1",
            rare<NodeCount, &Platform::poll_batch>("poll_batch", "cpu")),
    meaning("how long a lane without work polls before it sleeps; for ever",
            rare<TimeFigure, &Platform::poll_for>("poll_for", "cpu")),
    meaning("who takes completions: the program, or a thread on its core; program",
            rare<TwoWords<kWhoCompletes>, &Platform::service_thread>("completions", "cpu",
                                                                     "\"program\" or \"service\"")),
    meaning("CPU time between the program's turn and that thread's; 0",
            rare<TimeFigure, &Platform::switch_cost>("switch_cost", "cpu")),
    meaning(
        "bytes of an acknowledgement; it uses no port",
        rare<SizeFigure<kMaxAck>, &Platform::ack_bytes>("ack", "network", "a size such as \"4B\"")),
    meaning("bytes of a message in a packet; no packets",
            rare<SizeFigure<kMaxMtu>, &Platform::framing, &Framing::mtu_bytes>("mtu", "network")),
    meaning("bytes that each packet has beside; 0",
            rare<SizeFigure<kMaxPacketOverhead>, &Platform::framing, &Framing::packet_overhead>(
                "packet_overhead", "network", "a size such as \"66B\"")),
    meaning("bits of data in bits of the line; all",
            {"coding", "network", "coding", kACoding, set_coding, get_coding}),
    meaning("of the link between a NIC and its host's memory, each way; no limit",
            rare<RateFigure, &Platform::pcie, &Pcie::rate>("pcie_rate", "nic")),
    meaning("bytes of a message in a transaction of that link; no transactions",
            rare<SizeFigure<kMaxPciePayload>, &Platform::pcie, &Pcie::payload_bytes>(
                "pcie_payload", "nic", "a size such as \"256B\"")),
    meaning("bytes that each transaction has beside; 0",
            rare<SizeFigure<kMaxPacketOverhead>, &Platform::pcie, &Pcie::header_bytes>(
                "pcie_header", "nic", "a size such as \"24B\"")),
    meaning(
        "ranks that share a host and its NICs; 1",
        in_file("ranks", rare<NodeCount, &Platform::node, &Node::ranks>("ranks_per_node", "node"))),
    meaning("ranks of a host that are threads of one process; 1",
            rare<NodeCount, &Platform::node, &Node::threads>("threads_per_process", "node")),
    meaning(
        "NUMA zones of a host, equal runs of its ranks; 1",
        in_file("zones", rare<NodeCount, &Platform::node, &Node::zones>("zones_per_node", "node"))),
    meaning("one way, between ranks of one host; 100ns",
            rare<TimeFigure, &Platform::node, &Node::memory_latency>("memory_latency", "node")),
    meaning("what that is longer between zones; 0",
            rare<TimeFigure, &Platform::node, &Node::zone_latency>("zone_latency", "node")),
    meaning("of an atomic from a rank of the same host; 0",
            rare<TimeFigure, &Platform::node, &Node::cpu_atomic>("cpu_atomic", "node")),
    meaning(
        "what that takes longer for each other rank that has used its line; 0",
        rare<TimeFigure, &Platform::node, &Node::cpu_atomic_sharer>("cpu_atomic_sharer", "node")),
    meaning("threads of a process that have their queue pairs together; 1",
            rare<NodeCount, &Platform::node, &Node::threads_per_qp>("threads_per_qp", "node")),
    meaning("what a post takes longer for each other thread of its queue pair; 0",
            rare<TimeFigure, &Platform::node, &Node::qp_sharer>("qp_sharer", "node")),
    meaning("part of a post for which it has its queue pair alone; 0",
            rare<TimeFigure, &Platform::node, &Node::qp_lock>("qp_lock", "node")),
    meaning("what a small reduce takes longer for each other thread of its process; 0",
            rare<TimeFigure, &Platform::node, &Node::update_sharer>("update_sharer", "node")),
    meaning("more latency at each end whose rank is in another zone than its NIC; 0",
            rare<TimeFigure, &Platform::node, &Node::numa_hop>("numa_hop", "node")),
    meaning("what a rank's messages to itself pass; nic",
            rare<TwoWords<kWhatOwnMessagesPass>, &Platform::node, &Node::own_in_memory>(
                "own_messages", "node", "\"nic\" or \"memory\"")),
    meaning("of a rank's port of a network within its host, each way; none",
            rare<RateFigure, &Platform::node, &Node::scale_up, &ScaleUp::rate>("scale_up_rate",
                                                                               "node")),
    meaning("one way, over that network; 500ns",
            rare<TimeFigure, &Platform::node, &Node::scale_up, &ScaleUp::latency>(
                "scale_up_latency", "node")),
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
            in_file("step", rare<PositiveTime, &Platform::congestion, &Congestion::step>(
                                "congestion_step", "congestion"))),
    meaning("bytes in a switch that came over one link, above which it stops that link",
            rare<PositiveQueueSize, &Platform::congestion, &Congestion::pfc_xoff_bytes>(
                "pfc_xoff", "congestion")),
    meaning("below which that link goes on; two packets less",
            rare<QueueSize, &Platform::congestion, &Congestion::pfc_xon_bytes>("pfc_xon",
                                                                               "congestion")),
    meaning("a queue up to which nothing is marked; 5KB",
            rare<PositiveQueueSize, &Platform::congestion, &Congestion::ecn_kmin_bytes>(
                "ecn_kmin", "congestion")),
    meaning("a queue above which all packets are marked; 200KB",
            rare<PositiveQueueSize, &Platform::congestion, &Congestion::ecn_kmax_bytes>(
                "ecn_kmax", "congestion")),
    meaning("the chance of a mark up to ecn_kmax; 1%",
            rare<Chance, &Platform::congestion, &Congestion::ecn_pmax>("ecn_pmax", "congestion",
                                                                       "a chance such as \"1%\"")),
    meaning("the gain of alpha's average; 1/256",
            rare<Gain, &Platform::congestion, &Congestion::gain_divisor>(
                "dcqcn_g", "congestion", "a gain such as \"1/256\"")),
    meaning("between two notices to one sender; 50us",
            rare<PositiveTime, &Platform::congestion, &Congestion::cnp_interval>("dcqcn_cnp",
                                                                                 "congestion")),
    meaning("between two updates of alpha; 55us",
            rare<PositiveTime, &Platform::congestion, &Congestion::alpha_interval>("dcqcn_alpha",
                                                                                   "congestion")),
    meaning(
        "between two increases of a rate, by time; 55us",
        rare<PositiveTime, &Platform::congestion, &Congestion::timer>("dcqcn_timer", "congestion")),
    meaning("between two increases of a rate, by bytes sent; 10MB",
            rare<PositiveQueueSize, &Platform::congestion, &Congestion::counter_bytes>(
                "dcqcn_bytes", "congestion")),
    meaning("of one additive increase; 40Mbps",
            rare<RateFigure, &Platform::congestion, &Congestion::increase>(
                "dcqcn_increase", "congestion", "a rate such as \"40Mbps\"")),
    meaning("increases of fast recovery; 5",
            rare<CountFigure<1'000>, &Platform::congestion, &Congestion::recovery_steps>(
                "dcqcn_recovery", "congestion", "a whole number from 1 to 1000")),
    meaning("from a mark to the sender that reacts; the latency there and back",
            rare<TimeFigure, &Platform::congestion, &Congestion::feedback>("dcqcn_delay",
                                                                           "congestion")),
    meaning("NICs of a host; 1",
            rare<CountFigure<256>, &Platform::node, &Node::rails, &Rails::count>(
                "rails", "node", "a whole number from 1 to 256")),
    meaning("how channels take a host's NICs; rank",
            rare<Named<parse_rail_rule>, &Platform::node, &Node::rails, &Rails::rule>(
                "rail", "node", "\"rank\", \"channel\" or \"pair\"")),
    meaning("a host's NICs at one leaf switch, or each at its own; one-leaf",
            rare<Named<parse_rail_wiring>, &Platform::node, &Node::rails, &Rails::wiring>(
                "rail_wiring", "network", "\"one-leaf\" or \"rail-optimized\"")),
    meaning("of each NIC of some hosts, in place of rate; none",
            rare<ForHostsBy<parse_host_rates>, &Platform::hosts, &HostFigures::rate>(
                "host_rate", "nic", "rates of hosts such as \"4..7:50Gbps\"")),
    meaning("added to each way between NICs at an end on such a host; none",
            rare<ForHostsBy<parse_host_times>, &Platform::hosts, &HostFigures::latency>(
                "host_latency", "network", "times of hosts such as \"4..7:2us\"")),
    meaning("of the ports within some hosts, in place of scale_up_rate; none",
            rare<ForHostsBy<parse_host_rates>, &Platform::hosts, &HostFigures::scale_up_rate>(
                "host_scale_up_rate", "node", "rates of hosts such as \"4..7:1800Gbps\"")),
    meaning("switches that the last ranks of a schedule are; none",
            rare<FigureBy<parse_switches, format_switches>, &Platform::switches>(
                "switches", "network", "switches such as \"rack-0..3+core\"")),
    meaning("which rank is on which host; packed",
            rare<FigureBy<parse_placement, format_placement>, &Platform::placement>(
                "placement", "network", "a placement such as \"round-robin\"")),
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
