#include "hw/verbs_places.h"

#include "hw/bytes.h"
#include "hw/host_cores.h"
#include "hw/numa_nodes.h"

namespace slackline::hw {

HostPlace host_place(std::uint32_t rank, std::span<const std::uint32_t> here,
                     std::span<const std::vector<int>> nodes) {
  HostPlace place;
  for (const std::uint32_t other : here) {
    if (other >= rank) break;
    ++place.on_host;
    if (nodes[other] == nodes[rank]) ++place.on_nodes;
  }
  return place;
}

void set_places(VerbsOptions& options, Mesh& mesh) {
  ByteWriter writer;
  const std::vector<int> own = NumaNodes::of_this_machine().of_cores(allowed_cores());
  writer.add_list(std::span<const int>(own));
  std::vector<std::vector<int>> nodes;
  const std::vector<Bytes> told = mesh.all_gather(writer.take());
  for (std::uint32_t r = 0; r < told.size(); ++r) {
    nodes.push_back(read_from(r, "list of memory nodes", told[r],
                              [](ByteReader& reader) { return reader.list<int>(); }));
  }
  const HostPlace place = host_place(mesh.rank(), mesh.ranks_on_this_host(), nodes);
  options.rank_on_host = place.on_host;
  options.rank_on_nodes = place.on_nodes;
}

}  // namespace slackline::hw
