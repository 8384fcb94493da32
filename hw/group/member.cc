#include "hw/group/member.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"

namespace slackline::hw {
namespace {

constexpr std::size_t kBatch = 64;
constexpr std::uint64_t kSmallTags = 2 * GroupPort::kOtherTags;

machine::GroupCoreOptions core_options(const GroupSetup& setup) {
  return {setup.ranks, setup.self, setup.atomic_delivery,
          std::chrono::duration<double>(setup.timeout).count()};
}

}  // namespace

GroupMember::GroupMember(std::unique_ptr<Transport> transport, GroupSetup setup, Tell tell)
    : setup_(std::move(setup)),
      tell_(std::move(tell)),
      time_(setup_.timeout),
      core_(*this, core_options(setup_)),
      transport_(std::move(transport)) {
  time_.restart(Clock::now());
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
  if (setup_.small.bytes != 0) {
    std::vector<std::uint32_t> channels;
    for (std::uint32_t m = 0; m < (is_root() ? size() : 1); ++m) {
      channels.push_back(small_channel(is_root() ? m : setup_.self, is_root()));
    }
    small_ = std::make_unique<SmallMessages>(*transport_, setup_.small, size(), setup_.self,
                                             std::move(channels), kSmallTags);
  }
}

std::uint32_t GroupMember::table_channel(std::uint32_t from, std::uint32_t to) const {
  const auto lines = static_cast<std::uint32_t>(setup_.plan->lines().size());
  return lines + from * size() + to;
}

// Between the root and another.
std::uint32_t GroupMember::small_channel(std::uint32_t other, bool to_other) const {
  return table_channel(size(), 0) + (to_other ? 0 : size()) + other;
}

std::vector<ChannelEnd> GroupMember::ends() const {
  std::vector<ChannelEnd> ends = port_->ends(setup_.ranks);
  for (std::uint32_t m = 0; table_ && m < size(); ++m) {
    if (m == setup_.self) continue;
    ends.push_back({table_channel(setup_.self, m), setup_.ranks[m], true});
    ends.push_back({table_channel(m, setup_.self), setup_.ranks[m], false});
  }
  const auto add_small = [&](std::uint32_t other, std::uint32_t peer) {
    ends.push_back({small_channel(other, true), setup_.ranks[peer], is_root()});
    ends.push_back({small_channel(other, false), setup_.ranks[peer], !is_root()});
  };
  if (small_ && !is_root()) add_small(setup_.self, 0);
  for (std::uint32_t m = 1; small_ && is_root() && m < size(); ++m) add_small(m, m);
  return ends;
}

GroupAddress GroupMember::open() {
  return {transport_->open(ends()), table_ ? table_->memory() : RemoteMemory{},
          small_ ? small_->memory() : RemoteMemory{}};
}

void GroupMember::connect(std::span<const GroupAddress> addresses, std::uint32_t ranks) {
  if (!core_.is_open()) return;
  std::vector<Address> by_rank(ranks);
  std::vector<RemoteMemory> tables, small;
  for (std::uint32_t m = 0; m < size(); ++m) {
    by_rank[setup_.ranks[m]] = addresses[m].address;
    tables.push_back(addresses[m].table);
    small.push_back(addresses[m].small);
  }
  transport_->connect(by_rank);
  if (table_) table_->connect(std::move(tables));
  if (small_) small_->connect(std::move(small));
}

void GroupMember::start() {
  if (!core_.is_open()) return;
  core_.notice_sign();
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

bool GroupMember::poll() {
  time_.look(Clock::now());
  if (!core_.is_open() || trouble_) return false;
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
  if (core_.has_told_done()) return;
  if (const auto* lost = dynamic_cast<const PeerLost*>(&error)) {
    if (const auto lost_member = member(lost->rank())) lose(*lost_member, lost->what(), false);
  }
}

bool GroupMember::dispatch() {
  const bool any = !completions_.empty();
  if (any) core_.notice_sign();
  while (!completions_.empty() && core_.is_open()) {
    const Completion completion = completions_.front();
    completions_.pop_front();
    take(completion);
  }
  return any;
}

void GroupMember::take(const Completion& completion) {
  if (completion.tag >= kSmallTags) {
    small_->take(completion);
  } else if (completion.tag >= GroupPort::kOtherTags) {
    table_->take(completion);
  } else {
    port_->take(completion);
  }
}

bool GroupMember::progress() {
  time_.look(Clock::now());
  if (!core_.is_open()) return core_.progress();
  try {
    bool moved = dispatch();
    if (core_.is_open() && !trouble_) moved = progress_open() || moved;
    if (core_.is_open()) moved = core_.progress() || moved;
    if (core_.is_open() && trouble_ && !core_.has_told_done() &&
        Clock::now() - trouble_since_ > setup_.failure_timeout) {
      leave(*trouble_);
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

bool GroupMember::progress_open() {
  bool moved = begin_next();
  if (!core_.is_open()) return true;
  if (current_) {
    while (port_->progress()) moved = true;
    if (current_->executor->finished()) {
      finish_current();
      moved = true;
    }
  } else {
    port_->flush();
  }
  if (small_) moved = small_->progress() || moved;
  if (table_) {
    moved = table_->progress() || moved;
    if (!waiting_.empty()) moved = core_.deliver(table_->least()) || moved;
  }
  return moved;
}

bool GroupMember::begin_next() {
  if (current_) return false;
  if (is_root()) return begin_at_root();
  // What came before a large message's first block is there when that is.
  if (small_ && take_small()) return true;
  const std::optional<std::uint32_t> bytes = port_->arrived();
  if (!bytes) return false;
  std::shared_ptr<const GroupMessage> how = setup_.plan->message(*bytes);
  if (const auto message = memory_for(*bytes)) begin(*message, std::move(how));
  return true;
}

bool GroupMember::begin_at_root() {
  if (queue_.empty()) return false;
  const bool small = is_small(queue_.front().message.size());
  // The two ways have no order between them: a large message leaves when all small ones before it
  // stand at every member.
  if (small_ && !(small ? small_->has_room() : small_->settled())) return false;
  Outgoing next = std::move(queue_.front());
  queue_.pop_front();
  if (small) {
    small_->send(next.message, core_.finished());
    finish(next.message);
  } else {
    begin(next.message, std::move(next.how));
  }
  return true;
}

bool GroupMember::take_small() {
  const auto bytes = small_->arrived(core_.finished());
  if (!bytes) return false;
  core_.notice_sign();
  const auto message = memory_for(bytes->size());
  if (!message) return true;
  std::ranges::copy(*bytes, message->begin());
  small_->took();
  finish(*message);
  return true;
}

// From the application; without enough of it this member leaves.
std::optional<std::span<std::byte>> GroupMember::memory_for(std::uint64_t bytes) {
  std::span<std::byte> memory;
  if (setup_.callbacks.incoming) memory = setup_.callbacks.incoming(bytes);
  if (memory.size() >= bytes) return memory.first(bytes);
  leave(fmt::format("rank {}: incoming() gave {} bytes for a message of {}",
                    setup_.ranks[setup_.self], memory.size(), bytes));
  return std::nullopt;
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

void GroupMember::finish_current() {
  port_->end();
  if (current_->registered) transport_->unregister_memory(*current_->registered);
  const std::span<std::byte> message = current_->message;
  current_.reset();
  port_->post_ahead();
  finish(message);
}

void GroupMember::finish(std::span<std::byte> message) {
  waiting_.push_back(message);
  core_.finish();
  if (table_) table_->publish(core_.finished());
}

double GroupMember::now_s() const { return time_.watched().count(); }

void GroupMember::tell(std::uint32_t member, const GroupSaying& saying) {
  tell_(setup_.ranks[member], {saying, setup_.name});
}

void GroupMember::complete() {
  const std::span<std::byte> message = waiting_.front();
  waiting_.pop_front();
  if (setup_.callbacks.completion) setup_.callbacks.completion(message);
}

void GroupMember::stop() {
  failed_ = *core_.failed();
  queue_.clear();
  completions_.clear();
}

void GroupMember::report_failure(std::uint32_t member) {
  if (setup_.callbacks.failure) setup_.callbacks.failure(setup_.ranks[member]);
}

void GroupMember::end() {
  const machine::GroupOutcome& outcome = *core_.outcome();
  closing_.emplace();
  closing_->delivered = outcome.delivered;
  closing_->messages = outcome.messages;
  if (!outcome.delivered) {
    closing_->rank = setup_.ranks[*outcome.member];
    closing_->why = outcome.why;
    if (table_ || small_) {
      leftover_ = std::make_shared<std::pair<std::shared_ptr<void>, std::shared_ptr<void>>>(
          table_ ? table_->rows() : nullptr, small_ ? small_->kept() : nullptr);
    }
  }
  // All that was posted is done, but for receives into this group's own memory.
  if (outcome.delivered && !trouble_) transport_->close(ends());
  // From here on nobody touches the application's memory.
  current_.reset();
  port_.reset();
  table_.reset();
  small_.reset();
  transport_.reset();
}

}  // namespace slackline::hw
