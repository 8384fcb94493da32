#include "hw/binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/enum_names.h"
#include "base/error.h"
#include "hw/host_cores.h"
#include "hw/mesh/wire.h"

namespace slackline::hw {
namespace {

constexpr base::EnumNames<Binding, 3> kBindings = {"none", "core", "numa"};

class Seating {
 public:
  explicit Seating(const NodeOfCore& node_of) : node_of_(node_of) {}

  std::vector<std::uint32_t> core(const RankSeat& rank) {
    const auto order = [&](std::uint32_t core) {
      const bool far = rank.near >= 0 && node_of_(core) != rank.near;
      return std::tuple(on_core_[core], far, core);
    };
    const std::uint32_t best =
        *std::min_element(rank.cores.begin(), rank.cores.end(),
                          [&](std::uint32_t a, std::uint32_t b) { return order(a) < order(b); });
    ++on_core_[best];
    return {best};
  }

  std::vector<std::uint32_t> node(const RankSeat& rank) {
    std::map<int, std::vector<std::uint32_t>> nodes;
    for (const std::uint32_t core : rank.cores) nodes[node_of_(core)].push_back(core);
    nodes.erase(-1);
    if (nodes.empty()) return rank.cores;
    const auto order = [&](const auto& node) {
      const std::size_t ranks = on_node_[node.first];
      const bool full = ranks >= node.second.size();
      return std::tuple(full, node.first != rank.near, ranks, node.first);
    };
    const auto best =
        std::min_element(nodes.begin(), nodes.end(),
                         [&](const auto& a, const auto& b) { return order(a) < order(b); });
    ++on_node_[best->first];
    return best->second;
  }

 private:
  const NodeOfCore& node_of_;
  std::map<std::uint32_t, std::size_t> on_core_;  // ranks
  std::map<int, std::size_t> on_node_;
};

}  // namespace

std::string_view name(Binding binding) { return kBindings[binding]; }

std::optional<Binding> binding_named(std::string_view text) { return kBindings.find(text); }

std::vector<std::vector<std::uint32_t>> seats_of(Binding binding, std::span<const RankSeat> ranks,
                                                 const NodeOfCore& node_of) {
  Seating seating(node_of);
  std::vector<std::vector<std::uint32_t>> seats;
  for (const RankSeat& rank : ranks) {
    seats.push_back(binding == Binding::kCore   ? seating.core(rank)
                    : binding == Binding::kNuma ? seating.node(rank)
                                                : rank.cores);
  }
  return seats;
}

std::string crowding(Binding binding, std::span<const RankSeat> ranks, std::string_view host) {
  std::set<std::uint32_t> cores;
  for (const RankSeat& rank : ranks) cores.insert(rank.cores.begin(), rank.cores.end());
  if (ranks.size() <= cores.size()) return "";
  return fmt::format("--bind {}: {} ranks share {} core{} of {}, and take turns there",
                     name(binding), ranks.size(), cores.size(), cores.size() == 1 ? "" : "s", host);
}

std::vector<std::string> bind_rank(Binding binding, Mesh& mesh, const Transport& transport) {
  const std::vector<Bytes> told =
      mesh.all_gather(encode(RankSeat{allowed_cores(), transport.numa_node()}));
  std::vector<RankSeat> all;
  for (std::size_t r = 0; r < told.size(); ++r) {
    try {
      all.push_back(decode_rank_seat(told[r]));
    } catch (const WireError& error) {
      throw EnvironmentError(fmt::format("rank {} tells of its cores {}", r, error.what()));
    }
  }
  std::vector<std::string> notes;
  std::vector<bool> seen(mesh.ranks(), false);
  for (std::uint32_t first = 0; first < mesh.ranks(); ++first) {
    if (seen[first]) continue;
    std::vector<std::uint32_t> ranks;
    std::vector<RankSeat> there;
    for (std::uint32_t r = first; r < mesh.ranks(); ++r) {
      if (seen[r] || !mesh.is_same_host(first, r)) continue;
      seen[r] = true;
      ranks.push_back(r);
      there.push_back(all[r]);
    }
    const std::string note = crowding(binding, there, mesh.host(first));
    if (!note.empty()) notes.push_back(note);
    const auto own = std::find(ranks.begin(), ranks.end(), mesh.rank());
    if (own == ranks.end()) continue;
    const auto seats =
        seats_of(binding, there, [](std::uint32_t core) { return node_of_core(core); });
    run_on(seats[static_cast<std::size_t>(own - ranks.begin())]);
  }
  return notes;
}

}  // namespace slackline::hw
