#include "sweep/quantity.h"

#include "base/error.h"
#include "base/number.h"
#include "base/units.h"

namespace slackline::sweep {
namespace {

template <class Read>
std::optional<double> read_by(const Read& read) {
  try {
    return read();
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<Quantity> quantity_of(const std::string& text) {
  if (const auto number = base::whole_number<double>(text)) return Quantity{*number, ""};
  if (const auto bytes =
          read_by([&] { return static_cast<double>(sched::parse_bytes(text, "")); })) {
    return Quantity{*bytes, "B"};
  }
  if (const auto time_s = read_by([&] { return sched::seconds(sched::parse_time(text, "")); })) {
    return Quantity{*time_s, "s"};
  }
  if (const auto rate = read_by(
          [&] { return static_cast<double>(sched::parse_rate(text, "").bits_per_second); })) {
    return Quantity{*rate, "bit/s"};
  }
  return std::nullopt;
}

}  // namespace slackline::sweep
