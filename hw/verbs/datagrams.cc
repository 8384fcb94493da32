#include "hw/verbs/datagrams.h"

#include <fmt/format.h>
#include <infiniband/verbs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/system_file.h"
#include "hw/verbs/multicast_group.h"

namespace slackline::hw {
namespace {

constexpr std::size_t kHeaderBytes = 40;  // the global header, before each datagram received
constexpr std::size_t kReceiveBytes = std::size_t{4} << 20;
constexpr std::uint32_t kMostReceives = 4096;
constexpr std::uint32_t kSends = 256;
constexpr std::size_t kPollBatch = 32;
// All queue pairs of a group have the same. Who is who, datagrams say (hw/multicast/words.h).
constexpr std::uint32_t kQueueKey = 0x534c4d43;
constexpr std::uint32_t kGroupQueuePair = 0xffffff;
// On Ethernet, where nobody looks at it.
constexpr std::uint16_t kGroupLid = 0xc000;

ibv_gid as_verbs(const Gid& gid) {
  ibv_gid raw{};
  std::memcpy(raw.raw, gid.data(), gid.size());
  return raw;
}

// A group that a queue pair is attached to.
class Attached {
 public:
  Attached(ibv_qp* pair, const Gid& group, sched::Descriptor joined)
      : pair_(pair), group_(as_verbs(group)), joined_(std::move(joined)) {}
  ~Attached() { ibv_detach_mcast(pair_, &group_, kGroupLid); }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

 private:
  ibv_qp* pair_;
  ibv_gid group_;
  sched::Descriptor joined_;
};

class VerbsDatagrams final : public Datagrams {
 public:
  explicit VerbsDatagrams(VerbsDevice& device)
      : device_(device), datagram_bytes_(device.packet_bytes()) {
    require_multicast();
    receives_ = static_cast<std::uint32_t>(
        std::min<std::size_t>({kReceiveBytes / slot_bytes(), kMostReceives, device.max_requests(),
                               device.max_completions()}));
    sends_ = std::min({kSends, device.max_requests(), device.max_completions()});
    memory_.resize((receives_ + sends_) * slot_bytes());
    region_ = device_.register_memory(memory_);
    send_queue_ = create_queue(sends_);
    receive_queue_ = create_queue(receives_);
    create_pair();
    group_ = drawn_group(device_.address().gid);
    address_ = create_address();
    for (std::uint32_t slot = 0; slot < receives_; ++slot) post_receive(slot);
    for (std::uint32_t slot = 0; slot < sends_; ++slot) free_.push_back(receives_ + slot);
  }

  ~VerbsDatagrams() override {
    attached_.clear();
    pair_.reset();
    device_.unregister_memory(region_);
  }

  std::size_t most_bytes() const override { return datagram_bytes_; }

  Address group() override {
    const auto bytes = std::as_bytes(std::span(group_));
    return {bytes.begin(), bytes.end()};
  }

  void join(const Address& address) override {
    Gid group{};
    if (address.size() == group.size()) std::memcpy(group.data(), address.data(), group.size());
    if (address.size() != group.size() || !is_group_for(group, device_.address().gid)) {
      throw EnvironmentError(fmt::format(
          "multicast: {} cannot join {}: its GID is {}; expected GIDs of one kind at all ranks "
          "(--gid-index)",
          device_.name(), text_of(group), text_of(device_.address().gid)));
    }
    sched::Descriptor joined = join_group(group, interface(), device_.name());
    ibv_gid raw = as_verbs(group);
    if (const int error = ibv_attach_mcast(pair_.get(), &raw, kGroupLid); error != 0) {
      device_.throw_failed(fmt::format("attaching to multicast group {}", text_of(group)), error);
    }
    attached_.emplace_back(pair_.get(), group, std::move(joined));
  }

  bool send(std::span<const std::byte> head, std::span<const std::byte> payload) override {
    if (head.size() + payload.size() > datagram_bytes_) throw InternalError("a datagram too large");
    if (free_.empty()) reap();
    if (free_.empty()) return false;
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    std::copy(head.begin(), head.end(), place(slot));
    std::copy(payload.begin(), payload.end(), place(slot) + head.size());
    ibv_sge entry = entry_of(slot, head.size() + payload.size());
    ibv_send_wr request{};
    request.wr_id = slot;
    request.sg_list = &entry;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    request.send_flags = IBV_SEND_SIGNALED;
    request.wr.ud.ah = address_.get();
    request.wr.ud.remote_qpn = kGroupQueuePair;
    request.wr.ud.remote_qkey = kQueueKey;
    ibv_send_wr* refused = nullptr;
    if (const int error = ibv_post_send(pair_.get(), &request, &refused); error != 0) {
      device_.throw_failed("posting a datagram", error);
    }
    return true;
  }

  std::span<const std::byte> receive() override {
    if (now_) post_receive(*now_);
    now_.reset();
    ibv_wc completion{};
    while (poll(receive_queue_, {&completion, 1}) == 1) {
      require_success(completion);
      const auto slot = static_cast<std::uint32_t>(completion.wr_id);
      if (completion.byte_len <= kHeaderBytes) {
        post_receive(slot);
        continue;
      }
      now_ = slot;
      return {place(slot) + kHeaderBytes, completion.byte_len - kHeaderBytes};
    }
    return {};
  }

 private:
  std::size_t slot_bytes() const { return kHeaderBytes + datagram_bytes_; }
  std::byte* place(std::uint32_t slot) { return memory_.data() + slot * slot_bytes(); }
  ibv_sge entry_of(std::uint32_t slot, std::size_t bytes) {
    return {.addr = reinterpret_cast<std::uint64_t>(place(slot)),
            .length = static_cast<std::uint32_t>(bytes),
            .lkey = device_.local_key(region_)};
  }

  void require_multicast() const {
    const VerbsPort& port = device_.address();
    if (port.ethernet == 0) {
      throw EnvironmentError(
          fmt::format("multicast: {} is InfiniBand, whose groups a subnet manager makes; expected "
                      "RoCE v2",
                      device_.name()));
    }
    if (port.roce != 2) {
      throw EnvironmentError(
          fmt::format("multicast: {} has a GID of RoCE v{}; expected v2 "
                      "(--gid-index)",
                      device_.name(), port.roce));
    }
    ibv_device_attr limits{};
    if (ibv_query_device(device_.context(), &limits) == 0 && limits.max_mcast_grp > 0) return;
    throw EnvironmentError(
        fmt::format("multicast: {} attaches no queue pair to a group "
                    "(max_mcast_grp is 0)",
                    device_.name()));
  }

  // Of the host's network, the interface that the GID is of.
  std::string interface() const {
    const std::string path = fmt::format("/sys/class/infiniband/{}/ports/{}/gid_attrs/ndevs/{}",
                                         ibv_get_device_name(device_.context()->device),
                                         device_.port(), device_.gid_index());
    std::string name = base::first_line(path);
    if (!name.empty()) return name;
    throw EnvironmentError(
        fmt::format("multicast: {}: {} names no network interface", device_.name(), path));
  }

  Verbs<ibv_cq> create_queue(std::uint32_t entries) {
    Verbs<ibv_cq> queue(
        ibv_create_cq(device_.context(), static_cast<int>(entries), nullptr, nullptr, 0));
    if (!queue) {
      device_.throw_failed(
          fmt::format("creating a completion queue of {} entries for datagrams", entries), errno);
    }
    return queue;
  }

  void create_pair() {
    ibv_qp_init_attr attributes{};
    attributes.send_cq = send_queue_.get();
    attributes.recv_cq = receive_queue_.get();
    attributes.qp_type = IBV_QPT_UD;
    attributes.cap.max_send_wr = sends_;
    attributes.cap.max_recv_wr = receives_;
    attributes.cap.max_send_sge = attributes.cap.max_recv_sge = 1;
    pair_.reset(ibv_create_qp(device_.domain(), &attributes));
    if (!pair_) device_.throw_failed("creating a queue pair of datagrams", errno);
    ibv_qp_attr state{};
    state.qp_state = IBV_QPS_INIT;
    state.port_num = device_.port();
    state.pkey_index = device_.path().partition_index;
    state.qkey = kQueueKey;
    modify(state, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
    state.qp_state = IBV_QPS_RTR;
    modify(state, IBV_QP_STATE);
    state.qp_state = IBV_QPS_RTS;
    modify(state, IBV_QP_STATE | IBV_QP_SQ_PSN);
  }

  void modify(ibv_qp_attr& attributes, int mask) {
    if (const int error = ibv_modify_qp(pair_.get(), &attributes, mask); error != 0) {
      device_.throw_failed("taking a queue pair of datagrams to its next state", error);
    }
  }

  Verbs<ibv_ah> create_address() {
    ibv_ah_attr attributes{};
    attributes.port_num = device_.port();
    attributes.dlid = kGroupLid;
    attributes.sl = device_.path().service_level;
    attributes.is_global = 1;
    attributes.grh.dgid = as_verbs(group_);
    attributes.grh.sgid_index = device_.gid_index();
    attributes.grh.hop_limit = 64;
    attributes.grh.traffic_class = device_.path().traffic_class;
    Verbs<ibv_ah> address(ibv_create_ah(device_.domain(), &attributes));
    if (!address) {
      device_.throw_failed(fmt::format("addressing multicast group {}", text_of(group_)), errno);
    }
    return address;
  }

  void post_receive(std::uint32_t slot) {
    ibv_sge entry = entry_of(slot, slot_bytes());
    ibv_recv_wr request{};
    request.wr_id = slot;
    request.sg_list = &entry;
    request.num_sge = 1;
    ibv_recv_wr* refused = nullptr;
    if (const int error = ibv_post_recv(pair_.get(), &request, &refused); error != 0) {
      device_.throw_failed("posting a receive of datagrams", error);
    }
  }

  void reap() {
    std::array<ibv_wc, kPollBatch> batch;
    while (const std::size_t count = poll(send_queue_, batch)) {
      for (const ibv_wc& completion : std::span(batch).first(count)) {
        require_success(completion);
        free_.push_back(static_cast<std::uint32_t>(completion.wr_id));
      }
    }
  }

  std::size_t poll(const Verbs<ibv_cq>& queue, std::span<ibv_wc> completions) const {
    const int count =
        ibv_poll_cq(queue.get(), static_cast<int>(completions.size()), completions.data());
    if (count < 0) device_.throw_failed("polling a completion queue of datagrams", -count);
    return static_cast<std::size_t>(count);
  }

  void require_success(const ibv_wc& completion) const {
    if (completion.status == IBV_WC_SUCCESS) return;
    throw EnvironmentError(fmt::format("multicast: {}: a datagram failed: {}", device_.name(),
                                       ibv_wc_status_str(completion.status)));
  }

  VerbsDevice& device_;
  const std::size_t datagram_bytes_;
  std::uint32_t receives_ = 0;
  std::uint32_t sends_ = 0;
  // Slots of receives, and behind them of sends.
  std::vector<std::byte> memory_;
  std::uint32_t region_ = 0;
  Verbs<ibv_cq> send_queue_;
  Verbs<ibv_cq> receive_queue_;
  Verbs<ibv_qp> pair_;
  Gid group_{};
  Verbs<ibv_ah> address_;
  std::list<Attached> attached_;
  std::vector<std::uint32_t> free_;   // slots of sends
  std::optional<std::uint32_t> now_;  // the slot that receive() has answered with
};

}  // namespace

std::unique_ptr<Datagrams> make_verbs_datagrams(VerbsDevice& device) {
  return std::make_unique<VerbsDatagrams>(device);
}

}  // namespace slackline::hw
