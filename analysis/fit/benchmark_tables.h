// Measured points from the tables that benchmarks of MPI and NCCL print.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/fit/calibration_points.h"

namespace slackline::analysis {

/// Whether `text` begins as the OSU micro-benchmarks do: "# OSU ".
bool is_osu_table(std::string_view text);

/// Reads what `osu_latency` and `osu_bw` print, also several tables one after the other. A size's
/// latency (µs) is a pingpong of one message, since OSU halves the round trip; its bandwidth (MB/s)
/// is a stream of 64, which is OSU's window unless -W says another. Throws InputError "file:line:
/// …" on other benchmarks, columns and units.
std::vector<MeasuredPoint> read_osu_table(std::string_view text, std::string_view file);

/// Whether `text` begins as nccl-tests do: "# nccl-tests version".
bool is_nccl_table(std::string_view text);

/// Reads what `sendrecv_perf` prints: a size's time out of place (µs) is a pingpong of one message,
/// as each rank sends one and has received one. Throws InputError "file:line: …" on other tests,
/// which are of more than one message, on messages that were grouped (-m), on one rank alone, on
/// other columns and units, and on data that was wrong.
std::vector<MeasuredPoint> read_nccl_table(std::string_view text, std::string_view file);

}  // namespace slackline::analysis
