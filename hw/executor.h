// One rank's part of a schedule, carried out on a transport by local knowledge alone: every
// operation counts the events it waits for, and is issued when all are there, in the order of the
// issue policy. Bytes are real: see hw/executor/memory.h.
//
// What is ready, and who has which lane, is machine/run/core.h's, as in a simulation. Lanes,
// policies and delays mean what they mean there: an operation that is delayed alone comes to its
// lane later; one whose lane is delayed holds it as long before it is posted, and what is behind it
// waits. Nobody is kept busy by a delay: it is a timer, and messages arrive meanwhile.
//
// Regions run as docs/dynamic.md says, and decide as the simulation does: the same seed draws the
// same outcomes, and actual ones are what the atomics found (machine/run/regions.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <vector>

#include "hw/executor/bundles.h"
#include "hw/executor/channels.h"
#include "hw/executor/greeting.h"
#include "hw/executor/memory.h"
#include "hw/executor/program.h"
#include "hw/executor/requests.h"
#include "hw/transport.h"
#include "machine/delays.h"
#include "machine/issue_policy.h"
#include "machine/rails.h"
#include "machine/run/bundle_delays.h"
#include "machine/run/core.h"
#include "machine/run/operands.h"
#include "sched/kept_memory.h"
#include "sched/trace.h"

namespace slackline::hw {

struct ExecutorOptions {
  /// The transport's numbers from here on, up to ExecutorChannels::end(), are the schedule's.
  std::uint32_t first_channel = 0;
  /// false: these channels are open and connected already, by somebody else.
  bool opens_channels = true;
  /// Tags of requests are number · 2^32 + the operation's number within the rank, so that several
  /// executors can share a transport.
  std::uint32_t number = 0;
  /// false: somebody else polls the transport, and hands this one its completions: take().
  bool polls = true;
  /// Buffers that are not to be allocated.
  std::vector<GivenMemory> memory;

  machine::IssueOrder order;
  /// IssueOrder::sends_in_flight counts messages of more bytes than this: Platform's.
  std::uint64_t interleave_bytes = 4096;
  /// Of the schedule; must outlive the executor. Its pair rates are not looked at.
  const machine::Delays* delays = nullptr;
  /// What they have of bundles; must outlive the executor. Null: no rank's bundles take longer.
  const machine::BundleDelays* bundle_delays = nullptr;
  /// Of what sampled regions draw.
  std::uint64_t seed = 0;
  /// How channels are dealt to the rails of the transport. By RailRule::kRank a rank has one: then
  /// the transport is that one alone.
  machine::Rails rails = {};
  /// false: the clock is read for timers only, and times() has no more than what is done: 0.
  bool timestamps = true;
  /// The clock. Tests have one that stands still until they move it.
  std::chrono::steady_clock::time_point (*now)() = std::chrono::steady_clock::now;
};

/// The order of calls: construct; exchange greetings among all ranks; connect(); post_ahead() if
/// wanted; begin(); progress() until finished(), and on until all ranks are, since peers may need
/// this one's progress. For another iteration, when all are: reset() and post_ahead(), and begin()
/// when all ranks have.
class Executor {
 public:
  using Clock = std::chrono::steady_clock;

  /// Allocates, fills and registers the rank's memory and opens its channels. Throws as
  /// RankProgram, RankMemory, RequestMaker and the transport do. Schedule and transport must
  /// outlive this.
  Executor(const sched::Schedule& schedule, sched::RankId rank, Transport& transport,
           ExecutorOptions options = {});
  /// Unregisters the memory. Channels stay open: close().
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  const Greeting& greeting() const { return greeting_; }
  /// `greetings` by rank.
  void connect(std::span<const Greeting> greetings);

  /// Before begin(), when no message is under way: posts the receives without memory that wait for
  /// nothing, such as those of the first credits, so that no peer is too early for them, however
  /// late this rank begins. They count as issued at time zero. Nothing where there are delays,
  /// which may be theirs, bundles or regions.
  void post_ahead();

  /// `zero` is time zero of this rank's operations.
  void begin(Clock::time_point zero = Clock::now());

  /// One round: see what has completed, issue what is ready. Never waits. Answers whether anything
  /// happened. Throws InputError when a retry has failed for the last time, when an operand is not
  /// there and when an address leaves its buffer: then only abandon() may follow. Throws
  /// InternalError if a message is not the one whose turn it is, and as the transport does.
  bool progress();
  /// One completion whose tag has this executor's number.
  void take(const Completion& completion);

  bool finished() const { return core_.left() == 0; }
  /// The first operation that is not done, for messages about a run that came to nothing.
  sched::OpId first_unfinished() const;

  /// When the next timer is due, if there is one: progress() is needed then, without any
  /// completion.
  std::optional<Clock::time_point> next_timer() const;
  /// Whether an operation waits for memory to change, of which no completion will tell.
  bool watches_memory() const { return !polls_.empty(); }

  /// Nothing more is issued. progress() goes on serving peers, and forgets what completes.
  void abandon() { abandoned_ = true; }

  /// When all ranks are through: closes the channels that the constructor opened.
  void close();

  /// Another iteration: everything as after connect(). `refill`: the memory too, without which a
  /// schedule with regions does not start as it did. Flags are lowered, and what atomics and
  /// addresses depend on is filled, in any case.
  void reset(bool refill);

  /// Whether the rank's bytes are those that the contract promises: nothing if so, else one line.
  std::optional<std::string> first_breach();

  /// The times of the rank's operations, in their order; infinite where one never came. Of posted
  /// operations issued_s is just before the transport took their last request. Where nobody waits
  /// for an operation, and the transport completes in order, its done_s is that of the next
  /// signalled operation of its channel: it was done then, or earlier. Of an operation that was
  /// gathered wire_s is when its bundle left.
  /// With regions, see sched::OpTimes.
  std::span<const sched::OpTimes> times() const { return times_; }
  /// What each operation fetched last: Trace::results, of this rank. Empty if none fetches.
  std::span<const std::uint64_t> results() const { return results_; }
  /// When the last operation was done, in seconds from time zero; infinite before.
  double finish_s() const { return finish_s_; }
  /// How often the clock was read for times() since begin().
  std::uint64_t clock_reads() const { return clock_reads_; }

  const RankProgram& program() const { return program_; }
  /// The rank's memory. When all ranks are through, it is as the schedule leaves it.
  RankMemory& memory();

 private:
  struct Timer {
    enum class What : std::uint8_t {
      kHeldBack,
      kLaneEnd,
      kDone,
      kEnter,
      kBundleAhead,  // what was gathered before the operation leaves
      kBundlePosted  // the bundle that took the operation's lane leaves, and frees it
    };
    Clock::time_point at;
    std::uint32_t op;  // kEnter: a region
    What what;
    // The earliest on top of a priority queue; among equals the lowest operation.
    friend bool operator<(const Timer& a, const Timer& b) {
      return a.at != b.at ? a.at > b.at : a.op > b.op;
    }
  };
  void require_own_flags() const;
  void event();
  void set_timer(std::uint32_t op, double wait_s, Timer::What what);
  void issued(std::uint32_t op);
  void done(std::uint32_t op) { core_.done(op); }

  // What the core asks: machine/run/core.h.
  friend class machine::RunCore<Executor>;
  double now_s() const { return event_s_; }
  double moment() const { return static_cast<double>(events_); }
  bool is_gone(std::uint32_t) const { return false; }
  double post_delay_s(std::uint32_t op) const {
    return options_.delays == nullptr ? 0 : options_.delays->post_delay_s(program_.id(op));
  }
  void hold_back(std::uint32_t op, double wait_s) { set_timer(op, wait_s, Timer::What::kHeldBack); }
  bool takes_lane(std::uint32_t op) const;
  bool is_flush(std::uint32_t op) const;
  void at_once(std::uint32_t node) { free_.push_back(node); }
  void come_again(std::uint32_t region, double wait_s);
  void attempt_begins(std::uint32_t) {}
  void room_made(std::uint32_t op) {
    if (bundles_.any()) bundles_.room_made(op, queue_);
  }
  bool succeeded(std::uint32_t op) const { return operands_.succeeded(op); }
  void all_ended();

  // hw/executor/events.cc
  bool see_completions();
  bool see_timers();
  void complete(const Completion& completion);
  void silent_done_before(std::uint32_t op);
  bool drain();

  // hw/executor/flags.cc
  bool see_flags();
  bool see_flag(std::uint32_t op);
  void keep_flag(std::uint32_t poll);
  void restore_flags();

  bool issue_ready();
  bool serve(std::uint32_t lane);
  void issue(std::uint32_t op);
  void work(std::uint32_t op);
  void post(std::uint32_t op);
  void flush(std::uint32_t op);
  bool post_queued();
  void take_bundled();
  double bundle_hold_s(std::uint32_t op);
  void hold_for_bundle(std::uint32_t op);
  double bundle_post_s(std::uint32_t op) const {
    return options_.bundle_delays->post_s(program_.op(op).channel);
  }
  std::vector<ChannelEnd> ends() const;

  double lane_delay_s(std::uint32_t op) const {
    return options_.delays == nullptr ? 0 : options_.delays->lane_delay_s(program_.id(op));
  }

  const sched::Schedule& schedule_;
  Transport& transport_;
  const ExecutorOptions options_;
  const ExecutorChannels channels_;
  const std::vector<std::uint32_t> flows_;  // by channel, as multicast_flows(); empty: none
  RankProgram program_;
  std::vector<sched::OpTimes> times_;
  std::vector<std::uint64_t> results_;
  machine::Operands operands_;
  RankMemory memory_;
  std::optional<sched::KeptMemory> kept_;  // once it is asked for
  RequestMaker maker_;
  Bundles bundles_;
  machine::RunCore<Executor> core_;
  Greeting greeting_;

  Clock::time_point start_;
  Clock::time_point event_at_;  // the event at hand; the start without timestamps
  double event_s_ = 0;          // the same, from the start
  std::uint64_t events_ = 0;
  double finish_s_ = std::numeric_limits<double>::infinity();
  std::uint64_t clock_reads_ = 0;
  bool abandoned_ = false;
  std::vector<std::uint32_t> again_;   // regions whose next attempt begins with the next round
  const std::vector<bool> signalled_;  // makes a completion of its own
  std::vector<std::uint32_t> completions_left_;
  std::vector<bool> silent_;          // posted without a signal, and not known to be done
  std::vector<std::uint32_t> ahead_;  // what post_ahead() posted
  std::vector<std::uint32_t> free_;   // ready, and hold no lane: operations, and regions
  std::priority_queue<Timer> timers_;
  std::vector<std::uint32_t> polls_;
  // With regions, flags that were cleared so that their polls can come again: as they were seen,
  // the latest last.
  struct SeenFlag {
    std::uint32_t poll;
    std::vector<std::byte> bytes;
  };
  std::vector<SeenFlag> seen_flags_;
  RequestQueue queue_;
};

}  // namespace slackline::hw
