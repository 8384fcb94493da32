// The first pass: a Plan's transfers become sends and receives, or puts with immediate.
#pragma once

#include <cstdint>

#include "sched/plan.h"
#include "sched/schedule.h"

namespace slackline::sched {

enum class Lowering : std::uint8_t {
  kSend,  // two-sided: send → recv
  kPut,   // one-sided: put with immediate → a receive without memory
};

struct TransferOptions {
  Lowering lowering = Lowering::kSend;
  /// Messages of blocks that a rank has under way at once; RDMC keeps one. 0: no bound.
  std::uint32_t in_flight = 1;
  /// The first block that reaches a rank lands in a buffer of its own and is copied from there, as
  /// in RDMC, section 4.2, where the message's memory is only allocated then.
  bool copy_first_block = false;
};

/// One channel per ordered pair of ranks that exchange blocks; one buffer per rank. A send waits
/// for its block, and for the send `in_flight` places before it on its rank. The contract: the
/// root's buffer holds the message before, every buffer holds it after.
Schedule lower_transfers(const Plan& plan, const TransferOptions& options = {});

/// The same as a draft (ScheduleBuilder::build_draft), for the next pass.
Schedule draft_transfers(const Plan& plan, const TransferOptions& options = {});

}  // namespace slackline::sched
