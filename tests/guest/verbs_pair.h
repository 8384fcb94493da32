#pragma once

#include <infiniband/verbs.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

// Two processes with a reliable connection between them, for tests of plain verbs. Whatever a call
// finds wrong it throws, as std::runtime_error; every wait has an end.
namespace slackline::guest {

struct VerbsDeleter {
  void operator()(ibv_context* context) const { ibv_close_device(context); }
  void operator()(ibv_pd* domain) const { ibv_dealloc_pd(domain); }
  void operator()(ibv_mr* region) const { ibv_dereg_mr(region); }
  void operator()(ibv_cq* queue) const { ibv_destroy_cq(queue); }
  void operator()(ibv_qp* pair) const { ibv_destroy_qp(pair); }
};
template <class Object>
using Verbs = std::unique_ptr<Object, VerbsDeleter>;

// What a side tells the other of itself.
struct SideAddress {
  std::uint32_t queue_pair = 0;
  std::uint32_t first_packet = 0;
  ibv_gid gid{};
  std::uint64_t memory = 0;  // where its registered memory begins
  std::uint32_t remote_key = 0;
};

// One side: a registered memory and a connected queue pair, whose requests complete only if asked
// to.
class Side {
 public:
  static constexpr std::size_t kMemory = 4u << 20;        // bytes
  static constexpr std::uint32_t kQueueDepth = 128;       // requests, of each kind
  static constexpr std::uint32_t kInline = 256;           // bytes
  static constexpr std::uint32_t kReadsOutstanding = 16;  // reads and atomics

  // `socket` leads to the other side and is closed in the end. Opens the first device.
  explicit Side(int socket);
  ~Side();
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  std::span<std::byte> memory() { return memory_; }
  const SideAddress& other() const { return other_; }
  ibv_qp* queue_pair() { return queue_pair_.get(); }

  // The `bytes` from `offset` on as a scatter-gather entry.
  ibv_sge entry(std::size_t offset, std::size_t bytes) const;
  // A request about those bytes here and, unless it is a send, about `remote_offset` there.
  void post(ibv_wr_opcode operation, std::uint64_t id, std::size_t offset, std::size_t bytes,
            std::size_t remote_offset = 0, unsigned flags = IBV_SEND_SIGNALED,
            std::uint32_t immediate = 0);
  // The same for an atomic on 8 bytes there; their old value comes to `offset`.
  void post_atomic(ibv_wr_opcode operation, std::uint64_t id, std::size_t offset,
                   std::size_t remote_offset, std::uint64_t compare_add, std::uint64_t swap = 0);
  void post_receive(std::uint64_t id, std::size_t offset, std::size_t bytes);

  // Requests and receives complete in queues of their own: an answer may well be received before
  // the request that it answers is seen to be complete. The next completion of a request, whatever
  // its status. Throws if none comes within 30 s.
  ibv_wc next_request() { return next(requests_.get()); }
  // The next completion where this kind completes. Throws unless it is a success with this id and
  // of this kind.
  ibv_wc expect(std::uint64_t id, ibv_wc_opcode kind);
  // Whether no completion is waiting, of either.
  bool idle();

  // Returns when both sides have called it. Throws if the other ended, or does not come in 30 s.
  void meet();

 private:
  ibv_wc next(ibv_cq* queue);
  void exchange(const void* mine, void* theirs, std::size_t bytes);
  void open(SideAddress& mine);
  void connect(const SideAddress& mine);

  int socket_;
  std::vector<std::byte> memory_;
  ibv_port_attr port_{};
  std::uint8_t gid_index_ = 0;
  // In the order in which they are made, and so destroyed last to first.
  Verbs<ibv_context> context_;
  Verbs<ibv_pd> domain_;
  Verbs<ibv_mr> region_;
  Verbs<ibv_cq> requests_;
  Verbs<ibv_cq> receives_;
  Verbs<ibv_qp> queue_pair_;
  SideAddress other_;
};

// Runs both sides, `first` in this process and `second` in a child, on a connected pair. What
// either finds wrong, by throwing or by an assertion of GoogleTest, fails the test.
void run_pair(const std::function<void(Side&)>& first, const std::function<void(Side&)>& second);

}  // namespace slackline::guest
