#include "cli/verbs_arguments.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/number.h"
#include "base/split.h"
#include "base/units.h"

namespace slackline::cli {
namespace {

constexpr std::string_view kNearest = "auto";
constexpr double kLongestAck_s = 8'796;  // 4.096 us · 2^31

std::uint64_t count(const std::optional<std::string>& text, std::string_view option,
                    std::uint64_t most, std::uint64_t usual) {
  return text ? sched::parse_count(*text, option, 0, most) : usual;
}

// "mlx5_0,mlx5_1:2"
std::vector<std::string> parse_map(const std::string& text) {
  std::vector<std::string> names;
  for (const std::string_view name : base::split(text)) {
    names.emplace_back(name);
    if (names.back() == kNearest) {
      throw InputError(
          fmt::format("--device-map '{}'; expected auto alone, or names of devices", text));
    }
    hw::parse_port_name(names.back(), "--device-map:");
  }
  return names;
}

hw::PartitionChoice parse_partition(const std::string& text) {
  hw::PartitionChoice choice;
  const bool is_key = text.starts_with("0x") || text.starts_with("0X");
  const std::string_view digits = std::string_view(text).substr(is_key ? 2 : 0);
  const auto value = base::whole_number<std::uint32_t>(digits, is_key ? 16 : 10);
  if (!value || *value > 0xffff || (is_key && (*value & 0x7fff) == 0)) {
    throw InputError(fmt::format(
        "--pkey: '{}'; expected a key from 0x1 to 0xffff, or an index from 0 to 65535", text));
  }
  (is_key ? choice.key.emplace(0) : choice.index) = static_cast<std::uint16_t>(*value);
  return choice;
}

std::uint32_t parse_mtu(const std::string& text) {
  const std::uint64_t bytes = sched::parse_bytes(text, "--mtu");
  for (std::uint32_t known = 256; known <= 4096; known *= 2) {
    if (bytes == known) return known;
  }
  throw InputError(fmt::format("--mtu: '{}'; expected 256, 512, 1024, 2048 or 4096", text));
}

std::uint8_t parse_timeout(const std::string& text) {
  const double time_s = sched::seconds(sched::parse_time(text, "--qp-timeout"));
  if (!(time_s > 0 && time_s <= kLongestAck_s)) {
    throw InputError(fmt::format("--qp-timeout: '{}'; expected a time above 0, up to {:g}s", text,
                                 kLongestAck_s));
  }
  return hw::ack_exponent(time_s);
}

}  // namespace

void VerbsArguments::declare(Arguments& arguments) {
  arguments.option(
      "--device", "NAME[:PORT]", device_,
      "with verbs: which (default: that on the way to the root, else the first active)");
  arguments.option(
      "--device-map", "LIST|auto", device_map_,
      "with verbs: what the ranks of a host take in turn; auto: those near their cores");
  arguments.option("--gid-index", "N", gid_index_,
                   "with verbs: which of the port's GIDs (default: RoCE v2, of --host)");
  arguments.option("--traffic-class", "N", traffic_class_,
                   "with verbs: 0 to 255; RoCE v2: 4 DSCP + ECN (default: 0)");
  arguments.option("--service-level", "N", service_level_, "with verbs: 0 to 15 (default: 0)");
  arguments.option(
      "--pkey", "KEY|INDEX", pkey_,
      "with verbs: the partition, 0x8001 or its place in the port's table (default: 0)");
  arguments.option("--mtu", "BYTES", mtu_,
                   "with verbs: of a packet, 256 to 4096 (default: the most of both ports)");
  arguments.option("--qp-timeout", "TIME", qp_timeout_,
                   "with verbs: until the NIC repeats a packet, rounded up to 4.096us 2^n "
                   "(default: to go on for --failure-timeout, at least 0.54s)");
  arguments.option("--retry", "N", retry_,
                   "with verbs: how often the NIC repeats a packet, 0 to 7 (default: 6)");
}

std::string_view VerbsArguments::given() const {
  for (const auto& [option, value] :
       {std::pair{"--device", &device_}, std::pair{"--device-map", &device_map_},
        std::pair{"--gid-index", &gid_index_}, std::pair{"--traffic-class", &traffic_class_},
        std::pair{"--service-level", &service_level_}, std::pair{"--pkey", &pkey_},
        std::pair{"--mtu", &mtu_}, std::pair{"--qp-timeout", &qp_timeout_},
        std::pair{"--retry", &retry_}}) {
    if (*value) return option;
  }
  return "";
}

void VerbsArguments::check(std::string_view transport) const {
  if (const auto option = given(); !option.empty() && transport != "verbs") {
    throw InputError(
        fmt::format("{}: {} has no RDMA ports to choose from; expected --transport verbs beside it",
                    option, transport));
  }
  resolve();
}

hw::VerbsOptions VerbsArguments::resolve() const {
  if (device_ && device_map_) {
    throw InputError("--device beside --device-map: both say which; expected one of them");
  }
  hw::VerbsOptions options;
  if (device_) {
    hw::parse_port_name(*device_, "--device:");
    options.device = *device_;
  }
  if (device_map_ == kNearest) {
    options.nearest = true;
  } else if (device_map_) {
    options.device_map = parse_map(*device_map_);
  }
  if (gid_index_) {
    options.gid_index = static_cast<std::uint8_t>(count(gid_index_, "--gid-index", 255, 0));
  }
  options.traffic_class =
      static_cast<std::uint8_t>(count(traffic_class_, "--traffic-class", 255, 0));
  options.service_level =
      static_cast<std::uint8_t>(count(service_level_, "--service-level", 15, 0));
  if (pkey_) options.partition = parse_partition(*pkey_);
  if (mtu_) options.mtu = parse_mtu(*mtu_);
  if (qp_timeout_) options.ack_timeout = parse_timeout(*qp_timeout_);
  options.retries = static_cast<std::uint8_t>(count(retry_, "--retry", 7, options.retries));
  return options;
}

std::string VerbsArguments::note() const {
  if (!qp_timeout_) return "";
  const std::uint8_t exponent = parse_timeout(*qp_timeout_);
  const double taken_s = hw::ack_timeout_s(exponent);
  const double asked_s = sched::seconds(sched::parse_time(*qp_timeout_, "--qp-timeout"));
  if (std::abs(taken_s - asked_s) < 1e-12 * taken_s) return "";
  return fmt::format("--qp-timeout {}: taken as {} (4.096 us times 2^{})", *qp_timeout_,
                     sched::human_seconds(taken_s), exponent);
}

}  // namespace slackline::cli
