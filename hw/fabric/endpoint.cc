#include "hw/fabric/endpoint.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/fi_atomic.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.h"
#include "hw/fabric/kept_signals.h"
#include "hw/fabric/library.h"
#include "hw/link_rate.h"
#include "hw/random_bytes.h"
#include "hw/shm_name.h"

namespace slackline::hw {
namespace {

constexpr std::size_t kCompletionQueue = 8192;

void require_of(std::string_view provider, ssize_t answer, std::string_view what) {
  if (answer >= 0) return;
  throw EnvironmentError(fmt::format("libfabric {}: {} failed: {}", provider, what,
                                     load_fabric_library().strerror(static_cast<int>(-answer))));
}

FabricInfo wanted(std::string_view provider) {
  FabricInfo hints(load_fabric_library().dupinfo(nullptr));
  if (!hints) throw EnvironmentError("libfabric: out of memory");
  hints->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  // Whoever waits polls; a thread of the provider's would only be in the way.
  hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
  hints->tx_attr->msg_order = FI_ORDER_SAS;
  hints->rx_attr->msg_order = FI_ORDER_SAS;
  hints->fabric_attr->prov_name = strdup(std::string(provider).c_str());
  return hints;
}

// libfabric reads as many bytes as the format says, whatever the length of what it is given.
bool is_whole(std::span<const std::byte> address, std::uint32_t format) {
  sa_family_t family = AF_UNSPEC;
  switch (format) {
    case FI_ADDR_STR:
      return !address.empty() && address.back() == std::byte{0};
    case FI_SOCKADDR:
    case FI_SOCKADDR_IN:
    case FI_SOCKADDR_IN6:
      if (address.size() < sizeof family) return false;
      std::memcpy(&family, address.data(), sizeof family);
      if (family == AF_INET) return address.size() >= sizeof(sockaddr_in);
      return family == AF_INET6 && address.size() >= sizeof(sockaddr_in6);
    default:
      return !address.empty();
  }
}

}  // namespace

void FreeInfo::operator()(fi_info* info) const { load_fabric_library().freeinfo(info); }

FabricInfo find_provider(std::string_view provider, const std::string& host) {
  const FabricInfo hints = wanted(provider);
  fi_info* found = nullptr;
  const bool bound = !host.empty() && provider != "shm";
  const KeptSignals kept;  // the first call loads more
  const int answer =
      load_fabric_library().getinfo(FI_VERSION(1, 17), bound ? host.c_str() : nullptr, nullptr,
                                    bound ? FI_SOURCE : 0, hints.get(), &found);
  if (answer == -FI_ENODATA) return nullptr;
  require_of(provider, answer, bound ? "looking for " + host : "fi_getinfo");
  return FabricInfo(found);
}

FabricEndpoint::FabricEndpoint(FabricInfo info)
    : info_(std::move(info)), provider_(info_->fabric_attr->prov_name) {
  fid_fabric* fabric = nullptr;
  require(load_fabric_library().fabric(info_->fabric_attr, &fabric, nullptr), "fi_fabric");
  fabric_.reset(fabric);
  fid_domain* domain = nullptr;
  require(fi_domain(fabric, info_.get(), &domain, nullptr), "fi_domain");
  domain_.reset(domain);
  if (info_->domain_attr->cq_data_size < 8) {
    throw EnvironmentError(fmt::format("libfabric {}: {} bytes of completion data; expected 8",
                                       provider_, info_->domain_attr->cq_data_size));
  }
  open_queue();
  fi_av_attr av_attr{};
  av_attr.type = FI_AV_TABLE;
  fid_av* av = nullptr;
  require(fi_av_open(domain, &av_attr, &av, nullptr), "fi_av_open");
  av_.reset(av);
  open_endpoint(ep_);
  if (provider_ == "net") open_endpoint(small_);
}

void FabricEndpoint::open_endpoint(Fid<fid_ep>& opened) {
  fid_ep* ep = nullptr;
  require(fi_endpoint(domain_.get(), info_.get(), &ep, nullptr), "fi_endpoint");
  opened.reset(ep);
  if (provider_ == "shm") name_segment();
  require(fi_ep_bind(ep, &av_->fid, 0), "binding the address vector");
  require(fi_ep_bind(ep, &cq_->fid, FI_TRANSMIT | FI_RECV), "binding the queue");
  require(fi_enable(ep), "fi_enable");
}

TransportFacts FabricEndpoint::facts() const {
  TransportFacts facts;
  facts.provider = provider_;
  const std::uint32_t version = load_fabric_library().version();
  facts.library = fmt::format("libfabric {}.{}", FI_MAJOR(version), FI_MINOR(version));
  if (provider_ == "shm") return facts;  // whose domain has a name, and no device
  const char* const name = info_->domain_attr->name;
  if (name != nullptr) facts.device = name;
  if (info_->nic != nullptr && info_->nic->device_attr != nullptr &&
      info_->nic->device_attr->name != nullptr) {
    facts.device = info_->nic->device_attr->name;
  }
  if (info_->nic != nullptr && info_->nic->link_attr != nullptr) {
    facts.mtu = static_cast<std::uint32_t>(info_->nic->link_attr->mtu);
    facts.link_bits_per_s = info_->nic->link_attr->speed;
  }
  const LinkFacts link = interface_link(facts.device);
  if (facts.mtu == 0) facts.mtu = link.mtu;
  if (facts.link_bits_per_s == 0) facts.link_bits_per_s = link.bits_per_s;
  return facts;
}

// The endpoint goes before what it is bound to.
FabricEndpoint::~FabricEndpoint() { close_endpoints(); }

void FabricEndpoint::close() {
  if (ep_ && provider_ == "net") hear_peers();
  close_endpoints();
}

void FabricEndpoint::close_endpoints() {
  small_.reset();
  ep_.reset();
}

// Of a connection that it has accepted, net forgets the socket if the endpoint is closed before the
// peer's request is read: it stays open until the process ends. Reading the queue reads requests.
void FabricEndpoint::hear_peers() {
  constexpr int kReads = 64;  // net looks at its sockets in some of them
  for (int i = 0; i < kReads; ++i) {
    fi_cq_tagged_entry entry{};
    fi_cq_err_entry error{};
    if (fi_cq_read(cq_.get(), &entry, 1) == -FI_EAVAIL) fi_cq_readerr(cq_.get(), &error, 0);
  }
}

// rxm closes one connection after the other, and after each it takes in what has come over the
// others (rxm_close_conn, rxm_flush_msg_cq): messages land in receives that were posted long ago,
// in memory that may be gone, and announced ones are answered over connections just closed. As all
// that rxm does is done within calls, an endpoint that nobody calls any more touches nothing: it is
// left open, until the process ends. The others drop what is under way.
void FabricEndpoint::abandon() {
  if (provider_ != "tcp;ofi_rxm") return close_endpoints();
  static_cast<void>(small_.release());
  static_cast<void>(ep_.release());
  static_cast<void>(av_.release());
  static_cast<void>(cq_.release());
  static_cast<void>(domain_.release());
  static_cast<void>(fabric_.release());
}

// The endpoint's name is that of its segment in /dev/shm, PID:UID:N. Ours says more, so that what a
// killed process left can be told from all else. A provider that takes no name keeps its own.
void FabricEndpoint::name_segment() {
  const std::optional<ShmOwner> owner = own_shm_owner();
  const Address given = name_of(ep_);
  std::string_view name(reinterpret_cast<const char*>(given.data()), given.size());
  name = name.substr(0, name.find('\0'));
  const std::size_t colon = name.rfind(':');
  if (!owner || colon == std::string_view::npos) return;
  std::string ours = "fi_shm://" + shm_name(*owner, name.substr(colon + 1));
  fi_setname(&ep_->fid, ours.data(), ours.size() + 1);
}

void FabricEndpoint::open_queue() {
  fi_cq_attr attr{};
  attr.size = kCompletionQueue;
  attr.format = FI_CQ_FORMAT_TAGGED;
  fid_cq* cq = nullptr;
  // net would start a thread for it, which is in the way of all who poll; shm has nothing of the
  // kind.
  attr.wait_obj = FI_WAIT_FD;
  if (provider_ == "tcp;ofi_rxm" && fi_cq_open(domain_.get(), &attr, &cq, nullptr) == 0) {
    cq_.reset(cq);
    if (fi_control(&cq->fid, FI_GETWAIT, &queue_descriptor_) != 0) queue_descriptor_ = -1;
    return;
  }
  attr.wait_obj = FI_WAIT_NONE;
  require(fi_cq_open(domain_.get(), &attr, &cq, nullptr), "fi_cq_open");
  cq_.reset(cq);
}

// The first one's length stands before the two.
Address FabricEndpoint::address() const {
  const Address all = name_of(ep_);
  const Address small = small_ ? name_of(small_) : Address();
  const auto bytes = static_cast<std::uint32_t>(all.size());
  Address address(sizeof bytes + all.size() + small.size());
  std::memcpy(address.data(), &bytes, sizeof bytes);
  std::ranges::copy(small, std::ranges::copy(all, address.begin() + sizeof bytes).out);
  return address;
}

Address FabricEndpoint::name_of(const Fid<fid_ep>& ep) const {
  Address name(256);
  std::size_t bytes = name.size();
  require(fi_getname(&ep->fid, name.data(), &bytes), "fi_getname");
  name.resize(bytes);
  return name;
}

FabricEndpoint::Places FabricEndpoint::insert(const Address& peer, std::size_t rank) {
  std::uint32_t bytes = 0;
  if (peer.size() >= sizeof bytes) std::memcpy(&bytes, peer.data(), sizeof bytes);
  const std::size_t both = peer.size() - std::min(peer.size(), sizeof bytes);
  const std::span<const std::byte> places = std::span(peer).last(both);
  const std::size_t first = std::min<std::size_t>(bytes, both);
  Places found;
  found.all = insert_one(places.first(first), rank);
  found.small = small_ ? insert_one(places.subspan(first), rank) : found.all;
  return found;
}

fi_addr_t FabricEndpoint::insert_one(std::span<const std::byte> place, std::size_t rank) {
  fi_addr_t found = FI_ADDR_UNSPEC;
  if (!is_whole(place, info_->addr_format) ||
      fi_av_insert(av_.get(), place.data(), 1, &found, 0, nullptr) != 1) {
    throw EnvironmentError(
        fmt::format("libfabric {}: the address of rank {} cannot be used", provider_, rank));
  }
  return found;
}

Fid<fid_mr> FabricEndpoint::register_memory(std::span<std::byte> memory, Reach reach) {
  std::uint64_t access = FI_SEND | FI_RECV | FI_READ | FI_WRITE;
  if (reach == Reach::kPeers) access |= FI_REMOTE_READ | FI_REMOTE_WRITE;
  // A key that is taken is drawn again; with 64 bits that hardly ever happens.
  constexpr int kTries = 64;
  ssize_t answer = -FI_ENOKEY;
  fid_mr* mr = nullptr;
  for (int i = 0; i < kTries && answer == -FI_ENOKEY; ++i) {
    answer = fi_mr_reg(domain_.get(), memory.data(), memory.size(), access, 0, draw_key(), 0, &mr,
                       nullptr);
  }
  require(answer, fmt::format("registering {} bytes", memory.size()));
  return Fid<fid_mr>(mr);
}

std::uint64_t FabricEndpoint::draw_key() const {
  const std::uint64_t key = drawn_number();
  const std::size_t bytes = info_->domain_attr->mr_key_size;
  return bytes >= sizeof key ? key : key & ((std::uint64_t{1} << (8 * bytes)) - 1);
}

bool FabricEndpoint::has_atomics() const {
  std::size_t count = 0;
  return fi_fetch_atomicvalid(ep_.get(), FI_UINT64, FI_SUM, &count) == 0 && count >= 1 &&
         fi_compare_atomicvalid(ep_.get(), FI_UINT64, FI_CSWAP, &count) == 0 && count >= 1;
}

bool FabricEndpoint::has_bitwise_atomics() const {
  constexpr std::array kOperations{FI_BAND, FI_BOR, FI_BXOR};
  return has_atomics() && std::ranges::all_of(kOperations, [&](fi_op operation) {
           std::size_t count = 0;
           return fi_fetch_atomicvalid(ep_.get(), FI_UINT64, operation, &count) == 0 && count >= 1;
         });
}

bool FabricEndpoint::writes_in_order() const {
  return (info_->tx_attr->msg_order & FI_ORDER_WAW) != 0 &&
         info_->ep_attr->max_order_waw_size == std::numeric_limits<std::size_t>::max();
}

void FabricEndpoint::wait(std::chrono::nanoseconds timeout, int also) {
  if (queue_descriptor_ >= 0) {
    fid* queue = &cq_->fid;
    if (fi_trywait(fabric_.get(), &queue, 1) != FI_SUCCESS) return;  // there is something
  } else {
    constexpr std::chrono::nanoseconds kNap = std::chrono::microseconds(50);
    timeout = std::min(timeout, kNap);
  }
  std::array<pollfd, 2> entries{};
  nfds_t count = 0;
  for (const int descriptor : {queue_descriptor_, also}) {
    if (descriptor >= 0) entries[count++] = {descriptor, POLLIN, 0};
  }
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
  const timespec time{seconds.count(), static_cast<long>((timeout - seconds).count())};
  ppoll(entries.data(), count, &time, nullptr);
}

void FabricEndpoint::require(ssize_t answer, std::string_view what) const {
  require_of(provider_, answer, what);
}

}  // namespace slackline::hw
