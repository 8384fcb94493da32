#include "offload/encode_queues.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace slackline::offload {
namespace {

class QueueEncoder {
 public:
  QueueEncoder(const QueueProgram& program, const NicNumbers& numbers)
      : program_(program), numbers_(numbers) {}

  EncodedQueue encode(QueueId id) const {
    const Queue& q = program_.queue(id);
    EncodedQueue out;
    out.queue = id;
    const bool receives = q.kind == QueueKind::kReceive;
    out.stride = receives ? receive_stride(q) : static_cast<std::uint32_t>(kWqeBytes);
    for (std::uint32_t e = 0; e < q.count; ++e) {
      if (receives) {
        const auto bytes = encode_receive(pieces(program_.entries(q)[e].local), out.stride);
        out.bytes.insert(out.bytes.end(), bytes.begin(), bytes.end());
      } else {
        const WqeBlock block = encode_wqe(wqe(q, e));
        out.bytes.insert(out.bytes.end(), block.begin(), block.end());
      }
    }
    if (q.managed || q.count == 0) return out;
    out.doorbell_record = static_cast<std::uint32_t>(q.start + q.count) & 0xffff;
    if (!receives) {
      out.doorbell.emplace();
      std::copy_n(out.bytes.end() - static_cast<std::ptrdiff_t>(kWqeBytes), 8,
                  out.doorbell->begin());
    }
    return out;
  }

 private:
  std::uint32_t receive_stride(const Queue& q) const {
    std::size_t most = 1;
    for (const Entry& entry : program_.entries(q)) {
      most = std::max(most, pieces(entry.local).size());
    }
    return most == 1 ? 16 : most == 2 ? 32 : 64;
  }

  // Empty pieces are left out: a length of 0 means 2^31.
  std::vector<WqePiece> pieces(sched::SliceRange range) const {
    std::vector<WqePiece> all;
    for (const sched::Slice& slice : program_.slices(range)) {
      if (slice.bytes == 0) continue;
      if (slice.bytes >= std::uint64_t{1} << 31) {
        throw Unsupported(
            fmt::format("offload: a piece of {} bytes; expected less than 2^31", slice.bytes));
      }
      const NicNumbers::Memory& memory = numbers_.memory[slice.buffer.value];
      all.push_back({memory.address + slice.offset, memory.local_key,
                     static_cast<std::uint32_t>(slice.bytes)});
    }
    return all;
  }

  Wqe wqe(const Queue& q, std::uint32_t e) const {
    const Entry& entry = program_.entries(q)[e];
    Wqe out;
    out.index = static_cast<std::uint16_t>(q.start + e);
    out.qpn = numbers_.qpn[q.pair];
    out.signaled = entry.signaled;
    switch (entry.kind) {
      case EntryKind::kNop:
      case EntryKind::kRecv:
        out.opcode = WqeOpcode::kNop;
        break;
      case EntryKind::kSend:
        out.opcode = WqeOpcode::kSend;
        out.pieces = pieces(entry.local);
        break;
      case EntryKind::kWrite:
        out.opcode = WqeOpcode::kWriteImm;
        out.pieces = pieces(entry.local);
        out.immediate = static_cast<std::uint32_t>(q.start + e);
        if (entry.remote.count != 0) {
          const sched::Slice& to = program_.slices(entry.remote).front();
          out.remote_address = numbers_.memory[to.buffer.value].address + to.offset;
          out.remote_key = numbers_.memory[to.buffer.value].remote_key;
        }
        break;
      case EntryKind::kWait:
        out.opcode = WqeOpcode::kWait;
        out.max_index = static_cast<std::uint32_t>(entry.count - 1) & 0xffffff;
        out.target = numbers_.cqn[entry.target];
        break;
      case EntryKind::kSendEnable:
      case EntryKind::kRecvEnable:
        out.opcode =
            entry.kind == EntryKind::kSendEnable ? WqeOpcode::kSendEnable : WqeOpcode::kRecvEnable;
        out.max_index = static_cast<std::uint32_t>(entry.count) & 0xffff;
        out.target = numbers_.qpn[program_.queues()[entry.target].pair];
        break;
    }
    return out;
  }

  const QueueProgram& program_;
  const NicNumbers& numbers_;
};

}  // namespace

NicNumbers placeholder_numbers(const QueueProgram& program) {
  NicNumbers numbers;
  std::uint32_t pairs = 0;
  for (const Queue& q : program.queues()) pairs = std::max(pairs, q.pair + 1);
  for (std::uint32_t p = 0; p < pairs; ++p) numbers.qpn.push_back(0x100000 + p);
  for (std::uint32_t c = 0; c < program.cqs().size(); ++c) numbers.cqn.push_back(0x200000 + c);
  for (std::uint32_t b = 0; b < program.buffers().size(); ++b) {
    numbers.memory.push_back({(std::uint64_t{b} + 1) << 40, 0x300000 + b, 0x400000 + b});
  }
  return numbers;
}

std::vector<EncodedQueue> encode_queues(const QueueProgram& program, const NicNumbers& numbers) {
  std::size_t pairs = 0;
  for (const Queue& q : program.queues()) pairs = std::max<std::size_t>(pairs, q.pair + 1);
  if (numbers.qpn.size() < pairs || numbers.cqn.size() < program.cqs().size() ||
      numbers.memory.size() < program.buffers().size()) {
    throw InputError("offload: fewer numbers than queue pairs, completion queues and buffers");
  }
  std::vector<EncodedQueue> all;
  const QueueEncoder encoder(program, numbers);
  for (std::uint32_t q = 0; q < program.queues().size(); ++q) {
    all.push_back(encoder.encode(QueueId(q)));
  }
  return all;
}

}  // namespace slackline::offload
