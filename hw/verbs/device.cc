#include "hw/verbs/device.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include "base/error.h"
#include "hw/verbs/port_list.h"

namespace slackline::hw {

void CloseVerbs::operator()(ibv_ah* address) const { ibv_destroy_ah(address); }
void CloseVerbs::operator()(ibv_comp_channel* channel) const { ibv_destroy_comp_channel(channel); }
void CloseVerbs::operator()(ibv_context* context) const { ibv_close_device(context); }
void CloseVerbs::operator()(ibv_cq* queue) const { ibv_destroy_cq(queue); }
void CloseVerbs::operator()(ibv_device** devices) const { ibv_free_device_list(devices); }
void CloseVerbs::operator()(ibv_mr* region) const { ibv_dereg_mr(region); }
void CloseVerbs::operator()(ibv_pd* domain) const { ibv_dealloc_pd(domain); }
void CloseVerbs::operator()(ibv_qp* pair) const { ibv_destroy_qp(pair); }

namespace {

// The GIDs that the addresses of a host would have.
std::vector<Gid> gids_of(const std::string& host) {
  std::vector<Gid> gids;
  if (host.empty()) return gids;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return gids;
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    Gid gid{};
    if (entry->ai_family == AF_INET) {
      gid[10] = gid[11] = 0xff;
      const auto* address = reinterpret_cast<const sockaddr_in*>(entry->ai_addr);
      std::memcpy(&gid[12], &address->sin_addr, 4);
    } else if (entry->ai_family == AF_INET6) {
      std::memcpy(gid.data(), &reinterpret_cast<const sockaddr_in6*>(entry->ai_addr)->sin6_addr,
                  16);
    } else {
      continue;
    }
    gids.push_back(gid);
  }
  freeaddrinfo(found);
  return gids;
}

}  // namespace

VerbsDevice::VerbsDevice(const VerbsOptions& options) {
  const std::vector<Gid> of_host = gids_of(options.host);
  const bool any = options.nearest || !options.device_map.empty() || options.device.empty();
  std::map<std::string, Verbs<ibv_context>> opened;
  const std::vector<PortDescription> ports =
      read_ports(any ? "" : parse_port_name(options.device, "verbs device").device, opened);
  const PortDescription& port = ports[choose_port(ports, options, of_host)];
  context_ = std::move(opened[port.device]);
  set_name(port);
  query();
  set_port(options);
  set_gid(port, options, of_host);
  set_partition(options);
  path_.traffic_class = options.traffic_class;
  path_.service_level = address_.service_level = options.service_level;
  path_.ack_timeout = ack_timeout_of(options);
  path_.retries = options.retries;
  domain_.reset(ibv_alloc_pd(context_.get()));
  if (!domain_) throw_failed("allocating a protection domain", errno);
}

void VerbsDevice::set_name(const PortDescription& port) {
  port_ = address_.port = port.port;
  name_ = fmt::format("{} port {}", port.device, port_);
  std::copy_n(port.device.begin(), std::min(port.device.size(), address_.device.size() - 1),
              address_.device.begin());
}

void VerbsDevice::query() {
  ibv_device_attr limits{};
  if (const int error = ibv_query_device(context_.get(), &limits); error != 0) {
    throw_failed("asking the device what it can do", error);
  }
  max_completions_ = static_cast<std::uint32_t>(limits.max_cqe);
  max_requests_ = static_cast<std::uint32_t>(limits.max_qp_wr);
  max_segments_ = static_cast<std::uint32_t>(std::max(1, limits.max_sge));
  has_atomics_ = limits.atomic_cap != IBV_ATOMIC_NONE;
  address_.reads_in = static_cast<std::uint8_t>(std::clamp(limits.max_qp_rd_atom, 1, 16));
  address_.reads_out = static_cast<std::uint8_t>(std::clamp(limits.max_qp_init_rd_atom, 1, 16));
}

void VerbsDevice::set_port(const VerbsOptions& options) {
  ibv_port_attr state{};
  if (const int error = ibv_query_port(context_.get(), port_, &state); error != 0) {
    throw_failed("asking the port how it is", error);
  }
  max_message_ = state.max_msg_sz;
  address_.lid = state.lid;
  address_.ethernet = state.link_layer == IBV_LINK_LAYER_ETHERNET ? 1 : 0;
  address_.mtu = choose_mtu(options.mtu, static_cast<std::uint8_t>(state.active_mtu), name_);
  packet_bytes_ = mtu_bytes(address_.mtu);
}

void VerbsDevice::set_gid(const PortDescription& port, const VerbsOptions& options,
                          std::span<const Gid> of_host) {
  const auto chosen =
      choose_gid(port.gids, address_.ethernet != 0, options.gid_index, of_host, name_);
  if (!chosen) return;
  gid_index_ = address_.gid_index = chosen->index;
  address_.gid = chosen->gid;
  address_.roce = chosen->roce;
}

void VerbsDevice::set_partition(const VerbsOptions& options) {
  ibv_port_attr state{};
  ibv_query_port(context_.get(), port_, &state);
  std::vector<std::uint16_t> keys(state.pkey_tbl_len);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::uint16_t key = 0;  // big-endian
    ibv_query_pkey(context_.get(), port_, static_cast<int>(i), &key);
    keys[i] = ntohs(key);
  }
  if (options.partition) path_.partition_index = choose_partition(keys, *options.partition, name_);
  if (path_.partition_index < keys.size()) address_.partition = keys[path_.partition_index];
}

bool VerbsDevice::is_active() const {
  ibv_port_attr state{};
  return ibv_query_port(context_.get(), port_, &state) == 0 && state.state == IBV_PORT_ACTIVE;
}

int VerbsDevice::numa_node() const {
  return numa_node_of_device(ibv_get_device_name(context_->device));
}

std::uint32_t VerbsDevice::register_memory(std::span<std::byte> memory) {
  int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  if (has_atomics_) access |= IBV_ACCESS_REMOTE_ATOMIC;
  Verbs<ibv_mr> region(ibv_reg_mr(domain_.get(), memory.data(), memory.size(), access));
  if (!region) throw_failed(fmt::format("registering {} bytes", memory.size()), errno);
  auto free = std::find(regions_.begin(), regions_.end(), nullptr);
  if (free == regions_.end()) free = regions_.emplace(free);
  *free = std::move(region);
  return static_cast<std::uint32_t>(free - regions_.begin());
}

void VerbsDevice::unregister_memory(std::uint32_t region) {
  if (region < regions_.size()) regions_[region].reset();
}

std::uint32_t VerbsDevice::local_key(std::uint32_t region) const {
  if (region >= regions_.size() || !regions_[region]) throw InternalError("unregistered memory");
  return regions_[region]->lkey;
}

std::uint32_t VerbsDevice::remote_key(std::uint32_t region) const { return regions_[region]->rkey; }

void VerbsDevice::throw_failed(std::string_view what, int error) const {
  std::string cure;
  rlimit locked{};
  if (error == ENOMEM && getrlimit(RLIMIT_MEMLOCK, &locked) == 0 &&
      locked.rlim_cur != RLIM_INFINITY) {
    cure = fmt::format(
        "; this process may lock {} KiB of memory: `ulimit -l unlimited` before it starts, or "
        "memlock in /etc/security/limits.conf, lifts that",
        locked.rlim_cur / 1024);
  }
  if (error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH) {
    cure =
        "; no way leads from one address to the other, or nobody answers there (`ip route get`, "
        "`ip neigh`); --device and --gid-index choose others";
  }
  throw EnvironmentError(
      fmt::format("verbs: {}: {} failed: {}{}", name_, what, std::strerror(error), cure));
}

}  // namespace slackline::hw
