// What stands behind Calls (hw/call.h) and knows no types: peers, windows, replies, progress.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "hw/call/functions.h"
#include "hw/call/notices.h"
#include "hw/call/port.h"
#include "hw/call/sender.h"
#include "hw/call/service.h"
#include "hw/call/turn_lock.h"
#include "hw/call/types.h"
#include "hw/mesh.h"
#include "hw/pages.h"

namespace slackline::hw {

class ByteReader;
class Calls;
struct CallPeer;

/// The buffer of RecordKind::kCallWritten and kCallRead.
struct WrittenBuffer {
  std::uint32_t id = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};
struct ReadBuffer {
  RemoteMemory memory;
  std::uint64_t bytes = 0;
  const std::byte* here = nullptr;  // in the caller's own address space
};

/// A call to be made.
struct CallWish {
  std::uint32_t destination = 0;
  RecordDraft draft;             // but for its token
  const char* anchor = nullptr;  // FunctionName::anchor
  std::optional<CallWrite> before;
  SyncState* sync = nullptr;  // may be null
  CountWhen notify = CountWhen::kConsumed;
  WhenFull when_full = WhenFull::kRetry;
  std::span<std::byte> result;  // where a result goes
};

/// By the thread whose turn it is (turns()).
class CallCore {
 public:
  CallCore(Calls& calls, Mesh& mesh, std::unique_ptr<Transport> transport,
           const CallsOptions& options, CallableObject object);
  ~CallCore();
  CallCore(const CallCore&) = delete;
  CallCore& operator=(const CallCore&) = delete;

  /// By any thread, before all else.
  TurnLock& turns() { return turns_; }
  /// From here on a thread of this object's runs functions, too.
  void run_in_background();

  Mesh& mesh() { return mesh_; }
  const CallsOptions& options() const { return options_; }
  CallPort& port() { return port_; }
  CallService& service() { return *service_; }
  CallLine& line(std::uint32_t peer);
  CallCounters counters(std::uint32_t destination);

  /// False: the window is full.
  bool submit(CallWish& wish);
  /// To all ranks along the tree, this one included. What waits for room is queued, however much.
  void broadcast(CallWish& wish);
  /// …with a buffer, written into each rank's memory in `targets`, by rank, at `offset` before. At
  /// this rank it is `wish.before`.
  void broadcast_written(CallWish& wish, const Segment& buffer,
                         std::span<const RemoteBuffer> targets, std::uint64_t offset);
  /// …with a buffer that each rank reads from the one before it in the tree.
  void broadcast_read(CallWish& wish, const ReadBuffer& buffer);

  /// Throws CallFailed for calls of this rank's that have thrown, and that nobody waits for.
  bool progress();
  /// Posts what is gathered for all ranks.
  void flush();
  /// Makes progress until pending is 0, then throws what has failed.
  void wait(SyncState& state, std::string_view what);
  /// Tells it nothing any more.
  void forget(const SyncState* state);
  void settle();
  void finish();

 private:
  static constexpr std::size_t kWordStride = 64;

  /// What is written to a child before its record; empty: nothing.
  using WriteBefore = std::function<CallWrite(std::uint32_t child)>;
  /// What a broadcast gives its function here.
  struct Broadcast {
    std::uint32_t root = 0;
    std::span<std::byte> buffer;
    HeldMemory held;
  };
  /// A buffer that was read here, and that others read from here.
  struct Lent {
    Pages pages;
    LocalMemory registered;
    SyncState readers;
  };

  std::uint32_t topic() const;
  // Where the transport's completions come in order, atomics may be the device's, so that this rank
  // goes through it to itself, too.
  bool to_itself() const { return port_.in_order(); }
  std::vector<ChannelEnd> ends() const;
  void join();
  void make_peers(std::span<const RemoteMemory> words);
  std::vector<CallChunk> obtain_chunks(std::uint32_t rank, std::uint32_t count);
  void tell_consumed(std::uint32_t rank, std::uint64_t chunks, SyncState* tell = nullptr);
  CallPeer& peer(std::uint32_t rank);
  void require_open() const;
  void require_sendable(const CallWish& wish) const;
  // Why no record can bring the result back; nothing if one can.
  std::optional<std::string> result_fault(std::span<const std::byte> result) const;
  bool take(CallPeer& to, const CallWish& wish, SyncState* told);
  std::vector<std::uint32_t> children(std::uint32_t root) const;
  // Answers how many children it did not reach: their ranks count as having failed.
  std::uint32_t pass_on(std::uint32_t root, RecordDraft draft, const WriteBefore& before,
                        SyncState* transmitted);
  std::uint32_t ranks_from(std::uint32_t root, std::uint32_t child) const;
  void fail_from(std::uint32_t root, std::uint32_t child, std::uint32_t token,
                 const std::string& text);
  void start_broadcast(CallWish& wish, const WriteBefore& before, const RecordDraft& own);
  Broadcast take_broadcast(CallPeer& peer, const RecordHead& head, std::byte* record);
  void pass_written_on(RecordDraft draft, ByteReader& reader, Broadcast& broadcast);
  void pass_read_on(CallPeer& peer, RecordDraft draft, ByteReader& reader, Broadcast& broadcast);
  void take_back_lent();
  static ReadBuffer wanted_by(const RecordHead& head, std::byte* record);

  bool turn();
  void run_background();
  void stop_background();
  void require_background();
  bool run_some(CallPeer& peer);
  bool run_next(CallPeer& peer, std::byte* record);
  bool has_read(CallPeer& peer, const RecordHead& head, std::byte* record);
  void run(CallPeer& peer, const RecordHead& head, std::byte* record);
  void execute(std::uint32_t source, std::uint32_t reply_to, const RecordHead& head,
               const std::byte* closure, std::span<std::byte> buffer);
  void reply(std::uint32_t to, std::uint32_t token, RecordKind kind,
             std::span<const std::byte> bytes);
  bool may_wait() const { return !in_call_ && turns_.depth() == 1; }
  void require_may_wait(std::string_view what) const;
  void until(const std::function<bool()>& there, std::string_view what);
  std::array<std::uint64_t, 2> sum_over_ranks(std::array<std::uint64_t, 2> own);
  void settle_quietly();

  TurnLock turns_;
  Calls& calls_;
  Mesh& mesh_;
  const CallsOptions options_;  // with all bounds known
  const CallFunctions functions_;
  CallPort port_;
  std::unique_ptr<CallService> service_;
  std::unique_ptr<Slabs> slabs_;
  // Registered words: by peer, how many chunks it has used up, kWordStride apart; then what this
  // rank writes into theirs, one for each chunk that may be under way.
  Pages words_;
  LocalMemory words_registered_;
  std::vector<std::unique_ptr<CallPeer>> peers_;  // by rank
  CallNotices notices_;
  std::vector<std::byte> result_;
  std::uint64_t sent_ = 0;  // records, but end records
  std::uint64_t run_ = 0;
  std::uint64_t calls_seen_ = 0;     // for CallFault
  std::uint64_t scratch_bytes_ = 0;  // of buffers that were read, those lent included
  std::list<Lent> lent_;
  std::uint64_t moves_ = 0;  // turns in which something happened
  bool in_call_ = false;
  bool settling_ = false;
  bool finished_ = false;

  std::thread background_;
  std::mutex background_mutex_;
  std::condition_variable background_end_;
  bool background_stops_ = false;
  std::exception_ptr background_failure_;  // in turns
};

}  // namespace slackline::hw
