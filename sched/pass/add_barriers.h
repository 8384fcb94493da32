// Lockstep: what a schedule costs that waits for everybody at every step. RDMC's steps are
// asynchronous; this pass is what they are compared with.
#pragma once

#include "sched/schedule.h"

namespace slackline::sched {

/// Puts a barrier among all ranks between any two steps: no message of a step is issued before
/// every rank has done all it sends, receives and copies at the steps before. Credits, and the
/// posting of receives, are no part of a step: a rank has posted its receives of the next step
/// before it enters the barrier. So where no credits do (a channel without a window), the barriers
/// also say that receives are posted: there is one before the first step too, receives are posted
/// one step ahead, and those channels get a window of 2, which the verifier proves.
///
/// A barrier disseminates in ⌈log2 n⌉ rounds of zero-byte messages, in round t to the rank 2^t
/// places on, on channels of their own, which promise no window. These name themselves as the
/// channels of their credits, so that no barrier is taken for data. Program order is rearranged so
/// that a barrier stands between what comes before it and what comes after.
///
/// Comes after lower_transfers or lower_credits. Throws Unsupported for dynamic schedules and those
/// in which an operation takes another's result, InputError at 2^31 operations or more.
Schedule add_barriers(const Schedule& schedule);

}  // namespace slackline::sched
