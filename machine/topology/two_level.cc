#include "machine/topology/two_level.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>

#include "base/error.h"
#include "base/number.h"
#include "machine/input_text.h"
#include "machine/topology/checks.h"
#include "machine/topology/figures.h"
#include "machine/topology_entry.h"

namespace slackline::machine {
namespace {

// Bits per second; what a rate of ours can hold is below this.
constexpr double kFastest = 9e18;

bool is_rail_optimized(const Platform& platform) {
  return platform.node.rails.are_several() && platform.node.rails.wiring == RailWiring::kOptimized;
}

// A rack has one leaf switch, or one for each rail.
std::uint32_t leaves_of_rack(const Platform& platform) {
  return is_rail_optimized(platform) ? platform.node.rails.count : 1;
}
std::uint32_t nics_of_leaf(const Platform& platform) {
  return shape_of<TwoLevel>(platform).hosts * platform.node.rails.count / leaves_of_rack(platform);
}

double uplink_bits_per_s(const Platform& platform) {
  const auto& shape = shape_of<TwoLevel>(platform);
  if (shape.uplink.bits_per_second != 0) return static_cast<double>(shape.uplink.bits_per_second);
  return static_cast<double>(nics_of_leaf(platform)) *
         static_cast<double>(platform.rate.bits_per_second) / shape.oversubscription;
}

class TwoLevelNetwork final : public Network {
 public:
  explicit TwoLevelNetwork(const Platform& platform)
      : racks_(shape_of<TwoLevel>(platform).racks),
        leaves_(leaves_of_rack(platform)),
        nics_(nics_of_leaf(platform)) {
    const Rate uplink = shape_of<TwoLevel>(platform).uplink;
    uplink_ = uplink.bits_per_second != 0
                  ? uplink
                  : Rate{static_cast<std::uint64_t>(std::llround(uplink_bits_per_s(platform)))};
  }
  std::uint32_t host_count() const override { return racks_ * leaves_ * nics_; }
  std::uint32_t unit_hosts() const override { return nics_; }
  std::vector<Link> inner_links() const override {
    std::vector<Link> links;
    for (std::uint32_t l = 0; l < racks_ * leaves_; ++l) {
      const std::string leaf = leaves_ == 1
                                   ? fmt::format("rack-{}", l)
                                   : fmt::format("rack-{}.rail-{}", l / leaves_, l % leaves_);
      links.push_back({leaf + ".up", uplink_});
      links.push_back({leaf + ".down", uplink_});
    }
    return links;
  }
  void append_way(Flow flow, std::vector<LinkId>& way) const override {
    const std::uint32_t from = flow.src / nics_;
    const std::uint32_t to = flow.dst / nics_;
    if (from == to) return;
    way.push_back(inner(2 * from));
    way.push_back(inner(2 * to + 1));
  }
  // Leaf switches by their number, then the core.
  std::optional<std::uint32_t> find_switch(std::string_view name) const override {
    if (name == "core") return core();
    if (leaves_ != 1 || !name.starts_with(kRack)) return std::nullopt;
    const auto rack = base::whole_number<std::uint32_t>(name.substr(kRack.size()));
    if (!rack || *rack >= racks_ || name != fmt::format("{}{}", kRack, *rack)) return std::nullopt;
    return rack;
  }
  std::string switch_names() const override {
    return fmt::format("{0}0 … {0}{1} or core", kRack, racks_ - 1);
  }
  bool append_switch_way(Place src, Place dst, std::vector<LinkId>& way) const override {
    const std::uint32_t from = src.is_switch ? src.number : src.number / nics_;
    const std::uint32_t to = dst.is_switch ? dst.number : dst.number / nics_;
    if (!src.is_switch) way.emplace_back(2 * src.number);
    if (from != to && from != core()) way.push_back(inner(2 * from));
    if (from != to && to != core()) way.push_back(inner(2 * to + 1));
    if (!dst.is_switch) way.emplace_back(2 * dst.number + 1);
    return true;
  }

 private:
  static constexpr std::string_view kRack = "rack-";
  std::uint32_t core() const { return racks_ * leaves_; }

  std::uint32_t racks_;
  std::uint32_t leaves_;  // of a rack
  std::uint32_t nics_;    // on a leaf
  Rate uplink_;
};

void check(const Platform& platform, std::string_view what) {
  const auto& shape = shape_of<TwoLevel>(platform);
  require_given(shape.racks, "racks", what);
  require_given(shape.hosts, "hosts", what);
  require_few_nics(host_product({shape.racks, shape.hosts}, what), platform, what);
  const double bits_per_s = uplink_bits_per_s(platform);
  if (!(bits_per_s >= 1 && (bits_per_s <= kFastest || shape.uplink.bits_per_second != 0))) {
    throw InputError(
        fmt::format("{}: an oversubscription of {} leaves the racks no rate; expected an uplink of "
                    "1 bps to {:g} bps",
                    what, shape.oversubscription, kFastest));
  }
}

void set_oversubscription(Platform& platform, std::string_view text, std::string_view what) {
  const auto factor = base::whole_number<double>(text);
  if (!factor || !std::isfinite(*factor) || *factor <= 0) {
    throw InputError(
        fmt::format("{}: {} is no oversubscription; expected a number above 0 such as 3.5", what,
                    in_quotes(text)));
  }
  auto& shape = shape_of<TwoLevel>(platform);
  shape.oversubscription = *factor;
  shape.uplink = {};
}

void set_uplink(Platform& platform, std::string_view text, std::string_view what) {
  auto& shape = shape_of<TwoLevel>(platform);
  shape.uplink = sched::parse_rate(text, what);
  shape.oversubscription = 1;
}

std::string get_oversubscription(const Platform& platform) {
  const auto& shape = shape_of<TwoLevel>(platform);
  return shape.uplink.bits_per_second != 0 ? std::string()
                                           : fmt::format("{}", shape.oversubscription);
}

std::string get_uplink(const Platform& platform) {
  const Rate rate = shape_of<TwoLevel>(platform).uplink;
  return rate.bits_per_second == 0 ? std::string() : sched::format_rate(rate);
}

constexpr std::array<std::string_view, 1> kNotWithUplink = {"oversubscription"};

constexpr std::array<PlatformFigure, 5> kFigures = {{
    meaning("how many", count_figure<TwoLevel, &TwoLevel::racks>("racks")),
    meaning("of a rack", count_figure<TwoLevel, &TwoLevel::hosts>("hosts")),
    meaning("of a rack's switch, each way",
            {"uplink", "network", "uplink", "a rate such as \"100Gbps\"", set_uplink, get_uplink,
             FigureForm::kText, kNotWithUplink}),
    meaning("of a rack's uplink; 1",
            {"oversubscription", "network", "oversubscription", "a number such as 3.5",
             set_oversubscription, get_oversubscription, FigureForm::kDecimal}),
    hop_latency_figure(),
}};

}  // namespace

const TopologyEntry& two_level_entry() {
  static const TopologyEntry entry = {
      "two-level",
      "racks of hosts, joined by their uplinks",
      TwoLevel{},
      kFigures,
      check,
      [](const Platform& platform, std::uint32_t) -> std::unique_ptr<Network> {
        return std::make_unique<TwoLevelNetwork>(platform);
      }};
  return entry;
}

}  // namespace slackline::machine
