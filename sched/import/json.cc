#include "sched/import/json.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "base/error.h"
#include "base/text_scan.h"
#include "sched/builder.h"
#include "sched/export/json.h"
#include "sched/import/json_fields.h"

namespace slackline::sched {
namespace {

constexpr std::uint32_t kMaxRanks = 1u << 24;
constexpr std::uint32_t kMaxId = 0xfffffffeu;  // the last 32-bit number means "none"
constexpr std::uint64_t kMaxTime = 0x7fffffffffffffffu;

template <class Enum>
Enum named(const JsonPlace& place, std::optional<Enum> (*find)(std::string_view)) {
  const std::optional<Enum> value = find(place.text());
  if (!value) place.fail(fmt::format("{} is not a name that stands here", in_quotes(place.text())));
  return *value;
}

Time time(const JsonPlace& place) {
  return Time{static_cast<std::int64_t>(place.number(kMaxTime))};
}

class Reader {
 public:
  explicit Reader(const JsonPlace& root)
      : root_(root), builder_(ranks(root)), ranks_(ranks(root)) {}

  Schedule read() {
    if (root_.has("title")) builder_.set_title(root_.at("title").text());
    if (root_.has("message_bytes")) builder_.set_message_bytes(root_.at("message_bytes").number());
    each("buffers", [this](const JsonPlace& entry) {
      const std::uint64_t bytes = entry.at("bytes").number();
      builder_.add_buffer(rank(entry.at("rank")), bytes);
    });
    each("channels", [this](const JsonPlace& entry) { channel(entry); });
    each("ops", [this](const JsonPlace& entry) { op(entry); });
    each("regions", [this](const JsonPlace& entry) { region(entry); });
    each("pre", [this](const JsonPlace& entry) { builder_.add_pre(fact(entry)); });
    each("post", [this](const JsonPlace& entry) { builder_.add_post(fact(entry)); });
    Schedule schedule = build();
    check_matches(schedule);
    if (root_.has("digest")) {
      const JsonPlace place = root_.at("digest");
      if (digest_from(place.text()) != schedule.digest()) {
        place.fail(fmt::format("the contents have digest {}; expected the {} given here",
                               to_string(schedule.digest()), in_quotes(place.text())));
      }
    }
    return schedule;
  }

 private:
  static std::uint32_t ranks(const JsonPlace& root) {
    const JsonPlace schema = root.at("schema");
    const std::uint64_t version = schema.number();
    if (version == 0 || version > kJsonSchema) {
      schema.fail(
          fmt::format("file of version {}; this program reads up to {}", version, kJsonSchema));
    }
    const JsonPlace place = root.at("ranks");
    const std::uint32_t count = place.number32(kMaxRanks);
    if (count == 0) place.fail("expected at least one rank");
    return count;
  }

  // Visits the entries of a list; they are numbered in order where they say so.
  template <class Visit>
  void each(std::string_view key, Visit&& visit) {
    if (!root_.has(key)) return;
    const JsonPlace list = root_.list(key);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const JsonPlace entry = list.entry(i);
      if (entry.has("id") && entry.at("id").number() != i) {
        entry.at("id").fail(fmt::format("entries are numbered in order; expected {}", i));
      }
      visit(entry);
    }
  }

  RankId rank(const JsonPlace& place) const { return RankId(place.number32(ranks_ - 1)); }

  void channel(const JsonPlace& entry) {
    Channel c;
    c.src = rank(entry.at("src"));
    c.dst = rank(entry.at("dst"));
    if (entry.has("service")) c.service = named(entry.at("service"), service_named);
    if (entry.has("window")) c.window = entry.at("window").number32();
    if (entry.has("credit_on")) c.credit_on = ChannelId(entry.at("credit_on").number32(kMaxId));
    if (entry.has("credit_batch")) c.credit_batch = entry.at("credit_batch").number32();
    if (entry.has("bundle")) c.bundle = named(entry.at("bundle"), bundle_named);
    if (entry.has("bundle_bytes")) c.bundle_bytes = entry.at("bundle_bytes").number();
    if (entry.has("bundle_delay_ps")) c.bundle_delay = time(entry.at("bundle_delay_ps"));
    builder_.add_channel(c);
  }

  Slice piece(const JsonPlace& entry) const {
    return {BufferId(entry.at("buffer").number32(kMaxId)), entry.at("offset").number(),
            entry.at("bytes").number()};
  }

  SliceRange pieces(const JsonPlace& entry, std::string_view key) {
    if (!entry.has(key)) return {};
    const JsonPlace list = entry.list(key);
    pieces_.clear();
    for (std::size_t i = 0; i < list.size(); ++i) pieces_.push_back(piece(list.entry(i)));
    return pieces_.empty() ? SliceRange{} : builder_.add_slices(pieces_);
  }

  Operand operand(const JsonPlace& arguments, std::string_view key) const {
    Operand value;
    if (!arguments.has(key)) return value;
    const JsonPlace place = arguments.at(key);
    const bool result = place.has("result_of");
    if (result || place.has("attempt_of")) {
      value.from = result ? Operand::From::kResult : Operand::From::kAttempt;
      value.op = OpId(place.at(result ? "result_of" : "attempt_of").number32(kMaxId));
      value.value = place.has("times") ? place.at("times").number() : 1;
      if (place.has("plus")) value.addend = place.at("plus").number();
      if (place.has("modulo")) value.modulus = place.at("modulo").number();
    } else {
      value.from = Operand::From::kLiteral;
      value.value = place.at("value").number();
    }
    return value;
  }

  void op(const JsonPlace& entry) {
    const OpId id(static_cast<std::uint32_t>(matches_.size()));
    Op o;
    o.rank = rank(entry.at("rank"));
    if (o.rank < last_rank_) entry.at("rank").fail("expected operations grouped by ascending rank");
    last_rank_ = o.rank;
    o.kind = named(entry.at("kind"), op_kind_named);
    if (entry.has("lane")) o.lane = static_cast<std::uint16_t>(entry.at("lane").number(0xffff));
    if (entry.has("step")) o.step = entry.at("step").number32(kMaxId);
    if (entry.has("channel")) o.channel = ChannelId(entry.at("channel").number32(kMaxId));
    if (entry.has("notify")) o.notify = named(entry.at("notify"), notify_named);
    o.reads = pieces(entry, "reads");
    o.writes = pieces(entry, "writes");
    matches_.emplace_back();
    if (entry.has("match")) {
      matches_.back() = OpId(entry.at("match").number32(kMaxId));
      if (o.kind == OpKind::kPoll) builder_.add_flag_match(matches_.back(), id);
    }
    if (entry.has("arguments")) {
      const JsonPlace place = entry.at("arguments");
      OpArguments arguments;
      if (place.has("duration_ps")) arguments.duration = time(place.at("duration_ps"));
      arguments.operand = operand(place, "operand");
      arguments.compare = operand(place, "compare");
      arguments.address_offset = operand(place, "offset");
      if (place.has("compare_mask")) arguments.compare_mask = place.at("compare_mask").number();
      if (place.has("expect")) arguments.expect = named(place.at("expect"), expect_named);
      builder_.add(o, arguments);
    } else {
      builder_.add(o);
    }
    if (!entry.has("after")) return;
    const JsonPlace after = entry.list("after");
    for (std::size_t i = 0; i < after.size(); ++i) {
      const JsonPlace edge = after.entry(i);
      const On on = edge.has("on") ? named(edge.at("on"), on_named) : On::kDone;
      builder_.add_edge(OpId(edge.at("op").number32(kMaxId)), id, on);
    }
  }

  void region(const JsonPlace& entry) {
    Region r;
    r.kind = named(entry.at("kind"), region_kind_named);
    r.entry = OpId(entry.at("entry").number32(kMaxId));
    r.count = entry.at("count").number32();
    if (entry.has("max_attempts")) r.max_attempts = entry.at("max_attempts").number32();
    if (entry.has("p_ppm")) r.p.value = entry.at("p_ppm").number32(1'000'000);
    if (entry.has("outcome")) r.outcome = named(entry.at("outcome"), outcome_named);
    if (entry.has("backoff_ps")) r.backoff = time(entry.at("backoff_ps"));
    builder_.add_region(r);
  }

  Fact fact(const JsonPlace& entry) const {
    Fact f;
    f.slice = piece(entry);
    f.value = ValueId(entry.at("value").number32());
    if (entry.has("value_offset")) f.value_offset = entry.at("value_offset").number();
    if (entry.has("terms")) f.terms = entry.at("terms").number32();
    return f;
  }

  Schedule build() {
    try {
      return builder_.build();
    } catch (const InputError& error) {
      root_.fail(error.what());
    }
  }

  void check_matches(const Schedule& schedule) const {
    for (std::uint32_t i = 0; i < matches_.size(); ++i) {
      const OpId given = matches_[i];
      const OpId match = schedule.op(OpId(i)).match;
      if (!given.valid() || given == match) continue;
      const JsonPlace ops = root_.at("ops");
      ops.entry(i).fail(
          match.valid() ? fmt::format("match: {} is given, but the order on the "
                                      "channel makes it {}",
                                      given.value, match.value)
                        : fmt::format("match: {} is given, but nothing matches it", given.value));
    }
  }

  const JsonPlace& root_;
  ScheduleBuilder builder_;
  std::uint32_t ranks_;
  RankId last_rank_{0};
  std::vector<Slice> pieces_;
  std::vector<OpId> matches_;
};

}  // namespace

Schedule read_json(std::string_view text, std::string_view file) {
  const JsonDocument document(text, file);
  const JsonPlace root = document.root();
  return Reader(root).read();
}

}  // namespace slackline::sched
