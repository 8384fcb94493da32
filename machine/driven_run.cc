#include "machine/driven_run.h"

namespace slackline::machine {
namespace {

class AloneClock final : public RunClock {
 public:
  explicit AloneClock(const Paths& paths) : paths_(paths) {}
  void at(double time_s, ExecutionEvent event) override { events_.push(time_s, event); }
  void transmit(double now_s, PathId path, std::uint64_t bytes, sched::OpId id) override {
    at(paths_.sent_s(now_s, path, bytes), {id, ExecutionEvent::Kind::kSent});
  }

  void run(DrivenRun& run) {
    run.start();
    std::vector<ExecutionEvent> now;
    while (!events_.empty()) {
      const double now_s = events_.pop_instant(now);
      run.instant(now_s, now);
    }
  }

 private:
  const Paths& paths_;
  EventQueue events_;
};

}  // namespace

std::string drive_alone(const Paths& paths, const MakeRun& make) {
  AloneClock clock(paths);
  const std::unique_ptr<DrivenRun> run = make(clock);
  clock.run(*run);
  return run->result();
}

}  // namespace slackline::machine
