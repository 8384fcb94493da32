#include "hw/call.h"

#include <fmt/format.h>

#include "base/error.h"
#include "hw/call/core.h"

namespace slackline::hw {
namespace {

void require_within(std::uint32_t rank, const RemoteBuffer& buffer, std::uint64_t offset,
                    std::uint64_t bytes) {
  if (buffer.rank != rank) {
    throw InputError(
        fmt::format("calls: memory of rank {}; expected rank {}'s", buffer.rank, rank));
  }
  if (bytes > buffer.bytes || offset > buffer.bytes - bytes) {
    throw InputError(fmt::format("calls: {} bytes at {} of {} bytes of memory at rank {}", bytes,
                                 offset, buffer.bytes, buffer.rank));
  }
}

void require_bytes(std::uint64_t bytes) {
  if (bytes == 0) throw InputError("calls: registered memory of 0 bytes; expected 1 or more");
}

Segment part_of(const RegisteredBuffer& buffer, const Extent& part) {
  Segment segment = buffer.segment();
  if (part.bytes == 0 || part.bytes > segment.bytes || part.offset > segment.bytes - part.bytes) {
    throw InputError(fmt::format("calls: {} bytes at {} of {} bytes of registered memory",
                                 part.bytes, part.offset, segment.bytes));
  }
  segment.data += part.offset;
  segment.bytes = part.bytes;
  return segment;
}

// Posts what the synchroniser counts: not what could not be posted.
template <class Post>
void counted(SyncState& state, Post&& post) {
  ++state.pending;
  try {
    post();
  } catch (...) {
    --state.pending;
    throw;
  }
}

CallTarget place_of(Calls& calls, CallCore& core, const RemoteBuffer& buffer,
                    std::uint64_t offset) {
  CallTarget target{buffer.memory, nullptr};
  if (core.line(buffer.rank).copies()) target.here = calls.bytes_of(buffer).data();
  return target + offset;
}

}  // namespace

Synchronizer::Synchronizer(Calls& calls, CountWhen notify) : calls_(calls), notify_(notify) {}

// Where its calls are over, the Calls may be gone.
Synchronizer::~Synchronizer() {
  if (state_.pending == 0) return;
  const std::lock_guard turn(calls_.core_->turns());
  calls_.core_->forget(&state_);
}

void Synchronizer::wait() {
  const std::lock_guard turn(calls_.core_->turns());
  calls_.core_->wait(state_, "a synchroniser");
}

RegisteredBuffer::RegisteredBuffer(CallPort& port, std::uint64_t bytes) : port_(&port) {
  port.with_transport([&](Transport& transport) {
    pages_ = Pages(bytes, transport.numa_node());
    registered_ = transport.register_memory(pages_.bytes());
  });
}

// Its pages are made before the lock is taken: that takes a while.
RegisteredBuffer::RegisteredBuffer(CallPort& port, const SuperpageWish& wish)
    : port_(&port), superpages_(wish) {
  port.with_transport(
      [&](Transport& transport) { registered_ = transport.register_memory(superpages_.bytes()); });
}

RegisteredBuffer& RegisteredBuffer::operator=(RegisteredBuffer&& other) noexcept {
  if (this == &other) return *this;
  reset();
  port_ = std::exchange(other.port_, nullptr);
  pages_ = std::exchange(other.pages_, Pages());
  superpages_ = std::move(other.superpages_);
  registered_ = other.registered_;
  return *this;
}

void RegisteredBuffer::reset() {
  if (port_ == nullptr) return;
  port_->with_transport([&](Transport& transport) { transport.unregister_memory(registered_); });
  port_ = nullptr;
  pages_ = Pages();
  superpages_ = Superpages();
}

Calls::Calls(Mesh& mesh, std::unique_ptr<Transport> transport, const CallsOptions& options,
             CallableObject object)
    : core_(std::make_unique<CallCore>(*this, mesh, std::move(transport), options,
                                       std::move(object))) {}

Calls::~Calls() = default;

std::uint32_t Calls::rank() { return core_->mesh().rank(); }
std::uint32_t Calls::ranks() { return core_->mesh().ranks(); }
void Calls::flush() {
  const std::lock_guard turn(core_->turns());
  core_->flush();
}

bool Calls::progress() {
  const std::lock_guard turn(core_->turns());
  return core_->progress();
}

void Calls::settle() {
  const std::lock_guard turn(core_->turns());
  core_->settle();
}

void Calls::finish() {
  const std::lock_guard turn(core_->turns());
  core_->finish();
}

CallCounters Calls::counters(std::uint32_t destination) {
  const std::lock_guard turn(core_->turns());
  return core_->counters(destination);
}

void Calls::run_in_background() {
  const std::lock_guard turn(core_->turns());
  core_->run_in_background();
}

std::unique_lock<TurnLock> Calls::hold_functions() { return std::unique_lock(core_->turns()); }

CallWish Calls::wish_for(std::uint32_t to, const Called& called, Synchronizer* sync) {
  CallWish wish;
  wish.destination = to;
  wish.draft.kind = RecordKind::kCall;
  wish.draft.function = called.function.offset;
  wish.anchor = called.function.anchor;
  wish.draft.closure = called.captures;
  if (sync != nullptr) {
    wish.sync = &sync->state_;
    wish.notify = sync->notify_;
  }
  return wish;
}

bool Calls::submit(std::uint32_t to, const Called& called, std::span<const std::byte> buffer,
                   std::span<std::byte> result, Synchronizer* sync, WhenFull when_full) {
  const std::lock_guard turn(core_->turns());
  CallWish wish = wish_for(to, called, sync);
  wish.draft.buffer = buffer;
  wish.result = result;
  wish.when_full = when_full;
  return core_->submit(wish);
}

bool Calls::submit_write(std::uint32_t to, const Called& called, const RegisteredBuffer& buffer,
                         const RemoteBuffer& target, std::uint64_t offset, Synchronizer* sync,
                         WhenFull when_full) {
  const std::lock_guard turn(core_->turns());
  require_within(to, target, offset, buffer.bytes().size());
  const WrittenBuffer written{target.id, offset, buffer.bytes().size()};
  CallWish wish = wish_for(to, called, sync);
  wish.draft.kind = RecordKind::kCallWritten;
  wish.draft.buffer = std::as_bytes(std::span(&written, 1));
  wish.when_full = when_full;
  wish.before = CallWrite{buffer.segment(), place_of(*this, *core_, target, offset)};
  return core_->submit(wish);
}

bool Calls::submit_read(std::uint32_t to, const Called& called, const RegisteredBuffer& buffer,
                        Synchronizer* sync, WhenFull when_full) {
  const std::lock_guard turn(core_->turns());
  const ReadBuffer read{buffer.remote(), buffer.bytes().size(), buffer.bytes().data()};
  CallWish wish = wish_for(to, called, sync);
  wish.draft.kind = RecordKind::kCallRead;
  wish.draft.buffer = std::as_bytes(std::span(&read, 1));
  wish.when_full = when_full;
  return core_->submit(wish);
}

void Calls::submit_broadcast(const Called& called, std::span<const std::byte> buffer,
                             Synchronizer* sync) {
  const std::lock_guard turn(core_->turns());
  CallWish wish = wish_for(0, called, sync);
  wish.draft.buffer = buffer;
  core_->broadcast(wish);
}

void Calls::submit_broadcast_write(const Called& called, const RegisteredBuffer& buffer,
                                   std::span<const RemoteBuffer> targets, std::uint64_t offset,
                                   Synchronizer& sync) {
  const std::lock_guard turn(core_->turns());
  require_consumption(sync, "broadcast_buffer_write");
  require_bytes(buffer.bytes().size());
  if (targets.size() != ranks()) {
    throw InputError(fmt::format("calls: memory of {} ranks; expected that of all {}, by rank",
                                 targets.size(), ranks()));
  }
  for (std::uint32_t r = 0; r < ranks(); ++r) {
    require_within(r, targets[r], offset, buffer.bytes().size());
  }
  CallWish wish = wish_for(rank(), called, &sync);
  wish.before = CallWrite{buffer.segment(), place_of(*this, *core_, targets[rank()], offset)};
  core_->broadcast_written(wish, buffer.segment(), targets, offset);
}

void Calls::submit_broadcast_read(const Called& called, const RegisteredBuffer& buffer,
                                  Synchronizer& sync) {
  const std::lock_guard turn(core_->turns());
  require_consumption(sync, "broadcast_buffer_read");
  require_bytes(buffer.bytes().size());
  CallWish wish = wish_for(rank(), called, &sync);
  core_->broadcast_read(wish, {buffer.remote(), buffer.bytes().size(), buffer.bytes().data()});
}

RegisteredBuffer Calls::registered(std::uint64_t bytes) {
  require_bytes(bytes);
  return {core_->port(), bytes};
}

RegisteredBuffer Calls::registered_superpages(std::uint64_t bytes, int node) {
  require_bytes(bytes);
  SuperpageWish wish;
  wish.bytes = bytes;
  wish.node = node == kAnyNode
                  ? core_->port().with_transport([](Transport& use) { return use.numa_node(); })
                  : node;
  wish.only_node = node != kAnyNode;
  return {core_->port(), wish};
}

RemoteChunk Calls::allocate_chunk(std::uint32_t where, std::uint64_t bytes, int node) {
  const std::lock_guard turn(core_->turns());
  static_cast<void>(core_->line(where));
  const ServiceAnswer answer =
      core_->service().ask(where, {ServiceRequest::Kind::kAllocateInNode, bytes, 1, node});
  return {{where, answer.id, answer.memory.at(0), bytes}, answer.pages};
}

std::vector<int> Calls::nodes_of(std::uint32_t where) {
  const std::lock_guard turn(core_->turns());
  static_cast<void>(core_->line(where));
  const ServiceAnswer answer = core_->service().ask(where, {ServiceRequest::Kind::kNodes, 0, 0});
  return {answer.nodes.begin(), answer.nodes.end()};
}

RemoteBuffer Calls::allocate(std::uint32_t where, std::uint64_t bytes) {
  const std::lock_guard turn(core_->turns());
  static_cast<void>(core_->line(where));
  const ServiceAnswer answer =
      core_->service().ask(where, {ServiceRequest::Kind::kAllocate, bytes, 1});
  return {where, answer.id, answer.memory.at(0), bytes};
}

void Calls::free(const RemoteBuffer& buffer) {
  const std::lock_guard turn(core_->turns());
  static_cast<void>(core_->line(buffer.rank));
  core_->service().ask(buffer.rank, {ServiceRequest::Kind::kFree, 0, buffer.id});
}

std::span<std::byte> Calls::bytes_of(const RemoteBuffer& buffer) {
  const std::span<std::byte> bytes =
      buffer.rank == rank() ? core_->service().memory(buffer.id) : std::span<std::byte>();
  if (bytes.size() < buffer.bytes || bytes.empty()) {
    throw InputError(fmt::format("calls: memory {} of rank {} is not here at rank {}", buffer.id,
                                 buffer.rank, rank()));
  }
  return bytes.first(buffer.bytes);
}

void Calls::require_consumption(const Synchronizer& sync) {
  if (sync.notify_ != CountWhen::kConsumed) {
    throw InputError(
        "calls: call_return: the synchroniser counts transmission; expected one of "
        "consumption, by which the result is there");
  }
}

void Calls::require_consumption(const Synchronizer& sync, const char* call) {
  if (sync.notify_ != CountWhen::kConsumed) {
    throw InputError(
        fmt::format("calls: {}: the synchroniser counts transmission; expected one of consumption, "
                    "by which the buffers may be used again",
                    call));
  }
}

void Calls::put(const RegisteredBuffer& from, const RemoteBuffer& to, std::uint64_t offset,
                Synchronizer& sync) {
  put(from, {0, from.bytes().size()}, to, offset, sync);
}

void Calls::put(const RegisteredBuffer& from, const Extent& part, const RemoteBuffer& to,
                std::uint64_t offset, Synchronizer& sync) {
  const std::lock_guard turn(core_->turns());
  require_within(to.rank, to, offset, part.bytes);
  const CallTarget target = place_of(*this, *core_, to, offset);
  const Segment segment = part_of(from, part);
  SyncState* const state = &sync.state_;
  counted(sync.state_, [&] { core_->line(to.rank).write(segment, target, {&state, 1}); });
}

void Calls::get(RegisteredBuffer& to, const RemoteBuffer& from, std::uint64_t offset,
                Synchronizer& sync) {
  get(to, {0, to.bytes().size()}, from, offset, sync);
}

void Calls::get(RegisteredBuffer& to, const Extent& part, const RemoteBuffer& from,
                std::uint64_t offset, Synchronizer& sync) {
  const std::lock_guard turn(core_->turns());
  require_within(from.rank, from, offset, part.bytes);
  const CallTarget target = place_of(*this, *core_, from, offset);
  const Segment segment = part_of(to, part);
  counted(sync.state_, [&] { core_->line(from.rank).read(segment, target, &sync.state_); });
}

bool Calls::has_atomics() {
  return core_->port().with_transport([](Transport& transport) { return transport.has_atomics(); });
}

void Calls::atomic(RequestKind kind, const RemoteBuffer& at, std::uint64_t offset,
                   std::uint64_t operand, std::uint64_t compare, RegisteredBuffer& old,
                   Synchronizer& sync) {
  const std::lock_guard turn(core_->turns());
  require_within(at.rank, at, offset, 8);
  if (offset % 8 != 0 || old.bytes().size() < 8) {
    throw InputError(
        "calls: an atomic's word begins at a multiple of 8, and its old value takes 8 "
        "bytes");
  }
  if (!has_atomics()) throw Unsupported("calls: the transport has no atomics");
  Segment result = old.segment();
  result.bytes = 8;
  const CallTarget target = place_of(*this, *core_, at, offset);
  counted(sync.state_, [&] {
    core_->line(at.rank).atomic(kind, result, target, operand, compare, &sync.state_);
  });
}

void Calls::fetch_add(const RemoteBuffer& at, std::uint64_t offset, std::uint64_t operand,
                      RegisteredBuffer& old, Synchronizer& sync) {
  atomic(RequestKind::kFetchAdd, at, offset, operand, 0, old, sync);
}

void Calls::compare_swap(const RemoteBuffer& at, std::uint64_t offset, std::uint64_t compare,
                         std::uint64_t operand, RegisteredBuffer& old, Synchronizer& sync) {
  atomic(RequestKind::kCompareSwap, at, offset, operand, compare, old, sync);
}

}  // namespace slackline::hw
