#include "hw/call/sender.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace slackline::hw {

CallSender::CallSender(const CallsOptions& options, RecordStamps stamps, CallPort& port,
                       CallLine& line, Slabs& slabs, const std::byte* consumed, Grow grow)
    : options_(options),
      stamps_(stamps),
      port_(port),
      line_(line),
      slabs_(slabs),
      consumed_(consumed),
      grow_(std::move(grow)) {}

// Beside an end record, in a chunk and in a unit.
std::size_t CallSender::most_record_bytes(const CallsOptions& options) {
  return std::min(options.chunk_bytes, options.record_bytes) / 8 * 8 - kEndBytes;
}

bool CallSender::add(const RecordDraft& draft, const CallWrite* before, SyncState* told) {
  const std::size_t bytes = record_bytes(draft);
  if (!queue_.empty() || !has_room(bytes)) return false;
  std::byte* const place = place_for(bytes, before);
  lay_out(draft, place);
  append(place, bytes, told);
  ++calls_;
  return true;
}

void CallSender::add_or_queue(const RecordDraft& draft, const CallWrite* before, SyncState* told) {
  if (!add(draft, before, told)) queue(draft, before, told);
}

void CallSender::queue(const RecordDraft& draft, const CallWrite* before, SyncState* told) {
  Queued& queued = queue_.emplace_back();
  queued.record.resize(record_bytes(draft));
  lay_out(draft, queued.record.data());
  if (before != nullptr) queued.before = *before;
  queued.told = told;
  queued_bytes_ += queued.record.size();
  ++calls_;
}

bool CallSender::drain() {
  bool moved = false;
  draining_ = true;
  const auto over = [](bool* draining) { *draining = false; };
  std::unique_ptr<bool, decltype(over)> drained(&draining_, over);
  while (!queue_.empty() && has_room(queue_.front().record.size())) {
    const Queued& queued = queue_.front();
    std::byte* const place =
        place_for(queued.record.size(), queued.before ? &*queued.before : nullptr);
    std::memcpy(place, queued.record.data(), queued.record.size());
    append(place, queued.record.size(), queued.told);
    queued_bytes_ -= queued.record.size();
    queue_.pop_front();
    moved = true;
  }
  drained.reset();
  if (moved && options_.aggregate == Aggregate::kOvfl) flush();
  return moved;
}

// In the current chunk, beside an end record.
bool CallSender::has_room(std::size_t bytes) {
  if (!in_use_.empty() && in_use_.back().filled + bytes + kEndBytes <= options_.chunk_bytes) {
    return true;
  }
  return take_next_chunk();
}

void CallSender::reclaim() {
  const std::uint64_t consumed = load_word(consumed_);
  for (; reclaimed_ < consumed && in_use_.size() > 1; ++reclaimed_) {
    outstanding_ -= in_use_.front().filled;
    free_.push_back(in_use_.front().chunk);
    in_use_.pop_front();
  }
}

bool CallSender::take_next_chunk() {
  reclaim();
  if (free_.empty() && obtained_ < options_.chunk_limit) {
    const std::uint32_t count =
        std::min(options_.chunks_per_request, options_.chunk_limit - obtained_);
    for (const CallChunk& chunk : grow_(count)) {
      free_.push_back(chunk);
      ++obtained_;
    }
  }
  if (free_.empty()) return false;
  const CallChunk next = free_.front();
  if (!in_use_.empty()) {
    RecordDraft end;
    end.kind = RecordKind::kEnd;
    end.function = next.id;
    // has_room() and take_unit() leave room for it.
    std::byte* const place = unit_->local.data + unit_used_;
    lay_out(end, place);
    append(place, kEndBytes, nullptr, When::kNow);
  }
  free_.pop_front();
  in_use_.push_back({next, 0});
  return true;
}

void CallSender::take_unit() {
  flush();
  if (unit_) line_.release(*unit_);
  unit_ = port_.with_transport([&](Transport&) { return slabs_.take(); });
  unit_used_ = 0;
}

std::byte* CallSender::place_for(std::size_t bytes, const CallWrite* before) {
  if (before != nullptr) {
    flush();
    line_.write(before->from, before->to, {});
  }
  if (room_in_unit() < bytes + kEndBytes) take_unit();
  return unit_->local.data + unit_used_;
}

void CallSender::append(std::byte* record, std::size_t bytes, SyncState* told, When when) {
  const RecordStamps before = stamps_;
  seal(record, stamps_.current());
  stamps_.advance();
  unit_used_ += bytes;
  bundle_ += bytes;
  in_use_.back().filled += bytes;
  outstanding_ += bytes;
  most_outstanding_ = std::max(most_outstanding_, outstanding_);
  if (told != nullptr) bundle_told_.push_back(told);
  const bool gathers = options_.aggregate == Aggregate::kTrad ||
                       (options_.aggregate == Aggregate::kOvfl && draining_);
  if (gathers && when != When::kNow && bundle_ < options_.bundle_bytes) return;
  try {
    flush();
  } catch (...) {
    // It was not made after all: nothing of the bundle is under way.
    stamps_ = before;
    unit_used_ -= bytes;
    bundle_ -= bytes;
    in_use_.back().filled -= bytes;
    outstanding_ -= bytes;
    if (told != nullptr) bundle_told_.pop_back();
    throw;
  }
}

void CallSender::flush() {
  if (bundle_ == 0) return;
  const Segment from{unit_->local.data + unit_used_ - bundle_, bundle_, unit_->local.handle};
  const Chunk& chunk = in_use_.back();
  line_.write(from, chunk.chunk.place + (chunk.filled - bundle_), bundle_told_);
  bundle_ = 0;
  bundle_told_.clear();
}

CallCounters CallSender::counters() const {
  CallCounters counters;
  counters.window_bytes = std::uint64_t{options_.chunk_limit} * options_.chunk_bytes;
  counters.outstanding_bytes = outstanding_;
  counters.most_outstanding_bytes = most_outstanding_;
  counters.chunks = obtained_;
  counters.queued_bytes = queued_bytes_;
  counters.calls = calls_;
  counters.writes = line_.posted();
  counters.in_flight = line_.in_flight();
  counters.registered_bytes = (line_.units() + (unit_ ? 1 : 0)) * options_.record_bytes;
  return counters;
}

void CallSender::forget(const SyncState* state) {
  for (SyncState*& told : bundle_told_) {
    if (told == state) told = nullptr;
  }
  for (Queued& queued : queue_) {
    if (queued.told == state) queued.told = nullptr;
  }
}

}  // namespace slackline::hw
