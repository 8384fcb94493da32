// The part of machine/run/execution.h that takes up a run where another one stands, and tells
// whether two runs go on alike.
//
// What follows in a run is a function of what is kept of it between two instants, and of what is
// pending at the clock. Of what is kept, some only tells the past: when operations were ready,
// what they waited for, who held a lane before. It may differ.
#include <cmath>

#include "machine/run/execution.h"

namespace slackline::machine {

void Execution::resume(const Execution& other) {
  now_s_ = other.now_s_;
  core_.resume(other.core_);
  replying_ = other.replying_;
  ack_start_s_ = other.ack_start_s_;
  queues_ = other.queues_;
  large_ = other.large_;
  small_ = other.small_;
  large_out_ = other.large_out_;
  large_in_ = other.large_in_;
  operands_.resume(other.operands_);
  locks_.resume(other.locks_);
  words_ = other.words_;
  service_.resume(other.service_);
  ways_.resume(other.ways_);
  shared_ = other.shared_;
}

bool Execution::goes_on_as(const Execution& other) const {
  if (now_s_ != other.now_s_ || !ended_now_.empty() || !other.ended_now_.empty() ||
      !words_.idle() || !other.words_.idle() || !large_.goes_on_as(other.large_) ||
      !small_.goes_on_as(other.small_) || !core_.goes_on_as(other.core_) ||
      replying_ != other.replying_ || queues_ != other.queues_ ||
      !service_.goes_on_as(other.service_) || !locks_.goes_on_as(other.locks_, now_s_) ||
      !operands_.goes_on_as(other.operands_) || !memory_.goes_on_as(other.memory_) ||
      !ways_.goes_on_as(other.ways_)) {
    return false;
  }
  // How long a lane has been idle says whether its program sleeps.
  for (std::uint32_t lane = 0; sleeps_ && lane < core_.lanes().count(); ++lane) {
    if (core_.lanes().released(lane) != other.core_.lanes().released(lane)) return false;
  }
  // What else is not done shows in what waits, in lanes, in queues, or in what is pending. Only two
  // moments do not: the start of a message keeps the next one waiting for a gap, and its arrival is
  // kept with a receive that is not posted. And what a failure took is pending nowhere: of one run
  // it may be done, of the other it never will be.
  for (std::uint32_t i = 0; i < schedule_.op_count(); ++i) {
    if (may_be_gone_ &&
        std::isfinite(core_.times(i).done_s) != std::isfinite(other.core_.times(i).done_s)) {
      return false;
    }
    const double mine_s = core_.times(i).wire_s;
    const double its_s = other.core_.times(i).wire_s;
    const bool over = mine_s + gap_s_ <= now_s_ && its_s + gap_s_ <= now_s_;
    if (!over && mine_s != its_s) return false;
    if (ack_start_s_.empty()) continue;
    const double my_ack_s = ack_start_s_[i];
    const double its_ack_s = other.ack_start_s_[i];
    const bool ack_over = my_ack_s + gap_s_ <= now_s_ && its_ack_s + gap_s_ <= now_s_;
    if (!ack_over && my_ack_s != its_ack_s) return false;
  }
  return true;
}

}  // namespace slackline::machine
