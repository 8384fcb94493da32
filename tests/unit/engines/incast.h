// Senders of large messages, all to one port of a star, at 40 Gb/s.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/engines/fluid_network.h"
#include "machine/platform.h"
#include "tests/unit/engines/puts.h"

namespace slackline::testing {

class Incast {
 public:
  /// A sender for each time of `starts_s`, which rise; it begins then. `figures` are those of the
  /// platform beside its NICs.
  Incast(std::vector<double> starts_s, const std::string& figures)
      : starts_s_(std::move(starts_s)),
        schedule_(schedule_of_puts(flows() + 1, messages(flows()))),
        platform_(machine::parse_platform_spec("star:nic=fair,rate=40Gbps,latency=2us," + figures)),
        setting_(schedule_, platform_),
        paths_(setting_),
        network_(setting_, paths_),
        port_(*setting_.wiring.find_link("host-" + std::to_string(flows()) + ".in")) {}

  void go_on(double until_s) {
    for (; begun_ < starts_s_.size() && starts_s_[begun_] <= until_s; ++begun_) {
      step_to(starts_s_[begun_]);
      const auto flow = static_cast<std::uint32_t>(begun_);
      network_.start(pair(flow), kBytes, sched::OpId(flow));
    }
    step_to(until_s);
  }

  double now_s() const { return network_.now_s(); }
  bool has_sent() const { return !sent_.empty(); }
  double queue_bytes() const { return network_.queue_bytes(port_); }
  /// Of a sender that has begun.
  double rate_bytes_per_s(std::uint32_t flow) const {
    return network_.allowed_bytes_per_s(pair(flow));
  }

  /// Of the queue, at every step since forget().
  void forget() {
    looks_ = sum_ = most_ = 0;
    least_ = 1e18;
  }
  double mean() const { return sum_ / looks_; }
  double least() const { return least_; }
  double most() const { return most_; }

 private:
  static constexpr std::uint64_t kBytes = 2'000'000'000;

  static std::uint32_t pair(std::uint32_t flow) {
    return analysis::queue_pair(sched::ChannelId(flow), false);
  }
  static std::vector<Put> messages(std::uint32_t flows) {
    std::vector<Put> all;
    for (std::uint32_t f = 0; f < flows; ++f) all.push_back({f, flows, kBytes});
    return all;
  }
  std::uint32_t flows() const { return static_cast<std::uint32_t>(starts_s_.size()); }

  void step_to(double until_s) {
    while (network_.now_s() < until_s) {
      network_.step(until_s, sent_);
      ++looks_;
      sum_ += queue_bytes();
      least_ = std::min(least_, queue_bytes());
      most_ = std::max(most_, queue_bytes());
    }
  }

  const std::vector<double> starts_s_;
  const sched::Schedule schedule_;
  const machine::Platform platform_;
  const machine::Setting setting_;
  const machine::Paths paths_;
  analysis::FluidNetwork network_;
  const machine::LinkId port_;
  std::size_t begun_ = 0;
  std::vector<sched::OpId> sent_;
  double looks_ = 0, sum_ = 0, least_ = 1e18, most_ = 0;
};

}  // namespace slackline::testing
