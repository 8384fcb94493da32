#include "hw/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <map>

#include "sched/error.h"

namespace slackline::hw {
namespace {

using sched::Op;
using sched::OpKind;
using sched::Slice;

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::size_t kBatch = 32;

// The places of the rank's atomics in its scratch words.
std::vector<std::uint32_t> number_atomics(const RankProgram& program, std::uint32_t& words) {
  std::vector<std::uint32_t> word(program.size(), 0);
  for (std::uint32_t i = 0; i < program.size(); ++i) {
    if (sched::is_atomic(program.op(i).kind)) word[i] = words++;
  }
  return word;
}

// Calls visit(from, to, bytes) for the pieces that two equally long lists of slices have in common:
// each is one run in both.
template <class Visit>
void for_each_piece(std::span<const Slice> from, std::span<const Slice> to, Visit&& visit) {
  std::size_t f = 0;
  std::size_t t = 0;
  std::uint64_t f_used = 0;
  std::uint64_t t_used = 0;
  while (f < from.size() && t < to.size()) {
    const std::uint64_t bytes = std::min(from[f].bytes - f_used, to[t].bytes - t_used);
    if (bytes != 0) {
      visit(Slice{from[f].buffer, from[f].offset + f_used, bytes},
            Slice{to[t].buffer, to[t].offset + t_used, bytes});
    }
    f_used += bytes;
    t_used += bytes;
    if (f_used == from[f].bytes) {
      ++f;
      f_used = 0;
    }
    if (t < to.size() && t_used == to[t].bytes) {
      ++t;
      t_used = 0;
    }
  }
}

}  // namespace

Executor::Executor(const sched::Schedule& schedule, sched::RankId rank, Transport& transport)
    : schedule_(schedule),
      rank_(rank),
      transport_(transport),
      program_(schedule, rank),
      layout_(schedule),
      word_of_op_(number_atomics(program_, words_)),
      memory_(schedule, layout_, rank, 8ull * words_),
      times_(program_.size()),
      waits_(program_.size()),
      requests_left_(program_.size(), 0),
      left_(program_.size()),
      lane_of_op_(program_.size()) {
  for (std::uint32_t i = 0; i < program_.size() && !transport_.has_atomics(); ++i) {
    if (!sched::is_atomic(program_.op(i).kind)) continue;
    throw Unsupported(fmt::format("{} cannot carry out {}: it has no atomics", transport_.name(),
                                  describe(schedule_, program_.id(i))));
  }
  memory_.fill();
  local_ = transport_.register_memory(memory_.all());
  greeting_.memory = local_.remote;
  greeting_.address = transport_.open(program_.ends());
  std::map<std::uint16_t, std::uint32_t> lanes;
  for (std::uint32_t i = 0; i < program_.size(); ++i) {
    const auto fresh = static_cast<std::uint32_t>(lanes.size());
    lane_of_op_[i] = lanes.try_emplace(program_.op(i).lane, fresh).first->second;
    waits_[i] = program_.waits(i);
    times_[i].ready_s = times_[i].issued_s = times_[i].wire_s = times_[i].done_s = kNever;
  }
  lanes_.resize(lanes.size());
  lane_busy_.resize(lanes.size(), false);
}

void Executor::connect(std::span<const Greeting> greetings) {
  std::vector<Address> addresses;
  for (const Greeting& greeting : greetings) {
    addresses.push_back(greeting.address);
    remote_.push_back(greeting.memory);
  }
  transport_.connect(addresses);
}

void Executor::begin() {
  start_ = Clock::now();
  for (std::uint32_t i = 0; i < program_.size(); ++i) {
    if (waits_[i] != 0) continue;
    times_[i].ready_s = 0;
    lanes_[lane_of_op_[i]].push(i);
  }
}

bool Executor::progress() {
  // What is ready goes out before anybody looks for more.
  bool moved = issue_ready();
  moved = see_completions() || moved;
  moved = see_timers() || moved;
  return see_flags() || moved;
}

sched::OpId Executor::first_unfinished() const {
  for (std::uint32_t i = 0; i < program_.size(); ++i) {
    if (times_[i].done_s == kNever) return program_.id(i);
  }
  return sched::OpId::none();
}

double Executor::now_s() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void Executor::release(std::uint32_t op, std::uint32_t by) {
  if (--waits_[op] != 0) return;
  times_[op].ready_s = now_s();
  times_[op].cause = program_.id(by);
  lanes_[lane_of_op_[op]].push(op);
}

void Executor::issued(std::uint32_t op) {
  times_[op].issued_s = times_[op].wire_s = now_s();
  for (const std::uint32_t next : program_.after_issued(op)) release(next, op);
}

void Executor::done(std::uint32_t op) {
  times_[op].done_s = now_s();
  --left_;
  for (const std::uint32_t next : program_.after_done(op)) release(next, op);
}

bool Executor::issue_ready() {
  bool moved = post_queued();
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    while (!lanes_[lane].empty() && !lane_busy_[lane]) {
      // Nobody overtakes requests that wait for room.
      if (queued_.size() - next_ >= kBatch && !post_queued()) return moved;
      const std::uint32_t op = lanes_[lane].top();
      lanes_[lane].pop();
      issue(op);
      moved = true;
      if (lanes_[lane].empty()) post_queued();
    }
  }
  post_queued();
  return moved;
}

void Executor::issue(std::uint32_t i) {
  const Op& op = program_.op(i);
  switch (op.kind) {
    case OpKind::kSend:
    case OpKind::kRecv:
      return queue_message(i);
    case OpKind::kPut:
    case OpKind::kGet:
      return queue_one_sided(i);
    case OpKind::kFetchAdd:
    case OpKind::kCompareSwap:
      return queue_atomic(i);
    case OpKind::kPoll:
      issued(i);
      polls_.push_back(i);
      return;
    case OpKind::kCopy:
      issued(i);
      copy(i);
      return done(i);
    case OpKind::kReduce:
      issued(i);
      reduce(i);
      return done(i);
    case OpKind::kCalc:
      lane_busy_[lane_of_op_[i]] = true;
      [[fallthrough]];
    case OpKind::kDelay: {
      issued(i);
      const std::chrono::duration<double> wait(sched::seconds(schedule_.arguments(op).duration));
      timers_.push({Clock::now() + std::chrono::duration_cast<Clock::duration>(wait), i});
      return;
    }
    case OpKind::kJoin:
    case OpKind::kFlush:  // bundles are dynamic: here nothing is ever held back
      issued(i);
      return done(i);
    case OpKind::kFetchAnd:
    case OpKind::kFetchOr:
    case OpKind::kFetchXor:
      break;
  }
  throw InternalError(fmt::format("no way to carry out {}", describe(schedule_, program_.id(i))));
}

void Executor::queue_message(std::uint32_t i) {
  const Op& op = program_.op(i);
  WorkRequest request;
  request.kind = op.kind == OpKind::kSend ? RequestKind::kSend : RequestKind::kRecv;
  request.channel = op.channel.value;
  request.tag = i;
  request.immediate = program_.message(i);
  request.expects_write = op.kind == OpKind::kRecv && schedule_.op(op.match).kind == OpKind::kPut;
  std::vector<Segment> segments;
  for (const Slice& slice : schedule_.slices(op.kind == OpKind::kSend ? op.reads : op.writes)) {
    if (slice.bytes != 0) segments.push_back(segment(slice));
  }
  if (segments.size() > transport_.max_segments()) {
    throw Unsupported(fmt::format("{} gathers {} slices; {} takes {}",
                                  describe(schedule_, program_.id(i)), segments.size(),
                                  transport_.name(), transport_.max_segments()));
  }
  requests_left_[i] = 1;
  queue(request, segments, true);
}

void Executor::queue_one_sided(std::uint32_t i) {
  const Op& op = program_.op(i);
  const bool put = op.kind == OpKind::kPut;
  const bool imm = put && op.notify == sched::Notify::kImm;
  const std::uint64_t further = value_of(schedule_.arguments(op).address_offset);
  struct Piece {
    Slice local;
    Slice remote;
  };
  std::vector<Piece> pieces;
  for_each_piece(schedule_.slices(op.reads), schedule_.slices(op.writes),
                 [&](const Slice& from, const Slice& to) {
                   pieces.push_back(put ? Piece{from, to} : Piece{to, from});
                 });
  WorkRequest request;
  request.channel = op.channel.value;
  request.tag = i;
  request.immediate = program_.message(i);
  requests_left_[i] = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(pieces.size()));
  if (pieces.empty()) {
    // Without bytes only the notice is left of it.
    if (!imm) {
      requests_left_[i] = 0;
      issued(i);
      return done(i);
    }
    request.kind = RequestKind::kWriteImm;
    const sched::Channel& channel = schedule_.channel(op.channel);
    request.remote = remote_[channel.dst.value];
    return queue(request, {}, true);
  }
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const bool last = p + 1 == pieces.size();
    request.kind = !put          ? RequestKind::kRead
                   : imm && last ? RequestKind::kWriteImm
                                 : RequestKind::kWrite;
    request.remote = remote(pieces[p].remote, further);
    const Segment local = segment(pieces[p].local);
    queue(request, {&local, 1}, last);
  }
}

void Executor::queue_atomic(std::uint32_t i) {
  const Op& op = program_.op(i);
  const sched::OpArguments& arguments = schedule_.arguments(op);
  WorkRequest request;
  request.kind = op.kind == OpKind::kFetchAdd ? RequestKind::kFetchAdd : RequestKind::kCompareSwap;
  request.channel = op.channel.value;
  request.tag = i;
  request.operand = value_of(arguments.operand);
  request.compare = value_of(arguments.compare);
  request.remote = remote(schedule_.slices(op.writes).front(), value_of(arguments.address_offset));
  requests_left_[i] = 1;
  const Segment local{result(i), 8, local_.handle};
  queue(request, {&local, 1}, true);
}

void Executor::queue(WorkRequest request, std::span<const Segment> segments, bool last) {
  queued_.push_back({request, static_cast<std::uint32_t>(segments_.size()),
                     static_cast<std::uint32_t>(segments.size()), last});
  segments_.insert(segments_.end(), segments.begin(), segments.end());
}

// Answers whether the transport took any.
bool Executor::post_queued() {
  bool moved = false;
  while (next_ < queued_.size()) {
    batch_.clear();
    const std::size_t end = std::min(queued_.size(), next_ + kBatch);
    for (std::size_t q = next_; q < end; ++q) {
      batch_.push_back(queued_[q].request);
      batch_.back().local =
          std::span<const Segment>(segments_).subspan(queued_[q].segment, queued_[q].segments);
    }
    const std::size_t taken = transport_.post(batch_);
    moved = moved || taken != 0;
    for (std::size_t k = 0; k < taken; ++k, ++next_) {
      if (queued_[next_].last) issued(static_cast<std::uint32_t>(queued_[next_].request.tag));
    }
    if (taken < batch_.size()) return moved;
  }
  queued_.clear();
  segments_.clear();
  next_ = 0;
  return moved;
}

bool Executor::see_completions() {
  std::array<Completion, kBatch> completions;
  const std::size_t count = transport_.poll(completions);
  for (std::size_t c = 0; c < count; ++c) {
    const auto i = static_cast<std::uint32_t>(completions[c].tag);
    const Op& op = program_.op(i);
    if (op.kind == OpKind::kRecv && completions[c].immediate != program_.message(i)) {
      throw InternalError(fmt::format("{} took message {} of its channel; expected message {}",
                                      describe(schedule_, program_.id(i)), completions[c].immediate,
                                      program_.message(i)));
    }
    if (--requests_left_[i] != 0) continue;
    if (sched::is_atomic(op.kind)) {
      for (const Slice& slice : schedule_.slices(op.writes).subspan(1)) {
        std::memcpy(memory_.at(slice).data(), result(i), std::min<std::size_t>(8, slice.bytes));
      }
    }
    done(i);
  }
  return count != 0;
}

bool Executor::see_timers() {
  bool moved = false;
  while (!timers_.empty() && timers_.top().at <= Clock::now()) {
    const std::uint32_t op = timers_.top().op;
    timers_.pop();
    if (program_.op(op).kind == OpKind::kCalc) lane_busy_[lane_of_op_[op]] = false;
    done(op);
    moved = true;
  }
  return moved;
}

bool Executor::see_flags() {
  bool moved = false;
  for (std::size_t p = 0; p < polls_.size();) {
    const std::uint32_t op = polls_[p];
    if (!flag_is_there(op)) {
      ++p;
      continue;
    }
    polls_[p] = polls_.back();
    polls_.pop_back();
    done(op);
    moved = true;
  }
  return moved;
}

// Values have no zero bytes, and a flag's memory is zero until its put.
bool Executor::flag_is_there(std::uint32_t op) {
  const std::span<const Slice> slices = schedule_.slices(program_.op(op).reads);
  for (const Slice& slice : slices) {
    for (const volatile std::byte& byte : memory_.at(slice)) {
      if (byte == std::byte{0}) return false;
    }
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  if (program_.clears_flag(op)) {
    for (const Slice& slice : slices) {
      std::memset(memory_.at(slice).data(), 0, slice.bytes);
    }
  }
  return true;
}

void Executor::copy(std::uint32_t i) {
  const Op& op = program_.op(i);
  for_each_piece(schedule_.slices(op.reads), schedule_.slices(op.writes),
                 [&](const Slice& from, const Slice& to) {
                   std::memmove(memory_.at(to).data(), memory_.at(from).data(), from.bytes);
                 });
}

void Executor::reduce(std::uint32_t i) {
  const Op& op = program_.op(i);
  if (op.writes.count == 0) return;
  const std::span<std::byte> target = memory_.at(schedule_.slices(op.writes).front());
  std::vector<std::byte> sum(target.size(), std::byte{0});
  for (const Slice& slice : schedule_.slices(op.reads)) {
    const std::span<std::byte> operand = memory_.at(slice);
    for (std::size_t b = 0; b < std::min(sum.size(), operand.size()); ++b) {
      sum[b] = static_cast<std::byte>(std::to_integer<unsigned>(sum[b]) +
                                      std::to_integer<unsigned>(operand[b]));
    }
  }
  std::copy(sum.begin(), sum.end(), target.begin());
}

Segment Executor::segment(const Slice& slice) {
  const std::span<std::byte> bytes = memory_.at(slice);
  return {bytes.data(), bytes.size(), local_.handle};
}

RemoteMemory Executor::remote(const Slice& slice, std::uint64_t further) const {
  RemoteMemory memory = remote_[schedule_.buffers()[slice.buffer.value].rank.value];
  memory.address += layout_.offset(slice.buffer) + slice.offset + further;
  return memory;
}

std::byte* Executor::result(std::uint32_t op) { return memory_.scratch() + 8ull * word_of_op_[op]; }

std::uint64_t Executor::value_of(const sched::Operand& operand) {
  if (operand.from == sched::Operand::From::kAbsent) return 0;
  if (operand.from == sched::Operand::From::kLiteral) return operand.value;
  std::uint64_t fetched = 0;
  std::memcpy(&fetched, result(operand.op.value - program_.id(0).value), 8);
  return fetched * operand.value;
}

sched::Trace assemble_trace(const sched::Schedule& schedule, std::string_view transport,
                            std::span<const std::vector<sched::OpTimes>> times) {
  sched::Trace trace;
  trace.schedule = schedule.digest();
  trace.title = schedule.title();
  trace.engine = fmt::format("run:{}", transport);
  sched::OpTimes never;
  never.ready_s = never.issued_s = never.wire_s = never.done_s = kNever;
  trace.ops.assign(schedule.op_count(), never);
  for (std::uint32_t r = 0; r < times.size(); ++r) {
    const std::uint32_t first = schedule.first_op(sched::RankId(r)).value;
    std::copy(times[r].begin(), times[r].end(), trace.ops.begin() + first);
  }
  return trace;
}

}  // namespace slackline::hw
