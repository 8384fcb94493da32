// Measured points from perftest (ib_send_lat, ib_write_bw, …), of what `--out_json` writes.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/fit/calibration_points.h"

namespace slackline::analysis {

/// Whether `text` begins as a JSON document.
bool is_perftest(std::string_view text);

/// Reads such documents, one after the other; each is of one size:
///
///   test                            point
///   Send, RDMA_Write: latency       pingpong of one message: perftest halves the round trip
///   RDMA_Read, Atomic: latency      get, atomic of one message
///   Send, RDMA_Write: bandwidth     stream of as many messages as it says
///
/// Of latencies the typical one counts, which is the median, or the average where a test that goes
/// by duration has no other; in µs. Bandwidths are in MiB/s or Gb/s, which the file does not say
/// and the rate of messages tells. Throws InputError "file: document 2: …" on other tests, such as
/// in both directions or on several queue pairs, on fields of the results that are not known, and
/// on units that do not agree.
std::vector<MeasuredPoint> read_perftest(std::string_view text, std::string_view file);

}  // namespace slackline::analysis
