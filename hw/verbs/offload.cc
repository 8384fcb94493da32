#include "hw/verbs/offload.h"

#include <fmt/format.h>
#include <infiniband/verbs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <span>

#include "base/error.h"
#include "hw/executor/memory.h"
#include "hw/verbs/device.h"
#include "hw/verbs/devx.h"
#include "hw/verbs/mlx5.h"

namespace slackline::hw {
namespace {

using offload::Entry;
using offload::Purpose;
using offload::Queue;
using offload::QueueId;
using offload::QueueKind;
using offload::QueueProgram;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{10};
constexpr std::uint32_t kMostPieces = 3;  // of one entry: what fits its 64 bytes
constexpr std::size_t kEntryBytes = 64;
constexpr std::uint8_t kTimeout = 17;  // 0.54 s, then again, …
constexpr std::uint8_t kRetries = 6;   // …so often; a receive may be posted late for ever
constexpr std::uint8_t kNotReadyRetries = 7;
constexpr std::uint8_t kNotReadyTimer = 1;  // 0.01 ms

struct FreeList {
  void operator()(ibv_device** devices) const { ibv_free_device_list(devices); }
};

// The first mlx5 NIC, or the one that is meant; throws unless it can do all that the path needs.
std::string find_nic(const std::string& wanted, OffloadPath path) {
  const std::string name = wanted.substr(0, wanted.find(':'));
  int count = 0;
  const std::unique_ptr<ibv_device*, FreeList> devices(ibv_get_device_list(&count));
  std::string others;
  for (int d = 0; devices && d < count; ++d) {
    ibv_device* const device = devices.get()[d];
    const std::string found = ibv_get_device_name(device);
    others += fmt::format("{}{}", others.empty() ? "" : ", ", found);
    if (name.empty() ? !load_mlx5_library().is_supported(device) : found != name) continue;
    const Mlx5Capability can = mlx5_capability(device);
    if (path == OffloadPath::kDevx && !can.devx) {
      throw EnvironmentError(fmt::format(
          "offload: {} cannot be opened for DevX; expected the kernel driver mlx5_ib and the "
          "right to use it (CAP_NET_RAW)",
          found));
    }
    if (can.devx && !(can.cross_channel && can.overrun_ignored)) {
      throw EnvironmentError(fmt::format(
          "offload: {} lacks {}; expected both", found,
          can.cross_channel ? "completion queues that may overrun" : "cross-channel queues"));
    }
    if (path == OffloadPath::kDevx && !can.loops_back) {
      throw EnvironmentError(fmt::format(
          "offload: {} does not loop connections back by itself as its port is set up; expected "
          "one that does, or --run raw, which addresses them",
          found));
    }
    return wanted.empty() ? found : wanted;
  }
  throw EnvironmentError(fmt::format(
      "offload: no mlx5 NIC{} here (RDMA devices: {}); expected a ConnectX-4 or later with its "
      "driver and provider (Debian: rdma-core, ibverbs-providers)",
      name.empty() ? "" : fmt::format(" '{}'", name), others.empty() ? "none" : others));
}

// All objects of one program on one port, connected to each other through it.
class RawRun {
 public:
  RawRun(const QueueProgram& program, const sched::Schedule& schedule, const std::string& device)
      : program_(program), schedule_(schedule), device_(VerbsOptions{device}) {
    make_memory();
    make_completion_queues();
    make_pairs();
    connect();
  }

  OffloadRun run(const QueueEncoder& encode) {
    const std::vector<QueueBytes> queues = encode(objects_);
    for (std::uint32_t q = 0; q < program_.queues().size(); ++q) {
      if (program_.queues()[q].kind == QueueKind::kReceive) post_receives(QueueId(q));
    }
    for (const QueueBytes& queue : queues) {
      if (program_.queue(queue.queue).kind != QueueKind::kReceive) post(queue);
    }
    const auto begin = Clock::now();
    await_collectors(begin + kPatience);
    const std::chrono::duration<double> took = Clock::now() - begin;
    for (RankMemory& memory : memory_) {
      if (const auto breach = memory.first_breach()) {
        throw InternalError(fmt::format("offload on {}: {}", device_.name(), *breach));
      }
    }
    return {device_.name(), took.count()};
  }

 private:
  void make_memory() {
    objects_.memory.resize(program_.buffers().size());
    memory_.reserve(program_.rank_count());
    for (std::uint32_t r = 0; r < program_.rank_count(); ++r) {
      memory_.emplace_back(schedule_, sched::RankId(r), std::span<const GivenMemory>(), 1);
      RankMemory& memory = memory_.back();
      const std::uint32_t region = device_.register_memory(memory.own());
      memory.fill();
      for (std::uint32_t b = 0; b < program_.buffers().size(); ++b) {
        const sched::Buffer& buffer = program_.buffers()[b];
        if (buffer.rank.value != r) continue;
        const auto bytes = memory.at({sched::BufferId(b), 0, buffer.bytes});
        objects_.memory[b] = {reinterpret_cast<std::uint64_t>(bytes.data()),
                              device_.local_key(region), device_.remote_key(region)};
      }
    }
  }

  // Nobody reads them but the collectors': they may run over, and the NIC counts on.
  void make_completion_queues() {
    const auto completions = [&](offload::CqId cq) {
      std::uint32_t count = 0;
      for (const Queue& q : program_.queues()) {
        if (q.cq != cq) continue;
        for (const Entry& entry : program_.entries(q)) count += completes(entry) ? 1 : 0;
      }
      return count;
    };
    for (std::uint32_t c = 0; c < program_.cqs().size(); ++c) {
      ibv_cq_init_attr_ex attributes{};
      attributes.cqe = std::min(device_.max_completions(), completions(offload::CqId(c)) + 1);
      attributes.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
      attributes.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
      ibv_cq_ex* const made = ibv_create_cq_ex(device_.context(), &attributes);
      if (made == nullptr) device_.throw_failed("creating a queue that may overrun", errno);
      cqs_.emplace_back(ibv_cq_ex_to_cq(made));
      mlx5dv_cq inner{};
      mlx5dv_obj object{};
      object.cq.in = cqs_.back().get();
      object.cq.out = &inner;
      if (const int error = mlx5_.init_object(&object, MLX5DV_OBJ_CQ); error != 0) {
        device_.throw_failed("asking for a completion queue's number", error);
      }
      objects_.cqn.push_back(inner.cqn);
    }
  }

  // The two halves of a pair may lack one: of a management queue, the receives.
  void make_pairs() {
    std::uint32_t count = 0;
    for (const Queue& q : program_.queues()) count = std::max(count, q.pair + 1);
    std::vector<std::array<const Queue*, 2>> halves(count);  // sends, receives
    for (const Queue& q : program_.queues()) {
      halves[q.pair][q.kind == QueueKind::kReceive ? 1 : 0] = &q;
    }
    for (const auto& [sends, receives] : halves) {
      if (sends == nullptr && receives == nullptr) {
        throw InternalError("offload: a queue pair without queues");
      }
      ibv_qp_init_attr_ex attributes{};
      attributes.qp_type = IBV_QPT_RC;
      attributes.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
      attributes.pd = device_.domain();
      attributes.send_ops_flags = IBV_QP_EX_WITH_SEND;
      attributes.send_cq = cqs_[(sends != nullptr ? sends : receives)->cq.value].get();
      attributes.recv_cq = cqs_[(receives != nullptr ? receives : sends)->cq.value].get();
      attributes.cap.max_send_wr = sends != nullptr ? std::max(1u, sends->count) : 1;
      attributes.cap.max_recv_wr = receives != nullptr ? std::max(1u, receives->count) : 1;
      attributes.cap.max_send_sge = attributes.cap.max_recv_sge =
          std::min(kMostPieces, device_.max_segments());
      mlx5dv_qp_init_attr special{};
      special.comp_mask =
          MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS | MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS;
      special.create_flags = MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE;
      special.send_ops_flags = MLX5DV_QP_EX_WITH_RAW_WQE;
      pairs_.emplace_back(mlx5_.create_qp(device_.context(), &attributes, &special));
      if (!pairs_.back()) device_.throw_failed("creating a queue pair for raw entries", errno);
      objects_.qpn.push_back(pairs_.back()->qp_num);
    }
  }

  // To the pair at the other end, or to itself where there is none.
  void connect() {
    std::vector<std::uint32_t> other(pairs_.size());
    for (std::uint32_t p = 0; p < other.size(); ++p) other[p] = p;
    for (const Queue& q : program_.queues()) {
      if (q.peer.valid()) other[q.pair] = program_.queue(q.peer).pair;
    }
    for (std::uint32_t p = 0; p < other.size(); ++p) connect(p, objects_.qpn[other[p]]);
  }

  void connect(std::uint32_t pair, std::uint32_t peer) {
    const VerbsPort& port = device_.address();
    ibv_qp_attr to{};
    to.qp_state = IBV_QPS_INIT;
    to.port_num = device_.port();
    to.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
    modify(pair, to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
    to.qp_state = IBV_QPS_RTR;
    to.path_mtu = static_cast<ibv_mtu>(port.mtu);
    to.dest_qp_num = peer;
    to.max_dest_rd_atomic = 1;
    to.min_rnr_timer = kNotReadyTimer;
    to.ah_attr.port_num = device_.port();
    to.ah_attr.dlid = port.lid;
    if (port.ethernet != 0 || port.lid == 0) {
      to.ah_attr.is_global = 1;
      std::memcpy(to.ah_attr.grh.dgid.raw, port.gid.data(), port.gid.size());
      to.ah_attr.grh.sgid_index = device_.gid_index();
      to.ah_attr.grh.hop_limit = 64;
    }
    modify(pair, to,
           IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
               IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
    to.qp_state = IBV_QPS_RTS;
    to.timeout = kTimeout;
    to.retry_cnt = kRetries;
    to.rnr_retry = kNotReadyRetries;
    to.max_rd_atomic = 1;
    modify(pair, to,
           IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
               IBV_QP_MAX_QP_RD_ATOMIC);
  }

  void modify(std::uint32_t pair, ibv_qp_attr& to, int mask) {
    const int error = ibv_modify_qp(pairs_[pair].get(), &to, mask);
    if (error != 0) device_.throw_failed("connecting a queue pair", error);
  }

  void post_receives(QueueId queue) {
    const Queue& q = program_.queue(queue);
    for (const Entry& entry : program_.entries(q)) {
      std::array<ibv_sge, kMostPieces> pieces{};
      int count = 0;
      for (const sched::Slice& slice : program_.slices(entry.local)) {
        if (slice.bytes == 0) continue;
        if (count == static_cast<int>(pieces.size())) {
          throw Unsupported(fmt::format("offload: queue {} has a receive of more than {} pieces",
                                        queue.value, kMostPieces));
        }
        const NicObjects::Memory& memory = objects_.memory[slice.buffer.value];
        pieces[count++] = {memory.address + slice.offset, static_cast<std::uint32_t>(slice.bytes),
                           memory.local_key};
      }
      ibv_recv_wr receive{};
      receive.sg_list = pieces.data();
      receive.num_sge = count;
      ibv_recv_wr* bad = nullptr;
      const int error = ibv_post_recv(pairs_[q.pair].get(), &receive, &bad);
      if (error != 0) device_.throw_failed("posting a receive", error);
    }
  }

  // All entries of a queue behind one doorbell. Indices are the driver's, which count as ours do.
  void post(const QueueBytes& queue) {
    if (queue.bytes.empty()) return;
    ibv_qp_ex* const pair = ibv_qp_to_qp_ex(pairs_[program_.queue(queue.queue).pair].get());
    mlx5dv_qp_ex* const raw = mlx5_.raw_of(pair);
    ibv_wr_start(pair);
    for (std::size_t at = 0; at < queue.bytes.size(); at += kEntryBytes) {
      alignas(kEntryBytes) std::array<std::uint8_t, kEntryBytes> entry;
      std::copy_n(queue.bytes.begin() + static_cast<std::ptrdiff_t>(at), kEntryBytes,
                  entry.begin());
      mlx5dv_wr_raw_wqe(raw, entry.data());
    }
    if (const int error = ibv_wr_complete(pair); error != 0) {
      device_.throw_failed("posting raw entries", error);
    }
  }

  void await_collectors(Clock::time_point deadline) {
    for (const Queue& q : program_.queues()) {
      if (q.purpose != Purpose::kCollect || q.count == 0) continue;
      const auto entries = program_.entries(q);
      auto left = std::count_if(entries.begin(), entries.end(),
                                [](const Entry& entry) { return completes(entry); });
      while (left > 0) {
        ibv_wc completion{};
        const int found = ibv_poll_cq(cqs_[q.cq.value].get(), 1, &completion);
        if (found < 0) device_.throw_failed("polling a completion queue", -found);
        if (found == 1 && completion.status != IBV_WC_SUCCESS) fail(q.cq, completion.status);
        if (found == 1) --left;
        if (found == 0 && Clock::now() > deadline) find_failure(q);
      }
    }
  }

  // What did not come may be another queue's fault.
  [[noreturn]] void find_failure(const Queue& collector) {
    for (std::uint32_t c = 0; c < cqs_.size(); ++c) {
      std::array<ibv_wc, 64> completions{};
      int found = 0;
      do {
        found =
            ibv_poll_cq(cqs_[c].get(), static_cast<int>(completions.size()), completions.data());
        for (int i = 0; i < found; ++i) {
          if (completions[i].status != IBV_WC_SUCCESS) {
            fail(offload::CqId(c), completions[i].status);
          }
        }
      } while (found == static_cast<int>(completions.size()));
    }
    throw EnvironmentError(
        fmt::format("offload: {}: rank {} was not done after {} s, and no queue reports an error",
                    device_.name(), collector.rank.value, kPatience.count()));
  }

  [[noreturn]] void fail(offload::CqId cq, ibv_wc_status status) const {
    throw EnvironmentError(fmt::format("offload: {}: completion queue {} reports: {}",
                                       device_.name(), cq.value, ibv_wc_status_str(status)));
  }

  const QueueProgram& program_;
  const sched::Schedule& schedule_;
  const Mlx5Library& mlx5_ = load_mlx5_library();
  std::vector<RankMemory> memory_;  // outlives the device's regions
  VerbsDevice device_;
  std::vector<Verbs<ibv_cq>> cqs_;
  std::vector<Verbs<ibv_qp>> pairs_;
  NicObjects objects_;
};

}  // namespace

OffloadRun run_on_mlx5(const QueueProgram& program, const sched::Schedule& schedule,
                       OffloadPath path, const std::string& device, const QueueEncoder& encode) {
  const std::string nic = find_nic(device, path);
  if (path == OffloadPath::kDevx) return run_by_devx(program, schedule, nic, encode);
  return RawRun(program, schedule, nic).run(encode);
}

}  // namespace slackline::hw
