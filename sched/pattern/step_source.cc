#include "sched/pattern/step_source.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/grouped.h"

namespace slackline::sched {
namespace {

class PlanSteps : public StepSource {
 public:
  explicit PlanSteps(Plan plan)
      : plan_(std::move(plan)), receives_(plan_.ranks, 0), channel_(plan_.transfers.size()) {
    for (const Transfer& t : plan_.transfers) ++receives_[t.dst.value];
    number_channels();
    steps_ = plan_.transfers.empty() ? 0 : plan_.transfers.back().step + 1;
  }

  bool next(std::vector<Hop>& hops) override {
    hops.clear();
    if (step_ == steps_) return false;
    for (; next_ < plan_.transfers.size() && plan_.transfers[next_].step == step_; ++next_) {
      const Transfer& t = plan_.transfers[next_];
      hops.push_back({t.src, t.dst, t.block, channel_[next_] >> 2,
                      static_cast<std::uint8_t>(channel_[next_] & 3)});
    }
    ++step_;
    return true;
  }
  void restart() override { step_ = 0, next_ = 0; }

  std::uint32_t steps() const override { return steps_; }
  std::uint32_t channels() const override { return channels_; }
  std::uint32_t first_uses_before() const override { return steps_; }
  std::uint32_t receives_of(RankId rank) const override { return receives_[rank.value]; }
  std::uint32_t blocks_kept() const override { return plan_.blocks; }
  bool relays_whole_message() const override { return plan_.relay_whole_message; }

 private:
  // Source by source, so that a table over destinations serves all.
  void number_channels() {
    const base::Grouped<std::uint32_t> by_source(plan_.ranks, [&](auto&& take) {
      for (std::uint32_t i = 0; i < plan_.transfers.size(); ++i) {
        take(plan_.transfers[i].src.value, i);
      }
    });
    constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> seen_by(plan_.ranks, kNobody);
    std::vector<std::uint32_t> number(plan_.ranks);
    for (std::uint32_t src = 0; src < plan_.ranks; ++src) {
      std::uint32_t count = 0;
      const std::span<const std::uint32_t> own = by_source[src];
      for (const std::uint32_t i : own) {
        const std::uint32_t dst = plan_.transfers[i].dst.value;
        if (seen_by[dst] != src) {
          seen_by[dst] = src;
          number[dst] = count++;
        }
        channel_[i] = number[dst] << 2;
      }
      for (auto i = own.rbegin(); i != own.rend(); ++i) {
        const std::uint32_t dst = plan_.transfers[*i].dst.value;
        std::uint32_t& later = number[dst];
        later = seen_by[dst] == src ? 0 : std::min(later + 1, 2u);
        channel_[*i] |= later;
        seen_by[dst] = kNobody;
      }
      channels_ = std::max(channels_, count);
    }
  }

  const Plan plan_;
  std::vector<std::uint32_t> receives_;
  std::vector<std::uint32_t> channel_;  // of every transfer; its lowest two bits: Hop::later
  std::uint32_t channels_ = 0;
  std::uint32_t steps_ = 0;
  std::uint32_t step_ = 0;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<StepSource> steps_of(Plan plan) {
  return std::make_unique<PlanSteps>(std::move(plan));
}

}  // namespace slackline::sched
