// How calls run here, and how a rank waits.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <exception>
#include <memory>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "hw/bytes.h"
#include "hw/call.h"
#include "hw/call/core.h"
#include "hw/call/peer.h"

namespace slackline::hw {
namespace {

// Calls of one source in a row, so that none starves another.
constexpr int kTurn = 256;
constexpr std::size_t kMostErrorText = 600;

bool is_broadcast(RecordKind kind) {
  return kind == RecordKind::kBroadcast || kind == RecordKind::kBroadcastWritten ||
         kind == RecordKind::kBroadcastRead;
}

// A record came whole, and says what none of this program's does: no rank of it has written that.
[[noreturn]] void refuse(std::uint32_t source, std::string_view what) {
  throw EnvironmentError(
      fmt::format("calls: what came from rank {} names {}; somebody else writes into this rank's "
                  "memory, or its memory is faulty",
                  source, what));
}

}  // namespace

bool CallCore::turn() {
  bool moved = port_.progress();
  port_.require_all_here();
  service_->require_running();
  for (auto& peer : peers_) {
    if (!peer->sender->queue_is_empty() && peer->sender->drain()) moved = true;
  }
  if (in_call_) return moved;
  for (auto& peer : peers_) {
    if (run_some(*peer)) moved = true;
  }
  if (!lent_.empty()) take_back_lent();
  for (auto& peer : peers_) {
    if (std::exchange(peer->has_replies, false)) peer->sender->flush();
  }
  if (moved) ++moves_;
  return moved;
}

void CallCore::run_in_background() {
  require_open();
  if (background_.joinable()) throw InputError("calls: functions run in the background already");
  background_stops_ = false;
  background_ = std::thread([this] { run_background(); });
}

// Its naps are as short as a service thread's.
void CallCore::run_background() {
  constexpr std::chrono::microseconds kShortNap{50};
  constexpr std::chrono::microseconds kLongNap{250};
  std::chrono::microseconds nap = kShortNap;
  while (true) {
    {
      const std::lock_guard mine(turns_);
      try {
        nap = turn() ? kShortNap : std::min(2 * nap, kLongNap);
        // Others may wait for what this rank gathers.
        if (nap != kShortNap) flush();
      } catch (...) {
        // A caller tells what it was: a rank that is lost, as a rule.
        if (!background_failure_) background_failure_ = std::current_exception();
        nap = kLongNap;
      }
    }
    std::unique_lock lock(background_mutex_);
    if (nap == kShortNap) {
      if (background_stops_) return;
      continue;
    }
    background_end_.wait_for(lock, nap, [&] { return background_stops_; });
    if (background_stops_) return;
  }
}

void CallCore::stop_background() {
  if (!background_.joinable()) return;
  {
    const std::lock_guard lock(background_mutex_);
    background_stops_ = true;
  }
  background_end_.notify_all();
  background_.join();
}

// Told once: what lasts, callers see themselves.
void CallCore::require_background() {
  if (in_call_ || !background_failure_) return;
  std::rethrow_exception(std::exchange(background_failure_, nullptr));
}

bool CallCore::progress() {
  require_open();
  require_background();
  const bool moved = turn();
  if (!in_call_) notices_.throw_kept();
  return moved;
}

bool CallCore::run_some(CallPeer& peer) {
  for (int i = 0; i < kTurn; ++i) {
    try {
      std::byte* const record = peer.receiver->next();
      if (record == nullptr || !run_next(peer, record)) return i != 0;
    } catch (const BadBytes& error) {
      refuse(peer.rank, fmt::format("what no call has: {}", error.what()));
    }
    peer.receiver->pop();
  }
  return true;
}

// Whether it has run.
bool CallCore::run_next(CallPeer& peer, std::byte* record) {
  const RecordHead head = peer.receiver->head();
  const bool reads = head.kind == RecordKind::kCallRead || head.kind == RecordKind::kBroadcastRead;
  if (reads && !has_read(peer, head, record)) return false;
  run(peer, head, record);
  peer.reading = false;
  return true;
}

// Whether the buffer is here that the call wants read; begins to read it.
bool CallCore::has_read(CallPeer& peer, const RecordHead& head, std::byte* record) {
  if (peer.reading) return peer.read.pending == 0;
  const ReadBuffer buffer = wanted_by(head, record);
  if (buffer.bytes == 0) return true;
  const std::uint64_t has = peer.scratch.bytes().size();
  if (has < buffer.bytes) {
    const std::uint64_t most = options_.most_granted_bytes - (scratch_bytes_ - has);
    if (buffer.bytes > most || std::bit_ceil(buffer.bytes) > most) {
      // There is room again when others have read what they read from here.
      if (!lent_.empty()) return false;
      refuse(peer.rank,
             "a buffer of more bytes than this rank reads, "
             "CallsOptions::most_granted_bytes");
    }
    port_.with_transport([&](Transport& use) {
      if (has != 0) use.unregister_memory(peer.scratch_registered);
      peer.scratch = {};
      scratch_bytes_ -= has;
      peer.scratch = Pages(std::bit_ceil(buffer.bytes), use.numa_node());
      scratch_bytes_ += peer.scratch.bytes().size();
      peer.scratch_registered = use.register_memory(peer.scratch.bytes());
    });
  }
  peer.read.pending = 1;
  peer.line->read({peer.scratch.bytes().data(), buffer.bytes, peer.scratch_registered.handle},
                  {buffer.memory, const_cast<std::byte*>(buffer.here)}, &peer.read);
  // Where that fails, nothing is read, and it is tried again.
  peer.reading = true;
  return peer.read.pending == 0;
}

void CallCore::run(CallPeer& peer, const RecordHead& head, std::byte* record) {
  ++run_;
  std::span<std::byte> buffer = buffer_of(head, record);
  if (head.kind == RecordKind::kReply) return notices_.replied(head.token, buffer);
  if (head.kind == RecordKind::kError) {
    ByteReader reader(buffer);
    const auto rank = reader.get<std::uint32_t>();
    ByteReader::require(rank < mesh_.ranks(), "a rank that is none");
    return notices_.failed(head.token, rank, reader.text());
  }
  std::uint32_t reply_to = peer.rank;
  HeldMemory held;  // while the call uses it, whoever frees it meanwhile
  if (head.kind == RecordKind::kCallRead) {
    const auto read = ByteReader(buffer).get<ReadBuffer>();
    buffer = peer.scratch.bytes().first(read.bytes);
  } else if (head.kind == RecordKind::kCallWritten) {
    const auto written = ByteReader(buffer).get<WrittenBuffer>();
    held = service_->held(written.id);
    buffer = held.bytes;
    // Freed meanwhile: the call finds nothing there.
    buffer = written.offset > buffer.size() || written.bytes > buffer.size() - written.offset
                 ? std::span<std::byte>()
                 : buffer.subspan(written.offset, written.bytes);
  } else if (is_broadcast(head.kind)) {
    Broadcast broadcast = take_broadcast(peer, head, record);
    reply_to = broadcast.root;
    buffer = broadcast.buffer;
    held = std::move(broadcast.held);
  }
  const bool faulty = ++calls_seen_ == options_.fault.at;
  if (faulty && options_.fault.kind == CallFault::Kind::kDrop) return;
  execute(peer.rank, reply_to, head, closure_of(record), buffer);
  if (faulty && options_.fault.kind == CallFault::Kind::kRunTwice) {
    execute(peer.rank, reply_to, head, closure_of(record), buffer);
  }
}

void CallCore::execute(std::uint32_t source, std::uint32_t reply_to, const RecordHead& head,
                       const std::byte* closure, std::span<std::byte> buffer) {
  const Invoker invoker = functions_.at(head.function, std::size_t{8} * head.closure_words);
  if (invoker == nullptr) refuse(source, "a function that this program never calls");
  CallContext here(calls_, is_broadcast(head.kind) ? reply_to : source);
  std::string error;
  result_.clear();
  in_call_ = true;
  try {
    invoker(here, closure, buffer, result_);
  } catch (const PeerLost&) {
    in_call_ = false;
    throw;
  } catch (const std::exception& thrown) {
    error = thrown.what();
    if (error.empty()) error = "an exception without text";
  } catch (...) {
    error = "what is no std::exception";
  }
  in_call_ = false;
  if (!error.empty()) {
    ByteWriter writer;
    writer.add(mesh_.rank());
    writer.add_text(std::string_view(error).substr(0, kMostErrorText));
    reply(reply_to, head.token, RecordKind::kError, writer.take());
  } else if (head.token != kNoToken) {
    reply(reply_to, head.token, RecordKind::kReply, result_);
  }
}

// Never refused: what waits for room is bounded by the calls of others that want replies.
void CallCore::reply(std::uint32_t to, std::uint32_t token, RecordKind kind,
                     std::span<const std::byte> bytes) {
  if (to == mesh_.rank()) {
    if (kind == RecordKind::kReply) return notices_.replied(token, bytes);
    ByteReader reader(bytes);
    const auto rank = reader.get<std::uint32_t>();
    return notices_.failed(token, rank, reader.text());
  }
  RecordDraft draft;
  draft.kind = kind;
  draft.token = token;
  draft.buffer = bytes;
  // The rank that called may have larger records.
  Bytes refusal;
  if (const auto fault = result_fault(bytes)) {
    ByteWriter writer;
    writer.add(mesh_.rank());
    writer.add_text(*fault);
    refusal = writer.take();
    draft.kind = RecordKind::kError;
    draft.buffer = refusal;
  }
  try {
    peers_[to]->sender->add_or_queue(draft, nullptr, nullptr);
  } catch (const EnvironmentError&) {
    // There is no chunk to be had, of which turn() tells. The function has run, and never runs
    // again.
    if (port_.is_broken()) throw;
    peers_[to]->sender->queue(draft, nullptr, nullptr);
  }
  peers_[to]->has_replies = true;
  ++sent_;
}

void CallCore::require_may_wait(std::string_view what) const {
  if (in_call_) {
    throw InputError(
        fmt::format("calls: a call waits for {}, and holds up the progress for that", what));
  }
  if (turns_.depth() > 1) {
    throw InputError(
        fmt::format("calls: a thread that holds functions back waits for {}, and holds up the "
                    "progress for that",
                    what));
  }
}

void CallCore::until(const std::function<bool()>& there, std::string_view what) {
  require_may_wait(what);
  CallRest rest(port_, what);
  std::uint64_t seen = moves_;
  while (!there()) {
    require_background();
    turn();
    // Other threads' turns move what this one waits for, too.
    if (std::exchange(seen, moves_) != moves_) {
      rest.moved();
      turns_.pass();
      continue;
    }
    // Others may wait for what this rank gathers, as it does for theirs.
    flush();
    const OthersTurns others(turns_);
    rest.rest();
  }
}

void CallCore::wait(SyncState& state, std::string_view what) {
  require_open();
  flush();
  until([&] { return state.pending == 0; }, what);
  if (std::exchange(state.failed, 0) != 0) {
    throw CallFailed(state.failed_rank, fmt::format("a call at rank {} has thrown: {}",
                                                    state.failed_rank, state.error));
  }
  notices_.throw_kept();
}

std::array<std::uint64_t, 2> CallCore::sum_over_ranks(std::array<std::uint64_t, 2> own) {
  const std::uint32_t round = topic() + 2;
  const std::span<const std::byte> bytes = std::as_bytes(std::span(own));
  for (std::uint32_t r = 0; r < mesh_.ranks(); ++r) {
    if (r != mesh_.rank()) mesh_.send(r, round, bytes);
  }
  std::array<std::uint64_t, 2> sum = own;
  for (std::uint32_t r = 0; r < mesh_.ranks(); ++r) {
    if (r == mesh_.rank()) continue;
    std::optional<Bytes> told;
    until([&] { return (told = mesh_.try_receive(r, round)).has_value(); }, "another rank");
    using Sums = std::array<std::uint64_t, 2>;
    const Sums theirs = read_from(r, "number of calls", *told,
                                  [](ByteReader& reader) { return reader.get<Sums>(); });
    sum[0] += theirs[0];
    sum[1] += theirs[1];
  }
  return sum;
}

// Two rounds in which all ranks together have made and run the same number of calls, nothing having
// been added between: then none is under way (Mattern's four counters).
void CallCore::settle_quietly() {
  require_may_wait("the other ranks");
  if (std::exchange(settling_, true)) {
    throw InputError("calls: two threads of a rank settle at a time; expected one");
  }
  const auto over = [](bool* settling) { *settling = false; };
  const std::unique_ptr<bool, decltype(over)> settled(&settling_, over);
  std::array<std::uint64_t, 2> before{1, 0};
  while (true) {
    flush();
    while (turn()) {
    }
    const std::array<std::uint64_t, 2> now = sum_over_ranks({sent_, run_});
    if (now == before && now[0] == now[1]) return;
    before = now;
  }
}

void CallCore::settle() {
  require_open();
  settle_quietly();
  notices_.throw_kept();
}

void CallCore::finish() {
  require_open();
  require_may_wait("the other ranks");
  {
    const OthersTurns others(turns_);
    stop_background();
  }
  settle_quietly();
  for (auto& peer : peers_) {
    CallLine& line = *peer->line;
    // A completion speaks for all before it: tells again what was told.
    if (line.needs_signal()) {
      SyncState last{1, 0, 0, {}};
      tell_consumed(peer->rank, peer->consumed, &last);
      until([&] { return last.pending == 0; }, "the last write");
    }
    until([&] { return line.in_flight() == 0; }, "the last writes");
  }
  until([this] { return service_->is_quiet(); }, "the last answers");
  sum_over_ranks({});
  service_->stop();
  mesh_.barrier();
  finished_ = true;
  notices_.throw_kept();
}

}  // namespace slackline::hw
