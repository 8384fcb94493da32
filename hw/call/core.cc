#include "hw/call/core.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/memory_limit.h"
#include "hw/bytes.h"
#include "hw/call/code.h"
#include "hw/call/peer.h"
#include "hw/shm_cleanup.h"
#include "hw/transport_choice.h"

namespace slackline::hw {
namespace {

constexpr std::uint32_t kMostNames = 1u << 16;
constexpr std::uint32_t kMostRanks = 46'340;  // the square of which, twice, has 32 bits

void check(const CallsOptions& options) {
  const auto require = [](bool holds, const char* what, const char* expected) {
    if (!holds) throw InputError(fmt::format("calls: {}: expected {}", what, expected));
  };
  require(options.chunk_bytes % 8 == 0 && options.chunk_bytes >= 1024 &&
              options.chunk_bytes <= std::size_t{1} << 30,
          "chunk_bytes", "a multiple of 8 from 1 KiB to 1 GiB");
  require(options.chunks_per_request >= 1, "chunks_per_request", "at least 1");
  require(options.chunk_limit >= 2 && options.chunk_limit <= kMostChunks, "chunk_limit",
          "2 to 65536");
  require(options.bundle_bytes >= 64 && options.bundle_bytes <= std::size_t{1} << 20,
          "bundle_bytes", "64 to 2^20");
  require(options.record_bytes >= 1024 && options.record_bytes <= std::size_t{1} << 30,
          "record_bytes", "1 KiB to 1 GiB");
  require(options.u_max >= 1, "u_max", "at least 1");
  require(options.region_bytes >= 4096 && options.region_bytes <= std::uint64_t{1} << 40,
          "region_bytes", "4 KiB to 1 TiB");
  require(options.name < kMostNames, "name", "a number below 65536");
}

// What is not said is half of the memory that is free.
CallsOptions with_bounds(CallsOptions options) {
  constexpr std::uint64_t kUnknown = std::uint64_t{2} << 30;
  if (options.most_granted_bytes == 0) {
    options.most_granted_bytes = sched::free_memory().value_or(kUnknown) / 2;
  }
  return options;
}

struct Join {
  sched::Digest code;
  RemoteMemory words;
  Address address;
};

Join read_join(ByteReader& reader) {
  Join join;
  join.code = reader.get<sched::Digest>();
  join.words = reader.get<RemoteMemory>();
  join.address = reader.list<std::byte>();
  return join;
}

}  // namespace

CallCore::CallCore(Calls& calls, Mesh& mesh, std::unique_ptr<Transport> transport,
                   const CallsOptions& options, CallableObject object)
    : calls_(calls),
      mesh_(mesh),
      options_(with_bounds(options)),
      functions_(std::move(object)),
      port_(mesh, std::move(transport), options) {
  check(options_);
  require_reach(port_.with_transport([](Transport& use) { return use.name(); }), mesh_);
  // Channels of calls, one for each pair each way, and then as many of service threads.
  const std::uint32_t ranks = mesh_.ranks();
  if (ranks > kMostRanks) {
    throw Unsupported(fmt::format("calls: {} ranks; expected {} at most", ranks, kMostRanks));
  }
  service_ = std::make_unique<CallService>(mesh_, port_, topic(), ranks * ranks, options_);
  port_.with_transport([&](Transport& use) {
    constexpr std::size_t kUnitsPerSlab = 8;
    slabs_ = std::make_unique<Slabs>(use, options_.record_bytes, kUnitsPerSlab, use.numa_node());
    words_ = Pages(mesh_.ranks() * (kWordStride + 8 * std::size_t{options_.chunk_limit}),
                   use.numa_node());
    words_registered_ = use.register_memory(words_.bytes());
  });
  try {
    join();
  } catch (...) {
    service_->stop();
    slabs_.reset();
    port_.close();
    throw;
  }
}

CallCore::~CallCore() {
  stop_background();
  // Of a rank that is lost everybody hears in any case.
  if (!finished_ && !mesh_.any_lost()) {
    try {
      service_->leave();
    } catch (const std::exception&) {
      // They hear when the mesh ends.
    }
  }
  service_->stop();
  if (finished_) {
    port_.with_transport([this](Transport& use) { use.close(ends()); });
  }
  slabs_.reset();
  for (auto& peer : peers_) peer->scratch = {};
  port_.close();
  if (mesh_.any_lost()) remove_shm_segments_of_lost(mesh_, std::chrono::milliseconds(0));
}

std::uint32_t CallCore::topic() const {
  // Three topics each: who leaves, none, and sums over ranks.
  return 0x49000000u + 4 * options_.name;
}

std::vector<ChannelEnd> CallCore::ends() const {
  const std::uint32_t self = mesh_.rank();
  const std::uint32_t ranks = mesh_.ranks();
  std::vector<ChannelEnd> ends;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    if (r == self && !to_itself()) continue;
    ends.push_back({self * ranks + r, r, true});
    ends.push_back({r * ranks + self, r, false});
  }
  const std::vector<ChannelEnd> service = service_->ends();
  ends.insert(ends.end(), service.begin(), service.end());
  return ends;
}

void CallCore::join() {
  const std::uint32_t self = mesh_.rank();
  const std::uint32_t ranks = mesh_.ranks();
  const Address address = port_.with_transport([&](Transport& use) { return use.open(ends()); });
  const sched::Digest digest = code_digest(functions_.anchor());
  ByteWriter writer;
  writer.add(digest);
  writer.add(words_registered_.remote);
  writer.add_list(std::span<const std::byte>(address));
  std::vector<Address> addresses;
  std::vector<RemoteMemory> words;
  const std::vector<Bytes> told = mesh_.all_gather(writer.take());
  std::vector<sched::Digest> codes;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    Join theirs = read_from(r, "word of a rank that calls", told[r], read_join);
    codes.push_back(theirs.code);
    // All see the same, and throw alike.
    if (theirs.code != codes.front()) {
      throw InputError(
          fmt::format("calls: rank {} runs another program than rank 0 (code {}, and {}); expected "
                      "the same build everywhere, for functions are named by their place in it",
                      r, to_string(theirs.code), to_string(codes.front())));
    }
    words.push_back(theirs.words);
    addresses.push_back(std::move(theirs.address));
  }
  if (!to_itself()) addresses[self].clear();
  port_.with_transport([&](Transport& use) { use.connect(addresses); });
  make_peers(words);
  service_->start();
  mesh_.barrier();
}

void CallCore::make_peers(std::span<const RemoteMemory> words) {
  const std::uint32_t self = mesh_.rank();
  std::vector<CallLine*> lines;
  for (std::uint32_t r = 0; r < mesh_.ranks(); ++r) {
    const bool copies = r == self && !port_.in_order();
    auto line = std::make_unique<CallLine>(port_, *slabs_, r, self * mesh_.ranks() + r,
                                           options_.u_max, copies);
    lines.push_back(line.get());
    std::byte* const mark = words_.bytes().data() + r * kWordStride;
    auto sender = std::make_unique<CallSender>(
        options_, RecordStamps(options_.name, self, r), port_, *line, *slabs_, mark,
        [this, r](std::uint32_t count) { return obtain_chunks(r, count); });
    auto receiver = std::make_unique<CallReceiver>(
        RecordStamps(options_.name, r, self),
        [this, r](std::uint32_t id) { return service_->chunk(r, id); },
        [this, r](std::uint64_t chunks) { tell_consumed(r, chunks); });
    peers_.push_back(
        std::make_unique<CallPeer>(r, std::move(line), std::move(sender), std::move(receiver)));
    CallTarget theirs{words[r], nullptr};
    if (copies) theirs.here = words_.bytes().data();
    peers_.back()->mark = theirs + self * kWordStride;
  }
  port_.set_lines(std::move(lines));
}

std::vector<CallChunk> CallCore::obtain_chunks(std::uint32_t rank, std::uint32_t count) {
  std::vector<CallChunk> chunks;
  while (chunks.size() < count) {
    const std::uint32_t wanted =
        std::min(count - static_cast<std::uint32_t>(chunks.size()), kMostChunksAtOnce);
    ServiceAnswer answer;
    try {
      answer = service_->ask(rank, {ServiceRequest::Kind::kChunks, options_.chunk_bytes, wanted});
    } catch (const EnvironmentError&) {
      // Those that are there must be used: the destination waits for them in their order.
      if (chunks.empty()) throw;
      return chunks;
    }
    for (std::uint32_t i = 0; i < answer.memory.size(); ++i) {
      CallChunk chunk{answer.id + i, {answer.memory[i], nullptr}};
      if (peers_[rank]->line->copies()) {
        chunk.place.here = service_->chunk(rank, chunk.id).data();
      }
      chunks.push_back(chunk);
    }
  }
  return chunks;
}

// The source reads the word when it needs room. Each telling has a word of its own to be sent from.
void CallCore::tell_consumed(std::uint32_t rank, std::uint64_t chunks, SyncState* tell) {
  CallPeer& peer = *peers_[rank];
  peer.consumed = chunks;
  const std::size_t limit = options_.chunk_limit;
  std::byte* const word =
      words_.bytes().data() + mesh_.ranks() * kWordStride + 8 * (rank * limit + chunks % limit);
  std::memcpy(word, &chunks, sizeof chunks);
  peer.line->write({word, sizeof chunks, words_registered_.handle}, peer.mark, {&tell, 1});
}

CallPeer& CallCore::peer(std::uint32_t rank) {
  if (rank >= peers_.size()) {
    throw InputError(
        fmt::format("calls: there is no rank {}; expected one below {}", rank, peers_.size()));
  }
  return *peers_[rank];
}

CallLine& CallCore::line(std::uint32_t rank) {
  require_open();
  return *peer(rank).line;
}

CallCounters CallCore::counters(std::uint32_t destination) {
  return peer(destination).sender->counters();
}

void CallCore::require_open() const {
  if (finished_) throw InputError("calls: used after finish()");
}

void CallCore::require_sendable(const CallWish& wish) const {
  require_open();
  if (wish.anchor != functions_.anchor()) {
    throw InputError("calls: the function is not in the program or library that made the Calls");
  }
  const std::size_t bytes = record_bytes(wish.draft);
  const std::size_t most = CallSender::most_record_bytes(options_);
  if (bytes > most) {
    throw InputError(
        fmt::format("calls: captures and buffer take {} bytes; expected {} at most: "
                    "use call_buffer_write or call_buffer_read, or larger records",
                    bytes, most));
  }
  if (wish.destination == mesh_.rank()) return;  // whose result goes into no record
  if (const auto fault = result_fault(wish.result)) {
    throw InputError(fmt::format("calls: {}: have it put there, or larger records", *fault));
  }
}

std::optional<std::string> CallCore::result_fault(std::span<const std::byte> result) const {
  RecordDraft reply;
  reply.buffer = result;
  const std::size_t most = CallSender::most_record_bytes(options_);
  if (record_bytes(reply) <= most) return std::nullopt;
  return fmt::format("a result takes {} bytes; expected {} at most", record_bytes(reply), most);
}

bool CallCore::submit(CallWish& wish) {
  CallPeer& to = peer(wish.destination);
  require_sendable(wish);
  SyncState* told = nullptr;
  if (wish.sync != nullptr) {
    if (wish.notify == CountWhen::kTransmitted) {
      told = wish.sync;
      ++told->pending;
    } else {
      wish.draft.token = notices_.open(wish.sync, wish.result, 1);
    }
  }
  const auto withdraw = [&] {
    if (told != nullptr) --told->pending;
    if (wish.draft.token != kNoToken) notices_.withdraw(wish.draft.token);
  };
  try {
    if (take(to, wish, told)) {
      ++sent_;
      return true;
    }
  } catch (...) {
    // Nobody waits for what was not made.
    withdraw();
    throw;
  }
  withdraw();
  return false;
}

bool CallCore::take(CallPeer& to, const CallWish& wish, SyncState* told) {
  CallSender& sender = *to.sender;
  const CallWrite* const before = wish.before ? &*wish.before : nullptr;
  if (sender.add(wish.draft, before, told)) return true;
  // Within a call nobody waits: two that wait for each other's window would do so for ever.
  const bool may_queue = wish.when_full == WhenFull::kRetryInBackground ||
                         options_.aggregate == Aggregate::kOvfl ||
                         (wish.when_full == WhenFull::kRetry && !may_wait());
  const std::size_t bytes = record_bytes(wish.draft);
  const auto queue = [&] {
    if (!may_queue || sender.queued_bytes() + bytes > options_.queue_bytes) return false;
    sender.add_or_queue(wish.draft, before, told);
    return true;
  };
  if (queue()) return true;
  if (wish.when_full != WhenFull::kRetry || !may_wait()) return false;
  until([&] { return sender.add(wish.draft, before, told) || queue(); }, "room in a window");
  return true;
}

void CallCore::flush() {
  for (auto& peer : peers_) {
    peer->sender->flush();
    peer->has_replies = false;
  }
}

void CallCore::forget(const SyncState* state) {
  notices_.forget(state);
  for (auto& peer : peers_) {
    peer->sender->forget(state);
    peer->line->forget(state);
  }
}

}  // namespace slackline::hw
