#include "hw/verbs/port_outage.h"

#include <fmt/format.h>

namespace slackline::hw {
namespace {

double seconds(PortOutage::Clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

void PortOutage::begin(Clock::time_point now) {
  if (is_down()) return;
  began_ = now;
  ended_.reset();
}

void PortOutage::end(Clock::time_point now) {
  if (is_down()) ended_ = now;
}

PortOutage::Clock::duration PortOutage::duration(Clock::time_point now) const {
  return is_down() ? now - *began_ : Clock::duration::zero();
}

std::string PortOutage::text(Clock::time_point now, Clock::duration memory) const {
  if (!began_) return "";
  if (!ended_) return fmt::format("has been down for {:.1f} s", seconds(now - *began_));
  if (now - *ended_ > memory) return "";
  return fmt::format("was down for {:.1f} s, until {:.1f} s ago", seconds(*ended_ - *began_),
                     seconds(now - *ended_));
}

}  // namespace slackline::hw
