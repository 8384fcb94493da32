// Channels that gather messages (Channel::bundle), on a transport: the executor hands this their
// operations instead of posting each.
//
// A channel whose puts mostly continue each other in the target's memory, and that carries nothing
// else, is written: a bundle is a copy of its puts' bytes, sent by one write for every run of them
// that is contiguous there, and flags become visible in the order of their puts. Any other channel
// is told: a bundle is one message with a header for every operation in it, which the target's
// executor takes apart, in order, and acknowledges.
//
// machine/run/bundle_line.h says when a bundle leaves, as in a simulation. It leaves sooner when it
// fills the memory that is kept for it. Its age is seen by progress().
//
// The post of a straggler's bundle takes a lane, as in a simulation, which is for the executor to
// hold: the bundle is closed first, and leaves at the end of that.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "hw/executor/channels.h"
#include "hw/executor/memory.h"
#include "hw/executor/program.h"
#include "hw/executor/requests.h"
#include "hw/transport.h"
#include "machine/run/bundle_line.h"
#include "machine/run/operands.h"

namespace slackline::hw {

/// Before each operation's bytes, in a bundle that comes as a message.
struct BundleHeader {
  std::uint32_t op = 0;
  std::uint32_t padding = 0;
  std::uint64_t shift = 0;  // added to where a put writes
};

class Bundles {
 public:
  using Clock = std::chrono::steady_clock;

  /// The low half of the tags of its requests is at least this.
  static constexpr std::uint32_t kFirstTag = 0x80000000u;

  /// Bytes of scratch that the program's bundles need.
  static std::uint64_t scratch_bytes(const RankProgram& program);

  /// Its memory are the last scratch_bytes() of `scratch`. All references must outlive this.
  Bundles(const RankProgram& program, RankMemory& memory, RequestMaker& maker,
          machine::Operands& operands, const Transport& transport, std::uint64_t scratch,
          const ExecutorChannels& channels, std::uint32_t number, bool take_lanes,
          Clock::time_point (*now)());

  /// Whether the posts of bundles do.
  bool take_lanes() const { return take_lanes_; }
  /// What an operation that has its turn does with its channel's bundle.
  enum class Turn : std::uint8_t {
    kNothing,
    kCopied,   // goes into it
    kFlushed,  // has it leave
    kBehind    // …and leaves behind it
  };
  /// Once for each turn, before add() or flush(), where bundles take lanes.
  Turn turn_of(std::uint32_t op);
  /// Whether the bundle of that number, of which the operation is the oldest, is still gathered.
  bool is_open(std::uint32_t oldest, std::uint32_t serial) const;
  /// Nothing more comes into the bundle of the operation's channel. It leaves when leave() says so
  /// of the operation, or before what has to come behind it.
  void close(std::uint32_t op);
  void leave(std::uint32_t op, RequestQueue& queue);

  bool any() const { return !lines_.empty() || !targets_.empty(); }
  /// Of its own channels, as the transport numbers them.
  std::span<const ChannelEnd> ends() const { return ends_; }
  /// Which channel of the schedule each of them is for.
  std::span<const sched::ChannelId> channels_of_ends() const { return channels_of_ends_; }

  /// Once, when all ranks are connected: posts the receives.
  void begin(RequestQueue& queue);

  /// Whether the operation is not to be posted but given to add(). A large put is not; what was
  /// gathered before it is posted at once.
  bool takes(std::uint32_t op, RequestQueue& queue);
  /// Its turn has come: a send or put is gathered, or waits until there is memory for it; a receive
  /// waits for its message.
  void add(std::uint32_t op, Clock::time_point now, RequestQueue& queue);
  /// Posts what the operation's channel has gathered, if it gathers; and before an operation that
  /// is no flush, what is closed.
  void flush(std::uint32_t op, RequestQueue& queue);
  /// The operation is done; posts what it held back, if it went by itself.
  void room_made(std::uint32_t op, RequestQueue& queue);
  /// Posts what is old enough; answers whether there was anything.
  bool flush_old(Clock::time_point now, RequestQueue& queue);
  /// When the next bundle is old enough.
  std::optional<Clock::time_point> next_due() const;

  /// A completion of its own.
  void complete(const Completion& completion, RequestQueue& queue);

  /// What was issued, what of it has left in a bundle, and what is done, since they were cleared.
  std::vector<std::uint32_t> issued;
  std::vector<std::uint32_t> left;
  std::vector<std::uint32_t> done;
  /// Operations that have filled a bundle, which is closed, and whose lanes its post takes; and
  /// bundles that wait for the lane of their oldest message.
  struct Due {
    std::uint32_t oldest = 0;
    std::uint32_t serial = 0;
  };
  std::vector<std::uint32_t> filled;
  std::vector<Due> due;
  bool has_news() const { return !left.empty() || !due.empty(); }

 private:
  struct Run {
    RemoteMemory target;
    std::uint64_t at = 0;  // in the slot
    std::uint64_t bytes = 0;
  };
  struct Slot {
    std::byte* data = nullptr;
    std::vector<std::uint32_t> ops;
    std::vector<Run> runs;  // written
    std::uint64_t bytes = 0;
    std::uint32_t awaited = 0;  // completions; told: and the acknowledgement
  };
  // A channel from here.
  struct Line {
    sched::ChannelId channel;
    machine::BundleLine rule;
    bool written = false;
    std::uint64_t most_bytes = 0;  // of a slot that still takes any message
    std::vector<Slot> slots{};
    std::vector<std::uint32_t> free{};
    std::deque<std::uint32_t> told{};  // slots to be acknowledged, in order
    std::uint32_t open = kNoOp;        // slot
    std::uint32_t serial = 0;          // of all bundles, from 1
    bool awaits_lane = false;          // the open one does
    bool copies = true;                // the message that has its turn goes into a bundle
    struct Closed {
      std::uint32_t slot = 0;
      std::uint32_t op = 0;  // whose lane its post takes
    };
    std::deque<Closed> closed{};    // in their order
    std::uint32_t stalled = kNoOp;  // operation
    std::uint32_t first_tag = 0;    // of its slots, then of its acknowledgements
  };
  // A channel that is told here.
  struct Target {
    sched::ChannelId channel;
    std::vector<std::byte*> slots;
    std::uint64_t slot_bytes = 0;
    std::uint32_t first_tag = 0;
    std::deque<std::vector<std::byte>> arrived;  // payloads of sends, nothing for puts
    std::deque<std::uint32_t> receives;
  };
  struct LaunchPlace {
    bool is_line = false;
    std::uint32_t index = 0;
    std::uint32_t slot = 0;
    bool acknowledgement = false;
  };

  bool is_copied(const Line& line, const sched::Op& op) const;
  WorkRequest request(RequestKind kind, std::uint32_t channel, std::uint32_t tag) const;
  bool gather(Line& line, std::uint32_t op, Clock::time_point now);
  void add_written(Slot& slot, const sched::Op& op, std::uint64_t shift);
  void add_told(Slot& slot, const sched::Op& op, sched::OpId id, std::uint64_t shift);
  void added(Line& line, RequestQueue& queue);
  bool is_full(const Line& line) const;
  void close(Line& line, std::uint32_t op);
  void leave(Line& line, RequestQueue& queue);
  void post(Line& line, RequestQueue& queue);
  void become_due(Line& line, RequestQueue& queue);
  void write(Line& line, std::uint32_t slot, RequestQueue& queue);
  void over(Line& line, std::uint32_t slot, RequestQueue& queue);
  void post_receive(const Target& target, std::uint32_t slot, RequestQueue& queue);
  void post_acknowledgement(const Line& line, std::uint32_t slot, RequestQueue& queue);
  void take_apart(Target& target, std::span<const std::byte> bundle);
  void match(Target& target);

  const RankProgram& program_;
  const sched::Schedule& schedule_;
  RankMemory& memory_;
  RequestMaker& maker_;
  machine::Operands& operands_;
  const bool in_order_;
  const ExecutorChannels& channels_;
  const std::uint64_t number_;
  const bool take_lanes_;
  Clock::time_point (*const now_)();
  bool begun_ = false;
  std::uint32_t serial_ = 0;
  std::vector<Line> lines_;
  std::vector<Target> targets_;
  std::vector<std::uint32_t> line_of_;    // by channel of the schedule; kNoOp
  std::vector<std::uint32_t> target_of_;  // likewise
  std::vector<LaunchPlace> places_;       // by tag
  std::vector<ChannelEnd> ends_;
  std::vector<sched::ChannelId> channels_of_ends_;
};

}  // namespace slackline::hw
