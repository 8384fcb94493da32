#include "hw/verbs_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/number.h"

namespace slackline::hw {
namespace {

constexpr double kAckUnit_s = 4.096e-6;
constexpr std::uint8_t kMostAck = 31;  // five bits; 0 would be for ever
// 0.54 s: what a congested network delays is not repeated for nothing.
constexpr std::uint8_t kUsualAck = 17;

}  // namespace

PortName parse_port_name(const std::string& text, const std::string& what) {
  PortName name{text, 0};
  const std::size_t colon = text.rfind(':');
  bool sound = !text.empty();
  if (colon != std::string::npos) {
    name.device = text.substr(0, colon);
    name.port = base::whole_number<int>(text.substr(colon + 1)).value_or(0);
    sound = name.port >= 1 && name.port <= 255 && colon != 0;
  }
  if (sound) return name;
  throw InputError(
      fmt::format("{} '{}'; expected NAME or NAME:PORT, PORT from 1 to 255", what, text));
}

double ack_timeout_s(std::uint8_t exponent) { return std::ldexp(kAckUnit_s, exponent); }

std::uint8_t ack_exponent(double time_s) {
  std::uint8_t exponent = 1;
  while (exponent < kMostAck && ack_timeout_s(exponent) < time_s) ++exponent;
  return exponent;
}

std::uint8_t ack_timeout_of(const VerbsOptions& options) {
  if (options.ack_timeout) return *options.ack_timeout;
  const double all_s = std::chrono::duration<double>(options.failure_timeout).count();
  return std::max(kUsualAck, ack_exponent(all_s / (options.retries + 1)));
}

}  // namespace slackline::hw
