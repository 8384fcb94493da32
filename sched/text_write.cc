#include <charconv>

#include "sched/text.h"
#include "sched/text_parts.h"

namespace slackline::sched {
namespace {

class Writer {
 public:
  explicit Writer(const Schedule& schedule) : schedule_(schedule) {}

  std::string write() {
    out_.reserve(256 + 72 * std::size_t{schedule_.op_count()} + 24 * schedule_.edges().size());
    put("slackline schedule ").number(kTextVersion);
    put("\ndigest ").put(to_string(schedule_.digest()));
    if (!schedule_.title().empty()) {
      put("\ntitle ");
      append_title(out_, schedule_.title());
    }
    put("\nranks ").number(schedule_.rank_count());
    if (schedule_.message_bytes() != 0) put("\nmessage ").bytes(schedule_.message_bytes());
    for (std::size_t i = 0; i < schedule_.buffers().size(); ++i) {
      const Buffer& buffer = schedule_.buffers()[i];
      put("\nbuffer ").number(i).put(" rank ").number(buffer.rank.value);
      put(" bytes ").bytes(buffer.bytes);
    }
    for (std::size_t i = 0; i < schedule_.channels().size(); ++i) channel(i);
    for (std::uint32_t rank = 0; rank < schedule_.rank_count(); ++rank) {
      const std::uint32_t end = schedule_.end_op(RankId(rank)).value;
      std::uint32_t id = schedule_.first_op(RankId(rank)).value;
      if (id != end) put("\nrank ").number(rank);
      for (; id != end; ++id) op(OpId(id));
    }
    for (const Region& each : schedule_.regions()) region(each);
    for (const Fact& each : schedule_.contract().pre) fact("\npre ", each);
    for (const Fact& each : schedule_.contract().post) fact("\npost ", each);
    put("\n");
    return std::move(out_);
  }

 private:
  Writer& put(std::string_view text) {
    out_.append(text);
    return *this;
  }

  Writer& number(std::uint64_t value) {
    char digits[20];
    const auto result = std::to_chars(digits, digits + sizeof digits, value);
    out_.append(digits, static_cast<std::size_t>(result.ptr - digits));
    return *this;
  }

  // As format_bytes(), which would take most of the writer's time.
  Writer& bytes(std::uint64_t value) {
    if (value == 0 || (value & 1023) != 0) return number(value);
    if ((value & ((1ull << 30) - 1)) == 0) return number(value >> 30).put("GiB");
    if ((value & ((1ull << 20) - 1)) == 0) return number(value >> 20).put("MiB");
    return number(value >> 10).put("KiB");
  }

  void channel(std::size_t i) {
    const Channel& c = schedule_.channels()[i];
    const Channel defaults;
    put("\nchannel ").number(i).put(" from ").number(c.src.value).put(" to ").number(c.dst.value);
    if (c.service != defaults.service) put(" service ").put(name(c.service));
    if (c.window != 0) put(" window ").number(c.window);
    if (c.credit_on.valid()) put(" credit_on ").number(c.credit_on.value);
    if (c.credit_batch != 1) put(" credit_batch ").number(c.credit_batch);
    if (c.bundle != defaults.bundle) put(" bundle ").put(name(c.bundle));
    if (c.bundle_bytes != 0) put(" bundle_bytes ").bytes(c.bundle_bytes);
    if (c.bundle_delay != defaults.bundle_delay) {
      put(" bundle_delay ").put(format_time(c.bundle_delay));
    }
  }

  Writer& piece(const Slice& slice) {
    number(slice.buffer.value).put("[").bytes(slice.offset).put("+").bytes(slice.bytes);
    return put("]");
  }

  void pieces(std::string_view keyword, SliceRange range) {
    if (range.count == 0) return;
    put(keyword);
    for (const Slice& slice : schedule_.slices(range)) {
      put(" ");
      piece(slice);
    }
  }

  void operand(std::string_view keyword, const Operand& value) {
    if (value.from == Operand::From::kAbsent) return;
    put(keyword);
    if (value.from == Operand::From::kLiteral) {
      number(value.value);
      return;
    }
    put(value.from == Operand::From::kResult ? "result:" : "attempt:").number(value.op.value);
    if (value.value != 1) put("*").number(value.value);
    if (value.addend != 0) put("+").number(value.addend);
    if (value.modulus != 0) put("%").number(value.modulus);
  }

  void op(OpId id) {
    const Op& o = schedule_.op(id);
    put("\n  ").number(id.value).put(" ").put(name(o.kind));
    if (o.lane != 0) put(" lane ").number(o.lane);
    if (o.step != 0) put(" step ").number(o.step);
    if (o.channel.valid()) put(" on ").number(o.channel.value);
    if (o.notify != Notify::kNone) put(" ").put(name(o.notify));
    pieces(" reads", o.reads);
    pieces(" writes", o.writes);
    if (o.arguments != kNoArguments) {
      const OpArguments& arguments = schedule_.arguments(o);
      const auto absent = [](const Operand& a) { return a.from == Operand::From::kAbsent; };
      // `for` also marks an operation whose arguments are all at their defaults, since the digest
      // tells it from one that has none.
      if (arguments.duration.count() != 0 ||
          (absent(arguments.operand) && absent(arguments.compare) &&
           absent(arguments.address_offset))) {
        put(" for ").put(format_time(arguments.duration));
      }
      operand(" operand ", arguments.operand);
      operand(" compare ", arguments.compare);
      const OpArguments defaults;
      if (arguments.compare_mask != defaults.compare_mask) {
        put(" mask ").number(arguments.compare_mask);
      }
      if (arguments.expect != defaults.expect) put(" expect ").put(name(arguments.expect));
      operand(" offset ", arguments.address_offset);
    }
    if (o.kind == OpKind::kPoll && o.match.valid()) put(" sees ").number(o.match.value);
    bool first = true;
    for (const Edge& edge : schedule_.edges_into(id)) {
      put(first ? " after " : " ").put(name(edge.on)).put(":").number(edge.pred.value);
      first = false;
    }
  }

  void region(const Region& r) {
    const Region defaults;
    put("\nregion ").put(name(r.kind)).put(" entry ").number(r.entry.value);
    put(" count ").number(r.count);
    if (r.max_attempts != defaults.max_attempts) put(" attempts ").number(r.max_attempts);
    if (r.p != defaults.p) put(" p ").number(r.p.value);
    if (r.outcome != defaults.outcome) put(" outcome ").put(name(r.outcome));
    if (r.backoff != defaults.backoff) put(" backoff ").put(format_time(r.backoff));
  }

  void fact(std::string_view side, const Fact& f) {
    put(side);
    piece(f.slice).put(" value ").number(f.value.value);
    if (f.terms != 1) put(" terms ").number(f.terms);
    if (f.value_offset != 0) put(" at ").bytes(f.value_offset);
  }

  const Schedule& schedule_;
  std::string out_;
};

}  // namespace

std::string write_text(const Schedule& schedule) { return Writer(schedule).write(); }

}  // namespace slackline::sched
