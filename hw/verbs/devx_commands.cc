#include "hw/verbs/devx_commands.h"

namespace slackline::hw {
namespace {

enum class Opcode : std::uint32_t {
  kQueryCapability = 0x100,
  kCreateCq = 0x400,
  kCreateQp = 0x500,
  kResetToInit = 0x502,
  kInitToReceive = 0x503,
  kReceiveToSend = 0x504,
  kQueryPort = 0x754,
};

constexpr std::size_t kCommandBytes = 0x110;  // all of them, without a list of pages
constexpr std::size_t kCqContext = 0x10;
constexpr std::size_t kQpContext = 0x18;
constexpr std::size_t kPath = kQpContext + 0x18;  // to the peer

constexpr std::uint32_t kMigrated = 3;         // of path migration: none takes place
constexpr std::uint32_t kNoReceives = 3;       // receive queue type
constexpr std::uint32_t kLogMostMessage = 30;  // bytes
constexpr std::uint32_t kStrideShift = 4;      // a stride of 16 bytes is 0

// The `width` bits of the big-endian word at byte `at` whose lowest is bit `low`.
void set(Mailbox& box, std::size_t at, unsigned low, unsigned width, std::uint32_t value) {
  const std::uint32_t mask = width == 32 ? ~0u : (1u << width) - 1;
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) word = word << 8 | box[at + i];
  word = (word & ~(mask << low)) | (value & mask) << low;
  for (std::size_t i = 0; i < 4; ++i) {
    box[at + i] = static_cast<std::uint8_t>(word >> (24 - 8 * i));
  }
}

void set_address(Mailbox& box, std::size_t at, std::uint64_t value) {
  set(box, at, 0, 32, static_cast<std::uint32_t>(value >> 32));
  set(box, at + 4, 0, 32, static_cast<std::uint32_t>(value));
}

Mailbox command(Opcode opcode) {
  Mailbox box(kCommandBytes, 0);
  set(box, 0, 16, 16, static_cast<std::uint32_t>(opcode));
  return box;
}

constexpr std::size_t kAnswerHead = 16;
constexpr std::size_t kCapabilities = 4096;
constexpr std::size_t kPortSettings = 256;

// A bit of the word at byte `at` behind the answer's head.
bool bit(const Mailbox& answer, std::size_t at, unsigned low) {
  const std::size_t byte = kAnswerHead + at + 3 - low / 8;
  return byte < answer.size() && (answer[byte] >> low % 8 & 1) != 0;
}

Mailbox modify(Opcode opcode, std::uint32_t qpn) {
  Mailbox box = command(opcode);
  set(box, 0x08, 0, 24, qpn);
  return box;
}

}  // namespace

Mailbox question(DevxQuestion about) {
  constexpr std::uint32_t kCurrent = 1;
  constexpr std::uint32_t kRoce = 4u << 1;
  Mailbox box(kAnswerHead, 0);
  const bool port = about == DevxQuestion::kPort;
  set(box, 0, 16, 16,
      static_cast<std::uint32_t>(port ? Opcode::kQueryPort : Opcode::kQueryCapability));
  if (!port) set(box, 4, 0, 16, kCurrent | (about == DevxQuestion::kRoce ? kRoce : 0));
  return box;
}

std::size_t answer_bytes(DevxQuestion about) {
  return kAnswerHead + (about == DevxQuestion::kPort ? kPortSettings : kCapabilities);
}

bool offers_cross_channel(const Mailbox& general) { return bit(general, 0x44, 19); }
bool ignores_overrun(const Mailbox& general) { return bit(general, 0x44, 31); }
bool offers_roce(const Mailbox& general) { return bit(general, 0x40, 2); }

bool loops_back(const Mailbox& general, const Mailbox& roce, const Mailbox& port) {
  const bool in_use = bit(port, 0x00, 0);
  return in_use ? bit(roce, 0x00, 25) : bit(general, 0x48, 23) || bit(roce, 0x00, 26);
}

std::uint32_t devx_number(const Mailbox& answer) {
  return std::uint32_t{answer[9]} << 16 | std::uint32_t{answer[10]} << 8 | answer[11];
}

Mailbox create_completion_queue(const DevxCompletionQueue& queue) {
  Mailbox box = command(Opcode::kCreateCq);
  set(box, kCqContext + 0x00, 25, 1, 1);  // the doorbell record is in memory of ours
  set(box, kCqContext + 0x00, 17, 1, 1);  // overrun ignored
  set(box, kCqContext + 0x04, 0, 32, queue.doorbell_record.id);
  set(box, kCqContext + 0x0c, 24, 5, queue.log_entries);
  set(box, kCqContext + 0x0c, 0, 24, queue.uar);
  set(box, kCqContext + 0x14, 0, 8, queue.event_queue);
  set_address(box, kCqContext + 0x38, queue.doorbell_record.offset);
  set_address(box, 0x50, queue.entries.offset);
  set(box, 0x58, 0, 32, queue.entries.id);
  set(box, 0x5c, 31, 1, 1);  // the entries are, too
  return box;
}

Mailbox create_queue_pair(const DevxQueuePair& pair) {
  Mailbox box = command(Opcode::kCreateQp);
  set(box, kQpContext + 0x00, 11, 2, kMigrated);
  set(box, kQpContext + 0x04, 0, 24, pair.domain);
  if (pair.receives) {
    set(box, kQpContext + 0x08, 19, 4, pair.log_receives);
    set(box, kQpContext + 0x08, 16, 3, pair.log_receive_bytes - kStrideShift);
  } else {
    set(box, kQpContext + 0xac, 24, 3, kNoReceives);
  }
  set(box, kQpContext + 0x08, 11, 4, pair.log_send_blocks);
  set(box, kQpContext + 0x0c, 0, 24, pair.uar);
  set(box, kQpContext + 0x7c, 0, 24, pair.send_completions);
  set(box, kQpContext + 0x90, 2, 1, pair.role.slave_receive ? 1 : 0);
  set(box, kQpContext + 0x90, 1, 1, pair.role.slave_send ? 1 : 0);
  set(box, kQpContext + 0x90, 0, 1, pair.role.master ? 1 : 0);
  set(box, kQpContext + 0x9c, 0, 24, pair.receive_completions);
  set_address(box, kQpContext + 0xa0, pair.doorbell_record.offset);
  set(box, kQpContext + 0xd0, 28, 1, 1);  // the doorbell record is in memory of ours
  set(box, kQpContext + 0xe4, 0, 32, pair.doorbell_record.id);
  set_address(box, 0x100, pair.entries.offset);
  set(box, 0x108, 0, 32, pair.entries.id);
  set(box, 0x10c, 31, 1, 1);  // the entries are, too
  return box;
}

Mailbox pair_to_init(std::uint32_t qpn, std::uint8_t port) {
  Mailbox box = modify(Opcode::kResetToInit, qpn);
  set(box, kQpContext + 0x00, 11, 2, kMigrated);
  set(box, kPath + 0x24, 16, 8, port);
  set(box, kQpContext + 0x90, 14, 1, 1);  // peers may write
  return box;
}

Mailbox pair_to_receive(std::uint32_t qpn, const DevxPeer& peer) {
  Mailbox box = modify(Opcode::kInitToReceive, qpn);
  set(box, kQpContext + 0x08, 29, 3, peer.mtu);
  set(box, kQpContext + 0x08, 24, 5, kLogMostMessage);
  set(box, kQpContext + 0x14, 0, 24, peer.qpn);
  set(box, kPath + 0x00, 31, 1, 1);  // looped back
  set(box, kPath + 0x24, 16, 8, peer.port);
  set(box, kQpContext + 0x94, 24, 5, peer.not_ready_timer);
  return box;
}

Mailbox pair_to_send(std::uint32_t qpn, const DevxRetries& retries) {
  Mailbox box = modify(Opcode::kReceiveToSend, qpn);
  set(box, kPath + 0x08, 27, 5, retries.timeout);
  set(box, kQpContext + 0x70, 16, 3, retries.retries);
  set(box, kQpContext + 0x70, 13, 3, retries.not_ready);
  return box;
}

}  // namespace slackline::hw
