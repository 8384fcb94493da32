#include "machine/wiring.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "sched/error.h"

namespace slackline::machine {

// A star keeps two links per host, out and in; any other wiring the routes it was told.
struct Wiring::Contents {
  std::vector<std::string> hosts;  // of every rank
  std::vector<Link> links;
  std::map<std::string, LinkId, std::less<>> by_name;
  std::map<std::pair<sched::RankId, sched::RankId>, Route> fixed;
  Time latency{0};
  bool star = false;
};

Wiring::Wiring(const Platform& platform, std::uint32_t ranks)
    : contents_(std::make_unique<Contents>()) {
  contents_->star = true;
  contents_->latency = platform.latency;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    contents_->hosts.push_back(fmt::format("host-{}", r));
    contents_->links.push_back({fmt::format("host-{}.out", r), platform.rate});
    contents_->links.push_back({fmt::format("host-{}.in", r), platform.rate});
  }
  for (std::uint32_t i = 0; i < contents_->links.size(); ++i) {
    contents_->by_name.emplace(contents_->links[i].name, LinkId(i));
  }
}

Wiring::Wiring(std::vector<std::string> host_of_rank, std::vector<Link> links,
               std::vector<FixedRoute> routes)
    : contents_(std::make_unique<Contents>()) {
  contents_->hosts = std::move(host_of_rank);
  contents_->links = std::move(links);
  for (std::uint32_t i = 0; i < contents_->links.size(); ++i) {
    contents_->by_name.emplace(contents_->links[i].name, LinkId(i));
  }
  for (FixedRoute& fixed : routes) {
    contents_->fixed.emplace(std::pair(fixed.src, fixed.dst), std::move(fixed.route));
  }
}

Wiring::~Wiring() = default;
Wiring::Wiring(Wiring&&) noexcept = default;
Wiring& Wiring::operator=(Wiring&&) noexcept = default;

std::uint32_t Wiring::rank_count() const {
  return static_cast<std::uint32_t>(contents_->hosts.size());
}

std::string Wiring::host_name(sched::RankId rank) const { return contents_->hosts[rank.value]; }

std::span<const Link> Wiring::links() const { return contents_->links; }

std::optional<LinkId> Wiring::find_link(std::string_view name) const {
  const auto found = contents_->by_name.find(name);
  if (found == contents_->by_name.end()) return std::nullopt;
  return found->second;
}

Route Wiring::route(sched::RankId src, sched::RankId dst) const {
  if (contents_->star) {
    return {{LinkId(2 * src.value), LinkId(2 * dst.value + 1)}, contents_->latency};
  }
  const auto found = contents_->fixed.find({src, dst});
  if (found == contents_->fixed.end()) {
    throw InternalError(
        fmt::format("no route is known from rank {} to rank {}", src.value, dst.value));
  }
  return found->second;
}

}  // namespace slackline::machine
