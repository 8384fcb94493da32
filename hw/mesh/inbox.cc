#include "hw/mesh/inbox.h"

#include <fmt/format.h>
#include <sys/eventfd.h>

#include <cstring>

#include "base/error.h"

namespace slackline::hw {

Inbox::Inbox(std::uint32_t rank, std::uint32_t ranks)
    : rank_(rank),
      unread_(ranks, 0),
      gone_(ranks),
      lost_event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!lost_event_) {
    throw EnvironmentError(
        fmt::format("no more files can be opened ({}); raise `ulimit -n`", std::strerror(errno)));
  }
}

void Inbox::deliver(const Row& row, Bytes message) {
  {
    const std::lock_guard lock(mutex_);
    std::deque<Bytes>& messages = rows_[row];
    count(row.from, message.size() + kMessageMemory + (messages.empty() ? kRowMemory : 0));
    messages.push_back(std::move(message));
  }
  changed_.notify_all();
}

std::uint64_t Inbox::unread() const {
  const std::lock_guard lock(mutex_);
  return all_unread_;
}

std::uint64_t Inbox::unread(std::uint32_t from) const {
  const std::lock_guard lock(mutex_);
  return unread_[from];
}

void Inbox::count(std::uint32_t from, std::uint64_t bytes) {
  if (from == rank_) return;
  unread_[from] += bytes;
  all_unread_ += bytes;
}

void Inbox::discount(std::uint32_t from, std::uint64_t bytes) {
  if (from == rank_) return;
  unread_[from] -= bytes;
  all_unread_ -= bytes;
}

void Inbox::leave(std::uint32_t rank) {
  {
    const std::lock_guard lock(mutex_);
    gone_[rank] = true;
  }
  changed_.notify_all();
}

void Inbox::lose(const Loss& loss) {
  {
    const std::lock_guard lock(mutex_);
    losses_.push_back(loss);
    any_lost_.store(true, std::memory_order_release);
    gone_[loss.rank] = true;  // who sees that has any_lost(), too
  }
  eventfd_write(lost_event_.get(), 1);
  changed_.notify_all();
}

Bytes Inbox::take(const Row& row) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (auto message = pop(row)) return std::move(*message);
    if (!losses_.empty()) throw_first();
    if (gone_[row.from]) {
      throw PeerLost(row.from, fmt::format("rank {} has left, and rank {} still waits for its word",
                                           row.from, rank_));
    }
    changed_.wait(lock);
  }
}

std::optional<Bytes> Inbox::try_take(const Row& row) {
  const std::lock_guard lock(mutex_);
  return pop(row);
}

std::optional<Bytes> Inbox::take_within(std::chrono::milliseconds time, const Row& row) {
  const auto until = std::chrono::steady_clock::now() + time;
  std::unique_lock lock(mutex_);
  for (;;) {
    if (auto message = pop(row)) return message;
    if (gone_[row.from]) return std::nullopt;
    if (changed_.wait_until(lock, until) == std::cv_status::timeout) return pop(row);
  }
}

std::vector<Loss> Inbox::lost() const {
  const std::lock_guard lock(mutex_);
  return losses_;
}

void Inbox::throw_if_lost() const {
  if (!any_lost()) return;
  const std::lock_guard lock(mutex_);
  throw_first();
}

std::optional<Bytes> Inbox::pop(const Row& row) {
  const auto found = rows_.find(row);
  if (found == rows_.end()) return std::nullopt;
  Bytes message = std::move(found->second.front());
  found->second.pop_front();
  const bool was_last = found->second.empty();
  if (was_last) rows_.erase(found);
  discount(row.from, message.size() + kMessageMemory + (was_last ? kRowMemory : 0));
  return message;
}

void Inbox::throw_first() const {
  const Loss& loss = losses_.front();
  if (loss.rank != rank_) {
    throw PeerLost(loss.rank, fmt::format("rank {} is lost: {}", loss.rank, loss.how));
  }
  throw PeerLost(rank_, loss.seen_by == rank_
                            ? fmt::format("this rank, {}, is lost: {}", rank_, loss.how)
                            : fmt::format("this rank, {}, is lost to rank {}: {}", rank_,
                                          loss.seen_by, loss.how));
}

}  // namespace slackline::hw
