#include "hw/link_rate.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/system_file.h"

namespace slackline::hw {
namespace {

// Names come from libraries; none of them shall lead to another folder.
bool is_plain(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string_view::npos;
}

}  // namespace

LinkFacts interface_link(std::string_view interface, const std::string& sys) {
  LinkFacts facts;
  if (!is_plain(interface)) return facts;
  const std::string folder = fmt::format("{}/class/net/{}", sys, interface);
  // In Mbit/s; −1 where the link is down.
  const auto mbits = base::first_number<std::int64_t>(folder + "/speed");
  if (mbits && *mbits > 0 && *mbits < std::numeric_limits<std::int32_t>::max()) {
    facts.bits_per_s = static_cast<std::uint64_t>(*mbits) * 1'000'000;
  }
  const auto mtu = base::first_number<std::int64_t>(folder + "/mtu");
  if (mtu && *mtu > 0 && *mtu <= std::numeric_limits<std::int32_t>::max()) {
    facts.mtu = static_cast<std::uint32_t>(*mtu);
  }
  return facts;
}

std::uint64_t rdma_port_rate(std::string_view device, unsigned port, const std::string& sys) {
  if (!is_plain(device)) return 0;
  // "100 Gb/sec (4X EDR)"
  const auto gbits = base::first_number<double>(
      fmt::format("{}/class/infiniband/{}/ports/{}/rate", sys, device, port));
  constexpr double kMost = 1e6;
  return gbits && *gbits > 0 && *gbits < kMost
             ? static_cast<std::uint64_t>(std::llround(*gbits * 1e9))
             : 0;
}

}  // namespace slackline::hw
