// The part of the executor that sees what has happened: completions and timers.
#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "hw/executor.h"

namespace slackline::hw {
namespace {

constexpr std::size_t kBatch = 32;

}  // namespace

using sched::Op;
using sched::OpKind;

// Where requests of a channel complete in order, one that completes speaks for those before it.
void Executor::silent_done_before(std::uint32_t op) {
  for (std::uint32_t p = program_.previous(op); p != kNoOp && silent_[p];
       p = program_.previous(p)) {
    silent_[p] = false;
    done(p);
  }
}

void Executor::take(const Completion& completion) {
  event();
  complete(completion);
}

void Executor::complete(const Completion& completion) {
  const auto i = static_cast<std::uint32_t>(completion.tag);
  if (i >= Bundles::kFirstTag) {
    bundles_.complete(completion, queue_);
    return take_bundled();
  }
  const Op& op = program_.op(i);
  if (op.kind == OpKind::kRecv && completion.immediate != maker_.message(i)) {
    throw InternalError(fmt::format("{} took message {} of its channel; expected message {}",
                                    describe(schedule_, program_.id(i)), completion.immediate,
                                    maker_.message(i)));
  }
  if (op.kind == OpKind::kRecv && !program_.expects_put(i) &&
      completion.bytes != schedule_.bytes(op.writes)) {
    throw InputError(fmt::format("{} took {} bytes; expected {}: `check` lists what is wrong",
                                 describe(schedule_, program_.id(i)), completion.bytes,
                                 schedule_.bytes(op.writes)));
  }
  if (op.kind != OpKind::kRecv) silent_done_before(i);
  if (--completions_left_[i] != 0) return;
  if (maker_.make_last(i, queue_)) {
    completions_left_[i] = 1;
    post_queued();
    return;
  }
  if (sched::has_reply(op.kind) && !maker_.deliver_result(i, queue_)) {
    completions_left_[i] = 1;
    post_queued();
    return;
  }
  done(i);
}

bool Executor::see_completions() {
  std::array<Completion, kBatch> completions;
  const std::size_t count = transport_.poll(completions);
  if (count == 0) return false;
  event();
  for (std::size_t c = 0; c < count; ++c) {
    complete(completions[c]);
    ++events_;
  }
  return true;
}

bool Executor::see_timers() {
  bool moved = false;
  while (!timers_.empty() && timers_.top().at <= options_.now()) {
    const Timer timer = timers_.top();
    timers_.pop();
    event();
    moved = true;
    switch (timer.what) {
      case Timer::What::kHeldBack:
        core_.offer(timer.op);
        break;
      case Timer::What::kLaneEnd:
        core_.lanes().release(core_.lanes().lane_of(timer.op), moment());
        work(timer.op);
        break;
      case Timer::What::kBundleAhead:
        bundles_.flush(timer.op, queue_);
        take_bundled();
        post_queued();
        break;
      case Timer::What::kBundlePosted:
        core_.lanes().release(core_.lanes().lane_of(timer.op), moment());
        bundles_.leave(timer.op, queue_);
        take_bundled();
        post_queued();
        break;
      case Timer::What::kDone:
        done(timer.op);
        break;
      case Timer::What::kEnter:
        free_.push_back(core_.tree().node_of(timer.op));
        break;
    }
  }
  return moved;
}

// Peers may still need this rank's progress.
bool Executor::drain() {
  std::array<Completion, kBatch> completions;
  return options_.polls && transport_.poll(completions) != 0;
}

}  // namespace slackline::hw
