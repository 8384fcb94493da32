#include "hw/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hw/executor/local_work.h"
#include "machine/lane.h"
#include "sched/error.h"

namespace slackline::hw {
namespace {

using sched::Op;
using sched::OpKind;

constexpr double kNever = std::numeric_limits<double>::infinity();
// Requests that wait for room: more than this, and nobody adds to them.
constexpr std::size_t kMostQueued = 32;

}  // namespace

Executor::Executor(const sched::Schedule& schedule, sched::RankId rank, Transport& transport,
                   ExecutorOptions options)
    : schedule_(schedule),
      transport_(transport),
      options_(std::move(options)),
      channels_(schedule, options_.first_channel),
      program_(schedule, rank),
      times_(program_.size()),
      operands_(program_, times_),
      memory_(schedule, rank, options_.memory,
              RequestMaker::scratch_bytes(program_) + Bundles::scratch_bytes(program_),
              transport.numa_node()),
      maker_(program_, memory_, operands_, transport, channels_, options_.number),
      bundles_(program_, memory_, maker_, operands_, transport,
               RequestMaker::scratch_bytes(program_) + Bundles::scratch_bytes(program_), channels_,
               options_.number),
      lanes_(program_, options_.order, options_.interleave_bytes),
      has_regions_(!program_.regions().empty()),
      waits_(program_.regions().nodes()),
      completions_left_(program_.size(), 0),
      silent_(program_.size(), false),
      done_before_(program_.size(), false) {
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
  for (ChannelEnd& end : ends) end.channel = channels_.of(sched::ChannelId(end.channel));
  ends.insert(ends.end(), bundles_.ends().begin(), bundles_.ends().end());
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
    // What was seen in the last run must not be seen in this one.
    for (std::uint32_t i = 0; i < program_.size(); ++i) {
      if (program_.op(i).kind == OpKind::kPoll) lower_flag(program_, memory_, i);
    }
  }
  for (std::uint32_t node = 0; node < waits_.size(); ++node) waits_[node] = program_.waits(node);
  const std::uint32_t attempts = has_regions_ ? 0 : 1;
  for (sched::OpTimes& times : times_) {
    times = {kNever, kNever, kNever, kNever, attempts, sched::OpId::none()};
  }
  std::fill(done_before_.begin(), done_before_.end(), false);
  operands_.reset();
  maker_.reset();
  lanes_.clear();
  left_ = program_.size();
  finish_s_ = kNever;
  clock_reads_ = 0;
  events_ = 0;
  if (has_regions_) begin_regions();
}

void Executor::set_done(sched::OpId op) { done_before_[op.value - program_.id(0).value] = true; }

void Executor::begin(Clock::time_point zero) {
  start_ = event_at_ = zero;
  event_s_ = 0;
  if (left_ == 0) finish_s_ = 0;
  if (bundles_.any()) bundles_.begin(queue_);
  for (std::uint32_t i = 0; i < program_.size(); ++i) {
    if (!done_before_[i]) continue;
    // Its predecessors, if they are not done before too, are nobody's business any more.
    waits_[i] = std::numeric_limits<std::uint32_t>::max();
    times_[i].ready_s = times_[i].issued_s = times_[i].wire_s = 0;
  }
  for (std::uint32_t node = 0; node < waits_.size(); ++node) {
    if (waits_[node] != 0) continue;
    if (program_.regions().around(node) != RankRegions::kNoRegion) continue;
    if (program_.is_region(node)) {
      release_region(node, sched::OpId::none());
    } else {
      make_ready(node);
    }
  }
  for (std::uint32_t i = 0; i < program_.size(); ++i) {
    if (!done_before_[i]) continue;
    for (const std::uint32_t next : program_.after_issued(i)) release(next, program_.id(i));
    done(i);
  }
}

bool Executor::progress() {
  if (abandoned_) return drain();
  bool moved = options_.polls && see_completions();
  moved = see_timers() || moved;
  if (bundles_.next_due() && bundles_.flush_old(Clock::now(), queue_)) moved = true;
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
  event_at_ = Clock::now();
  event_s_ = std::chrono::duration<double>(event_at_ - start_).count();
}

void Executor::release(std::uint32_t node, sched::OpId by) {
  if (--waits_[node] != 0) return;
  if (program_.is_region(node)) return release_region(node, by);
  times_[node].cause = by;
  make_ready(node);
}

void Executor::make_ready(std::uint32_t op) {
  times_[op].ready_s = event_s_;
  if (has_regions_ && ++times_[op].attempts == 0) {
    throw Unsupported(fmt::format("{} runs 2^32 times or more; expected less",
                                  sched::describe(program_.schedule(), program_.id(op))));
  }
  const double delay_s =
      options_.delays == nullptr ? 0 : options_.delays->post_delay_s(program_.id(op));
  if (delay_s > 0) {
    set_timer(op, delay_s, Timer::What::kHeldBack);
  } else {
    offer(op);
  }
}

void Executor::offer(std::uint32_t op) {
  if (machine::holds_lane(program_.op(op).kind)) {
    lanes_.add(op, events_);
  } else {
    free_.push_back(op);
  }
}

void Executor::set_timer(std::uint32_t op, double wait_s, Timer::What what) {
  // Longer than anybody waits, and still within the clock's range.
  constexpr double kLongest = 3e9;
  const std::chrono::duration<double> wait(std::min(wait_s, kLongest));
  // Counted from the event at hand, so that what is released together keeps its order.
  const Clock::time_point from = options_.timestamps ? event_at_ : Clock::now();
  timers_.push({from + std::chrono::ceil<Clock::duration>(wait), op, what});
}

void Executor::issued(std::uint32_t op) {
  times_[op].issued_s = times_[op].wire_s = event_s_;
  for (const std::uint32_t next : program_.after_issued(op)) release(next, program_.id(op));
}

void Executor::done(std::uint32_t op) {
  times_[op].done_s = event_s_;
  if (!has_regions_) ended();
  const std::uint32_t next_large = done_before_[op] ? kNoOp : lanes_.done(op);
  if (next_large != kNoOp) {
    times_[next_large].cause = program_.id(op);
    lanes_.add(next_large, events_);
  }
  for (const std::uint32_t next : program_.after_done(op)) release(next, program_.id(op));
  if (has_regions_) done_within(op);
}

// One of those that stand outside of regions.
void Executor::ended() {
  if (--left_ != 0) return;
  finish_s_ = event_s_;
  if (!options_.timestamps) {
    finish_s_ = std::chrono::duration<double>(Clock::now() - start_).count();
  } else if (has_regions_) {
    // What ended last may be an alt that did nothing.
    finish_s_ = 0;
    for (const sched::OpTimes& times : times_) finish_s_ = std::max(finish_s_, times.done_s);
  }
}

std::optional<std::string> Executor::first_breach() { return memory().first_breach(); }

RankMemory& Executor::memory() {
  if (has_regions_) restore_flags();
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
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) more = serve(lane) || more;
    moved = moved || more;
  }
  return moved;
}

// One operation at a time: what it releases may come before the rest.
bool Executor::serve(std::size_t lane) {
  bool moved = false;
  // Nobody overtakes requests that wait for room.
  while (queue_.size() < kMostQueued || post_queued()) {
    const std::optional<Lanes::Turn> turn = lanes_.next(lane);
    if (!turn) break;
    moved = true;
    const std::uint32_t op = turn->op;
    if (turn->behind != kNoOp) times_[op].cause = program_.id(turn->behind);
    const OpKind kind = program_.op(op).kind;
    double hold_s = lane_delay_s(op);
    if (kind == OpKind::kCalc) {
      hold_s += sched::seconds(schedule_.arguments(program_.op(op)).duration);
    }
    if (!machine::is_posted(kind)) {
      event();
      issued(op);
    }
    if (hold_s > 0) {
      lanes_.hold(op);
      set_timer(op, hold_s, Timer::What::kLaneEnd);
    } else {
      work(op);
    }
  }
  return moved;
}

// Operations that hold no lane: issued in the very event that released them.
void Executor::issue(std::uint32_t i) {
  if (program_.is_region(i)) return enter(i);
  const Op& op = program_.op(i);
  issued(i);
  if (op.kind == OpKind::kPoll) {
    // What a bundle brought is seen at once, without a round of progress for each.
    if (!see_flag(i)) polls_.push_back(i);
  } else if (op.kind == OpKind::kDelay) {
    set_timer(i, sched::seconds(schedule_.arguments(op).duration), Timer::What::kDone);
  } else {
    if (op.kind == OpKind::kFlush && bundles_.any()) {
      bundles_.flush(i, queue_);
      take_bundled();
    }
    done(i);
  }
}

// What an operation does when its lane has nothing to wait for any more.
void Executor::work(std::uint32_t i) {
  const OpKind kind = program_.op(i).kind;
  if (machine::is_posted(kind)) return post(i);
  if (kind == OpKind::kCopy) copy(program_, memory_, i);
  if (kind == OpKind::kReduce) reduce(program_, memory_, i);
  if (kind != OpKind::kCalc) event();  // whose time was the lane's
  done(i);
}

void Executor::post(std::uint32_t i) {
  if (bundles_.any() && bundles_.takes(i, queue_)) {
    event();
    bundles_.add(i, options_.timestamps ? event_at_ : Clock::now(), queue_);
    take_bundled();
    post_queued();
    return;
  }
  const bool silent = transport_.completes_in_order() && sched::is_initiator(program_.op(i).kind) &&
                      !sched::is_atomic(program_.op(i).kind) && !program_.is_waited_for(i) &&
                      !lanes_.is_bounded(i);
  const std::optional<std::uint32_t> completions = maker_.make(i, !silent, queue_);
  if (!completions) {
    event();
    issued(i);
    return done(i);
  }
  completions_left_[i] = *completions;
  silent_[i] = *completions == 0;
  post_queued();
}

// What bundles say was issued or is done.
void Executor::take_bundled() {
  for (const std::uint32_t op : bundles_.issued) issued(op);
  bundles_.issued.clear();
  for (const std::uint32_t op : bundles_.done) done(op);
  bundles_.done.clear();
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
