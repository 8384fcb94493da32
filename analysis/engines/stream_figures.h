// What streams are told of a spec and a platform.
#pragma once

#include <cstdint>

#include "machine/platform.h"
#include "sched/compile.h"

namespace slackline::analysis {

/// Times in seconds.
struct StreamFigures {
  double o_post_s = 0;
  double o_complete_s = 0;
  double gap_s = 0;
  double latency_s = 0;
  double block_s = 0;           // on the wire
  double last_block_s = 0;      // which may be shorter
  double copy_s = 0;            // of a rank's first block
  double last_copy_s = 0;       // if that is the last block
  double block_wire_bytes = 0;  // with what packets and lines add
  double last_block_wire_bytes = 0;
  std::uint32_t last_block = 0;
  std::uint32_t ranks = 1;
  sched::RankId root{0};
  bool serial = true;
  bool one_in_flight = true;
  bool copies_first_block = false;
};

StreamFigures stream_figures(const sched::Spec& spec, const machine::Platform& platform);

}  // namespace slackline::analysis
