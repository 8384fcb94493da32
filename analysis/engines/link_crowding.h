// Whether large messages that each have the rate of their slowest link meet on a link that has not
// the rate for all of them: told message by message, as they begin. Where operations run several
// times, or gather their messages, no trace tells that afterwards.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/paths.h"
#include "machine/setting.h"

namespace slackline::analysis {

class LinkCrowding {
 public:
  /// What the setting is of, and the paths, must outlive this.
  LinkCrowding(const machine::Setting& setting, const machine::Paths& paths);

  /// A message of `bytes` > 0 is under way from `begin_s` to `end_s`; all before it began no later.
  void begin(machine::PathId path, std::uint64_t bytes, double begin_s, double end_s);
  /// Whether some met so. A generated network's NICs are left out, as in shares() (link_load.h).
  bool found() const { return found_; }

 private:
  struct UnderWay {
    double end_s;
    double bytes_per_s;
  };

  const machine::Paths& paths_;
  const machine::Wiring& wiring_;
  const bool has_nics_;
  std::vector<std::vector<UnderWay>> on_link_;  // empty until the first begins
  bool found_ = false;
};

}  // namespace slackline::analysis
