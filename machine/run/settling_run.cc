#include "machine/run/settling_run.h"

namespace slackline::machine {
namespace {

// A look costs much less than so many instants, which take about a millisecond.
constexpr std::uint32_t kInstantsPerLook = 1024;

}  // namespace

void SettlingRun::instant(double now_s, std::vector<Event>& events) {
  if (watch_ != nullptr && ++instants_ % kInstantsPerLook == 0) (*watch_)();
  now_s_ = now_s;
  order_.sort(events);
  handle_all(events);
  settle();
}

// What ends comes before what starts; what starts and takes no time ends in the same instant. Lanes
// start before messages, and messages without bytes before the others: what those set free may be
// a rival of the same instant for the port that one with bytes would hold.
void SettlingRun::settle() {
  do {
    if (!ended_now_.empty()) {
      batch_.swap(ended_now_);
      order_.sort(batch_);
      handle_all(batch_);
      batch_.clear();
      if (!ended_now_.empty()) continue;
    }
    serve_lanes();
    if (!ended_now_.empty()) continue;
    PortArbiter::Start start;
    while (small_.next_empty(start)) start_message(start, false);
    if (!ended_now_.empty()) continue;
    while (large_.next_start(start)) start_message(start, true);
    while (small_.next_start(start)) start_message(start, false);
  } while (!ended_now_.empty());
}

void SettlingRun::free_at_start(PortArbiter& ports, const PortArbiter::Start& start, double gap_s,
                                Event event) {
  ports.free_in(start.dst);
  const double free_s = now_s_ + gap_s;
  if (free_s > now_s_ || ports.has_queued(start.src)) {
    end_at(free_s, event);
  } else {
    ports.free_out(now_s_, start.src);
  }
}

void SettlingRun::free_at_end(PortArbiter& ports, NicId src, NicId dst, double start_s,
                              double gap_s, Event event) {
  ports.free_in(dst);
  const double free_s = start_s + gap_s;
  if (free_s < now_s_ + kInstant_s) {
    ports.free_out(now_s_, src);
  } else {
    clock_.at(free_s, event);
  }
}

}  // namespace slackline::machine
