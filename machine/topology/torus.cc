#include "machine/topology/torus.h"

#include <fmt/format.h>

#include <array>
#include <memory>

#include "base/error.h"
#include "base/mix.h"
#include "machine/topology/checks.h"
#include "machine/topology/figures.h"
#include "machine/topology/routing.h"
#include "machine/topology_entry.h"

namespace slackline::machine {
namespace {

// Links of one router along a dimension.
std::uint32_t directions(std::uint32_t size) { return size <= 2 ? size - 1 : 2; }

class TorusNetwork final : public Network {
 public:
  explicit TorusNetwork(const Platform& platform)
      : rate_(cable_rate(platform)), routing_(platform.topology.routing) {
    for (const std::uint32_t size : shape_of<Torus>(platform).dims) {
      dims_.push_back({size, hosts_, links_each_});
      hosts_ *= size;
      links_each_ += directions(size);
    }
  }
  std::uint32_t host_count() const override { return hosts_; }
  std::uint32_t unit_hosts() const override { return 1; }

  std::vector<Link> inner_links() const override {
    std::vector<Link> links;
    links.reserve(std::size_t{hosts_} * links_each_);
    for (std::uint32_t n = 0; n < hosts_; ++n) {
      for (std::size_t d = 0; d < dims_.size(); ++d) {
        const std::uint32_t count = directions(dims_[d].size);
        if (count > 0) links.push_back({fmt::format("router-{}.plus-{}", n, d), rate_});
        if (count > 1) links.push_back({fmt::format("router-{}.minus-{}", n, d), rate_});
      }
    }
    return links;
  }

  void append_way(Flow flow, std::vector<LinkId>& way) const override {
    if (routing_.kind == Routing::Kind::kValiant) {
      const std::uint32_t third =
          sched::below(sched::draw(routing_.seed, {flow.src, flow.dst}), hosts_);
      append_shortest({flow.src, third}, way);
      append_shortest({third, flow.dst}, way);
    } else {
      append_shortest(flow, way);
    }
  }

  // Half of a message goes each way round where both are as short.
  Spray append_all_ways(std::uint32_t src, std::uint32_t dst, std::vector<LinkId>& links,
                        std::vector<std::uint32_t>& parts) const override {
    Spray spray{2, 0};
    std::uint32_t at = src;
    for (const Dim& dim : dims_) {
      const std::uint32_t ahead = steps_up(dim, at, dst);
      const bool tied = is_tied(dim, ahead);
      const bool up = ahead <= dim.size - ahead;
      const std::size_t first = links.size();
      append_steps(dim, at, dst, up, links);
      spray.hops += links.size() - first;
      if (tied) {
        std::vector<LinkId> down;
        append_steps(dim, at, dst, false, down);
        for (std::size_t hop = 0; hop < down.size(); ++hop) {
          links.insert(links.begin() + static_cast<std::ptrdiff_t>(first + 2 * hop + 1), down[hop]);
        }
      }
      parts.resize(links.size(), tied ? 1 : 2);
      at = moved(dim, at, dst);
    }
    return spray;
  }

 private:
  struct Dim {
    std::uint32_t size;
    std::uint32_t stride;      // of hosts' numbers
    std::uint32_t first_link;  // of a router's
  };

  static std::uint32_t steps_up(const Dim& dim, std::uint32_t at, std::uint32_t dst) {
    return (dst / dim.stride % dim.size + dim.size - at / dim.stride % dim.size) % dim.size;
  }
  // Whether both ways round are as short, on links of their own.
  static bool is_tied(const Dim& dim, std::uint32_t ahead) {
    return 2 * ahead == dim.size && directions(dim.size) == 2;
  }
  // With the destination's place in the dimension.
  static std::uint32_t moved(const Dim& dim, std::uint32_t at, std::uint32_t dst) {
    return at - at / dim.stride % dim.size * dim.stride + dst / dim.stride % dim.size * dim.stride;
  }

  // One dimension after another, the shorter way round; of two equal ways, the one that goes up, or
  // with ECMP the one that the hash says.
  void append_shortest(Flow flow, std::vector<LinkId>& way) const {
    std::uint32_t at = flow.src;
    for (const Dim& dim : dims_) {
      const std::uint32_t ahead = steps_up(dim, at, flow.dst);
      bool up = ahead <= dim.size - ahead;
      if (routing_.kind == Routing::Kind::kEcmp && is_tied(dim, ahead)) {
        up = hashed_choice(routing_, flow, dim.stride, 2) == 0;
      }
      append_steps(dim, at, flow.dst, up, way);
      at = moved(dim, at, flow.dst);
    }
  }

  void append_steps(const Dim& dim, std::uint32_t at, std::uint32_t dst, bool up,
                    std::vector<LinkId>& way) const {
    const std::uint32_t end = moved(dim, at, dst);
    while (at != end) {
      way.push_back(inner(at * links_each_ + dim.first_link + (up ? 0 : 1)));
      const std::uint32_t place = at / dim.stride % dim.size;
      const std::uint32_t next = up ? (place + 1) % dim.size : (place + dim.size - 1) % dim.size;
      at = at - place * dim.stride + next * dim.stride;
    }
  }

  Rate rate_;
  Routing routing_;
  std::uint32_t hosts_ = 1;
  std::uint32_t links_each_ = 0;
  std::vector<Dim> dims_;
};

void check(const Platform& platform, std::string_view what) {
  const auto& dims = shape_of<Torus>(platform).dims;
  if (dims.empty()) {
    throw InputError(fmt::format("{}: dims is missing; expected sizes such as 4x4x2", what));
  }
  double links = 0;
  for (const std::uint32_t size : dims) {
    require_given(size, "a size in dims", what);
    links += directions(size);
  }
  require_few_links(links * host_product(dims, what), what);
}

constexpr std::array<std::string_view, 4> kWithout = {"rails", "rail", "rail_wiring", "switches"};

constexpr std::array<PlatformFigure, 4> kFigures = {{
    meaning("routers in each dimension",
            figure_of_shape<CountsFigure, Torus, &Torus::dims>("dims")),
    link_rate_figure(),
    hop_latency_figure(),
    routing_figure<OwnRouting::kMinimal>(),
}};

}  // namespace

const TopologyEntry& torus_entry() {
  static const TopologyEntry entry = {
      "torus",
      "routers of one host each in rings of several dimensions",
      Torus{},
      kFigures,
      check,
      [](const Platform& platform, std::uint32_t) -> std::unique_ptr<Network> {
        return std::make_unique<TorusNetwork>(platform);
      },
      kWithout};
  return entry;
}

}  // namespace slackline::machine
