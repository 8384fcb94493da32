// Whether large messages that each have the rate of their slowest link meet on a link that has not
// the rate for all of them: told message by message, as they begin. Where operations run several
// times, or gather their messages, no trace tells that afterwards.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/driven_run.h"
#include "machine/paths.h"
#include "machine/setting.h"

namespace slackline::machine {

/// The rate that a link of the wiring has then, with the changes that the paths know of.
double link_bytes_per_s(const Wiring& wiring, const Paths& paths, LinkId link, double now_s);

/// The clock of a run, which gives every message its way to itself, and looks at what begins.
class LinkCrowding final : public DrivenClock {
 public:
  /// What the setting is of, the paths and the clock must outlive this.
  LinkCrowding(const Setting& setting, const Paths& paths, DrivenClock& clock);

  void at(double time_s, ExecutionEvent event) override { clock_.at(time_s, event); }
  void transmit(double now_s, PathId path, std::uint64_t bytes, sched::OpId op) override;

  /// Whether some met so. A generated network's NICs are the ports that `ports_shared` speaks of,
  /// the run's own finding; a SimGrid file's hosts have no ports but its links.
  bool found(bool ports_shared) const { return found_ || (has_nics_ && ports_shared); }

 private:
  struct UnderWay {
    PathId path;
    double end_s;
    double share;             // of the message, that passes the link
    double most_bytes_per_s;  // that PCIe has for it
  };
  bool is_crowded(LinkId link, double now_s) const;

  const Paths& paths_;
  const Wiring& wiring_;
  DrivenClock& clock_;
  const bool has_nics_;
  std::vector<std::vector<UnderWay>> on_link_;  // empty until the first begins
  bool found_ = false;
};

}  // namespace slackline::machine
