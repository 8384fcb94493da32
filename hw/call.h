// Remote calls, after Seriema (sections 3 and 4): a rank has another one run a C++ lambda.
//
//   Mesh mesh(…);
//   Calls calls(mesh, make_transport("shm", {}));
//   Table table;
//   calls.set_local(table);                         // what functions called here work on
//   Synchronizer done(calls);
//   calls.call(2, [key](CallContext& here) { here.local<Table>().insert(key); }, &done);
//   done.wait();                                    // has run at rank 2
//   calls.finish();                                 // all ranks, before they go
//
// A call's captures travel as bytes, and its function by its place in the program
// (hw/call/function.h): all ranks run the same build. Captures by reference and pointers mean
// nothing where it runs. Functions take (), (CallContext&), (std::span<std::byte>) or
// (CallContext&, std::span<std::byte>): the span is the buffer, and the function's until it
// returns.
//
// Guarantees. Calls of one rank to another run each exactly once, in the order in which they were
// made; nothing is said of different pairs, nor of broadcasts against other calls. A record that is
// not wholly there is not run. What a call throws comes back to its caller: to its synchroniser
// when that counts consumption, else from the caller's next progress(), wait() or settle(); the
// rank that ran it goes on. When a rank is lost, or goes without finish(), whatever makes progress
// throws PeerLost, naming it, and the Calls are of no more use. Every wait ends: with that, or with
// Stalled after CallsOptions::patience in which nothing happened.
//
// Memory. Of what a rank sends to another, no more stands in registered memory there than the
// window: chunk_limit chunks. What is queued for it is bounded by queue_bytes, but for replies and
// for broadcasts passed on, which are never refused.
//
// Progress. Functions run within progress(), wait(), settle() and finish(), and within a call that
// waits for room, in the thread that calls these; after run_in_background() also in a thread of the
// Calls' own, while others compute. A service thread of each rank grants chunks and memory to
// others, and moves bytes while nobody makes progress; it runs no function.
//
// Threads. Any number of a rank's threads may call what stands here, at any time, but for what
// follows. They have their turns in the order in which they ask; one that waits leaves the turns to
// the others. Calls of one thread to one rank run in the order in which it made them. Functions run
// one at a time, in whichever thread makes progress; hold_functions() keeps them off.
//   - set_local() comes before other ranks call, and before run_in_background().
//   - settle() and finish() are of one thread. Others may wait() during a settle(); what they call
//     meanwhile need not have run when it ends. When finish() is called, the others are through.
//   - What a call throws that no synchroniser counts comes to the thread that makes progress first.
//   - A result and the memory of a put or get belong to the call until its synchroniser is done.
// A function may make calls, flush() and progress() (which then runs no function); it must not
// wait, nor for a thread that calls. Where it finds the window full, kRetry queues.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "base/error.h"
#include "hw/call/function.h"
#include "hw/call/memory.h"
#include "hw/call/turn_lock.h"
#include "hw/call/types.h"
#include "hw/memory/extent.h"
#include "hw/mesh.h"
#include "hw/transport.h"

namespace slackline::hw {

class CallCore;
class Calls;
struct CallWish;

/// Counts calls that are to be done, and hears how they went. The calls it counts must be over, or
/// it gone, before the Calls are.
class Synchronizer {
 public:
  explicit Synchronizer(Calls& calls, CountWhen notify = CountWhen::kConsumed);
  /// What is pending goes on; nobody hears of it. Results of call_return() come nowhere.
  ~Synchronizer();
  Synchronizer(const Synchronizer&) = delete;
  Synchronizer& operator=(const Synchronizer&) = delete;

  /// Calls that are not done.
  std::uint64_t pending() const { return state_.pending; }
  /// Calls that have thrown, since the last wait().
  std::uint64_t failed() const { return state_.failed; }
  /// Makes progress until none is pending. Then throws CallFailed if a call has thrown, with the
  /// first one's rank and text.
  void wait();

 private:
  friend class Calls;
  Calls& calls_;
  const CountWhen notify_;
  SyncState state_;
};

/// Where a function runs.
class CallContext {
 public:
  CallContext(Calls& calls, std::uint32_t source) : calls_(calls), source_(source) {}

  Calls& calls() const { return calls_; }
  /// Who made the call; of a broadcast, its root.
  std::uint32_t source() const { return source_; }
  /// What this rank gave to set_local(). Throws InputError if it was no T.
  template <class T>
  T& local() const;

 private:
  Calls& calls_;
  std::uint32_t source_;
};

class Calls {
 public:
  /// All ranks of the mesh make one, together; the mesh must outlive it. Throws InputError for
  /// options out of range, and if ranks run different builds; EnvironmentError and PeerLost as
  /// transport and mesh do.
  Calls(Mesh& mesh, std::unique_ptr<Transport> transport, const CallsOptions& options = {})
      : Calls(mesh, std::move(transport), options, callable_object()) {}
  ~Calls();
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  std::uint32_t rank();
  std::uint32_t ranks();

  /// What functions called here find by CallContext::local(). It must outlive this.
  template <class T>
  void set_local(T& local) {
    local_ = &local;
    local_type_ = &typeid(T);
  }
  template <class T>
  T& local() const {
    if (local_ == nullptr || *local_type_ != typeid(T)) {
      throw InputError(std::string("calls: this rank has no local ") + typeid(T).name() +
                       "; expected set_local() first");
    }
    return *static_cast<T*>(local_);
  }

  /// From here on, and until finish(), a thread of this object's runs functions, too, while the
  /// rank's own threads compute; and it posts what is gathered when nothing else happens. What
  /// fails in it is told to the next thread that makes progress. Throws InputError if there is one
  /// already.
  void run_in_background();

  /// While it is held, no function runs here, and no other thread calls: the holder may work on
  /// what functions work on. It must not wait() meanwhile (InputError), nor settle() or finish(); a
  /// call that finds a window full answers as one within a function.
  std::unique_lock<TurnLock> hold_functions();

  // Calls (Table 1). `sync` may be null. They answer false if the call was not taken, which
  // `when_full` allows; InputError if there is no such rank, or it is too long.

  /// Rank `to`, which may be this one, runs f.
  template <class F>
  bool call(std::uint32_t to, const F& f, Synchronizer* sync = nullptr,
            WhenFull when_full = WhenFull::kRetry) {
    return submit(to, {listed<F, &invoke<F>>(), captures_of(f)}, {}, {}, sync, when_full);
  }

  /// …with a buffer, which travels in the record. It may be used again at once.
  template <class F>
  bool call_buffer(std::uint32_t to, const F& f, std::span<const std::byte> buffer,
                   Synchronizer* sync = nullptr, WhenFull when_full = WhenFull::kRetry) {
    return submit(to, {listed<F, &invoke<F>>(), captures_of(f)}, buffer, {}, sync, when_full);
  }

  /// …with a buffer that is written into `target`, memory of rank `to`, at `offset` first; f gets
  /// what stands there. `buffer` may be used again when it is transmitted.
  template <class F>
  bool call_buffer_write(std::uint32_t to, const F& f, const RegisteredBuffer& buffer,
                         const RemoteBuffer& target, std::uint64_t offset = 0,
                         Synchronizer* sync = nullptr, WhenFull when_full = WhenFull::kRetry) {
    return submit_write(to, {listed<F, &invoke<F>>(), captures_of(f)}, buffer, target, offset, sync,
                        when_full);
  }

  /// …with a buffer that rank `to` reads before it runs f. `buffer` may be used again when it is
  /// consumed.
  template <class F>
  bool call_buffer_read(std::uint32_t to, const F& f, const RegisteredBuffer& buffer,
                        Synchronizer* sync = nullptr, WhenFull when_full = WhenFull::kRetry) {
    return submit_read(to, {listed<F, &invoke<F>>(), captures_of(f)}, buffer, sync, when_full);
  }

  /// Rank `to` runs f; what it returns stands in `result` when `sync`, which must count
  /// consumption, is done. If it throws, `result` stays as it is.
  template <class F>
  bool call_return(std::uint32_t to, const F& f, std::decay_t<CallResult<F>>* result,
                   Synchronizer& sync, WhenFull when_full = WhenFull::kRetry) {
    using Result = std::decay_t<CallResult<F>>;
    static_assert(std::is_trivially_copyable_v<Result>,
                  "what a called function returns travels as bytes: it must be trivially copyable");
    require_consumption(sync);
    return submit(to, {listed<F, &invoke_for_result<F>>(), captures_of(f)}, {},
                  std::as_writable_bytes(std::span<Result>(result, 1)), &sync, when_full);
  }

  /// All ranks run f, this one included, passing it on along a binomial tree first. A synchroniser
  /// of consumption counts every rank; one of transmission, this rank's writes to its children.
  template <class F>
  void broadcast(const F& f, Synchronizer* sync = nullptr) {
    broadcast_buffer(f, {}, sync);
  }
  /// …with a buffer, which travels in the records.
  template <class F>
  void broadcast_buffer(const F& f, std::span<const std::byte> buffer,
                        Synchronizer* sync = nullptr) {
    submit_broadcast({listed<F, &invoke<F>>(), captures_of(f)}, buffer, sync);
  }

  /// …with a buffer that is written into memory of every rank: `targets`, by rank, at `offset`.
  /// Each rank writes what was written to it on to its children in the tree, then runs f with what
  /// stands in its own. Until `sync`, which must count consumption, is done: `buffer` and the
  /// targets stay as they are, so f only reads, and nobody frees a target. (Where one was freed all
  /// the same, f finds nothing there, nor at the ranks behind it.)
  template <class F>
  void broadcast_buffer_write(const F& f, const RegisteredBuffer& buffer,
                              std::span<const RemoteBuffer> targets, std::uint64_t offset,
                              Synchronizer& sync) {
    submit_broadcast_write({listed<F, &invoke<F>>(), captures_of(f)}, buffer, targets, offset,
                           sync);
  }
  /// …with a buffer that every rank reads from the one before it in the tree, and then runs f with
  /// what it has read, which f only reads: others read it, too. `buffer` stays as it is until
  /// `sync`, which must count consumption, is done.
  template <class F>
  void broadcast_buffer_read(const F& f, const RegisteredBuffer& buffer, Synchronizer& sync) {
    submit_broadcast_read({listed<F, &invoke<F>>(), captures_of(f)}, buffer, sync);
  }

  /// Posts what aggregation has gathered. wait(), settle() and finish() do so, too.
  void flush();

  /// Runs what has come, posts what was queued; never waits. Answers whether anything happened.
  bool progress();

  /// All ranks call it: makes progress until every call of every rank, made before or by functions
  /// meanwhile, has run, and its reply is back.
  void settle();

  /// All ranks call it, at the end: settles, and lets go of each other, so that they may leave in
  /// any order. After it there are no calls.
  void finish();

  // Memory that ranks reach one-sided.

  /// Memory of rank `where`, zeroed, obtained of its service thread: this waits, for that alone.
  /// Throws EnvironmentError if there is not as much.
  RemoteBuffer allocate(std::uint32_t where, std::uint64_t bytes);
  /// Memory of rank `where` out of a region of superpages that its service thread keeps
  /// (CallsOptions::region_bytes): registered once for many chunks, on the NUMA node that is asked
  /// for alone, or for kAnyNode on the one nearest to the device; zeroed, at a cache line. The
  /// answer says what pages the region has got. Throws EnvironmentError if there is not as much, or
  /// no such node. free() gives it back to the region, which stays.
  RemoteChunk allocate_chunk(std::uint32_t where, std::uint64_t bytes, int node = kAnyNode);
  /// The NUMA nodes of rank `where`, ascending; none if its kernel tells of none.
  std::vector<int> nodes_of(std::uint32_t where);
  /// Nobody may use it any more.
  void free(const RemoteBuffer& buffer);
  /// Of memory of this rank: its bytes here. Throws InputError for what is not.
  std::span<std::byte> bytes_of(const RemoteBuffer& buffer);
  /// Registered memory for this rank's own use, zeroed. It must be gone before the Calls are.
  RegisteredBuffer registered(std::uint64_t bytes);
  /// …in superpages, as Superpages has it: on that NUMA node alone, or near the device. An
  /// allocator over it (hw/memory/circular_allocator.h, hw/memory/best_fit_allocator.h) gives out
  /// parts for put() and get(). Throws EnvironmentError if there is not as much, or no such node.
  RegisteredBuffer registered_superpages(std::uint64_t bytes, int node = kAnyNode);

  /// One-sided: no function runs. `sync` counts them until they are complete, whatever it counts of
  /// calls. Their memory must stay until then. Those to one rank start in the order in which they
  /// were posted, calls included once they are flush()ed. InputError if they do not fit.
  void put(const RegisteredBuffer& from, const RemoteBuffer& to, std::uint64_t offset,
           Synchronizer& sync);
  void get(RegisteredBuffer& to, const RemoteBuffer& from, std::uint64_t offset,
           Synchronizer& sync);
  /// …of a part of registered memory.
  void put(const RegisteredBuffer& from, const Extent& part, const RemoteBuffer& to,
           std::uint64_t offset, Synchronizer& sync);
  void get(RegisteredBuffer& to, const Extent& part, const RemoteBuffer& from, std::uint64_t offset,
           Synchronizer& sync);
  bool has_atomics();
  /// On the 8-byte word at `offset`, a multiple of 8: adds, or swaps if it equals `compare`; the
  /// old word lands in `old`, 8 bytes. Unsupported if the transport has none. (Words are atomic
  /// against other ranks' atomics, not against this rank's plain loads and stores.)
  void fetch_add(const RemoteBuffer& at, std::uint64_t offset, std::uint64_t operand,
                 RegisteredBuffer& old, Synchronizer& sync);
  void compare_swap(const RemoteBuffer& at, std::uint64_t offset, std::uint64_t compare,
                    std::uint64_t operand, RegisteredBuffer& old, Synchronizer& sync);

  CallCounters counters(std::uint32_t destination);

 private:
  friend class Synchronizer;

  /// What is called.
  struct Called {
    FunctionName function;
    std::span<const std::byte> captures;
  };

  Calls(Mesh& mesh, std::unique_ptr<Transport> transport, const CallsOptions& options,
        CallableObject object);

  static CallWish wish_for(std::uint32_t to, const Called& called, Synchronizer* sync);
  bool submit(std::uint32_t to, const Called& called, std::span<const std::byte> buffer,
              std::span<std::byte> result, Synchronizer* sync, WhenFull when_full);
  bool submit_write(std::uint32_t to, const Called& called, const RegisteredBuffer& buffer,
                    const RemoteBuffer& target, std::uint64_t offset, Synchronizer* sync,
                    WhenFull when_full);
  bool submit_read(std::uint32_t to, const Called& called, const RegisteredBuffer& buffer,
                   Synchronizer* sync, WhenFull when_full);
  void submit_broadcast(const Called& called, std::span<const std::byte> buffer,
                        Synchronizer* sync);
  void submit_broadcast_write(const Called& called, const RegisteredBuffer& buffer,
                              std::span<const RemoteBuffer> targets, std::uint64_t offset,
                              Synchronizer& sync);
  void submit_broadcast_read(const Called& called, const RegisteredBuffer& buffer,
                             Synchronizer& sync);
  static void require_consumption(const Synchronizer& sync);
  static void require_consumption(const Synchronizer& sync, const char* call);
  void atomic(RequestKind kind, const RemoteBuffer& at, std::uint64_t offset, std::uint64_t operand,
              std::uint64_t compare, RegisteredBuffer& old, Synchronizer& sync);

  void* local_ = nullptr;
  const std::type_info* local_type_ = nullptr;
  std::unique_ptr<CallCore> core_;
};

template <class T>
T& CallContext::local() const {
  return calls_.local<T>();
}

}  // namespace slackline::hw
