// The machine that a schedule runs on, as every engine is told it: plain data. The model of time
// that these figures enter stands in docs/architecture.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/units.h"
#include "machine/congestion.h"
#include "machine/framing.h"
#include "machine/host_figures.h"
#include "machine/node.h"
#include "machine/pcie.h"
#include "machine/placement.h"
#include "machine/switches.h"
#include "machine/topology.h"

namespace slackline::machine {

using sched::Rate;
using sched::Time;

/// How a NIC's port serves several messages at once.
enum class NicDiscipline : std::uint8_t {
  kSerial,  // one after another, in the order they came to head their queue
  kFair,    // all at once, sharing max-min fairly
};

struct Platform {
  std::string name = "custom";  // for people; not part of spec()
  Topology topology;
  Placement placement;
  NicDiscipline nic = NicDiscipline::kSerial;
  Rate rate{100'000'000'000};             // R, of a NIC, each way; not of a SimGrid file
  Time latency{1'000'000};                // L, one way, past one switch; not of a SimGrid file
  Time o_post{0};                         // CPU overhead to post an operation
  Time o_complete{0};                     // from an event at the NIC until the program has seen it
  Time gap{0};                            // g, between the starts of two messages of one NIC
  Time atomic_service{0};                 // at the target, one at a time per address
  Rate copy_rate{80'000'000'000};         // of memory, by one CPU lane
  Time poll_cost{0};                      // CPU time of one empty poll
  Time interrupt_cost{0};                 // CPU time of one interrupt, until a program is awake
  std::uint64_t interleave_bytes = 4096;  // messages up to this travel between others' packets
  Time atomic_service_shared{0};          // added for an atomic that had to wait for its word
  Time nic_read{0};                       // of the target's memory by its NIC: gets and atomics
  // What completions cost the CPU: machine/completions.h.
  std::optional<Time> o_post_recv;  // to post a receive; nothing: o_post
  Time o_signal{0};                 // added to a post that makes a completion
  Time o_poll{0};                   // to take completions from their queue, once
  Time o_match{0};                  // added for each of a receive
  Time o_block{0};                  // added for each of a receive of data: what is done with it
  Time o_callback{0};               // added for the last of those into one buffer
  std::uint32_t poll_batch = 1;     // completions that are taken at once
  std::optional<Time> poll_for;     // without work, before the program sleeps until an
                                    // interrupt; nothing: it never sleeps
  bool service_thread = false;      // sees completions, on the core of the program's thread
  Time switch_cost{0};              // of that core, from one of the two threads to the other
  std::uint64_t ack_bytes = 0;      // of an acknowledgement, a message of the receiver's NIC; 0: it
                                    // takes its way back alone
  Framing framing;                  // of packets and lines; `rate` is the line's
  Pcie pcie;                        // between each NIC and the memory of its host
  Congestion congestion;            // off unless given
  Node node;
  HostFigures hosts;  // that differ from what stands above
  Switches switches;  // of the network, that the last ranks are

  /// The canonical inline spec, `star:nic=serial,rate=100Gbps,…`: every figure, in a fixed order,
  /// the topology's own first. `atomic_service_shared`, `nic_read`, the completions', the
  /// framing's, PCIe's and the node's figures, those of congestion, the switches and, last, the
  /// placement stand there only if they are not what Platform has. Same platform, same text;
  /// parse_platform_spec() reads it back.
  std::string spec() const;

  /// Seconds that a message of `bytes` takes between two hosts, at the NIC's rate or `limit`,
  /// whichever is lower (a limit of 0 bits per second is none), and at no more than PCIe has for
  /// it.
  double transfer_s(std::uint64_t bytes, Rate limit = {}) const {
    const Rate effective =
        limit.bits_per_second != 0 && limit.bits_per_second < rate.bits_per_second ? limit : rate;
    return std::max(framing.wire_bytes(bytes) / effective.bytes_per_second(),
                    pcie.transfer_s(bytes));
  }
  Time post_of_receive() const { return o_post_recv.value_or(o_post); }
  double copy_s(std::uint64_t bytes) const {
    return static_cast<double>(bytes) / copy_rate.bytes_per_second();
  }
};

/// The platform of a run that names none.
inline constexpr std::string_view kDefaultPlatform = "fractus";

/// The newest `schema` that platform_from_toml() reads.
inline constexpr std::uint32_t kPlatformSchema = 1;

/// Reads `star:key=value,…` with the keys of spec() in any order, in which - may stand for _; a
/// figure left out keeps the default of Platform. The name is `text` itself. Throws InputError on
/// an unknown topology or key, a key that the topology does not take, a key given twice, a value
/// without unit, below 0 or out of range, or figures that make no network.
Platform parse_platform_spec(std::string_view text);

/// Reads a platform file (docs and machine/presets/*.toml show the form); a figure left out keeps
/// the default of Platform. `file` names it in errors, and the platform if the file does not.
/// Throws InputError "file:line: …".
Platform platform_from_toml(std::string_view text, std::string_view file);

/// What `--platform` takes: a preset's name, an inline spec, a preset with figures of its own or so
/// NCCL's topology (nccl_topology.h), or else a TOML file's path. Throws InputError.
Platform load_platform(std::string_view text);

/// A platform that comes with the library.
struct PresetEntry {
  std::string_view name;
  std::string_view summary;  // one line, for `list platforms`
  std::string_view toml;     // the whole file, with the source of every figure
};
/// Every preset, by name.
std::span<const PresetEntry> presets();

}  // namespace slackline::machine
