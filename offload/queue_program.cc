#include "offload/queue_program.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "base/error.h"

namespace slackline::offload {
namespace {

using sched::Slice;
using sched::SliceRange;

// No count comes near the end of 64 bits, so that sums of a start and a length never wrap.
constexpr std::uint64_t kMaxCount = std::uint64_t{1} << 62;

class Validator {
 public:
  explicit Validator(const QueueProgram& program) : program_(program) {}

  void run() {
    if (program_.rank_count() == 0 || program_.rank_count() > 1u << 24) {
      fail("the program", "has no rank or above 2^24; expected 1 … 2^24");
    }
    for (std::uint32_t i = 0; i < program_.buffers().size(); ++i) {
      const auto& buffer = program_.buffers()[i];
      if (buffer.rank.value >= program_.rank_count()) {
        fail(fmt::format("buffer {}", i), "is of a rank that there is not");
      }
      if (buffer.bytes > kMaxCount) fail(fmt::format("buffer {}", i), "is larger than 2^62 bytes");
    }
    for (const Slice& slice : program_.slices()) check(slice);
    for (std::uint32_t i = 0; i < program_.cqs().size(); ++i) {
      const auto& cq = program_.cqs()[i];
      if (cq.rank.value >= program_.rank_count()) {
        fail(fmt::format("cq {}", i), "is of a rank that there is not");
      }
      if (cq.start > kMaxCount) fail(fmt::format("cq {}", i), "starts above 2^62");
    }
    for (std::uint32_t q = 0; q < program_.queues().size(); ++q) check(QueueId(q));
    check_pairs();
    for (std::uint32_t q = 0; q < program_.queues().size(); ++q) {
      for (std::uint32_t e = 0; e < program_.queues()[q].count; ++e) check(QueueId(q), e);
    }
  }

 private:
  [[noreturn]] static void fail(std::string_view where, std::string_view what) {
    throw InputError(fmt::format("queue program: {} {}", where, what));
  }

  void check(const Slice& slice) const {
    if (slice.buffer.value >= program_.buffers().size()) {
      fail("a piece", "is of a buffer that there is not");
    }
    const std::uint64_t bytes = program_.buffers()[slice.buffer.value].bytes;
    if (slice.offset > bytes || slice.bytes > bytes - slice.offset) {
      fail(fmt::format("a piece of buffer {}", slice.buffer.value), "ends behind the buffer");
    }
  }

  void check(QueueId id) const {
    const Queue& q = program_.queue(id);
    if (q.rank.value >= program_.rank_count()) {
      fail(fmt::format("queue {}", id.value), "is of a rank that there is not");
    }
    if (q.cq.value >= program_.cqs().size() || program_.cq(q.cq).rank != q.rank) {
      fail(describe(program_, id), "has no completion queue of its rank");
    }
    if (q.start > kMaxCount) fail(describe(program_, id), "starts above 2^62");
    if (q.kind == QueueKind::kManagement) {
      if (q.peer.valid()) fail(describe(program_, id), "has a peer; expected none");
    } else {
      const bool there = q.peer.valid() && q.peer.value < program_.queues().size();
      const Queue* peer = there ? &program_.queue(q.peer) : nullptr;
      if (peer == nullptr || peer->peer != id || peer->kind == q.kind || peer->rank == q.rank) {
        fail(describe(program_, id),
             "has no peer; expected a queue of the other kind and another rank that names it, too");
      }
    }
    if (q.serves.valid()) {
      if (q.serves.value >= program_.queues().size() || program_.queue(q.serves).rank != q.rank) {
        fail(describe(program_, id), "serves no queue of its rank");
      }
    }
  }

  // A queue pair has one send side and one receive side, of one rank.
  void check_pairs() const {
    std::vector<QueueId> send, receive;
    for (std::uint32_t q = 0; q < program_.queues().size(); ++q) {
      const Queue& queue = program_.queues()[q];
      if (queue.pair >= program_.queues().size()) {
        fail(describe(program_, QueueId(q)),
             fmt::format("is of pair {}; expected less than the number of queues", queue.pair));
      }
      auto& half = queue.kind == QueueKind::kReceive ? receive : send;
      auto& other = queue.kind == QueueKind::kReceive ? send : receive;
      half.resize(program_.queues().size());
      if (half[queue.pair].valid()) {
        fail(describe(program_, QueueId(q)), "is the second of its kind in its pair");
      }
      half[queue.pair] = QueueId(q);
      if (queue.pair < other.size() && other[queue.pair].valid() &&
          program_.queue(other[queue.pair]).rank != queue.rank) {
        fail(describe(program_, QueueId(q)), "is in a pair of another rank");
      }
    }
  }

  void check(QueueId id, std::uint32_t index) const {
    const Queue& q = program_.queue(id);
    const Entry& entry = program_.entries(q)[index];
    const auto bad = [&](std::string_view what) { fail(describe(program_, id, index), what); };
    const bool receives = q.kind == QueueKind::kReceive;
    if (receives != (entry.kind == EntryKind::kRecv)) {
      bad("does not fit; expected recv in a receive queue, and only there");
    }
    if (is_message(entry.kind) && q.kind == QueueKind::kManagement) {
      bad("is a message; expected none in a management queue");
    }
    if (entry.count > kMaxCount) bad("counts above 2^62");
    if (entry.kind == EntryKind::kWait) {
      if (entry.target >= program_.cqs().size() || program_.cqs()[entry.target].rank != q.rank) {
        bad("waits for no completion queue of its rank");
      }
      if (entry.count < program_.cqs()[entry.target].start) bad("waits for less than the start");
    } else if (is_enable(entry.kind)) {
      if (entry.target >= program_.queues().size() ||
          program_.queues()[entry.target].rank != q.rank) {
        bad("enables no queue of its rank");
      }
      const Queue& target = program_.queues()[entry.target];
      if ((target.kind == QueueKind::kReceive) != (entry.kind == EntryKind::kRecvEnable)) {
        bad("enables a queue of the other kind");
      }
      if (entry.count < target.start) bad("enables less than the start");
    } else if (entry.target != 0 || entry.count != 0) {
      bad("has a target; expected one of waits and enables only");
    }
    const bool moves = is_message(entry.kind) || receives;
    if (!moves && entry.local.count != 0) bad("has memory; expected none");
    if (entry.kind != EntryKind::kWrite && entry.remote.count != 0) bad("has remote memory");
    if (receives && entry.signaled) bad("is signaled, which a receive always is; expected recv");
    check_memory(id, index, entry.local, q.rank);
    if (entry.remote.count != 0) {
      check_memory(id, index, entry.remote, program_.queue(q.peer).rank);
      if (entry.remote.count != 1) bad("writes several pieces; expected one");
      if (program_.bytes(entry.local) != program_.bytes(entry.remote)) {
        bad("writes more or less than it reads");
      }
    }
  }

  void check_memory(QueueId id, std::uint32_t index, SliceRange range, sched::RankId rank) const {
    if (range.count == 0) return;
    if (range.first > program_.slices().size() ||
        range.count > program_.slices().size() - range.first) {
      fail(describe(program_, id, index), "has pieces that there are not");
    }
    for (const Slice& slice : program_.slices(range)) {
      if (program_.buffers()[slice.buffer.value].rank != rank) {
        fail(describe(program_, id, index), "has a piece of another rank");
      }
    }
  }

  const QueueProgram& program_;
};

}  // namespace

std::uint64_t QueueProgram::bytes(SliceRange range) const {
  std::uint64_t total = 0;
  for (const Slice& slice : slices(range)) total += slice.bytes;
  return total;
}

sched::Digest QueueProgram::compute_digest() const {
  sched::DigestWriter out;
  out.add_text("slackline queues 1");
  out.add_u64(schedule_.high);
  out.add_u64(schedule_.low);
  out.add_u8(static_cast<std::uint8_t>(mode_));
  out.add_u8(static_cast<std::uint8_t>(readiness_));
  out.add_u32(window_);
  out.add_u32(ranks_);
  out.add_u64(buffers_.size());
  for (const auto& buffer : buffers_) {
    out.add_u32(buffer.rank.value);
    out.add_u64(buffer.bytes);
  }
  out.add_u64(cqs_.size());
  for (const CompletionQueue& cq : cqs_) {
    out.add_u32(cq.rank.value);
    out.add_u64(cq.start);
  }
  const auto add_memory = [&](SliceRange range) {
    out.add_u32(range.count);
    for (const Slice& slice : slices(range)) {
      out.add_u32(slice.buffer.value);
      out.add_u64(slice.offset);
      out.add_u64(slice.bytes);
    }
  };
  out.add_u64(queues_.size());
  for (const Queue& q : queues_) {
    out.add_u32(q.rank.value);
    out.add_u8(static_cast<std::uint8_t>(q.kind));
    out.add_u8(static_cast<std::uint8_t>(q.purpose));
    out.add_u8(q.managed ? 1 : 0);
    for (const std::uint32_t part : {q.pair, q.cq.value, q.peer.value, q.serves.value}) {
      out.add_u32(part);
    }
    out.add_u64(q.start);
    out.add_u32(q.count);
    for (const Entry& entry : entries(q)) {
      out.add_u8(static_cast<std::uint8_t>(entry.kind));
      out.add_u8(entry.signaled ? 1 : 0);
      out.add_u32(entry.target);
      out.add_u64(entry.count);
      add_memory(entry.local);
      add_memory(entry.remote);
      for (const std::uint32_t part : {entry.op.value, entry.step, entry.latest}) {
        out.add_u32(part);
      }
    }
  }
  return out.finish();
}

bool operator==(const QueueProgram& a, const QueueProgram& b) { return a.digest_ == b.digest_; }

QueueProgramBuilder::QueueProgramBuilder(const QueueProgram& program) : program_(program) {
  for (const Queue& q : program.queues()) {
    const auto entries = program.entries(q);
    entries_.emplace_back(entries.begin(), entries.end());
  }
}

sched::BufferId QueueProgramBuilder::add_buffer(sched::RankId rank, std::uint64_t bytes) {
  program_.buffers_.push_back({rank, bytes});
  return sched::BufferId(static_cast<std::uint32_t>(program_.buffers_.size() - 1));
}

SliceRange QueueProgramBuilder::add_slices(std::span<const Slice> slices) {
  const SliceRange range{static_cast<std::uint32_t>(program_.slices_.size()),
                         static_cast<std::uint32_t>(slices.size())};
  program_.slices_.insert(program_.slices_.end(), slices.begin(), slices.end());
  return range;
}

CqId QueueProgramBuilder::add_cq(const CompletionQueue& cq) {
  program_.cqs_.push_back(cq);
  return CqId(static_cast<std::uint32_t>(program_.cqs_.size() - 1));
}

QueueId QueueProgramBuilder::add_queue(const Queue& queue) {
  program_.queues_.push_back(queue);
  entries_.emplace_back();
  return QueueId(static_cast<std::uint32_t>(program_.queues_.size() - 1));
}

QueueProgram QueueProgramBuilder::build() {
  program_.entries_.clear();
  for (std::size_t q = 0; q < entries_.size(); ++q) {
    if (program_.entries_.size() + entries_[q].size() > std::numeric_limits<std::uint32_t>::max()) {
      throw InputError("queue program: more than 2^32 entries");
    }
    program_.queues_[q].first = static_cast<std::uint32_t>(program_.entries_.size());
    program_.queues_[q].count = static_cast<std::uint32_t>(entries_[q].size());
    program_.entries_.insert(program_.entries_.end(), entries_[q].begin(), entries_[q].end());
  }
  entries_.clear();
  Validator(program_).run();
  program_.digest_ = program_.compute_digest();
  return std::exchange(program_, QueueProgram());
}

std::string describe(const QueueProgram& program, QueueId queue) {
  const Queue& q = program.queue(queue);
  return fmt::format("queue {} ({} {}, rank {})", queue.value, name(q.purpose), name(q.kind),
                     q.rank.value);
}

std::string describe(const QueueProgram& program, QueueId queue, std::uint32_t entry) {
  const Queue& q = program.queue(queue);
  return fmt::format("entry {} ({}) of {}", entry, name(program.entries(q)[entry].kind),
                     describe(program, queue));
}

}  // namespace slackline::offload
