#include "sched/digest.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "sched/prefetch.h"
#include "sched/schedule.h"

namespace slackline::sched {

static_assert(std::endian::native == std::endian::little,
              "the canonical encoding is written by copying little-endian words");

struct DigestWriter::State {
  XXH3_state_t* hash = XXH3_createState();
  ~State() { XXH3_freeState(hash); }
};

DigestWriter::DigestWriter()
    : state_(std::make_unique<State>()), block_(std::make_unique<unsigned char[]>(kBlock)) {
  XXH3_128bits_reset(state_->hash);
}
DigestWriter::~DigestWriter() = default;

void DigestWriter::flush() {
  XXH3_128bits_update(state_->hash, block_.get(), used_);
  used_ = 0;
}

void DigestWriter::add_text(std::string_view text) {
  add_u64(text.size());
  for (char c : text) add_u8(static_cast<std::uint8_t>(c));
}

Digest DigestWriter::finish() {
  flush();
  const XXH128_hash_t hash = XXH3_128bits_digest(state_->hash);
  return {hash.high64, hash.low64};
}

std::string to_string(Digest digest) {
  return fmt::format("{:016x}{:016x}", digest.high, digest.low);
}

std::optional<Digest> digest_from(std::string_view text) {
  if (text.size() != 32) return std::nullopt;
  std::uint64_t words[2] = {0, 0};
  for (std::size_t i = 0; i < 32; ++i) {
    const char c = text[i];
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return std::nullopt;
    words[i / 16] = words[i / 16] << 4 | static_cast<std::uint64_t>(digit);
  }
  return Digest{words[0], words[1]};
}

namespace {

void add(DigestWriter& out, const Slice& slice) {
  out.add_all(slice.buffer.value, slice.offset, slice.bytes);
}

// What was added to the encoding of an operand is marked in its first byte.
constexpr unsigned kMoved = 0x10;
constexpr unsigned kTest = 0x20;

// The encoding of an operation's arguments: many short parts, put together before they are added.
class ArgumentBytes {
 public:
  explicit ArgumentBytes(const OpArguments& arguments) {
    put(static_cast<std::uint64_t>(arguments.duration.count()));
    put(arguments.operand);
    put_test(arguments);
    put(arguments.address_offset);
  }
  void add_to(DigestWriter& out) const { out.add_bytes(bytes_.data(), used_); }
  // The same of a duration alone: three operands are absent.
  static void add_to(DigestWriter& out, Time duration) {
    out.add_all(duration.count(), std::array<std::uint8_t, 3>{});
  }

 private:
  template <class Number>
  void put(Number number) {
    std::memcpy(bytes_.data() + used_, &number, sizeof number);
    used_ += sizeof number;
  }

  void put(const Operand& operand) {
    const bool moved = operand.addend != 0 || operand.modulus != 0;
    put(static_cast<std::uint8_t>(static_cast<unsigned>(operand.from) | (moved ? kMoved : 0)));
    if (operand.from == Operand::From::kAbsent) return;
    if (operand.is_dynamic()) put(operand.op.value);
    put(operand.value);
    if (!moved) return;
    put(operand.addend);
    put(operand.modulus);
  }

  // A test by other than equality of all bits says so before the value that it compares with.
  void put_test(const OpArguments& arguments) {
    const bool plain =
        arguments.expect == Expect::kEqual && arguments.compare_mask == ~std::uint64_t{0};
    if (!plain) {
      put(static_cast<std::uint8_t>(kTest | static_cast<unsigned>(arguments.expect)));
      put(arguments.compare_mask);
    }
    put(arguments.compare);
  }

  static constexpr std::size_t kMostOfOperand = 1 + 4 + 3 * 8;
  std::array<unsigned char, 8 + 3 * kMostOfOperand + 1 + 8> bytes_;
  std::size_t used_ = 0;
};

void add(DigestWriter& out, std::span<const Fact> facts) {
  out.add_u64(facts.size());
  for (const Fact& fact : facts) {
    prefetch_ahead(&fact);
    add(out, fact.slice);
    out.add_u32(fact.value.value);
    out.add_u64(fact.value_offset);
  }
}

// Sums come last and only where there are any, so that they change no other schedule's digest.
void add_sums(DigestWriter& out, std::span<const Fact> facts) {
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (facts[i].terms == 1) continue;
    out.add_u64(i);
    out.add_u32(facts[i].terms);
  }
}

// An operation's first fields stand in memory as the encoding has them: kind, notify (8 bits each),
// lane (16), rank, channel, match (32 each).
constexpr std::size_t kOpHead = offsetof(Op, reads);
static_assert(kOpHead == 16 && offsetof(Op, lane) == 2 && offsetof(Op, rank) == 4 &&
              offsetof(Op, channel) == 8 && offsetof(Op, match) == 12);

}  // namespace

Digest digest_of(const Schedule& schedule) {
  DigestWriter out;
  out.add_text("slackline schedule");
  out.add_u32(kDigestVersion);
  out.add_u32(schedule.rank_count());
  out.add_u64(schedule.message_bytes());
  out.add_u64(schedule.buffers().size());
  for (const Buffer& buffer : schedule.buffers()) {
    out.add_u32(buffer.rank.value);
    out.add_u64(buffer.bytes);
  }
  out.add_u64(schedule.channels().size());
  for (const Channel& channel : schedule.channels()) {
    out.add_u32(channel.src.value);
    out.add_u32(channel.dst.value);
    out.add_u8(static_cast<std::uint8_t>(channel.service));
    out.add_u8(static_cast<std::uint8_t>(channel.bundle));
    out.add_u32(channel.window);
    out.add_u32(channel.credit_on.value);
    out.add_u32(channel.credit_batch);
    out.add_u64(channel.bundle_bytes);
    out.add_u64(static_cast<std::uint64_t>(channel.bundle_delay.count()));
  }
  out.add_u64(schedule.ops().size());
  const std::span<const Op> ops = schedule.ops();
  const std::span<const Slice> slices = schedule.slices();
  const ArgumentTable arguments = schedule.argument_table();
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const Op& op = ops[i];
    prefetch_ahead(&op);
    if (i + kFetchedAhead < ops.size()) prefetch(ops[i + kFetchedAhead], slices, arguments);
    std::array<std::byte, kOpHead> head;
    std::memcpy(head.data(), &op, head.size());
    const std::uint8_t has_arguments = op.arguments != kNoArguments ? 1 : 0;
    // Most name one slice at the most on either side: those go in one piece.
    if (op.reads.count == 0 && op.writes.count == 0) {
      out.add_all(head, op.step, op.reads.count, op.writes.count, has_arguments);
    } else if (op.reads.count == 1 && op.writes.count == 0) {
      const Slice& read = slices[op.reads.first];
      out.add_all(head, op.step, op.reads.count, read.buffer.value, read.offset, read.bytes,
                  op.writes.count, has_arguments);
    } else if (op.reads.count == 0 && op.writes.count == 1) {
      const Slice& write = slices[op.writes.first];
      out.add_all(head, op.step, op.reads.count, op.writes.count, write.buffer.value, write.offset,
                  write.bytes, has_arguments);
    } else if (op.reads.count == 1 && op.writes.count == 1) {
      const Slice& read = slices[op.reads.first];
      const Slice& write = slices[op.writes.first];
      out.add_all(head, op.step, op.reads.count, read.buffer.value, read.offset, read.bytes,
                  op.writes.count, write.buffer.value, write.offset, write.bytes, has_arguments);
    } else {
      out.add_all(head, op.step, op.reads.count);
      for (const Slice& slice : schedule.slices(op.reads)) add(out, slice);
      out.add_u32(op.writes.count);
      for (const Slice& slice : schedule.slices(op.writes)) add(out, slice);
      out.add_u8(has_arguments);
    }
    if (has_arguments == 0) continue;
    if (const auto duration = arguments.only_duration(op.arguments)) {
      ArgumentBytes::add_to(out, *duration);
    } else {
      ArgumentBytes(arguments[op.arguments]).add_to(out);
    }
  }
  out.add_u64(schedule.edges().size());
  for (const Edge& edge : schedule.edges()) {
    prefetch_ahead(&edge);
    out.add_all(edge.pred.value, edge.succ.value, static_cast<std::uint8_t>(edge.on));
  }
  out.add_u64(schedule.regions().size());
  for (const Region& region : schedule.regions()) {
    out.add_u8(static_cast<std::uint8_t>(region.kind));
    out.add_u32(region.entry.value);
    out.add_u32(region.count);
    out.add_u32(region.max_attempts);
    out.add_u32(region.p.value);
    out.add_u8(static_cast<std::uint8_t>(region.outcome));
    out.add_u64(static_cast<std::uint64_t>(region.backoff.count()));
  }
  add(out, schedule.contract().pre);
  add(out, schedule.contract().post);
  add_sums(out, schedule.contract().post);
  return out.finish();
}

}  // namespace slackline::sched
