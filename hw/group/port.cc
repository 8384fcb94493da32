#include "hw/group/port.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"

namespace slackline::hw {
namespace {

// Tags; below them are the executor's. With a line's number each.
constexpr std::uint64_t kReceiveAhead = 0x80000000u;
constexpr std::uint64_t kSendAhead = 0xc0000000u;
constexpr std::uint64_t kLineBits = 0x3fffffffu;

}  // namespace

GroupPort::GroupPort(Transport& transport, std::shared_ptr<GroupPlan> plan, std::uint32_t self,
                     Segment bounce)
    : transport_(transport),
      plan_(std::move(plan)),
      self_(self),
      bounce_(bounce),
      lines_(plan_->lines().size()) {}

std::vector<ChannelEnd> GroupPort::ends(std::span<const std::uint32_t> rank_of_member) const {
  std::vector<ChannelEnd> ends;
  for (std::uint32_t l = 0; l < lines_.size(); ++l) {
    const GroupLine& line = plan_->lines()[l];
    if (line.src == self_) ends.push_back({l, rank_of_member[line.dst], true});
    if (line.dst == self_) ends.push_back({l, rank_of_member[line.src], false});
  }
  return ends;
}

void GroupPort::post_ahead() {
  const auto receive = [&](std::uint32_t l) {
    if (l == kNoLine || lines_[l].receive != Ahead::kNothing) return;
    lines_[l].receive = Ahead::kWanted;
    waiting_.push_back({RequestKind::kRecv, l});
  };
  // A peer may wait for this member's credit: first what lets it send. So it is in a simulation
  // (analysis/group/messages.h).
  const auto credit_of = [&](std::uint32_t l) { return l == kNoLine ? l : plan_->credit_of(l); };
  const std::uint32_t first = plan_->first_line(self_);
  receive(first);
  const std::uint32_t credit = credit_of(first);
  if (credit != kNoLine && lines_[credit].send == Ahead::kNothing) {
    lines_[credit].send = Ahead::kWanted;
    waiting_.push_back({RequestKind::kSend, credit});
  }
  for (std::uint32_t m = 0; m < plan_->shape().members; ++m) {
    const std::uint32_t line = plan_->first_line(m);
    if (line != kNoLine && plan_->lines()[line].src == self_) receive(credit_of(line));
  }
  flush();
}

bool GroupPort::flush() {
  while (!waiting_.empty()) {
    const Own next = waiting_.front();
    const bool receives = next.kind == RequestKind::kRecv;
    WorkRequest request;
    request.kind = next.kind;
    request.channel = next.line;
    request.tag = (receives ? kReceiveAhead : kSendAhead) | next.line;
    if (receives && !plan_->lines()[next.line].credit) request.local = {&bounce_, 1};
    if (transport_.post({&request, 1}) == 0) return false;
    (receives ? lines_[next.line].receive : lines_[next.line].send) = Ahead::kPosted;
    waiting_.pop_front();
  }
  return true;
}

std::optional<std::uint32_t> GroupPort::arrived() const {
  const std::uint32_t first = plan_->first_line(self_);
  if (first == kNoLine || lines_[first].receive != Ahead::kDone) return std::nullopt;
  return lines_[first].arrived.immediate;
}

void GroupPort::begin(const GroupMessage& message, std::uint32_t bytes, Executor& executor) {
  message_ = &message;
  bytes_ = bytes;
  executor_ = &executor;
}

bool GroupPort::progress() {
  bool moved = executor_->progress();
  while (!handed_.empty()) {
    const Completion completion = handed_.front();
    handed_.pop_front();
    hand_to_executor(completion, static_cast<std::uint32_t>(completion.tag));
    moved = true;
  }
  return moved;
}

bool GroupPort::is_ahead(RequestKind kind, std::uint32_t line) const {
  if (kind == RequestKind::kRecv) return lines_[line].receive != Ahead::kNothing;
  return lines_[line].send != Ahead::kNothing;
}

// The executor posts what has been posted already.
void GroupPort::absorb(const WorkRequest& request, std::uint32_t l) {
  Line& line = lines_[l];
  if (request.kind == RequestKind::kRecv) {
    if (line.receive == Ahead::kDone) {
      line.arrived.tag = request.tag;
      handed_.push_back(line.arrived);
    } else {
      line.bound = request.tag;
    }
    line.receive = Ahead::kNothing;
    return;
  }
  // A credit has no memory that somebody waits to use again: posted is as good as complete.
  if (request.signalled) handed_.push_back({request.tag, RequestKind::kSend, 0, 0});
  line.send = Ahead::kNothing;
}

std::size_t GroupPort::post(std::span<const WorkRequest> requests) {
  if (!flush()) return 0;
  std::size_t taken = 0;
  while (taken < requests.size()) {
    if (const std::uint32_t line = line_of(requests[taken]); is_ahead(requests[taken].kind, line)) {
      absorb(requests[taken++], line);
      continue;
    }
    batch_.clear();
    for (const WorkRequest& request : requests.subspan(taken)) {
      const std::uint32_t line = line_of(request);
      if (is_ahead(request.kind, line)) break;
      batch_.push_back(request);
      batch_.back().channel = line;
      if (!plan_->lines()[line].credit) batch_.back().immediate = bytes_;
    }
    const std::size_t posted = transport_.post(batch_);
    taken += posted;
    if (posted < batch_.size()) return taken;
  }
  return taken;
}

void GroupPort::take(const Completion& completion) {
  if (completion.tag < kReceiveAhead) {
    hand_to_executor(completion, static_cast<std::uint32_t>(completion.tag));
    return;
  }
  if (completion.kind != RequestKind::kRecv) return;  // a credit left
  Line& line = lines_[completion.tag & kLineBits];
  if (line.bound) {
    Completion bound = completion;
    bound.tag = *line.bound;
    line.bound.reset();
    hand_to_executor(bound, static_cast<std::uint32_t>(bound.tag));
  } else {
    line.receive = Ahead::kDone;
    line.arrived = completion;
  }
}

// Every block tells its message's size, where the executor looks for the number of the message on
// its channel.
void GroupPort::hand_to_executor(Completion completion, std::uint32_t op) {
  if (completion.kind == RequestKind::kRecv) {
    const RankProgram& program = executor_->program();
    const std::uint32_t line = message_->line_of_channel[program.op(op).channel.value];
    if (!plan_->lines()[line].credit) {
      if (completion.immediate != bytes_) {
        throw InternalError(fmt::format(
            "a block of a message of {} bytes came where {} has one of {}", completion.immediate,
            describe(message_->schedule, program.id(op)), bytes_));
      }
      completion.immediate = program.message(op);
    }
  }
  executor_->take(completion);
}

Address GroupPort::open(std::span<const ChannelEnd>) {
  throw InternalError("the channels of a group are opened when it is created");
}
void GroupPort::connect(std::span<const Address>) {
  throw InternalError("the channels of a group are connected when it is created");
}
void GroupPort::close(std::span<const ChannelEnd>) {
  throw InternalError("the channels of a group are closed when it is destroyed");
}
std::size_t GroupPort::poll(std::span<Completion>) {
  throw InternalError("the completions of a group are handed to it");
}

}  // namespace slackline::hw
