#include "hw/executor.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "hw/executor/local_work.h"
#include "hw/multicast/flows.h"
#include "machine/lane.h"
#include "machine/run/signals.h"

namespace slackline::hw {
namespace {

using sched::Op;
using sched::OpKind;

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

Executor::Executor(const sched::Schedule& schedule, sched::RankId rank, Transport& transport,
                   ExecutorOptions options)
    : schedule_(schedule),
      transport_(transport),
      options_(std::move(options)),
      channels_(schedule, options_.first_channel),
      flows_(transport.multicasts() ? multicast_flows(schedule) : std::vector<std::uint32_t>()),
      program_(schedule, rank),
      times_(program_.size()),
      results_(machine::Operands::any_result(schedule, program_.graph().range()) ? program_.size()
                                                                                 : 0),
      operands_(schedule, program_.graph().range(), times_, results_),
      memory_(schedule, rank, options_.memory,
              RequestMaker::scratch_bytes(program_) + Bundles::scratch_bytes(program_),
              transport.numa_node()),
      maker_(program_, memory_, operands_, transport, channels_, options_.number),
      bundles_(program_, memory_, maker_, operands_, transport,
               RequestMaker::scratch_bytes(program_) + Bundles::scratch_bytes(program_), channels_,
               options_.number,
               options_.bundle_delays != nullptr && options_.bundle_delays->strike(rank),
               options_.now),
      core_(*this, program_.graph(), times_, options_.order, options_.interleave_bytes,
            options_.seed),
      signalled_(transport.completes_in_order()
                     ? machine::signalled_operations(schedule, program_.graph().tree(),
                                                     options_.order, options_.interleave_bytes)
                     : std::vector<bool>(program_.size(), true)),
      completions_left_(program_.size(), 0),
      silent_(program_.size(), false) {
  require_own_flags();
  if (!memory_.own().empty()) memory_.set_registered(transport.register_memory(memory_.own()));
  greeting_.memory = memory_.remote();
  if (options_.opens_channels) {
    greeting_.address = transport.open(ends());
  }
  reset(true);
}

// What somebody else owns is not filled with zeros before the run.
void Executor::require_own_flags() const {
  for (const GivenMemory& given : options_.memory) {
    for (std::uint32_t i = 0; i < program_.size(); ++i) {
      if (program_.op(i).kind != OpKind::kPoll) continue;
      if (schedule_.slices(program_.op(i).reads).front().buffer != given.buffer) continue;
      throw InternalError(fmt::format("{} polls buffer {}, which is given",
                                      describe(schedule_, program_.id(i)), given.buffer.value));
    }
  }
}

Executor::~Executor() {
  if (!memory_.own().empty()) transport_.unregister_memory(memory_.registered());
}

std::vector<ChannelEnd> Executor::ends() const {
  std::vector<ChannelEnd> ends(program_.ends().begin(), program_.ends().end());
  const machine::Rails& rails = options_.rails;
  const bool dealt = rails.are_several() && rails.rule != machine::RailRule::kRank;
  const std::vector<std::uint32_t> numbers = machine::numbers_for_rails(schedule_, rails);
  const sched::RankId own = program_.rank();
  const auto rail = [&](sched::ChannelId channel, std::uint32_t peer) {
    return dealt ? rails.of(0, own, sched::RankId(peer), numbers[channel.value]) : 0u;
  };
  for (ChannelEnd& end : ends) {
    const sched::ChannelId channel(end.channel);
    end.rail = rail(channel, end.peer);
    if (!flows_.empty() && flows_[channel.value] != kNoFlow) {
      end.flow = channels_.of(sched::ChannelId(flows_[channel.value]));
    }
    end.channel = channels_.of(channel);
  }
  // Its bundles, and what acknowledges them, go by a channel's own rail.
  for (std::size_t e = 0; e < bundles_.ends().size(); ++e) {
    ends.push_back(bundles_.ends()[e]);
    ends.back().rail = rail(bundles_.channels_of_ends()[e], ends.back().peer);
  }
  return ends;
}

void Executor::close() {
  if (options_.opens_channels) {
    transport_.close(ends());
  }
}

void Executor::connect(std::span<const Greeting> greetings) {
  maker_.connect(greetings);
  if (!options_.opens_channels) return;
  std::vector<Address> addresses;
  for (const Greeting& greeting : greetings) addresses.push_back(greeting.address);
  transport_.connect(addresses);
}

void Executor::reset(bool refill) {
  if (refill) {
    memory_.fill();
  } else {
    if (!kept_) kept_.emplace(schedule_);
    if (!kept_->empty()) memory_.fill(&*kept_);
    // What was seen in the last run must not be seen in this one.
    for (std::uint32_t i = 0; i < program_.size(); ++i) {
      if (program_.op(i).kind == OpKind::kPoll) lower_flag(program_, memory_, i);
    }
  }
  ahead_.clear();
  std::fill(results_.begin(), results_.end(), 0);
  maker_.reset();
  core_.reset();
  again_.clear();
  seen_flags_.clear();
  timers_ = {};
  finish_s_ = kNever;
  clock_reads_ = 0;
  events_ = 0;
}

void Executor::post_ahead() {
  if (options_.delays != nullptr || bundles_.any() || core_.has_regions()) return;
  std::vector<bool> ahead(program_.size(), false);
  for (std::uint32_t i = 0; i < program_.size(); ++i) {
    const Op& op = program_.op(i);
    const std::uint32_t previous = program_.previous(i);
    if (op.kind != OpKind::kRecv || op.writes.count != 0 || program_.expects_put(i)) continue;
    if (!schedule_.edges_into(program_.id(i)).empty()) continue;
    if (previous != kNoOp && !ahead[previous]) continue;
    ahead[i] = true;
    // From here on it is the transport's turn, not the lane's.
    core_.withdraw(i);
    times_[i].ready_s = 0;
    completions_left_[i] = *maker_.make(i, true, queue_);
  }
  queue_.post(
      transport_, [] {},
      [&](std::uint64_t tag) { ahead_.push_back(static_cast<std::uint32_t>(tag)); });
}

void Executor::begin(Clock::time_point zero) {
  start_ = event_at_ = zero;
  event_s_ = 0;
  if (bundles_.any()) bundles_.begin(queue_);
  core_.start();
  for (const std::uint32_t op : ahead_) issued(op);
}

bool Executor::progress() {
  if (abandoned_) return drain();
  bool moved = options_.polls && see_completions();
  moved = see_timers() || moved;
  if (bundles_.next_due() && bundles_.flush_old(options_.now(), queue_)) moved = true;
  // A bundle may leave for its age, or for the room that another has made; one without bytes is
  // done then.
  if (bundles_.has_news()) {
    event();
    take_bundled();
    moved = true;
  }
  moved = see_flags() || moved;
  if (!again_.empty()) {
    // An attempt in a round, so that peers are served and losses seen between them.
    event();
    free_.insert(free_.end(), again_.begin(), again_.end());
    again_.clear();
  }
  return issue_ready() || moved;
}

sched::OpId Executor::first_unfinished() const {
  for (std::uint32_t i = 0; i < program_.size(); ++i) {
    if (times_[i].done_s == kNever) return program_.id(i);
  }
  return sched::OpId::none();
}

std::optional<Executor::Clock::time_point> Executor::next_timer() const {
  std::optional<Clock::time_point> next = bundles_.next_due();
  if (!timers_.empty() && (!next || timers_.top().at < *next)) next = timers_.top().at;
  return next;
}

// Something happened: what follows from it happens at the same time.
void Executor::event() {
  ++events_;
  if (!options_.timestamps) return;
  ++clock_reads_;
  event_at_ = options_.now();
  event_s_ = std::chrono::duration<double>(event_at_ - start_).count();
}

bool Executor::takes_lane(std::uint32_t op) const {
  return machine::holds_lane(program_.op(op).kind) || is_flush(op);
}

// Of a channel that gathers: what is flushed leaves in the flush's turn on its lane.
bool Executor::is_flush(std::uint32_t i) const {
  const Op& op = program_.op(i);
  return op.kind == OpKind::kFlush && schedule_.channel(op.channel).bundle != sched::Bundle::kNone;
}

void Executor::come_again(std::uint32_t region, double wait_s) {
  const sched::Region& r = schedule_.regions()[region];
  // Cores may be fewer than ranks, and who it waits for may need this one.
  if (r.kind == sched::RegionKind::kRetry && r.outcome == sched::RegionOutcome::kActual)
    sched_yield();
  if (wait_s > 0) {
    set_timer(region, wait_s, Timer::What::kEnter);
  } else {
    again_.push_back(core_.tree().node_of(region));
  }
}

void Executor::set_timer(std::uint32_t op, double wait_s, Timer::What what) {
  // Longer than anybody waits, and still within the clock's range.
  constexpr double kLongest = 3e9;
  const std::chrono::duration<double> wait(std::min(wait_s, kLongest));
  // Counted from the event at hand, so that what is released together keeps its order.
  const Clock::time_point from = options_.timestamps ? event_at_ : options_.now();
  timers_.push({from + std::chrono::ceil<Clock::duration>(wait), op, what});
}

void Executor::issued(std::uint32_t op) {
  times_[op].wire_s = event_s_;
  core_.issued(op);
}

void Executor::all_ended() {
  finish_s_ = event_s_;
  if (program_.size() == 0) {
    finish_s_ = 0;  // however late it began
  } else if (!options_.timestamps) {
    finish_s_ = std::chrono::duration<double>(options_.now() - start_).count();
  } else if (core_.has_regions()) {
    // What ended last may be an alt that did nothing.
    finish_s_ = 0;
    for (const sched::OpTimes& times : times_) finish_s_ = std::max(finish_s_, times.done_s);
  }
}

std::optional<std::string> Executor::first_breach() { return memory().first_breach(); }

RankMemory& Executor::memory() {
  if (core_.has_regions()) restore_flags();
  return memory_;
}

bool Executor::issue_ready() {
  bool moved = post_queued();
  bool more = true;
  while (more) {
    more = false;
    // What is released meanwhile comes behind.
    for (std::size_t f = 0; f < free_.size(); ++f) {
      issue(free_[f]);
      more = true;
    }
    free_.clear();
    for (std::uint32_t lane = 0; lane < core_.lanes().count(); ++lane) more = serve(lane) || more;
    moved = moved || more;
  }
  return moved;
}

// One operation at a time: what it releases may come before the rest.
bool Executor::serve(std::uint32_t lane) {
  bool moved = false;
  // Requests that wait for room hold up none of other channels, however many wait: a channel's next
  // operation is not ready before the one before it is posted.
  while (true) {
    const auto turn = core_.next_turn(lane, [this](const machine::Lanes::Waiting& next) {
      return next.bundle != 0 && !bundles_.is_open(next.op, next.bundle);
    });
    if (!turn) break;
    moved = true;
    const std::uint32_t op = turn->op;
    if (turn->bundle != 0) {
      bundles_.close(op);
      hold_for_bundle(op);
      continue;
    }
    const OpKind kind = program_.op(op).kind;
    double hold_s = lane_delay_s(op);
    if (bundles_.take_lanes()) hold_s += bundle_hold_s(op);
    if (kind == OpKind::kCalc || kind == OpKind::kReduce) {
      hold_s += sched::seconds(schedule_.arguments(program_.op(op)).duration);
    }
    if (!machine::is_posted(kind) && kind != OpKind::kFlush) {
      event();
      issued(op);
    }
    if (hold_s > 0) {
      core_.lanes().hold(op, true);
      set_timer(op, hold_s, Timer::What::kLaneEnd);
    } else {
      work(op);
    }
  }
  return moved;
}

// Operations that hold no lane: issued in the very event that released them.
void Executor::issue(std::uint32_t i) {
  if (core_.tree().is_region(i)) return core_.enter(core_.tree().region_of(i));
  const Op& op = program_.op(i);
  issued(i);
  if (op.kind == OpKind::kPoll) {
    // What a bundle brought is seen at once, without a round of progress for each.
    if (!see_flag(i)) polls_.push_back(i);
  } else if (op.kind == OpKind::kDelay) {
    set_timer(i, sched::seconds(schedule_.arguments(op).duration), Timer::What::kDone);
  } else {
    done(i);
  }
}

// What an operation does when its lane has nothing to wait for any more.
void Executor::work(std::uint32_t i) {
  const OpKind kind = program_.op(i).kind;
  if (machine::is_posted(kind)) return post(i);
  if (kind == OpKind::kFlush) return flush(i);
  if (kind == OpKind::kCopy) copy(program_, memory_, i);
  if (kind == OpKind::kReduce) reduce(program_, memory_, i);
  if (kind != OpKind::kCalc) event();  // whose time was the lane's
  done(i);
}

void Executor::post(std::uint32_t i) {
  if (bundles_.any() && bundles_.takes(i, queue_)) {
    event();
    bundles_.add(i, options_.timestamps ? event_at_ : options_.now(), queue_);
    take_bundled();
    post_queued();
    return;
  }
  const std::optional<std::uint32_t> completions = maker_.make(i, signalled_[i], queue_);
  if (!completions) {
    event();
    issued(i);
    return done(i);
  }
  completions_left_[i] = *completions;
  silent_[i] = *completions == 0;
  post_queued();
}

void Executor::flush(std::uint32_t i) {
  event();
  issued(i);
  bundles_.flush(i, queue_);
  take_bundled();
  done(i);
  post_queued();
}

// How much longer, or shorter, than its delays say the operation's lane is held for what its
// channel gathers.
double Executor::bundle_hold_s(std::uint32_t i) {
  switch (bundles_.turn_of(i)) {
    case Bundles::Turn::kCopied: {
      const double more_s = options_.bundle_delays->copied_s(program_.id(i));
      // Of two sums of whole picoseconds nothing may be left.
      constexpr double kLeast_s = 1e-12;
      const double hold_s = lane_delay_s(i) + more_s;
      return hold_s < kLeast_s ? -lane_delay_s(i) : more_s;
    }
    case Bundles::Turn::kFlushed:
      return bundle_post_s(i);
    case Bundles::Turn::kBehind:
      // The bundle leaves before the operation's own post is longer.
      set_timer(i, lane_delay_s(i), Timer::What::kBundleAhead);
      return bundle_post_s(i);
    default:
      return 0;
  }
}

// The operation's lane is held until a bundle has left.
void Executor::hold_for_bundle(std::uint32_t i) {
  core_.lanes().hold(i, true);
  set_timer(i, bundle_post_s(i), Timer::What::kBundlePosted);
}

// What bundles say was issued, has left or is done; and what of them waits for a lane.
void Executor::take_bundled() {
  for (const std::uint32_t op : bundles_.issued) issued(op);
  bundles_.issued.clear();
  for (const std::uint32_t op : bundles_.left) times_[op].wire_s = event_s_;
  bundles_.left.clear();
  for (const std::uint32_t op : bundles_.done) done(op);
  bundles_.done.clear();
  for (const std::uint32_t op : bundles_.filled) hold_for_bundle(op);
  bundles_.filled.clear();
  for (const Bundles::Due& due : bundles_.due) core_.lanes().add(due.oldest, moment(), due.serial);
  bundles_.due.clear();
}

// Answers whether the transport took any.
bool Executor::post_queued() {
  if (queue_.size() == 0) return false;
  // The clock is read before, so that no peer can have seen a message that was not issued yet.
  return queue_.post(
      transport_, [&] { event(); },
      [&](std::uint64_t tag) { issued(static_cast<std::uint32_t>(tag)); });
}

}  // namespace slackline::hw
