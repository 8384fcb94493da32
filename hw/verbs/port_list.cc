#include "hw/verbs/port_list.h"

#include <fmt/format.h>
#include <infiniband/verbs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/system_file.h"
#include "hw/host_cores.h"
#include "hw/numa_nodes.h"

namespace slackline::hw {
namespace {

std::vector<PortGid> gids_of_port(ibv_context* context, std::uint8_t port) {
  std::vector<ibv_gid_entry> entries(1024);
  const ssize_t count = ibv_query_gid_table(context, entries.data(), entries.size(), 0);
  std::vector<PortGid> gids;
  for (ssize_t e = 0; e < count; ++e) {
    const ibv_gid_entry& entry = entries[static_cast<std::size_t>(e)];
    if (entry.port_num != port || entry.gid_index > 255) continue;
    PortGid& own = gids.emplace_back();
    own.index = static_cast<std::uint8_t>(entry.gid_index);
    std::memcpy(own.gid.data(), entry.gid.raw, own.gid.size());
    if (entry.gid_type == IBV_GID_TYPE_ROCE_V1) own.roce = 1;
    if (entry.gid_type == IBV_GID_TYPE_ROCE_V2) own.roce = 2;
  }
  return gids;
}

// Answers the device, opened; nothing if it was not to be, or could not.
Verbs<ibv_context> add_ports(ibv_device* device, const PortDescription& known, bool open,
                             std::vector<PortDescription>& ports) {
  const std::size_t before = ports.size();
  PortDescription none = known;
  none.kind = kind_of_port(device->node_type, device->transport_type, false, known.device);
  Verbs<ibv_context> context(open ? ibv_open_device(device) : nullptr);
  if (open && !context) none.trouble = std::strerror(errno);
  ibv_device_attr limits{};
  if (context && ibv_query_device(context.get(), &limits) == 0) {
    for (std::uint8_t p = 1; p <= limits.phys_port_cnt; ++p) {
      ibv_port_attr state{};
      if (ibv_query_port(context.get(), p, &state) != 0) continue;
      PortDescription& port = ports.emplace_back(known);
      port.port = p;
      port.active = state.state == IBV_PORT_ACTIVE;
      port.kind = kind_of_port(device->node_type, device->transport_type,
                               state.link_layer == IBV_LINK_LAYER_ETHERNET, known.device);
      port.gids = gids_of_port(context.get(), p);
    }
  }
  if (ports.size() == before) ports.push_back(none);
  return context;
}

}  // namespace

std::vector<PortDescription> read_ports(const std::string& only,
                                        std::map<std::string, Verbs<ibv_context>>& opened) {
  int count = 0;
  const Verbs<ibv_device*> devices(ibv_get_device_list(&count));
  std::vector<PortDescription> ports;
  const NumaNodes nodes = NumaNodes::of_this_machine();
  const std::vector<int> own = nodes.of_cores(allowed_cores());
  for (int d = 0; devices && d < count; ++d) {
    ibv_device* const device = devices.get()[d];
    PortDescription known;
    known.device = ibv_get_device_name(device);
    known.distance = nodes.distance(own, numa_node_of_device(known.device));
    opened[known.device] = add_ports(device, known, only.empty() || only == known.device, ports);
  }
  // libibverbs tells the latest first, or as it likes: another order on every host.
  std::stable_sort(ports.begin(), ports.end(),
                   [](const PortDescription& a, const PortDescription& b) {
                     return strverscmp(a.device.c_str(), b.device.c_str()) < 0;
                   });
  return ports;
}

int numa_node_of_device(const std::string& device) {
  const std::string path = fmt::format("/sys/class/infiniband/{}/device/numa_node", device);
  return base::first_number<int>(path).value_or(-1);
}

}  // namespace slackline::hw
