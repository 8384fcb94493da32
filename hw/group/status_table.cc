#include "hw/group/status_table.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "base/error.h"
#include "hw/device_barrier.h"

namespace slackline::hw {

StatusTable::StatusTable(Transport& transport, std::uint32_t self,
                         std::vector<std::uint32_t> channels, std::uint64_t tag)
    : transport_(transport),
      self_(self),
      channels_(std::move(channels)),
      tag_(tag),
      rows_(std::make_shared<Row[]>(channels_.size())),
      peers_(channels_.size()) {
  const std::span<Row> rows(rows_.get(), channels_.size());
  const std::span<std::byte> bytes = std::as_writable_bytes(rows);
  memory_ = transport_.register_memory(bytes);
}

void StatusTable::connect(std::vector<RemoteMemory> peers) { remote_ = std::move(peers); }

void StatusTable::publish(std::uint64_t count) {
  if (count < row(self_)) throw InternalError("a row of the status table falls");
  std::atomic_ref(rows_[self_].count).store(count, std::memory_order_release);
  progress();
}

bool StatusTable::progress() {
  bool moved = false;
  for (std::uint32_t m = 0; m < peers_.size(); ++m) {
    if (m != self_ && !peers_[m].under_way && peers_[m].sent < row(self_))
      moved = write(m) || moved;
  }
  return moved;
}

// The transport writes the bytes of a row in the order of their addresses, the lowest first: what
// stands at the peer meanwhile is never more than the new count.
bool StatusTable::write(std::uint32_t member) {
  auto* const own = reinterpret_cast<std::byte*>(&rows_[self_].count);
  const Segment segment{own, sizeof rows_[self_].count, memory_.handle};
  WorkRequest request;
  request.kind = RequestKind::kWrite;
  request.channel = channels_[member];
  request.tag = tag_ + member;
  request.local = {&segment, 1};
  request.remote = remote_[member];
  request.remote.address += sizeof(Row) * self_;
  const std::uint64_t count = row(self_);
  if (transport_.post({&request, 1}) == 0) return false;
  peers_[member] = {count, true};
  return true;
}

void StatusTable::take(const Completion& completion) {
  peers_[completion.tag - tag_].under_way = false;
  progress();
}

bool StatusTable::settled() const {
  for (std::uint32_t m = 0; m < peers_.size(); ++m) {
    if (m != self_ && (peers_[m].under_way || peers_[m].sent < row(self_))) return false;
  }
  return true;
}

std::uint64_t StatusTable::row(std::uint32_t member) const {
  const std::uint64_t count = std::atomic_ref(rows_[member].count).load(std::memory_order_relaxed);
  order_after_device_writes();
  return count;
}

std::uint64_t StatusTable::least() const {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (std::uint32_t m = 0; m < peers_.size(); ++m) least = std::min(least, row(m));
  return least;
}

}  // namespace slackline::hw
