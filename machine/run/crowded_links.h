// Whether large messages that each have the rate of their slowest link meet on a link that has not
// the rate for all of them: told message by message, in the order in which they begin.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/paths.h"
#include "machine/setting.h"

namespace slackline::machine {

class CrowdedLinks {
 public:
  /// What the setting is of, and the paths, must outlive this.
  CrowdedLinks(const Setting& setting, const Paths& paths);

  /// A message begins to leave, not before those that were told of.
  void begin(double now_s, PathId path, std::uint64_t bytes);

  /// Whether some met so. A generated network's NICs are left out: they are the ports that
  /// `ports_shared` speaks of, the run's own finding, which counts as well. A SimGrid file's hosts
  /// have no ports but its links.
  bool found(bool ports_shared) const { return found_ || (has_nics_ && ports_shared); }

 private:
  struct UnderWay {
    PathId path;
    double end_s;
    double share;             // of the message, that passes the link
    double most_bytes_per_s;  // that PCIe has for it
  };
  bool is_crowded(LinkId link, double now_s) const;
  double bytes_per_s(LinkId link, double now_s) const;

  const Paths& paths_;
  const Wiring& wiring_;
  const bool has_nics_;
  std::vector<std::vector<UnderWay>> on_link_;  // empty until the first begins
  bool found_ = false;
};

}  // namespace slackline::machine
