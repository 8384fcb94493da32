// Runs a queue program with the machine model's figures of time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "machine/driven_run.h"
#include "machine/setting.h"
#include "offload/emulate.h"

namespace slackline::offload {

/// Which of its queues a NIC serves next, when several have a message at their head. A queue that
/// is served keeps the port until its message has left.
enum class Egress : std::uint8_t {
  kFifo,        // "fifo": the one whose message has been there longest
  kRoundRobin,  // "round-robin": the next one after the last
  kLeastSlack,  // "least-slack": the one whose message must start earliest (Entry::latest)
};
std::string_view name(Egress egress);
std::optional<Egress> egress_named(std::string_view text);

struct NicTiming {
  Egress egress = Egress::kFifo;
  sched::Time entry_time{0};  // what a NIC takes for a wait or an enable, once it can do it
};

/// Who keeps the time of the queues, and how the trace names it.
struct NicClock {
  machine::Driver drive = machine::drive_alone;
  std::string engine = "offload:timed";
};

/// The machine model of docs/architecture.md, but for the CPU: posting was done beforehand, so
/// neither o_post nor o_complete is paid anywhere; a completion is there when its message has
/// landed, or its acknowledgement has come back. All hosts start at 0. Of the setting's delays only
/// what strikes the network counts: what strikes CPUs, as the order in which they post, does not
/// touch a program that NICs run alone.
///
/// With drive_alone() exact where the event engine is: serial NICs on a star. On other networks
/// every message then gets the rate of its slowest link, whoever shares it; a driver inside a
/// simulator shares links between them. Throws Unsupported for fair NICs, nodes of several ranks
/// and failures, and what the driver does.
Emulation emulate_timed(const QueueProgram& program, const machine::Setting& setting,
                        const MessageGraph& graph, const NicTiming& timing = {},
                        const NicClock& clock = {});

}  // namespace slackline::offload
