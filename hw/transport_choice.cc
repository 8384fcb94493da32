#include "hw/transport_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "hw/bytes.h"
#include "hw/conclusion.h"
#include "hw/shm_room.h"

namespace slackline::hw {
namespace {

constexpr std::string_view kCure = "expected --transport tcp (auto chooses by itself)";

// "rank 0 is on node0, rank 2 on node1": the first rank of each host, for the first few hosts.
std::string first_of_each_host(const Mesh& mesh, std::span<const std::uint32_t> ranks) {
  constexpr std::size_t kShown = 4;
  std::vector<std::uint32_t> firsts;
  for (const std::uint32_t rank : ranks) {
    const auto shares = [&](std::uint32_t other) { return mesh.is_same_host(rank, other); };
    if (std::none_of(firsts.begin(), firsts.end(), shares)) firsts.push_back(rank);
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(firsts.size(), kShown); ++i) {
    text += fmt::format("{}rank {} {}on {}", i == 0 ? "" : ", ", firsts[i], i == 0 ? "is " : "",
                        mesh.host(firsts[i]));
  }
  if (firsts.size() > kShown) text += fmt::format(", and so on: {} hosts", firsts.size());
  return text;
}

}  // namespace

std::string_view choose_transport(std::string_view asked, const Mesh& mesh) {
  if (asked != kAutoTransport) return asked;
  const bool one_host = mesh.ranks_on_this_host().size() == mesh.ranks();
  return one_host && mesh.ranks() <= kMostShmRanks ? "shm" : "tcp";
}

void require_ranks(std::string_view transport, std::uint32_t ranks) {
  if (transport != "shm" || ranks <= kMostShmRanks) return;
  throw InputError(fmt::format("transport shm: {} ranks, and libfabric's shm joins at most {}; {}",
                               ranks, kMostShmRanks, kCure));
}

void require_reach(std::string_view transport, const Mesh& mesh,
                   std::span<const std::uint32_t> ranks) {
  require_ranks(transport, static_cast<std::uint32_t>(ranks.size()));
  if (transport != "shm" || ranks.empty()) return;
  if (std::all_of(ranks.begin(), ranks.end(),
                  [&](std::uint32_t rank) { return mesh.is_same_host(rank, ranks[0]); })) {
    return;
  }
  throw InputError(fmt::format("transport shm: {}, and hosts share no memory; {}",
                               first_of_each_host(mesh, ranks), kCure));
}

void require_reach(std::string_view transport, const Mesh& mesh) {
  std::vector<std::uint32_t> all(mesh.ranks());
  std::iota(all.begin(), all.end(), 0u);
  require_reach(transport, mesh, all);
}

void require_room(std::string_view transport, Mesh& mesh) {
  if (transport != "shm") return;
  Failed failed;
  try {
    require_shm_room(static_cast<std::uint32_t>(mesh.ranks_on_this_host().size()), shm_room());
  } catch (const Error& error) {
    failed = describe_failure(error);
  }
  ByteWriter writer;
  write_failed(failed, writer);
  const std::vector<Bytes> told = mesh.all_gather(writer.take());
  for (std::uint32_t r = 0; r < told.size(); ++r) {
    const Failed theirs = read_from(r, "word about its host", told[r], read_failed);
    if (theirs.fault != Failed::Fault::kNone) rethrow(theirs);
  }
}

}  // namespace slackline::hw
