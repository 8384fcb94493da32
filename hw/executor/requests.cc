#include "hw/executor/requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "base/error.h"
#include "machine/run_memory.h"
#include "sched/pieces.h"
#include "sched/verify/access.h"

namespace slackline::hw {
namespace {

using sched::Op;
using sched::OpKind;
using sched::Slice;

constexpr std::size_t kBatch = 32;

RequestKind request_kind(OpKind kind) {
  switch (kind) {
    case OpKind::kFetchAdd:
      return RequestKind::kFetchAdd;
    case OpKind::kFetchAnd:
      return RequestKind::kFetchAnd;
    case OpKind::kFetchOr:
      return RequestKind::kFetchOr;
    case OpKind::kFetchXor:
      return RequestKind::kFetchXor;
    default:
      return RequestKind::kCompareSwap;
  }
}

std::uint64_t combined(OpKind kind, std::uint64_t word, std::uint64_t operand) {
  if (kind == OpKind::kFetchAnd) return word & operand;
  return kind == OpKind::kFetchOr ? word | operand : word ^ operand;
}

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

bool RequestQueue::post_one(Transport& transport, std::size_t waiting) {
  const Waiting& one = waiting_[waiting];
  WorkRequest request = one.request;
  request.local = std::span<const Segment>(segments_).subspan(one.segment, one.segments);
  return transport.post({&request, 1}) == 1;
}

RequestMaker::RequestMaker(const RankProgram& program, RankMemory& memory,
                           machine::Operands& operands, Transport& transport,
                           const ExecutorChannels& channels, std::uint32_t number)
    : program_(program),
      schedule_(program.schedule()),
      memory_(memory),
      operands_(operands),
      channels_(channels),
      tag_(std::uint64_t{number} << 32),
      max_segments_(transport.max_segments()),
      in_order_(transport.completes_in_order()),
      ordered_writes_(transport.writes_in_order()),
      bitwise_(transport.has_bitwise_atomics()) {
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
    if (!schedule_.arguments(op).address_offset.is_dynamic()) {
      machine::require_aligned(schedule_, program.id(i), atomic_word(schedule_, op).offset);
    }
    word_of_op_.resize(program.size(), 0);
    word_of_op_[i] = words++;
  }
  seen_.resize(words, 0);
  holds_last_.resize(program.size(), false);
  if (!program.graph().tree().empty()) number_messages();
}

void RequestMaker::number_messages() {
  std::map<std::pair<std::uint32_t, bool>, std::uint32_t> sides;
  side_of_op_.resize(program_.size(), 0);
  number_.resize(program_.size(), 0);
  for (std::uint32_t i = 0; i < program_.size(); ++i) {
    const Op& op = program_.op(i);
    if (op.kind != OpKind::kRecv && !sched::is_fifo_source(op)) continue;
    const auto fresh = static_cast<std::uint32_t>(sides.size());
    side_of_op_[i] =
        sides.try_emplace({op.channel.value, op.kind == OpKind::kRecv}, fresh).first->second;
  }
  sides_.resize(sides.size(), 0);
}

void RequestMaker::reset() {
  std::fill(sides_.begin(), sides_.end(), 0);
  std::fill(seen_.begin(), seen_.end(), 0);
  std::fill(holds_last_.begin(), holds_last_.end(), false);
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
  for (std::size_t rank = 0; rank < greetings.size(); ++rank) {
    // And some memory behind its buffers.
    if (next[rank] + 1 != greetings[rank].memory.size()) {
      throw EnvironmentError(fmt::format("rank {} greets with another schedule", rank));
    }
    any_of_rank_.push_back(greetings[rank].memory.back());
  }
}

std::optional<std::uint32_t> RequestMaker::make(std::uint32_t op, bool signalled,
                                                RequestQueue& queue) {
  std::uint32_t requests = 1;
  const Op& o = program_.op(op);
  if (!number_.empty() && (o.kind == OpKind::kRecv || sched::is_fifo_source(o))) {
    number_[op] = sides_[side_of_op_[op]]++;
  }
  switch (o.kind) {
    case OpKind::kSend:
    case OpKind::kRecv:
      make_message(op, signalled, queue);
      break;
    case OpKind::kPut:
    case OpKind::kGet:
      requests = make_one_sided(op, signalled, queue);
      break;
    case OpKind::kFetchAdd:
    case OpKind::kFetchAnd:
    case OpKind::kFetchOr:
    case OpKind::kFetchXor:
    case OpKind::kCompareSwap:
      make_atomic(op, queue);
      break;
    default:
      throw InternalError(
          fmt::format("no request carries out {}", describe(schedule_, program_.id(op))));
  }
  if (requests == 0) return std::nullopt;
  if (!signalled && !holds_last_[op]) return 0;
  return in_order_ ? 1 : requests;
}

bool RequestMaker::deliver_result(std::uint32_t op, RequestQueue& queue) {
  const Op& o = program_.op(op);
  std::uint64_t value = 0;
  if (o.kind == OpKind::kGet) {
    // As much of a word as was fetched.
    std::size_t have = 0;
    for (const Slice& slice : schedule_.slices(o.writes)) {
      const std::span<const std::byte> bytes = memory_.at(slice);
      const std::size_t count = std::min(bytes.size(), sizeof value - have);
      std::memcpy(reinterpret_cast<std::byte*>(&value) + have, bytes.data(), count);
      have += count;
      if (have == sizeof value) break;
    }
    operands_.set_result(op, value);
    return true;
  }
  std::memcpy(&value, landed(op), sizeof value);
  if (is_swapped(o.kind)) {
    std::uint64_t& seen = seen_[word_of_op_[op]];
    if (value != seen) {
      seen = value;
      const Segment local{landed(op), 8, memory_.scratch_handle()};
      queue.add(swap_request(op), {&local, 1}, false);
      return false;
    }
    seen = combined(o.kind, value, operands_.values(op).operand);
  }
  operands_.set_result(op, value);
  for (const Slice& slice : schedule_.slices(o.writes).subspan(1)) {
    std::memcpy(memory_.at(slice).data(), &value, std::min<std::size_t>(8, slice.bytes));
  }
  return true;
}

WorkRequest RequestMaker::request_of(std::uint32_t op) const {
  WorkRequest request;
  request.channel = channels_.of(program_.op(op).channel);
  request.tag = tag_ | op;
  request.immediate = message(op);
  return request;
}

void RequestMaker::make_message(std::uint32_t i, bool signalled, RequestQueue& queue) {
  const Op& op = program_.op(i);
  const bool send = op.kind == OpKind::kSend;
  WorkRequest request = request_of(i);
  request.kind = send ? RequestKind::kSend : RequestKind::kRecv;
  request.expects_write = !send && program_.expects_put(i);
  request.signalled = signalled;
  segments_.clear();
  for (const Slice& slice : schedule_.slices(send ? op.reads : op.writes)) {
    if (slice.bytes != 0) segments_.push_back(memory_.segment(slice));
  }
  queue.add(request, segments_, true);
}

// What is one run of remote memory is one request, which gathers or scatters locally, as far as the
// transport takes segments.
void RequestMaker::cut_into_parts(std::uint32_t i, std::uint64_t shift) {
  const Op& op = program_.op(i);
  const bool put = op.kind == OpKind::kPut;
  parts_.clear();
  segments_.clear();
  sched::for_each_piece(
      schedule_.slices(op.reads), schedule_.slices(op.writes),
      [&](const Slice& from, const Slice& to) {
        const RemoteMemory at = remote(put ? to : from, shift);
        const Segment local = memory_.segment(put ? from : to);
        const bool goes_on = !parts_.empty() && parts_.back().segments < max_segments_ &&
                             parts_.back().remote.key == at.key &&
                             parts_.back().remote.address + parts_.back().bytes == at.address;
        if (!goes_on) parts_.push_back({at, 0, static_cast<std::uint32_t>(segments_.size()), 0});
        parts_.back().bytes += local.bytes;
        ++parts_.back().segments;
        segments_.push_back(local);
      });
}

void RequestMaker::add_part(std::uint32_t i, std::size_t part, bool signalled,
                            RequestQueue& queue) const {
  const Op& op = program_.op(i);
  const bool last = part + 1 == parts_.size();
  WorkRequest request = request_of(i);
  request.kind = op.kind != OpKind::kPut                    ? RequestKind::kRead
                 : op.notify == sched::Notify::kImm && last ? RequestKind::kWriteImm
                                                            : RequestKind::kWrite;
  request.signalled = signalled;
  request.remote = parts_[part].remote;
  queue.add(request,
            std::span(segments_).subspan(parts_[part].first_segment, parts_[part].segments), last);
}

std::uint32_t RequestMaker::make_one_sided(std::uint32_t i, bool signalled, RequestQueue& queue) {
  const Op& op = program_.op(i);
  cut_into_parts(i, operands_.read(i).shift);
  if (parts_.empty()) {
    // Without bytes only the notice is left of it.
    if (op.notify != sched::Notify::kImm) return 0;
    WorkRequest request = request_of(i);
    request.signalled = signalled;
    request.kind = RequestKind::kWriteImm;
    request.remote = any_of_rank_[schedule_.channel(op.channel).dst.value];
    queue.add(request, {}, true);
    return 1;
  }
  holds_last_[i] = parts_.size() > 1 && op.notify != sched::Notify::kNone && !ordered_writes_;
  const std::size_t now = parts_.size() - (holds_last_[i] ? 1 : 0);
  for (std::size_t part = 0; part < now; ++part) {
    // Where one speaks for those before it, they need not. The last piece must hear of them.
    const bool speaks = part + 1 == now || !in_order_;
    add_part(i, part, (signalled || holds_last_[i]) && speaks, queue);
  }
  return static_cast<std::uint32_t>(now);
}

bool RequestMaker::make_last(std::uint32_t i, RequestQueue& queue) {
  if (!holds_last_[i]) return false;
  holds_last_[i] = false;
  cut_into_parts(i, operands_.values(i).shift);
  add_part(i, parts_.size() - 1, true, queue);
  return true;
}

void RequestMaker::make_atomic(std::uint32_t i, RequestQueue& queue) {
  const Op& op = program_.op(i);
  const machine::Operands::Values& values = operands_.read(i);
  const Segment local{landed(i), 8, memory_.scratch_handle()};
  if (is_swapped(op.kind)) {
    queue.add(swap_request(i), {&local, 1}, true);
    return;
  }
  WorkRequest request = request_of(i);
  request.kind = request_kind(op.kind);
  request.operand = values.operand;
  request.compare = values.compare;
  request.remote = remote(schedule_.slices(op.writes).front(), values.shift);
  queue.add(request, {&local, 1}, true);
}

// What makes the word what it is to become, if it is still as it was seen.
WorkRequest RequestMaker::swap_request(std::uint32_t i) {
  const Op& op = program_.op(i);
  const machine::Operands::Values values = operands_.values(i);
  WorkRequest request = request_of(i);
  request.kind = RequestKind::kCompareSwap;
  request.compare = seen_[word_of_op_[i]];
  request.operand = combined(op.kind, request.compare, values.operand);
  request.remote = remote(schedule_.slices(op.writes).front(), values.shift);
  return request;
}

bool RequestMaker::is_swapped(OpKind kind) const {
  return !bitwise_ &&
         (kind == OpKind::kFetchAnd || kind == OpKind::kFetchOr || kind == OpKind::kFetchXor);
}

RemoteMemory RequestMaker::remote(const Slice& slice, std::uint64_t shift) const {
  RemoteMemory memory = remote_[slice.buffer.value];
  memory.address += slice.offset + shift;
  return memory;
}

std::byte* RequestMaker::landed(std::uint32_t op) {
  return memory_.scratch() + 8ull * word_of_op_[op];
}

}  // namespace slackline::hw
