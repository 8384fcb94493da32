#include "machine/topology/star.h"

#include <array>
#include <memory>
#include <string_view>

#include "machine/topology_entry.h"

namespace slackline::machine {
namespace {

class StarNetwork final : public Network {
 public:
  explicit StarNetwork(std::uint32_t hosts) : hosts_(hosts) {}
  std::uint32_t host_count() const override { return hosts_; }
  std::uint32_t unit_hosts() const override { return hosts_; }
  std::vector<Link> inner_links() const override { return {}; }
  void append_way(Flow, std::vector<LinkId>&) const override {}
  std::optional<std::uint32_t> find_switch(std::string_view name) const override {
    return name == "switch" ? std::optional(0u) : std::nullopt;
  }
  std::string switch_names() const override { return "switch"; }
  bool append_switch_way(Place src, Place dst, std::vector<LinkId>& way) const override {
    way.emplace_back(src.is_switch ? 2 * dst.number + 1 : 2 * src.number);
    return true;
  }

 private:
  std::uint32_t hosts_;
};

constexpr std::array<std::string_view, 1> kWithout = {"rail_wiring"};

}  // namespace

const TopologyEntry& star_entry() {
  static const TopologyEntry entry = {
      "star",
      "one switch of full speed",
      Star{},
      {},
      [](const Platform&, std::string_view) {},
      [](const Platform&, std::uint32_t ranks) -> std::unique_ptr<Network> {
        return std::make_unique<StarNetwork>(ranks);
      },
      kWithout};
  return entry;
}

}  // namespace slackline::machine
