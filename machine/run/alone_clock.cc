#include "machine/run/alone_clock.h"

#include <limits>

namespace slackline::machine {

void AloneClock::transmit(double now_s, PathId path, std::uint64_t bytes, sched::OpId op) {
  const double sent_s = paths_.sent_s(now_s, path, bytes);
  const double cut_s = paths_.like(path).cut_s;
  const bool cut = sent_s + kInstant_s > cut_s;
  at(cut ? cut_s : sent_s, {op, cut ? ExecutionEvent::Kind::kLost : ExecutionEvent::Kind::kSent});
}

void AloneClock::drive(DrivenRun& run) {
  run.start();
  while (!events_.empty()) step(run);
}

double AloneClock::next_s() const {
  return events_.empty() ? std::numeric_limits<double>::infinity() : events_.next_s();
}

void AloneClock::step(DrivenRun& run) {
  const double now_s = events_.pop_instant(now_);
  run.instant(now_s, now_);
}

std::string drive_alone(const Paths& paths, const MakeRun& make) {
  AloneClock clock(paths);
  const std::unique_ptr<DrivenRun> run = make(clock);
  clock.drive(*run);
  return run->result();
}

}  // namespace slackline::machine
