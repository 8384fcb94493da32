// What became of one link in a run of the fluid engine.
#pragma once

#include <cstdint>

namespace slackline::analysis {

struct LinkCongestion {
  double bytes = 0;                // of large messages that it carried, with what framing adds
  double largest_queue_bytes = 0;  // that waited for it in the switch
  double queue_byte_s = 0;         // what waited, over time: over a span's length, the mean
  double paused_s = 0;             // that PFC kept it stopped, and…
  std::uint64_t pauses = 0;        // …how often
  double marked_packets = 0;       // of those that waited for it; as a fluid, no whole number
};

}  // namespace slackline::analysis
