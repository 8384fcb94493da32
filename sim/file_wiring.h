// The wiring that a SimGrid platform file describes.
#pragma once

#include <cstdint>

#include "machine/platform.h"
#include "machine/wiring.h"
#include "sched/schedule.h"

namespace slackline::sim {

/// The platform's wiring with the routes that the schedule's messages take, there and back. Of a
/// topology other than simgrid it is machine::Wiring(platform, ranks).
///
/// SimGrid reads the file in a forked child, since it can do so once per process and ends the
/// process where it does not like what it reads; nothing that it says is seen. What is taken from
/// the file: hosts, in the order of the file, on which the platform's placement puts the ranks;
/// links, in the order of their names, with their bandwidths and whether they are shared (a
/// SPLITDUPLEX link is two, "name_UP" and "name_DOWN"; a FATPIPE one gives every message the whole
/// rate); and routes, with the sums of their links' latencies to a picosecond. What is not: speeds,
/// cores and disks, the file's <config>, and SimGrid's correction factors and cross traffic, which
/// no other topology has either. For round-robin placement a rack is the zone that a host is in.
///
/// Throws InputError, in one line that names the file, for a file that cannot be read or that
/// SimGrid refuses, for more ranks than hosts, a host that a placement names and the file does not
/// have, and for a pair of hosts that has no route; Unsupported for profiles and for WIFI links.
machine::Wiring wiring_of(const machine::Platform& platform, const sched::Schedule& schedule);
/// The same with the routes between every two of so many ranks.
machine::Wiring wiring_of_ranks(const machine::Platform& platform, std::uint32_t ranks);

}  // namespace slackline::sim
