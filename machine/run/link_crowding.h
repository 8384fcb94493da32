// The clock of a run that gives every message its way to itself, and looks for crowded links among
// what begins. Where operations run several times, or gather their messages, no trace tells that
// afterwards.
#pragma once

#include <cstdint>

#include "machine/driven_run.h"
#include "machine/run/crowded_links.h"

namespace slackline::machine {

class LinkCrowding final : public DrivenClock {
 public:
  /// What the setting is of, the paths and the clock must outlive this.
  LinkCrowding(const Setting& setting, const Paths& paths, DrivenClock& clock)
      : crowded_(setting, paths), clock_(clock) {}

  void at(double time_s, ExecutionEvent event) override { clock_.at(time_s, event); }
  void transmit(double now_s, PathId path, std::uint64_t bytes, sched::OpId op) override {
    clock_.transmit(now_s, path, bytes, op);
    crowded_.begin(now_s, path, bytes);
  }

  bool found(bool ports_shared) const { return crowded_.found(ports_shared); }

 private:
  CrowdedLinks crowded_;
  DrivenClock& clock_;
};

}  // namespace slackline::machine
