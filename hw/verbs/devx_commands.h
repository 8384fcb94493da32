// The commands by which DevX makes completion queues and queue pairs on an mlx5 NIC, as bytes: the
// mailboxes that mlx5dv_devx_obj_create() and mlx5dv_devx_obj_modify() carry. Big-endian. Fields
// are those of the programmer's reference manual of the ConnectX family; everything that is not
// named here is 0, which it calls reserved or the default.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace slackline::hw {

using Mailbox = std::vector<std::uint8_t>;

/// Bytes of the answer to each of these commands.
inline constexpr std::size_t kDevxAnswerBytes = 16;
/// The number of the object that was made, in the answer to a command that made one.
std::uint32_t devx_number(const Mailbox& answer);

/// What a NIC is asked before anything is made on it: QUERY_HCA_CAP (0x100) for what it can do now
/// in general and with RoCE, QUERY_NIC_VPORT_CONTEXT (0x754) for how its port is set up.
enum class DevxQuestion { kGeneral, kRoce, kPort };
Mailbox question(DevxQuestion about);
/// Bytes of the answer.
std::size_t answer_bytes(DevxQuestion about);

/// What the answers say. Of RoCE and the port there are none where offers_roce() of the general one
/// is false.
bool offers_cross_channel(const Mailbox& general);
bool ignores_overrun(const Mailbox& general);
bool offers_roce(const Mailbox& general);
/// Whether pair_to_receive() is taken: a reliable connection may be looped back without an address,
/// which depends on whether RoCE is in use. As rdma-core decides it for its own (dr_send_allow_fl).
bool loops_back(const Mailbox& general, const Mailbox& roce, const Mailbox& port);

/// Memory of ours that the NIC was shown (mlx5dv_devx_umem_reg), and where something lies in it.
struct DevxMemory {
  std::uint32_t id = 0;
  std::uint64_t offset = 0;
};

struct DevxCompletionQueue {
  std::uint32_t log_entries = 0;  // of 64 bytes each
  std::uint32_t uar = 0;          // page id
  std::uint32_t event_queue = 0;  // number
  DevxMemory entries;
  DevxMemory doorbell_record;  // 8 bytes
};
/// CREATE_CQ (0x400): one that may run over, since nobody tells the NIC what was read.
Mailbox create_completion_queue(const DevxCompletionQueue& queue);

/// What a queue pair is to others.
struct DevxRole {
  bool master = false;         // its sends wait, and enable others
  bool slave_send = false;     // its sends are enabled by others
  bool slave_receive = false;  // and its receives
};

struct DevxQueuePair {
  std::uint32_t domain = 0;  // protection domain's number
  std::uint32_t uar = 0;
  DevxRole role;
  std::uint32_t send_completions = 0;     // CQN
  std::uint32_t receive_completions = 0;  // CQN
  std::uint32_t log_send_blocks = 0;      // blocks of 64 bytes
  bool receives = false;                  // whether it has a receive queue
  std::uint32_t log_receives = 0;
  std::uint32_t log_receive_bytes = 4;  // of one entry, 4 … 6
  DevxMemory entries;                   // receives first, then sends
  DevxMemory doorbell_record;           // 8 bytes: receives, sends
};
/// CREATE_QP (0x500), a reliable connection.
Mailbox create_queue_pair(const DevxQueuePair& pair);

/// To where it may post receives, RST2INIT_QP (0x502): peers may write.
Mailbox pair_to_init(std::uint32_t qpn, std::uint8_t port);

/// To where it receives, INIT2RTR_QP (0x503), from a pair of the same port: messages are looped
/// back in the NIC.
struct DevxPeer {
  std::uint32_t qpn = 0;
  std::uint8_t port = 1;
  std::uint8_t mtu = 1;              // enum ibv_mtu
  std::uint8_t not_ready_timer = 1;  // as in ibv_qp_attr: 1 is 0.01 ms
};
Mailbox pair_to_receive(std::uint32_t qpn, const DevxPeer& peer);

/// To where it sends, RTR2RTS_QP (0x504).
struct DevxRetries {
  std::uint8_t timeout = 17;   // 4.096 us · 2^timeout
  std::uint8_t retries = 6;    // of what is not acknowledged
  std::uint8_t not_ready = 7;  // of what came before its receive; 7: for ever
};
Mailbox pair_to_send(std::uint32_t qpn, const DevxRetries& retries);

}  // namespace slackline::hw
