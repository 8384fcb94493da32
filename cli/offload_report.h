// What `offload` says of a queue program, as a table and as JSON, and the files it writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/answer.h"
#include "cli/subject.h"
#include "hw/offload_run.h"
#include "machine/platform.h"
#include "offload/check_queues.h"
#include "offload/costs.h"
#include "offload/queue_program.h"

namespace slackline::cli {

/// What the emulator found.
struct OffloadRuns {
  std::uint64_t timings = 0;       // of the abstract clock that were tried
  std::vector<std::string> fault;  // the first timing's that was not sound, if any
  std::uint64_t seed = 0;          // …and its seed
  machine::Platform platform;
  bool contended = false;  // of either run: messages shared links, which the engine leaves out
  std::string engine;      // that ran the schedule in software
  std::string egress;
  double offload_s = 0;
  double software_s = 0;
  std::uint64_t not_ready = 0;      // in the timed run
  std::vector<std::string> faults;  // of the timed run
};

struct OffloadAnswer {
  Subject subject;
  const offload::QueueProgram& program;
  std::vector<offload::RankCosts> costs;
  offload::QueueDiagnostics diagnostics;
  std::optional<OffloadRuns> runs;
  std::optional<hw::OffloadRun> real;  // on a NIC
  std::optional<std::string> folder;   // where the bytes were written

  bool sound() const {
    return diagnostics.empty() && (!runs || (runs->fault.empty() && runs->faults.empty()));
  }
};

void answer_offload(Answer& answer, const OffloadAnswer& found);

/// Writes manifest.json, program.queues and, for every rank, rank-N.txt with its queues, entries as
/// hex and doorbells. The folder is made if it is not there. Throws InputError.
void write_encoding(const OffloadAnswer& answer, const std::string& folder);

}  // namespace slackline::cli
