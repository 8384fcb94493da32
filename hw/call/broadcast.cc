// How calls go to all ranks, along the binomial tree from their root: in their records, or with a
// buffer that each rank writes into its children's memory, or that these read from it.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "hw/bytes.h"
#include "hw/call.h"
#include "hw/call/core.h"
#include "hw/call/peer.h"
#include "hw/call/record.h"
#include "hw/call/sender.h"

namespace slackline::hw {
namespace {

// Behind the root's rank in a record of kBroadcastWritten; then a target for each rank. No bytes:
// the memory is gone at a rank that would have passed it on.
struct BroadcastWritten {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};
struct BroadcastTarget {
  RemoteMemory memory;
  std::uint64_t id = 0;  // at its rank
};
// Behind the root's rank in a record of kBroadcastRead.
struct BroadcastRead {
  RemoteMemory memory;  // of the rank that the record comes from
  std::uint64_t bytes = 0;
  std::uint64_t token = kNoToken;  // for that rank, once it is read
};

constexpr std::size_t kRootBytes = sizeof(std::uint64_t);
constexpr std::size_t kMostFaultText = 600;

Bytes described(std::uint64_t offset, std::uint64_t bytes,
                std::span<const BroadcastTarget> targets) {
  ByteWriter writer;
  writer.add(BroadcastWritten{offset, bytes});
  writer.add_list(targets);
  return writer.take();
}

std::span<std::byte> part_of(std::span<std::byte> bytes, const BroadcastWritten& part) {
  if (part.offset > bytes.size() || part.bytes > bytes.size() - part.offset) return {};
  return bytes.subspan(part.offset, part.bytes);
}

}  // namespace

// Of this rank in the tree from `root`, the one with the most ranks behind it first.
std::vector<std::uint32_t> CallCore::children(std::uint32_t root) const {
  const std::uint32_t ranks = mesh_.ranks();
  const std::uint32_t place = (mesh_.rank() + ranks - root) % ranks;
  std::vector<std::uint32_t> children;
  std::uint32_t mask = 1;
  while (mask < ranks && (place & mask) == 0) mask <<= 1;
  while ((mask >>= 1) != 0) {
    if (place + mask < ranks) children.push_back((place + mask + root) % ranks);
  }
  return children;
}

// How many ranks get it by way of this child, itself included.
std::uint32_t CallCore::ranks_from(std::uint32_t root, std::uint32_t child) const {
  const std::uint32_t ranks = mesh_.ranks();
  const std::uint32_t place = (child + ranks - root) % ranks;
  return std::min(place & (~place + 1), ranks - place);
}

// Whoever waits at the root is told of each rank that it does not come to.
void CallCore::fail_from(std::uint32_t root, std::uint32_t child, std::uint32_t token,
                         const std::string& text) {
  ByteWriter writer;
  writer.add(child);
  writer.add_text(std::string_view(text).substr(0, kMostFaultText));
  const Bytes told = writer.take();
  const std::uint32_t times = token == kNoToken ? 1 : ranks_from(root, child);
  for (std::uint32_t i = 0; i < times; ++i) reply(root, token, RecordKind::kError, told);
}

std::uint32_t CallCore::pass_on(std::uint32_t root, RecordDraft draft, const WriteBefore& before,
                                SyncState* transmitted) {
  const std::uint64_t named = root;
  draft.extra = std::as_bytes(std::span(&named, 1));
  std::uint32_t missed = 0;
  for (const std::uint32_t rank : children(root)) {
    CallPeer& child = *peers_[rank];
    try {
      // Whose broadcast it is may have larger records.
      if (record_bytes(draft) > CallSender::most_record_bytes(options_)) {
        throw EnvironmentError(fmt::format(
            "calls: a broadcast of rank {} takes {} bytes, and {} is the most at rank "
            "{}; expected records of one size at all ranks",
            root, record_bytes(draft), CallSender::most_record_bytes(options_), mesh_.rank()));
      }
      if (transmitted != nullptr) ++transmitted->pending;
      const std::optional<CallWrite> write = before ? std::optional(before(rank)) : std::nullopt;
      child.sender->add_or_queue(draft, write ? &*write : nullptr, transmitted);
      child.has_replies = true;
      ++sent_;
    } catch (const EnvironmentError& error) {
      if (port_.is_broken()) throw;
      ++missed;
      if (transmitted != nullptr) {
        CallNotices::fail(*transmitted, rank, error.what());
        --transmitted->pending;
      } else {
        fail_from(root, rank, draft.token, error.what());
      }
    }
  }
  return missed;
}

// `own`: what the root itself runs, and what is written before.
void CallCore::start_broadcast(CallWish& wish, const WriteBefore& before, const RecordDraft& own) {
  // As it goes to the others, with the root's rank.
  CallWish sendable = wish;
  const std::uint64_t named = mesh_.rank();
  sendable.draft.extra = std::as_bytes(std::span(&named, 1));
  require_sendable(sendable);
  SyncState* transmitted = nullptr;
  if (wish.sync != nullptr) {
    if (wish.notify == CountWhen::kTransmitted) {
      transmitted = wish.sync;
    } else {
      wish.draft.token = notices_.open(wish.sync, {}, mesh_.ranks());
    }
  }
  pass_on(mesh_.rank(), wish.draft, before, transmitted);
  RecordDraft here = own;
  here.token = wish.draft.token;
  peer(mesh_.rank()).sender->add_or_queue(here, wish.before ? &*wish.before : nullptr, nullptr);
  ++sent_;
}

void CallCore::broadcast(CallWish& wish) {
  RecordDraft own = wish.draft;
  own.kind = RecordKind::kCall;
  wish.draft.kind = RecordKind::kBroadcast;
  start_broadcast(wish, {}, own);
}

void CallCore::broadcast_written(CallWish& wish, const Segment& buffer,
                                 std::span<const RemoteBuffer> targets, std::uint64_t offset) {
  std::vector<BroadcastTarget> all;
  for (const RemoteBuffer& target : targets) all.push_back({target.memory, target.id});
  const Bytes told = described(offset, buffer.bytes, all);
  const WrittenBuffer here{targets[mesh_.rank()].id, offset, buffer.bytes};
  RecordDraft own = wish.draft;
  own.kind = RecordKind::kCallWritten;
  own.buffer = std::as_bytes(std::span(&here, 1));
  wish.draft.kind = RecordKind::kBroadcastWritten;
  wish.draft.buffer = told;
  start_broadcast(
      wish,
      [&](std::uint32_t rank) {
        return CallWrite{buffer, CallTarget{all[rank].memory, nullptr} + offset};
      },
      own);
}

void CallCore::broadcast_read(CallWish& wish, const ReadBuffer& buffer) {
  const BroadcastRead told{buffer.memory, buffer.bytes, kNoToken};
  RecordDraft own = wish.draft;
  own.kind = RecordKind::kCallRead;
  own.buffer = std::as_bytes(std::span(&buffer, 1));
  wish.draft.kind = RecordKind::kBroadcastRead;
  wish.draft.buffer = std::as_bytes(std::span(&told, 1));
  start_broadcast(wish, {}, own);
}

// What a record of a broadcast's gives the function, having passed it on.
CallCore::Broadcast CallCore::take_broadcast(CallPeer& peer, const RecordHead& head,
                                             std::byte* record) {
  const std::span<std::byte> buffer = buffer_of(head, record);
  ByteReader reader(buffer);
  const auto root = reader.get<std::uint64_t>();
  ByteReader::require(root < mesh_.ranks(), "a broadcast of a rank that is none");
  Broadcast broadcast;
  broadcast.root = static_cast<std::uint32_t>(root);
  RecordDraft draft;
  draft.kind = head.kind;
  draft.function = head.function;
  draft.token = head.token;
  draft.closure = {closure_of(record), std::size_t{8} * head.closure_words};
  if (head.kind == RecordKind::kBroadcast) {
    broadcast.buffer = buffer.subspan(kRootBytes);
    draft.buffer = broadcast.buffer;
    pass_on(broadcast.root, draft, {}, nullptr);
  } else if (head.kind == RecordKind::kBroadcastWritten) {
    pass_written_on(draft, reader, broadcast);
  } else {
    pass_read_on(peer, draft, reader, broadcast);
  }
  return broadcast;
}

// From this rank's own memory, where it was written.
void CallCore::pass_written_on(RecordDraft draft, ByteReader& reader, Broadcast& broadcast) {
  const auto written = reader.get<BroadcastWritten>();
  const auto targets = reader.list<BroadcastTarget>(mesh_.ranks());
  ByteReader::require(targets.size() == mesh_.ranks(), "a broadcast into the memory of others");
  const std::uint64_t id = targets[mesh_.rank()].id;
  if (id <= std::numeric_limits<std::uint32_t>::max()) {
    broadcast.held = service_->held(static_cast<std::uint32_t>(id));
  }
  broadcast.buffer = part_of(broadcast.held.bytes, written);
  const bool gone = broadcast.buffer.empty();
  const Bytes told = described(written.offset, broadcast.buffer.size(), targets);
  draft.buffer = told;
  const Segment from{broadcast.buffer.data(), broadcast.buffer.size(), broadcast.held.handle};
  const WriteBefore before = [&](std::uint32_t rank) {
    return CallWrite{from, CallTarget{targets[rank].memory, nullptr} + written.offset};
  };
  pass_on(broadcast.root, draft, gone ? WriteBefore() : before, nullptr);
}

// What was read stays for the children until they have read it, too.
void CallCore::pass_read_on(CallPeer& peer, RecordDraft draft, ByteReader& reader,
                            Broadcast& broadcast) {
  auto read = reader.get<BroadcastRead>();
  broadcast.buffer = peer.scratch.bytes().first(read.bytes);
  const std::uint64_t token = std::exchange(read.token, kNoToken);
  const auto readers = static_cast<std::uint32_t>(children(broadcast.root).size());
  if (readers != 0) {
    Lent& lent = lent_.emplace_back();
    lent.pages = std::exchange(peer.scratch, Pages());
    lent.registered = peer.scratch_registered;
    read.memory = lent.registered.remote;
    read.token = notices_.open(&lent.readers, {}, readers);
    draft.buffer = std::as_bytes(std::span(&read, 1));
    std::uint32_t missed = pass_on(broadcast.root, draft, {}, nullptr);
    for (; missed != 0; --missed) notices_.replied(static_cast<std::uint32_t>(read.token), {});
  }
  if (token < kNoToken) {
    reply(peer.rank, static_cast<std::uint32_t>(token), RecordKind::kReply, {});
  }
}

// What all children have read.
void CallCore::take_back_lent() {
  lent_.remove_if([this](Lent& lent) {
    if (lent.readers.pending != 0) return false;
    port_.with_transport([&](Transport& use) { use.unregister_memory(lent.registered); });
    scratch_bytes_ -= lent.pages.bytes().size();
    return true;
  });
}

// What a record wants read before it runs.
ReadBuffer CallCore::wanted_by(const RecordHead& head, std::byte* record) {
  ByteReader reader(buffer_of(head, record));
  if (head.kind == RecordKind::kCallRead) return reader.get<ReadBuffer>();
  static_cast<void>(reader.get<std::uint64_t>());
  const auto read = reader.get<BroadcastRead>();
  return {read.memory, read.bytes, nullptr};
}

}  // namespace slackline::hw
