#include "hw/executor/bundles.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace slackline::hw {
namespace {

using sched::Op;
using sched::OpKind;
using sched::Slice;

constexpr std::uint32_t kSlots = 8;                    // of a channel, at each end
constexpr std::uint64_t kMostGathered = 256ull << 10;  // in one bundle
constexpr std::uint64_t kLargePut = 64ull << 10;       // not copied
constexpr std::uint64_t kMostHeaders = 4096;           // in one bundle, if it is told

// What both ends of a channel know of it.
struct Shape {
  bool gathers = false;
  bool written = true;
  std::uint64_t full_bytes = 0;  // of what its operations carry
  std::uint64_t most_bytes = 0;  // with which a slot still takes any of them
  std::uint64_t slot_bytes = 0;
};

double seconds_of(Bundles::Clock::time_point at) {
  return std::chrono::duration<double>(at.time_since_epoch()).count();
}

std::vector<Shape> shapes_of(const sched::Schedule& schedule) {
  std::vector<Shape> shapes(schedule.channels().size());
  if (!schedule.has_bundles()) return shapes;
  struct Count {
    std::uint64_t largest = 0;
    std::uint64_t messages = 0;
    std::uint64_t puts = 0;
    std::uint64_t contiguous = 0;
    Slice last;
  };
  std::vector<Count> counts(shapes.size());
  for (const Op& op : schedule.ops()) {
    if (op.kind != OpKind::kSend && op.kind != OpKind::kPut) continue;
    Shape& shape = shapes[op.channel.value];
    shape.gathers = schedule.channel(op.channel).bundle != sched::Bundle::kNone;
    if (!shape.gathers) continue;
    Count& count = counts[op.channel.value];
    count.largest = std::max(count.largest, schedule.payload_bytes(op));
    ++count.messages;
    // A flag that becomes visible behind what is written elsewhere needs an order among writes.
    shape.written = shape.written && !sched::is_fifo_source(op) &&
                    (op.notify == sched::Notify::kNone || op.writes.count == 1);
    if (op.writes.count == 0) continue;
    const Slice& first = schedule.slices(op.writes).front();
    ++count.puts;
    count.contiguous +=
        first.buffer == count.last.buffer && first.offset == count.last.offset + count.last.bytes;
    count.last = schedule.slices(op.writes).back();
  }
  for (std::size_t c = 0; c < shapes.size(); ++c) {
    Shape& shape = shapes[c];
    if (!shape.gathers) continue;
    shape.written = shape.written && 2 * (counts[c].contiguous + 1) >= counts[c].puts;
    shape.full_bytes = std::min(schedule.channels()[c].bundle_bytes, kMostGathered);
    if (shape.written) {
      // What is larger than kLargePut is not copied.
      shape.most_bytes = shape.full_bytes;
      shape.slot_bytes = shape.most_bytes + std::min(counts[c].largest, kLargePut);
    } else {
      const std::uint64_t headers = std::min(counts[c].messages, kMostHeaders);
      shape.most_bytes = shape.full_bytes + headers * sizeof(BundleHeader);
      shape.slot_bytes = shape.most_bytes + sizeof(BundleHeader) + counts[c].largest;
    }
    shape.slot_bytes = (shape.slot_bytes + 63) / 64 * 64;
  }
  return shapes;
}

}  // namespace

std::uint64_t Bundles::scratch_bytes(const RankProgram& program) {
  const sched::Schedule& schedule = program.schedule();
  const std::vector<Shape> shapes = shapes_of(schedule);
  std::uint64_t bytes = 0;
  for (std::size_t c = 0; c < shapes.size(); ++c) {
    if (!shapes[c].gathers) continue;
    const sched::Channel& channel = schedule.channels()[c];
    if (channel.src == program.rank()) bytes += kSlots * shapes[c].slot_bytes;
    if (channel.dst == program.rank() && !shapes[c].written) bytes += kSlots * shapes[c].slot_bytes;
  }
  return bytes;
}

Bundles::Bundles(const RankProgram& program, RankMemory& memory, RequestMaker& maker,
                 machine::Operands& operands, const Transport& transport, std::uint64_t scratch,
                 const ExecutorChannels& channels, std::uint32_t number, bool take_lanes,
                 Clock::time_point (*now)())
    : program_(program),
      schedule_(program.schedule()),
      memory_(memory),
      maker_(maker),
      operands_(operands),
      in_order_(transport.completes_in_order()),
      channels_(channels),
      number_(std::uint64_t{number} << 32),
      take_lanes_(take_lanes),
      now_(now),
      line_of_(schedule_.channels().size(), kNoOp),
      target_of_(line_of_) {
  const std::vector<Shape> shapes = shapes_of(schedule_);
  std::byte* at = memory.scratch() + (scratch - scratch_bytes(program));
  for (std::uint32_t c = 0; c < shapes.size(); ++c) {
    const Shape& shape = shapes[c];
    if (!shape.gathers) continue;
    const sched::Channel& channel = schedule_.channels()[c];
    if (channel.src == program.rank()) {
      line_of_[c] = static_cast<std::uint32_t>(lines_.size());
      Line& line = lines_.emplace_back(Line{sched::ChannelId(c), {channel, shape.full_bytes}});
      line.written = shape.written;
      line.most_bytes = shape.most_bytes;
      line.first_tag = static_cast<std::uint32_t>(places_.size());
      for (std::uint32_t s = 0; s < kSlots; ++s, at += shape.slot_bytes) {
        line.slots.emplace_back().data = at;
        line.free.push_back(kSlots - 1 - s);
        places_.push_back({true, line_of_[c], s, false});
      }
      for (std::uint32_t s = 0; s < kSlots; ++s) places_.push_back({true, line_of_[c], s, true});
      if (!shape.written) {
        ends_.push_back({channels_.of_bundles(line.channel), channel.dst.value, true});
        ends_.push_back(
            {channels_.of_acknowledgements(line.channel), channel.dst.value, false, 0, true});
        channels_of_ends_.insert(channels_of_ends_.end(), 2, line.channel);
      }
    }
    if (channel.dst == program.rank() && !shape.written) {
      target_of_[c] = static_cast<std::uint32_t>(targets_.size());
      Target& target = targets_.emplace_back();
      target.channel = sched::ChannelId(c);
      target.slot_bytes = shape.slot_bytes;
      target.first_tag = static_cast<std::uint32_t>(places_.size());
      for (std::uint32_t s = 0; s < kSlots; ++s, at += shape.slot_bytes) {
        target.slots.push_back(at);
        places_.push_back({false, target_of_[c], s, false});
      }
      ends_.push_back({channels_.of_bundles(target.channel), channel.src.value, false});
      ends_.push_back(
          {channels_.of_acknowledgements(target.channel), channel.src.value, true, 0, true});
      channels_of_ends_.insert(channels_of_ends_.end(), 2, target.channel);
    }
  }
}

WorkRequest Bundles::request(RequestKind kind, std::uint32_t channel, std::uint32_t tag) const {
  WorkRequest request;
  request.kind = kind;
  request.channel = channel;
  request.tag = number_ | kFirstTag | tag;
  return request;
}

void Bundles::begin(RequestQueue& queue) {
  if (begun_) return;
  begun_ = true;
  for (const Line& line : lines_) {
    for (std::uint32_t s = 0; s < kSlots && !line.written; ++s) {
      post_acknowledgement(line, s, queue);
    }
  }
  for (const Target& target : targets_) {
    for (std::uint32_t s = 0; s < kSlots; ++s) post_receive(target, s, queue);
  }
}

void Bundles::post_acknowledgement(const Line& line, std::uint32_t slot, RequestQueue& queue) {
  queue.add(request(RequestKind::kRecv, channels_.of_acknowledgements(line.channel),
                    line.first_tag + kSlots + slot),
            {}, false);
}

void Bundles::post_receive(const Target& target, std::uint32_t slot, RequestQueue& queue) {
  const Segment segment{target.slots[slot], target.slot_bytes, memory_.scratch_handle()};
  queue.add(
      request(RequestKind::kRecv, channels_.of_bundles(target.channel), target.first_tag + slot),
      {&segment, 1}, false);
}

bool Bundles::takes(std::uint32_t i, RequestQueue& queue) {
  const Op& op = program_.op(i);
  if (!op.channel.valid()) return false;
  if (op.kind == OpKind::kRecv) return target_of_[op.channel.value] != kNoOp;
  if (line_of_[op.channel.value] == kNoOp) return false;
  Line& line = lines_[line_of_[op.channel.value]];
  if (is_copied(line, op)) return true;
  flush(i, queue);
  line.rule.left();
  return false;
}

// Whether it goes into bundles, if only into one of its own.
bool Bundles::is_copied(const Line& line, const Op& op) const {
  if (op.kind != OpKind::kSend && op.kind != OpKind::kPut) return false;
  return !line.written || schedule_.payload_bytes(op) <= kLargePut;
}

void Bundles::room_made(std::uint32_t i, RequestQueue& queue) {
  const Op& op = program_.op(i);
  if (!sched::is_initiator(op.kind) || line_of_[op.channel.value] == kNoOp) return;
  Line& line = lines_[line_of_[op.channel.value]];
  if (is_copied(line, op)) return;
  line.rule.over();
  if (line.open != kNoOp && line.rule.is_free_to_leave()) become_due(line, queue);
}

Bundles::Turn Bundles::turn_of(std::uint32_t i) {
  const Op& op = program_.op(i);
  if (op.kind == OpKind::kRecv || !op.channel.valid() || line_of_[op.channel.value] == kNoOp) {
    return Turn::kNothing;
  }
  Line& line = lines_[line_of_[op.channel.value]];
  line.copies = is_copied(line, op) && line.rule.gathers();
  if (line.copies) return Turn::kCopied;
  if (line.open == kNoOp) return Turn::kNothing;
  return op.kind == OpKind::kFlush ? Turn::kFlushed : Turn::kBehind;
}

bool Bundles::is_open(std::uint32_t oldest, std::uint32_t serial) const {
  const Line& line = lines_[line_of_[program_.op(oldest).channel.value]];
  return line.open != kNoOp && line.serial == serial;
}

void Bundles::add(std::uint32_t i, Clock::time_point now, RequestQueue& queue) {
  const Op& op = program_.op(i);
  if (op.kind == OpKind::kRecv) {
    Target& target = targets_[target_of_[op.channel.value]];
    target.receives.push_back(i);
    issued.push_back(i);
    return match(target);
  }
  Line& line = lines_[line_of_[op.channel.value]];
  if (gather(line, i, now)) {
    // What would go alone has had its post.
    if (take_lanes_ && line.copies && is_full(line)) {
      close(line, i);
      filled.push_back(i);
    } else if (take_lanes_ && line.copies && line.rule.is_free_to_leave()) {
      become_due(line, queue);
    } else {
      added(line, queue);
    }
  } else {
    line.stalled = i;  // the only one: the channel's next waits for its issue
  }
}

bool Bundles::is_full(const Line& line) const {
  const bool takes_more = line.slots[line.open].bytes <= line.most_bytes;
  return !takes_more || line.rule.is_full();
}

void Bundles::added(Line& line, RequestQueue& queue) {
  if (is_full(line) || line.rule.is_free_to_leave()) post(line, queue);
}

// False if there is no memory for it now.
bool Bundles::gather(Line& line, std::uint32_t i, Clock::time_point now) {
  if (line.open == kNoOp) {
    if (line.free.empty()) return false;
    line.open = line.free.back();
    line.free.pop_back();
    line.serial = ++serial_;
    Slot& slot = line.slots[line.open];
    slot.ops.clear();
    slot.runs.clear();
    slot.bytes = 0;
  }
  Slot& slot = line.slots[line.open];
  const Op& op = program_.op(i);
  line.rule.add(schedule_.payload_bytes(op), seconds_of(now));
  const std::uint64_t shift = operands_.read(i).shift;
  if (line.written) {
    add_written(slot, op, shift);
  } else {
    add_told(slot, op, program_.id(i), shift);
  }
  slot.ops.push_back(i);
  issued.push_back(i);
  return true;
}

void Bundles::add_written(Slot& slot, const Op& op, std::uint64_t shift) {
  std::uint64_t at = slot.bytes;
  for (const Slice& slice : schedule_.slices(op.reads)) {
    if (slice.bytes == 0) continue;
    std::memcpy(slot.data + at, memory_.at(slice).data(), slice.bytes);
    at += slice.bytes;
  }
  for (const Slice& slice : schedule_.slices(op.writes)) {
    if (slice.bytes == 0) continue;
    const RemoteMemory target = maker_.remote(slice, shift);
    Run* const last = slot.runs.empty() ? nullptr : &slot.runs.back();
    if (last != nullptr && last->target.key == target.key &&
        last->target.address + last->bytes == target.address) {
      last->bytes += slice.bytes;
    } else {
      slot.runs.push_back({target, slot.bytes, slice.bytes});
    }
    slot.bytes += slice.bytes;
  }
}

void Bundles::add_told(Slot& slot, const Op& op, sched::OpId id, std::uint64_t shift) {
  const BundleHeader header{id.value, 0, shift};
  std::memcpy(slot.data + slot.bytes, &header, sizeof header);
  slot.bytes += sizeof header;
  for (const Slice& slice : schedule_.slices(op.reads)) {
    if (slice.bytes == 0) continue;
    std::memcpy(slot.data + slot.bytes, memory_.at(slice).data(), slice.bytes);
    slot.bytes += slice.bytes;
  }
}

void Bundles::flush(std::uint32_t i, RequestQueue& queue) {
  const std::uint32_t index = line_of_[program_.op(i).channel.value];
  if (index == kNoOp) return;
  Line& line = lines_[index];
  if (line.open != kNoOp) return post(line, queue);
  // Queue pairs are FIFO; a flush has nothing behind it.
  while (program_.op(i).kind != OpKind::kFlush && !line.closed.empty()) leave(line, queue);
}

bool Bundles::flush_old(Clock::time_point now, RequestQueue& queue) {
  bool any = false;
  for (Line& line : lines_) {
    if (line.awaits_lane || line.rule.due_s() > seconds_of(now)) continue;
    become_due(line, queue);
    any = true;
  }
  return any;
}

std::optional<Bundles::Clock::time_point> Bundles::next_due() const {
  double next_s = std::numeric_limits<double>::infinity();
  for (const Line& line : lines_) {
    if (!line.awaits_lane) next_s = std::min(next_s, line.rule.due_s());
  }
  if (std::isinf(next_s)) return std::nullopt;
  return Clock::time_point(
      std::chrono::ceil<Clock::duration>(std::chrono::duration<double>(next_s)));
}

// Nothing has to be waited for but a lane, and that only where posts take one.
void Bundles::become_due(Line& line, RequestQueue& queue) {
  if (!take_lanes_) return post(line, queue);
  if (line.awaits_lane) return;
  line.awaits_lane = true;
  due.push_back({line.slots[line.open].ops.front(), line.serial});
}

void Bundles::close(std::uint32_t op) {
  close(lines_[line_of_[program_.op(op).channel.value]], op);
}

void Bundles::close(Line& line, std::uint32_t op) {
  line.closed.push_back({line.open, op});
  line.open = kNoOp;
  line.awaits_lane = false;
  line.rule.close();
}

// Nothing if it has left before.
void Bundles::leave(std::uint32_t op, RequestQueue& queue) {
  Line& line = lines_[line_of_[program_.op(op).channel.value]];
  const auto its = std::ranges::find(line.closed, op, &Line::Closed::op);
  auto up_to_it = its == line.closed.end() ? 0 : its - line.closed.begin() + 1;
  for (; up_to_it > 0; --up_to_it) leave(line, queue);
}

void Bundles::post(Line& line, RequestQueue& queue) {
  close(line, kNoOp);
  while (!line.closed.empty()) leave(line, queue);
}

void Bundles::leave(Line& line, RequestQueue& queue) {
  const std::uint32_t index = line.closed.front().slot;
  line.closed.pop_front();
  Slot& slot = line.slots[index];
  line.rule.left();
  left.insert(left.end(), slot.ops.begin(), slot.ops.end());
  if (line.written) return write(line, index, queue);
  slot.awaited = 2;
  line.told.push_back(index);
  const Segment segment{slot.data, slot.bytes, memory_.scratch_handle()};
  queue.add(request(RequestKind::kSend, channels_.of_bundles(line.channel), line.first_tag + index),
            {&segment, 1}, false);
}

void Bundles::write(Line& line, std::uint32_t index, RequestQueue& queue) {
  Slot& slot = line.slots[index];
  slot.awaited = in_order_ ? 1 : static_cast<std::uint32_t>(slot.runs.size());
  if (slot.runs.empty()) {
    slot.awaited = 1;
    return over(line, index, queue);
  }
  for (std::size_t r = 0; r < slot.runs.size(); ++r) {
    const Run& run = slot.runs[r];
    WorkRequest write =
        request(RequestKind::kWrite, channels_.of(line.channel), line.first_tag + index);
    write.signalled = !in_order_ || r + 1 == slot.runs.size();
    write.remote = run.target;
    const Segment segment{slot.data + run.at, run.bytes, memory_.scratch_handle()};
    queue.add(write, {&segment, 1}, false);
  }
}

// One of the things that a slot waits for.
void Bundles::over(Line& line, std::uint32_t index, RequestQueue& queue) {
  Slot& slot = line.slots[index];
  if (--slot.awaited != 0) return;
  line.rule.over();
  done.insert(done.end(), slot.ops.begin(), slot.ops.end());
  line.free.push_back(index);
  if (line.stalled != kNoOp) {
    const std::uint32_t op = line.stalled;
    line.stalled = kNoOp;
    // It had its turn long ago, without memory. No simulation has that, nor another turn for it.
    gather(line, op, now_());
    added(line, queue);
  } else if (line.open != kNoOp && line.rule.is_free_to_leave()) {
    become_due(line, queue);
  }
}

void Bundles::complete(const Completion& completion, RequestQueue& queue) {
  const LaunchPlace place = places_[static_cast<std::uint32_t>(completion.tag) - kFirstTag];
  if (!place.is_line) {
    Target& target = targets_[place.index];
    take_apart(target, {target.slots[place.slot], completion.bytes});
    match(target);
    post_receive(target, place.slot, queue);
    WorkRequest answer =
        request(RequestKind::kSend, channels_.of_acknowledgements(target.channel), 0);
    answer.signalled = false;
    queue.add(answer, {}, false);
    return;
  }
  Line& line = lines_[place.index];
  if (!place.acknowledgement) return over(line, place.slot, queue);
  post_acknowledgement(line, place.slot, queue);
  const std::uint32_t slot = line.told.front();
  line.told.pop_front();
  over(line, slot, queue);
}

}  // namespace slackline::hw
