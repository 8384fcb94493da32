#include "machine/run/alone_clock.h"

namespace slackline::machine {

void AloneClock::transmit(double now_s, PathId path, std::uint64_t bytes, sched::OpId op) {
  const double sent_s = paths_.sent_s(now_s, path, bytes);
  const double cut_s = paths_[path].cut_s;
  const bool cut = sent_s + kInstant_s > cut_s;
  at(cut ? cut_s : sent_s, {op, cut ? ExecutionEvent::Kind::kLost : ExecutionEvent::Kind::kSent});
}

void AloneClock::drive(DrivenRun& run) {
  run.start();
  std::vector<ExecutionEvent> now;
  while (!events_.empty()) {
    const double now_s = events_.pop_instant(now);
    run.instant(now_s, now);
  }
}

std::string drive_alone(const Paths& paths, const MakeRun& make) {
  AloneClock clock(paths);
  const std::unique_ptr<DrivenRun> run = make(clock);
  clock.drive(*run);
  return run->result();
}

}  // namespace slackline::machine
