#include "hw/requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "hw/local_work.h"
#include "sched/error.h"

namespace slackline::hw {
namespace {

using sched::Op;
using sched::OpKind;
using sched::Slice;

constexpr std::size_t kBatch = 32;

}  // namespace

void RequestQueue::add(const WorkRequest& request, std::span<const Segment> segments, bool last) {
  waiting_.push_back({request, static_cast<std::uint32_t>(segments_.size()),
                      static_cast<std::uint32_t>(segments.size()), last});
  segments_.insert(segments_.end(), segments.begin(), segments.end());
}

std::size_t RequestQueue::post_batch(Transport& transport) {
  batch_.clear();
  const std::size_t end = std::min(waiting_.size(), next_ + kBatch);
  for (std::size_t w = next_; w < end; ++w) {
    batch_.push_back(waiting_[w].request);
    batch_.back().local =
        std::span<const Segment>(segments_).subspan(waiting_[w].segment, waiting_[w].segments);
  }
  return transport.post(batch_);
}

RequestMaker::RequestMaker(const RankProgram& program, RankMemory& memory, Transport& transport,
                           std::uint32_t first_channel, std::uint32_t number)
    : program_(program),
      schedule_(program.schedule()),
      memory_(memory),
      first_channel_(first_channel),
      tag_(std::uint64_t{number} << 32),
      max_segments_(transport.max_segments()),
      in_order_(transport.completes_in_order()) {
  std::uint32_t words = 0;
  for (std::uint32_t i = 0; i < program.size(); ++i) {
    const Op& op = program.op(i);
    if (op.kind == OpKind::kSend || op.kind == OpKind::kRecv) {
      const auto slices = schedule_.slices(op.kind == OpKind::kSend ? op.reads : op.writes);
      const auto segments = static_cast<std::size_t>(
          std::ranges::count_if(slices, [](const Slice& slice) { return slice.bytes != 0; }));
      if (segments > max_segments_) {
        throw Unsupported(fmt::format("{} gathers {} slices; {} takes {}",
                                      describe(schedule_, program.id(i)), segments,
                                      transport.name(), max_segments_));
      }
    }
    if (!sched::is_atomic(op.kind)) continue;
    if (!transport.has_atomics()) {
      throw Unsupported(fmt::format("{} cannot carry out {}: it has no atomics", transport.name(),
                                    describe(schedule_, program.id(i))));
    }
    word_of_op_.resize(program.size(), 0);
    word_of_op_[i] = words++;
  }
}

std::uint64_t RequestMaker::scratch_bytes(const RankProgram& program) {
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < program.size(); ++i) {
    if (sched::is_atomic(program.op(i).kind)) bytes += 8;
  }
  return bytes;
}

void RequestMaker::connect(std::span<const Greeting> greetings) {
  const auto buffers = schedule_.buffers();
  remote_.assign(buffers.size(), {});
  std::vector<std::size_t> next(greetings.size(), 0);
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    const std::uint32_t rank = buffers[b].rank.value;
    if (next[rank] >= greetings[rank].memory.size()) {
      throw EnvironmentError(fmt::format("rank {} greets with another schedule", rank));
    }
    remote_[b] = greetings[rank].memory[next[rank]++];
  }
  any_of_rank_.clear();
  for (const Greeting& greeting : greetings) {
    any_of_rank_.push_back(greeting.memory.empty() ? RemoteMemory{} : greeting.memory.back());
  }
}

std::optional<std::uint32_t> RequestMaker::make(std::uint32_t op, bool signalled,
                                                RequestQueue& queue) {
  std::uint32_t requests = 1;
  switch (program_.op(op).kind) {
    case OpKind::kSend:
    case OpKind::kRecv:
      make_message(op, signalled, queue);
      break;
    case OpKind::kPut:
    case OpKind::kGet:
      requests = make_one_sided(op, signalled, queue);
      break;
    case OpKind::kFetchAdd:
    case OpKind::kCompareSwap:
      make_atomic(op, queue);
      break;
    default:
      throw InternalError(
          fmt::format("no request carries out {}", describe(schedule_, program_.id(op))));
  }
  if (requests == 0) return std::nullopt;
  if (!signalled) return 0;
  return in_order_ ? 1 : requests;
}

void RequestMaker::deliver_result(std::uint32_t op) {
  for (const Slice& slice : schedule_.slices(program_.op(op).writes).subspan(1)) {
    std::memcpy(memory_.at(slice).data(), result(op), std::min<std::size_t>(8, slice.bytes));
  }
}

WorkRequest RequestMaker::request_of(std::uint32_t op) const {
  WorkRequest request;
  request.channel = first_channel_ + program_.op(op).channel.value;
  request.tag = tag_ | op;
  request.immediate = program_.message(op);
  return request;
}

void RequestMaker::make_message(std::uint32_t i, bool signalled, RequestQueue& queue) {
  const Op& op = program_.op(i);
  const bool send = op.kind == OpKind::kSend;
  WorkRequest request = request_of(i);
  request.kind = send ? RequestKind::kSend : RequestKind::kRecv;
  request.expects_write = !send && schedule_.op(op.match).kind == OpKind::kPut;
  request.signalled = signalled;
  segments_.clear();
  for (const Slice& slice : schedule_.slices(send ? op.reads : op.writes)) {
    if (slice.bytes != 0) segments_.push_back(memory_.segment(slice));
  }
  queue.add(request, segments_, true);
}

std::uint32_t RequestMaker::make_one_sided(std::uint32_t i, bool signalled, RequestQueue& queue) {
  const Op& op = program_.op(i);
  const bool put = op.kind == OpKind::kPut;
  const bool imm = put && op.notify == sched::Notify::kImm;
  const std::uint64_t further = value_of(schedule_.arguments(op).address_offset);
  const auto reads = schedule_.slices(op.reads);
  const auto writes = schedule_.slices(op.writes);
  std::uint32_t pieces = 0;
  for_each_piece(reads, writes, [&](const Slice&, const Slice&) { ++pieces; });
  WorkRequest request = request_of(i);
  request.signalled = signalled;
  if (pieces == 0) {
    // Without bytes only the notice is left of it.
    if (!imm) return 0;
    request.kind = RequestKind::kWriteImm;
    request.remote = any_of_rank_[schedule_.channel(op.channel).dst.value];
    queue.add(request, {}, true);
    return 1;
  }
  std::uint32_t piece = 0;
  for_each_piece(reads, writes, [&](const Slice& from, const Slice& to) {
    const bool last = ++piece == pieces;
    request.kind = !put          ? RequestKind::kRead
                   : imm && last ? RequestKind::kWriteImm
                                 : RequestKind::kWrite;
    // Where the last one speaks for all, the others need not.
    request.signalled = signalled && (last || !in_order_);
    request.remote = remote(put ? to : from, further);
    const Segment local = memory_.segment(put ? from : to);
    queue.add(request, {&local, 1}, last);
  });
  return pieces;
}

void RequestMaker::make_atomic(std::uint32_t i, RequestQueue& queue) {
  const Op& op = program_.op(i);
  const sched::OpArguments& arguments = schedule_.arguments(op);
  WorkRequest request = request_of(i);
  request.kind = op.kind == OpKind::kFetchAdd ? RequestKind::kFetchAdd : RequestKind::kCompareSwap;
  request.operand = value_of(arguments.operand);
  request.compare = value_of(arguments.compare);
  request.remote = remote(schedule_.slices(op.writes).front(), value_of(arguments.address_offset));
  const Segment local{result(i), 8, memory_.scratch_handle()};
  queue.add(request, {&local, 1}, true);
}

RemoteMemory RequestMaker::remote(const Slice& slice, std::uint64_t further) const {
  RemoteMemory memory = remote_[slice.buffer.value];
  memory.address += slice.offset + further;
  return memory;
}

std::byte* RequestMaker::result(std::uint32_t op) {
  return memory_.scratch() + 8ull * word_of_op_[op];
}

std::uint64_t RequestMaker::value_of(const sched::Operand& operand) {
  if (operand.from == sched::Operand::From::kAbsent) return 0;
  if (operand.from == sched::Operand::From::kLiteral) return operand.value;
  std::uint64_t fetched = 0;
  std::memcpy(&fetched, result(operand.op.value - program_.id(0).value), 8);
  return fetched * operand.value;
}

}  // namespace slackline::hw
