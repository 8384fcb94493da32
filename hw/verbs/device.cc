#include "hw/verbs/device.h"

#include <fmt/format.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

#include "sched/error.h"

namespace slackline::hw {

void CloseVerbs::operator()(ibv_comp_channel* channel) const { ibv_destroy_comp_channel(channel); }
void CloseVerbs::operator()(ibv_context* context) const { ibv_close_device(context); }
void CloseVerbs::operator()(ibv_cq* queue) const { ibv_destroy_cq(queue); }
void CloseVerbs::operator()(ibv_mr* region) const { ibv_dereg_mr(region); }
void CloseVerbs::operator()(ibv_pd* domain) const { ibv_dealloc_pd(domain); }
void CloseVerbs::operator()(ibv_qp* pair) const { ibv_destroy_qp(pair); }

namespace {

using Gid = std::array<std::uint8_t, 16>;

constexpr std::string_view kNoDevice =
    "verbs: no RDMA device here (`ibv_devices` lists them). A NIC needs its kernel driver and its "
    "provider (Debian: rdma-core, ibverbs-providers); any Ethernet interface can be one in "
    "software: modprobe rdma_rxe && rdma link add rxe0 type rxe netdev eth0";

struct FreeDevices {
  void operator()(ibv_device** devices) const { ibv_free_device_list(devices); }
};

struct Wanted {
  std::string device;  // empty: any
  int port = 0;        // 0: any
};

Wanted parse_wanted(const std::string& text) {
  Wanted wanted{text, 0};
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return wanted;
  wanted.device = text.substr(0, colon);
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, wanted.port);
  if (error != std::errc() || stop != end || wanted.port < 1 || wanted.port > 255 || colon == 0) {
    throw InputError(
        fmt::format("verbs device '{}'; expected NAME or NAME:PORT, PORT from 1 to 255", text));
  }
  return wanted;
}

bool is_ipv4(const Gid& gid) {
  static constexpr std::array<std::uint8_t, 12> kPrefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::equal(kPrefix.begin(), kPrefix.end(), gid.begin());
}

bool is_link_local(const Gid& gid) { return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80; }

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

VerbsDevice::VerbsDevice(const std::string& device, const std::string& host) {
  open(device);
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
  choose_gid(host);
  domain_.reset(ibv_alloc_pd(context_.get()));
  if (!domain_) throw_failed("allocating a protection domain", errno);
}

void VerbsDevice::open(const std::string& text) {
  const Wanted wanted = parse_wanted(text);
  int count = 0;
  const std::unique_ptr<ibv_device*, FreeDevices> devices(ibv_get_device_list(&count));
  if (!devices || count == 0) throw EnvironmentError(std::string(kNoDevice));
  std::string names;
  std::string idle;
  for (int d = 0; d < count; ++d) {
    const std::string name = ibv_get_device_name(devices.get()[d]);
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    if (!wanted.device.empty() && name != wanted.device) continue;
    context_.reset(ibv_open_device(devices.get()[d]));
    if (!context_) {
      // Without the right to it, other devices may still do.
      idle += fmt::format("; {} cannot be opened: {}", name, std::strerror(errno));
      continue;
    }
    if (open_port(wanted.port)) {
      name_ = fmt::format("{} port {}", name, port_);
      return;
    }
    idle += wanted.port != 0 ? fmt::format("; {} port {} is not active", name, wanted.port)
                             : fmt::format("; no port of {} is active", name);
  }
  if (idle.empty()) {
    throw EnvironmentError(
        fmt::format("verbs: no RDMA device '{}' here; there are: {}", wanted.device, names));
  }
  throw EnvironmentError(fmt::format(
      "verbs: no active port{} (`ibv_devinfo` shows their states; Ethernet: ip link set … up; "
      "InfiniBand: its cable, and a subnet manager)",
      idle));
}

bool VerbsDevice::is_active() const {
  ibv_port_attr state{};
  return ibv_query_port(context_.get(), port_, &state) == 0 && state.state == IBV_PORT_ACTIVE;
}

bool VerbsDevice::open_port(int port) {
  ibv_device_attr limits{};
  if (ibv_query_device(context_.get(), &limits) != 0) return false;
  for (int p = port == 0 ? 1 : port; p <= (port == 0 ? limits.phys_port_cnt : port); ++p) {
    ibv_port_attr state{};
    const auto number = static_cast<std::uint8_t>(p);
    if (ibv_query_port(context_.get(), number, &state) != 0) continue;
    if (state.state != IBV_PORT_ACTIVE) continue;
    port_ = number;
    max_message_ = state.max_msg_sz;
    address_.lid = state.lid;
    address_.ethernet = state.link_layer == IBV_LINK_LAYER_ETHERNET ? 1 : 0;
    address_.mtu = static_cast<std::uint8_t>(state.active_mtu);
    return true;
  }
  return false;
}

void VerbsDevice::choose_gid(const std::string& host) {
  const std::vector<Gid> of_host = gids_of(host);
  std::vector<ibv_gid_entry> entries(1024);
  const ssize_t count = ibv_query_gid_table(context_.get(), entries.data(), entries.size(), 0);
  if (count < 0) throw_failed("reading the table of GIDs", static_cast<int>(-count));
  entries.resize(static_cast<std::size_t>(count));
  int best = -1;
  for (const ibv_gid_entry& entry : entries) {
    if (entry.port_num != port_ || entry.gid_index > 255) continue;
    Gid gid;
    std::memcpy(gid.data(), entry.gid.raw, gid.size());
    int worth = 0;
    // InfiniBand's first GID is the port's own.
    if (entry.gid_type == IBV_GID_TYPE_ROCE_V2) worth += 8;
    if (std::find(of_host.begin(), of_host.end(), gid) != of_host.end()) worth += 4;
    if (!is_link_local(gid)) worth += 2;
    if (is_ipv4(gid)) worth += 1;
    if (address_.ethernet == 0) worth = entry.gid_index == 0 ? 1 : 0;
    if (worth <= best) continue;
    best = worth;
    gid_index_ = static_cast<std::uint8_t>(entry.gid_index);
    address_.gid = gid;
  }
  if (best < 0 && address_.ethernet != 0) {
    throw EnvironmentError(fmt::format(
        "verbs: {} has no GID; its network interface needs an address (ip addr add …)", name_));
  }
}

int VerbsDevice::numa_node() const {
  std::ifstream file(fmt::format("/sys/class/infiniband/{}/device/numa_node",
                                 ibv_get_device_name(context_->device)));
  int node = -1;
  return file >> node ? node : -1;
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
  throw EnvironmentError(
      fmt::format("verbs: {}: {} failed: {}{}", name_, what, std::strerror(error), cure));
}

}  // namespace slackline::hw
