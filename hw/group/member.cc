// Messages, one after the other, and the close that all agree on; failing.cc has the rest.
#include "hw/group/member.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"

namespace slackline::hw {
namespace {

constexpr std::size_t kBatch = 64;

}  // namespace

GroupMember::GroupMember(std::unique_ptr<Transport> transport, GroupSetup setup, Tell tell)
    : setup_(std::move(setup)),
      tell_(std::move(tell)),
      transport_(std::move(transport)),
      signs_(setup_.ranks.size(), Sign::kNone),
      done_(setup_.ranks.size(), false),
      reachable_(setup_.ranks.size(), true),
      knows_(setup_.ranks.size(), false) {
  const auto block = static_cast<std::size_t>(setup_.plan->shape().block_bytes);
  bounce_ = std::make_unique_for_overwrite<std::byte[]>(block);
  bounce_memory_ = transport_->register_memory({bounce_.get(), block});
  port_ = std::make_unique<GroupPort>(*transport_, setup_.plan, setup_.self,
                                      Segment{bounce_.get(), block, bounce_memory_.handle});
  if (setup_.atomic_delivery) {
    std::vector<std::uint32_t> channels;
    for (std::uint32_t m = 0; m < size(); ++m) channels.push_back(table_channel(setup_.self, m));
    table_ = std::make_unique<StatusTable>(*transport_, setup_.self, std::move(channels),
                                           GroupPort::kOtherTags);
  }
}

std::uint32_t GroupMember::table_channel(std::uint32_t from, std::uint32_t to) const {
  const auto lines = static_cast<std::uint32_t>(setup_.plan->lines().size());
  return lines + from * size() + to;
}

std::vector<ChannelEnd> GroupMember::ends() const {
  std::vector<ChannelEnd> ends = port_->ends(setup_.ranks);
  for (std::uint32_t m = 0; table_ && m < size(); ++m) {
    if (m == setup_.self) continue;
    ends.push_back({table_channel(setup_.self, m), setup_.ranks[m], true});
    ends.push_back({table_channel(m, setup_.self), setup_.ranks[m], false});
  }
  return ends;
}

GroupAddress GroupMember::open() {
  return {transport_->open(ends()), table_ ? table_->memory() : RemoteMemory{}};
}

void GroupMember::connect(std::span<const GroupAddress> addresses, std::uint32_t ranks) {
  if (state_ != State::kOpen) return;
  std::vector<Address> by_rank(ranks);
  std::vector<RemoteMemory> tables;
  for (std::uint32_t m = 0; m < size(); ++m) {
    by_rank[setup_.ranks[m]] = addresses[m].address;
    tables.push_back(addresses[m].table);
  }
  transport_->connect(by_rank);
  if (table_) table_->connect(std::move(tables));
}

void GroupMember::start() {
  if (state_ != State::kOpen) return;
  active_ = Clock::now();
  port_->post_ahead();
}

std::optional<std::uint32_t> GroupMember::member(std::uint32_t rank) const {
  const auto found = std::ranges::find(setup_.ranks, rank);
  if (found == setup_.ranks.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - setup_.ranks.begin());
}

void GroupMember::send(std::span<std::byte> message, std::shared_ptr<const GroupMessage> how) {
  queue_.push_back({message, std::move(how)});
}

void GroupMember::close() {
  wants_close_ = true;
  active_ = Clock::now();
}

bool GroupMember::poll() {
  if (state_ != State::kOpen || trouble_) return false;
  std::array<Completion, kBatch> completions;
  try {
    const std::size_t count = transport_->poll(completions);
    completions_.insert(completions_.end(), completions.begin(), completions.begin() + count);
    return count != 0;
  } catch (const Error& error) {
    trouble(error);
    return true;
  }
}

// When a peer is gone the transport may notice before anybody says who it is.
void GroupMember::trouble(const Error& error) {
  trouble_ = error.what();
  trouble_since_ = Clock::now();
  // Whoever has all messages may see others take their leave.
  if (told_done_) return;
  if (const auto* lost = dynamic_cast<const PeerLost*>(&error)) {
    if (const auto lost_member = member(lost->rank())) lose(*lost_member, lost->what(), false);
  }
}

bool GroupMember::dispatch() {
  const bool any = !completions_.empty();
  if (any) {
    active_ = Clock::now();
    asked_ = false;
  }
  while (!completions_.empty() && state_ == State::kOpen) {
    const Completion completion = completions_.front();
    completions_.pop_front();
    take(completion);
  }
  return any;
}

void GroupMember::take(const Completion& completion) {
  if (completion.tag >= GroupPort::kOtherTags) {
    table_->take(completion);
  } else {
    port_->take(completion);
  }
}

bool GroupMember::progress() {
  if (state_ == State::kEnded) return false;
  if (state_ == State::kFailing) return progress_failing();
  try {
    bool moved = dispatch();
    if (state_ == State::kOpen && !trouble_) moved = progress_open() || moved;
    if (state_ == State::kOpen && wants_close_) moved = progress_close() || moved;
    if (state_ == State::kOpen && trouble_ && !told_done_ &&
        Clock::now() - trouble_since_ > setup_.failure_timeout) {
      fail(setup_.self, *trouble_);
      moved = true;
    }
    return moved;
  } catch (const InternalError& error) {
    // This member does not know any more what it has: the others go on without it.
    leave(error.what());
  } catch (const Error& error) {
    trouble(error);
  }
  return true;
}

bool GroupMember::watches() const {
  return state_ == State::kFailing || wants_close_ || (table_ && completed_ != finished_);
}

bool GroupMember::progress_open() {
  bool moved = begin_next();
  if (state_ != State::kOpen) return true;
  if (current_) {
    while (port_->progress()) moved = true;
    if (current_->executor->finished()) {
      finish();
      moved = true;
    }
  } else {
    port_->flush();
  }
  if (table_) {
    moved = table_->progress() || moved;
    if (completed_ != finished_) moved = deliver(table_->least()) || moved;
  }
  return moved;
}

bool GroupMember::begin_next() {
  if (current_) return false;
  if (is_root()) {
    if (queue_.empty()) return false;
    Outgoing next = std::move(queue_.front());
    queue_.pop_front();
    begin(next.message, std::move(next.how));
    return true;
  }
  const std::optional<std::uint32_t> bytes = port_->arrived();
  if (!bytes) return false;
  std::shared_ptr<const GroupMessage> how = setup_.plan->message(*bytes);
  std::span<std::byte> message;
  if (setup_.callbacks.incoming) message = setup_.callbacks.incoming(*bytes);
  if (message.size() < *bytes) {
    fail(setup_.self, fmt::format("rank {}: incoming() gave {} bytes for a message of {}",
                                  setup_.ranks[setup_.self], message.size(), *bytes));
    return true;
  }
  begin(message.first(*bytes), std::move(how));
  return true;
}

void GroupMember::begin(std::span<std::byte> message, std::shared_ptr<const GroupMessage> how) {
  current_.emplace();
  Current& current = *current_;
  current.message = message;
  current.how = std::move(how);
  LocalMemory memory;
  if (!message.empty()) {
    current.registered = transport_->register_memory(message);
    memory = *current.registered;
  }
  ExecutorOptions options;
  options.opens_channels = false;
  options.polls = false;
  options.timestamps = false;
  options.memory.push_back({sched::BufferId(setup_.self), message, memory});
  if (const sched::BufferId staging = current.how->staging[setup_.self]; staging.valid()) {
    const std::uint64_t bytes = current.how->schedule.buffers()[staging.value].bytes;
    options.memory.push_back({staging, {bounce_.get(), bytes}, bounce_memory_});
  }
  current.executor = std::make_unique<Executor>(current.how->schedule, sched::RankId(setup_.self),
                                                *port_, std::move(options));
  port_->begin(*current.how, static_cast<std::uint32_t>(message.size()), *current.executor);
  current.executor->begin();
}

void GroupMember::finish() {
  port_->end();
  if (current_->registered) transport_->unregister_memory(*current_->registered);
  waiting_.push_back(current_->message);
  current_.reset();
  ++finished_;
  port_->post_ahead();
  if (table_) {
    table_->publish(finished_);
  } else {
    deliver(finished_);
  }
}

// Completes the messages before `up_to` that stand here.
bool GroupMember::deliver(std::uint64_t up_to) {
  bool moved = false;
  while (completed_ < std::min(up_to, finished_)) {
    const std::span<std::byte> message = waiting_.front();
    waiting_.pop_front();
    ++completed_;
    moved = true;
    if (setup_.callbacks.completion) setup_.callbacks.completion(message);
  }
  return moved;
}

void GroupMember::tell_all(const GroupControl& control) {
  for (std::uint32_t m = 0; m < size(); ++m) {
    if (m != setup_.self && reachable_[m]) tell_(setup_.ranks[m], control);
  }
}

// The root tells how many messages there were; each member that has completed them tells all
// others; who has heard that from everyone knows that all was delivered.
bool GroupMember::progress_close() {
  GroupControl control;
  control.group = setup_.name;
  if (is_root() && !told_close_ && queue_.empty() && !current_) {
    told_close_ = true;
    total_ = finished_;
    control.word = GroupWord::kClose;
    control.number = finished_;
    tell_all(control);
  }
  if (!told_done_ && total_ == completed_ && !current_ && (!table_ || table_->settled())) {
    told_done_ = true;
    done_[setup_.self] = true;
    control.word = GroupWord::kDone;
    tell_all(control);
  }
  if (!told_done_ || std::ranges::find(done_, false) != done_.end()) {
    give_up_on_silent();
    return false;
  }
  end(true);
  return true;
}

}  // namespace slackline::hw
