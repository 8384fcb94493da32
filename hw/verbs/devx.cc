#include "hw/verbs/devx.h"

#include <fmt/format.h>
#include <infiniband/verbs.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <span>

#include "base/error.h"
#include "hw/device_barrier.h"
#include "hw/executor/memory.h"
#include "hw/verbs/device.h"
#include "hw/verbs/devx_commands.h"
#include "hw/verbs/devx_pages.h"
#include "hw/verbs/mlx5.h"

namespace slackline::hw {
namespace {

using offload::Entry;
using offload::EntryKind;
using offload::Purpose;
using offload::Queue;
using offload::QueueKind;
using offload::QueueProgram;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{10};
constexpr std::size_t kPage = DevxPages::kPage;
constexpr std::size_t kBlock = 64;
constexpr std::size_t kRecord = 64;  // of a doorbell: a cache line each
constexpr std::uint32_t kMostCompletions = 1u << 22;
constexpr std::size_t kOwnerByte = 63;         // of a completion
constexpr std::uint8_t kNotWritten = 0xf1;     // no opcode, the host's
constexpr std::uint8_t kNoOpcode = 0xf;        // in the upper half of that byte
constexpr std::uint8_t kFirstErrorCode = 0xd;  // requester, responder
constexpr std::size_t kSyndromeByte = 55;

std::uint32_t log_of(std::uint64_t count) {
  return static_cast<std::uint32_t>(
      std::bit_width(std::bit_ceil(std::max<std::uint64_t>(count, 1))) - 1);
}

// An object of libmlx5, and the function that undoes it.
template <class Object>
using Made = std::unique_ptr<Object, int (*)(Object*)>;
using MadePage = std::unique_ptr<mlx5dv_devx_uar, void (*)(mlx5dv_devx_uar*)>;

// All objects of one program, on one port.
class DevxRun {
 public:
  DevxRun(const QueueProgram& program, const sched::Schedule& schedule, const std::string& nic)
      : program_(program),
        schedule_(schedule),
        port_(VerbsOptions{nic}),
        context_(open()),
        domain_(ibv_alloc_pd(context_.get())) {
    if (!domain_) failed("allocating a protection domain");
    lay_out();
    register_memory();
    make_completion_queues();
    make_pairs();
    connect();
  }

  OffloadRun run(const QueueEncoder& encode) {
    const std::vector<QueueBytes> queues = encode(objects_);
    for (const QueueBytes& queue : queues) write(queue);
    for (const bool sends : {false, true}) {  // what is received into comes first
      for (const QueueBytes& queue : queues) {
        if ((program_.queue(queue.queue).kind != QueueKind::kReceive) == sends) ring(queue);
      }
    }
    const auto begin = Clock::now();
    await_collectors(begin + kPatience);
    const std::chrono::duration<double> took = Clock::now() - begin;
    for (RankMemory& memory : memory_) {
      if (const auto breach = memory.first_breach()) {
        throw InternalError(fmt::format("offload on {}: {}", port_.name(), *breach));
      }
    }
    return {port_.name(), took.count()};
  }

 private:
  struct Completions {
    std::size_t at = 0;
    std::uint32_t log_entries = 0;
    std::uint32_t read = 0;
  };
  struct Pair {
    const Queue* sends = nullptr;
    const Queue* receives = nullptr;
    std::size_t at = 0;      // receives, then…
    std::size_t blocks = 0;  // …sends, from here
    std::size_t record = 0;
    std::uint32_t log_blocks = 0;
    std::uint32_t log_receives = 0;
    std::uint32_t log_stride = 6;
  };

  [[noreturn]] void failed(std::string_view what, const Mailbox* answer = nullptr) const {
    const int error = errno;
    if (answer == nullptr) port_.throw_failed(what, error);
    std::uint32_t syndrome = 0;
    for (std::size_t i = 4; i < 8; ++i) syndrome = syndrome << 8 | (*answer)[i];
    throw EnvironmentError(fmt::format("offload: {}: {}: {} (status {:#x}, syndrome {:#x})",
                                       port_.name(), what, std::strerror(error), (*answer)[0],
                                       syndrome));
  }

  Verbs<ibv_context> open() const {
    mlx5dv_context_attr attributes{};
    attributes.flags = MLX5DV_CONTEXT_FLAGS_DEVX;
    Verbs<ibv_context> context(mlx5_.open_device(port_.context()->device, &attributes));
    if (!context) failed("opening it for DevX");
    return context;
  }

  // Where everything lies that the NIC reads and writes, but for data.
  void lay_out() {
    std::size_t end = 0;
    const auto take = [&](std::size_t bytes, std::size_t alignment) {
      const std::size_t at = (end + alignment - 1) / alignment * alignment;
      end = at + bytes;
      return at;
    };
    std::vector<std::uint64_t> completions(program_.cqs().size(), 0);
    for (const Queue& q : program_.queues()) {
      for (const Entry& entry : program_.entries(q)) completions[q.cq.value] += completes(entry);
      if (q.pair >= pairs_.size()) pairs_.resize(q.pair + 1);
      (q.kind == QueueKind::kReceive ? pairs_[q.pair].receives : pairs_[q.pair].sends) = &q;
    }
    for (const std::uint64_t count : completions) {
      Completions cq;
      cq.log_entries = log_of(std::min<std::uint64_t>(count + 1, kMostCompletions));
      cq.at = take(kBlock << cq.log_entries, kPage);
      completions_.push_back(cq);
    }
    for (Pair& pair : pairs_) {
      if (pair.receives != nullptr) {
        // Of 64 bytes each, whatever the program's stride: then they end where a block does.
        pair.log_receives = log_of(pair.receives->count);
        pair.at = take(kBlock << pair.log_receives, kPage);
        pair.blocks = pair.at + (kBlock << pair.log_receives);
      }
      pair.log_blocks = log_of(pair.sends != nullptr ? pair.sends->count : 1);
      const std::size_t sends =
          take(kBlock << pair.log_blocks, pair.receives != nullptr ? kBlock : kPage);
      if (pair.receives == nullptr) pair.at = pair.blocks = sends;
    }
    record_of_cqs_ = take(kRecord * completions_.size(), kPage);
    for (Pair& pair : pairs_) pair.record = take(kRecord, kRecord);
    pages_ = std::make_unique<DevxPages>(end);
    for (const Completions& cq : completions_) {
      for (std::size_t i = 0; i < std::size_t{1} << cq.log_entries; ++i) {
        *pages_->at(cq.at + i * kBlock + kOwnerByte) = kNotWritten;
      }
    }
  }

  void register_memory() {
    shown_ = {
        mlx5_.show_memory(context_.get(), pages_->at(0), pages_->bytes(), IBV_ACCESS_LOCAL_WRITE),
        mlx5_.hide_memory};
    if (!shown_) failed("showing it the queues' memory");
    page_ = {mlx5_.open_page(context_.get(), MLX5DV_UAR_ALLOC_TYPE_BF), mlx5_.close_page};
    if (!page_) failed("asking for a page of doorbells");
    if (mlx5_.event_queue(context_.get(), 0, &event_queue_) != 0) failed("asking for events");
    mlx5dv_pd inner{};
    mlx5dv_obj object{};
    object.pd.in = domain_.get();
    object.pd.out = &inner;
    if (mlx5_.init_object(&object, MLX5DV_OBJ_PD) != 0) failed("asking for its domain's number");
    domain_number_ = inner.pdn;

    objects_.memory.resize(program_.buffers().size());
    memory_.reserve(program_.rank_count());
    for (std::uint32_t r = 0; r < program_.rank_count(); ++r) {
      memory_.emplace_back(schedule_, sched::RankId(r), std::span<const GivenMemory>(), 1);
      RankMemory& memory = memory_.back();
      const std::span<std::byte> own = memory.own();
      regions_.emplace_back(ibv_reg_mr(domain_.get(), own.data(), own.size(),
                                       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
      if (!regions_.back()) failed("registering memory");
      memory.fill();
      for (std::uint32_t b = 0; b < program_.buffers().size(); ++b) {
        const sched::Buffer& buffer = program_.buffers()[b];
        if (buffer.rank.value != r) continue;
        const auto bytes = memory.at({sched::BufferId(b), 0, buffer.bytes});
        objects_.memory[b] = {reinterpret_cast<std::uint64_t>(bytes.data()), regions_.back()->lkey,
                              regions_.back()->rkey};
      }
    }
  }

  DevxMemory shown(std::size_t at) const { return {shown_->umem_id, at}; }

  // Keeps the object in `objects`; returns its number.
  std::uint32_t make(const Mailbox& command, std::vector<Made<mlx5dv_devx_obj>>& objects,
                     std::string_view what) {
    Mailbox answer(kDevxAnswerBytes, 0);
    objects.emplace_back(mlx5_.make_object(context_.get(), command.data(), command.size(),
                                           answer.data(), answer.size()),
                         mlx5_.destroy_object);
    if (!objects.back()) failed(what, &answer);
    return devx_number(answer);
  }

  void make_completion_queues() {
    for (std::uint32_t c = 0; c < completions_.size(); ++c) {
      DevxCompletionQueue queue;
      queue.log_entries = completions_[c].log_entries;
      queue.uar = page_->page_id;
      queue.event_queue = event_queue_;
      queue.entries = shown(completions_[c].at);
      queue.doorbell_record = shown(record_of_cqs_ + c * kRecord);
      objects_.cqn.push_back(
          make(create_completion_queue(queue), cqs_, "creating a completion queue"));
    }
  }

  void make_pairs() {
    for (const Pair& pair : pairs_) {
      if (pair.sends == nullptr && pair.receives == nullptr) {
        throw InternalError("offload: a queue pair without queues");
      }
      DevxQueuePair made;
      made.domain = domain_number_;
      made.uar = page_->page_id;
      if (pair.sends != nullptr) {
        const auto entries = program_.entries(*pair.sends);
        made.role.slave_send = pair.sends->managed;
        made.role.master = std::ranges::any_of(entries, [](const Entry& entry) {
          return entry.kind == EntryKind::kWait || is_enable(entry.kind);
        });
      }
      made.role.slave_receive = pair.receives != nullptr && pair.receives->managed;
      const Queue& sends = pair.sends != nullptr ? *pair.sends : *pair.receives;
      const Queue& receives = pair.receives != nullptr ? *pair.receives : *pair.sends;
      made.send_completions = objects_.cqn[sends.cq.value];
      made.receive_completions = objects_.cqn[receives.cq.value];
      made.log_send_blocks = pair.log_blocks;
      made.receives = pair.receives != nullptr;
      made.log_receives = pair.log_receives;
      made.log_receive_bytes = pair.log_stride;
      made.entries = shown(pair.at);
      made.doorbell_record = shown(pair.record);
      objects_.qpn.push_back(make(create_queue_pair(made), qps_, "creating a queue pair"));
    }
  }

  // To the pair at the other end, or to itself where there is none.
  void connect() {
    std::vector<std::uint32_t> other(pairs_.size());
    for (std::uint32_t p = 0; p < other.size(); ++p) other[p] = p;
    for (const Queue& q : program_.queues()) {
      if (q.peer.valid()) other[q.pair] = program_.queue(q.peer).pair;
    }
    for (std::uint32_t p = 0; p < other.size(); ++p) {
      DevxPeer peer;
      peer.qpn = objects_.qpn[other[p]];
      peer.port = port_.port();
      peer.mtu = port_.address().mtu;
      modify(p, pair_to_init(objects_.qpn[p], port_.port()));
      modify(p, pair_to_receive(objects_.qpn[p], peer));
      modify(p, pair_to_send(objects_.qpn[p], {}));
    }
  }

  void modify(std::uint32_t pair, const Mailbox& command) {
    Mailbox answer(kDevxAnswerBytes, 0);
    if (mlx5_.modify_object(qps_[pair].get(), command.data(), command.size(), answer.data(),
                            answer.size()) != 0) {
      failed("connecting a queue pair", &answer);
    }
  }

  void write(const QueueBytes& queue) {
    const Queue& q = program_.queue(queue.queue);
    const Pair& pair = pairs_[q.pair];
    const std::size_t to = q.kind == QueueKind::kReceive ? pair.at : pair.blocks;
    for (std::size_t e = 0; e < q.count; ++e) {
      std::memcpy(pages_->at(to + e * kBlock), queue.bytes.data() + e * queue.stride, queue.stride);
      // The list of a receive ends where there is room for one more piece.
      if (queue.stride < kBlock) {
        const std::uint8_t end[8] = {0, 0, 0, 0, 0, 0, 1, 0};
        std::memcpy(pages_->at(to + e * kBlock + queue.stride), end, sizeof end);
      }
    }
  }

  // A managed queue has no doorbell: others enable what it holds.
  void ring(const QueueBytes& queue) {
    if (!queue.doorbell_record) return;
    const Queue& q = program_.queue(queue.queue);
    const std::size_t half = q.kind == QueueKind::kReceive ? 0 : 4;
    std::uint32_t record = *queue.doorbell_record;
    if constexpr (std::endian::native == std::endian::little) record = __builtin_bswap32(record);
    order_before_device_reads();
    std::memcpy(pages_->at(pairs_[q.pair].record + half), &record, sizeof record);
    if (!queue.doorbell) return;
    std::uint64_t word = 0;
    std::memcpy(&word, queue.doorbell->data(), sizeof word);
    order_before_device_reads();
    *static_cast<volatile std::uint64_t*>(page_->reg_addr) = word;
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }

  // Whether one more has been written; throws if it says that something failed.
  bool completed(offload::CqId cq) {
    Completions& queue = completions_[cq.value];
    const std::uint32_t mask = (1u << queue.log_entries) - 1;
    const std::uint8_t* const entry = pages_->at(queue.at + (queue.read & mask) * kBlock);
    const std::uint8_t owner = *static_cast<const volatile std::uint8_t*>(entry + kOwnerByte);
    const bool turn = (queue.read >> queue.log_entries & 1) != 0;
    if (owner >> 4 == kNoOpcode || ((owner & 1) != 0) != turn) return false;
    order_after_device_writes();
    if (owner >> 4 >= kFirstErrorCode) {
      throw EnvironmentError(fmt::format(
          "offload: {}: completion queue {} reports an error (opcode {:#x}, syndrome {:#x})",
          port_.name(), cq.value, owner >> 4, entry[kSyndromeByte]));
    }
    ++queue.read;
    return true;
  }

  void await_collectors(Clock::time_point deadline) {
    for (const Queue& q : program_.queues()) {
      if (q.purpose != Purpose::kCollect) continue;
      auto left = std::ranges::count_if(program_.entries(q),
                                        [](const Entry& entry) { return completes(entry); });
      while (left > 0) {
        if (completed(q.cq)) {
          --left;
        } else if (Clock::now() > deadline) {
          find_failure(q);
        }
      }
    }
  }

  // What did not come may be another queue's fault.
  [[noreturn]] void find_failure(const Queue& collector) {
    for (std::uint32_t c = 0; c < completions_.size(); ++c) {
      while (completed(offload::CqId(c))) {
      }
    }
    throw EnvironmentError(
        fmt::format("offload: {}: rank {} was not done after {} s, and no queue reports an error",
                    port_.name(), collector.rank.value, kPatience.count()));
  }

  const QueueProgram& program_;
  const sched::Schedule& schedule_;
  const Mlx5Library& mlx5_ = load_mlx5_library();
  std::vector<RankMemory> memory_;    // outlives its regions
  std::unique_ptr<DevxPages> pages_;  // outlives what is shown of it
  VerbsDevice port_;                  // which one, and its MTU
  Verbs<ibv_context> context_;
  Verbs<ibv_pd> domain_;
  std::vector<Verbs<ibv_mr>> regions_;
  Made<mlx5dv_devx_umem> shown_{nullptr, nullptr};
  MadePage page_{nullptr, nullptr};
  std::vector<Made<mlx5dv_devx_obj>> cqs_;
  std::vector<Made<mlx5dv_devx_obj>> qps_;
  std::uint32_t event_queue_ = 0;
  std::uint32_t domain_number_ = 0;
  std::vector<Completions> completions_;  // by completion queue
  std::vector<Pair> pairs_;
  std::size_t record_of_cqs_ = 0;
  NicObjects objects_;
};

}  // namespace

OffloadRun run_by_devx(const QueueProgram& program, const sched::Schedule& schedule,
                       const std::string& nic, const QueueEncoder& encode) {
  return DevxRun(program, schedule, nic).run(encode);
}

}  // namespace slackline::hw
