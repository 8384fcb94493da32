#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text_scan.h"
#include "sched/builder.h"
#include "sched/text.h"
#include "sched/text_parts.h"

namespace slackline::sched {
namespace {

constexpr std::string_view kHeader = "slackline schedule";
constexpr std::uint32_t kMaxRanks = 1u << 24;
constexpr std::uint32_t kMaxId = 0xfffffffeu;  // the last 32-bit number means "none"

class Reader {
 public:
  Reader(std::string_view text, std::string_view file) : in_(text, file) {}

  Schedule read() {
    header();
    while (in_.next_line()) line();
    if (!builder_) in_.fail("the text ends too early; expected a line 'ranks N'");
    for (const auto& [op, at] : forward_) {
      if (op >= line_of_op_.size()) {
        in_.fail_at(at, fmt::format("op {} does not exist; there are {} operations", op,
                                    line_of_op_.size()));
      }
    }
    Schedule schedule = build();
    if (digest_ && *digest_ != schedule.digest()) {
      in_.fail_at(digest_line_,
                  fmt::format("the contents have digest {}; expected the {} given here (after a "
                              "change by hand, remove this line)",
                              to_string(schedule.digest()), to_string(*digest_)));
    }
    return schedule;
  }

 private:
  void header() {
    if (!in_.next_line() || in_.peek() != "slackline") {
      in_.fail_at(std::max(in_.line(), 1u),
                  fmt::format("not a schedule; expected '{} {}'", kHeader, kTextVersion));
    }
    in_.expect("slackline");
    in_.expect("schedule");
    const std::uint64_t version = in_.number("version", ~std::uint64_t{0});
    if (version == 0 || version > kTextVersion) {
      in_.fail(
          fmt::format("file of version {}; this program reads up to {}", version, kTextVersion));
    }
    in_.expect_end();
  }

  void line() {
    const std::string_view first = in_.peek();
    if (first.front() >= '0' && first.front() <= '9') return op();
    const std::string_view keyword = in_.word("a keyword");
    if (keyword == "ranks") {
      if (builder_) in_.fail("'ranks' is given twice");
      ranks_ = in_.number32("ranks", kMaxRanks);
      if (ranks_ == 0) in_.fail("ranks: 0 is out of range; expected at least 1");
      builder_.emplace(ranks_);
      builder_->set_title(std::move(title_));
    } else if (keyword == "digest") {
      digest();
    } else if (keyword == "title") {
      title();
    } else if (keyword == "message") {
      if (!header_once_(1)) in_.fail("'message' is given twice");
      need_ranks();
      builder_->set_message_bytes(in_.bytes("message"));
    } else if (keyword == "buffer") {
      buffer();
    } else if (keyword == "channel") {
      channel();
    } else if (keyword == "rank") {
      rank();
    } else if (keyword == "region") {
      region();
    } else if (keyword == "pre" || keyword == "post") {
      fact(keyword == "pre");
    } else {
      in_.fail(
          fmt::format("{} is not known here; expected an operation's number, ranks, message, "
                      "title, digest, buffer, channel, rank, region, pre or post",
                      in_quotes(keyword)));
    }
    in_.expect_end();
  }

  void need_ranks() {
    if (!builder_) in_.fail("this line comes too early; expected 'ranks N' before it");
  }

  void digest() {
    if (!header_once_(2)) in_.fail("'digest' is given twice");
    const std::string_view text = in_.word("32 hexadecimal digits");
    digest_ = digest_from(text);
    digest_line_ = in_.line();
    if (!digest_) {
      in_.fail(fmt::format("digest: {} is not a digest; expected 32 hexadecimal digits",
                           in_quotes(text)));
    }
  }

  void title() {
    if (!header_once_(3)) in_.fail("'title' is given twice");
    std::string title = read_title(in_);
    if (builder_) {
      builder_->set_title(std::move(title));
    } else {
      title_ = std::move(title);
    }
  }

  void expect_number(std::string_view what, std::size_t next) {
    if (in_.number(what, kMaxId) != next) {
      in_.fail(fmt::format("{}s are numbered in order; expected {} {}", what, what, next));
    }
  }

  std::uint32_t rank_number(std::string_view what) { return in_.number32(what, ranks_ - 1); }

  void buffer() {
    need_ranks();
    expect_number("buffer", buffer_bytes_.size());
    in_.expect("rank");
    const RankId rank(rank_number("rank"));
    in_.expect("bytes");
    buffer_bytes_.push_back(in_.bytes("bytes"));
    builder_->add_buffer(rank, buffer_bytes_.back());
  }

  void channel() {
    need_ranks();
    expect_number("channel", channels_);
    Channel c;
    in_.expect("from");
    c.src = RankId(rank_number("from"));
    in_.expect("to");
    c.dst = RankId(rank_number("to"));
    read_channel_attributes(in_, c);
    builder_->add_channel(c);
    ++channels_;
  }

  void rank() {
    need_ranks();
    const std::uint32_t next = rank_number("rank");
    if (rank_ && next <= *rank_) {
      in_.fail(fmt::format("rank {} comes after rank {}; expected ascending ranks", next, *rank_));
    }
    rank_ = next;
  }

  Slice piece() {
    const std::string_view text = in_.word("a piece of memory as buffer[offset+bytes]");
    std::string_view left = text;
    const auto take = [&left](char c) {
      if (left.empty() || left.front() != c) return false;
      left.remove_prefix(1);
      return true;
    };
    std::uint64_t buffer = 0;
    Slice slice;
    if (!take_number(left, buffer) || !take('[') || !take_bytes(left, slice.offset) || !take('+') ||
        !take_bytes(left, slice.bytes) || !take(']') || !left.empty()) {
      in_.fail(fmt::format("{} is not a piece of memory; expected buffer[offset+bytes]",
                           in_quotes(text)));
    }
    if (buffer >= buffer_bytes_.size()) {
      in_.fail(fmt::format("buffer {} is not defined above; there are {}", buffer,
                           buffer_bytes_.size()));
    }
    const std::uint64_t size = buffer_bytes_[buffer];
    if (slice.bytes > size || slice.offset > size - slice.bytes) {
      in_.fail(fmt::format("{} goes past the end of buffer {}, which has {} bytes", in_quotes(text),
                           buffer, size));
    }
    slice.buffer = BufferId(static_cast<std::uint32_t>(buffer));
    return slice;
  }

  bool digit_next() {
    const std::string_view next = in_.peek();
    return !next.empty() && next.front() >= '0' && next.front() <= '9';
  }

  SliceRange pieces() {
    pieces_.clear();
    do pieces_.push_back(piece());
    while (digit_next());
    return builder_->add_slices(pieces_);
  }

  // An operation that may stand further down: looked for at the end.
  OpId op_number(std::uint64_t number) {
    if (number > kMaxId) in_.fail(fmt::format("op {} does not exist", number));
    const auto id = static_cast<std::uint32_t>(number);
    if (id >= line_of_op_.size()) forward_.emplace_back(id, in_.line());
    return OpId(id);
  }

  Operand operand(std::string_view what) {
    const std::string_view text = in_.word("a number, result:OP or attempt:OP");
    std::string_view left = text;
    Operand value;
    std::uint64_t number = 0;
    bool good = true;
    const bool result = left.starts_with("result:");
    if (result || left.starts_with("attempt:")) {
      left.remove_prefix(left.find(':') + 1);
      value.from = result ? Operand::From::kResult : Operand::From::kAttempt;
      value.value = 1;
      good = take_number(left, number);
      const auto part = [&](char mark, std::uint64_t& into) {
        if (!good || !left.starts_with(mark)) return;
        left.remove_prefix(1);
        good = take_number(left, into);
      };
      part('*', value.value);
      part('+', value.addend);
      part('%', value.modulus);
      if (good) value.op = op_number(number);
    } else {
      value.from = Operand::From::kLiteral;
      good = take_number(left, value.value);
    }
    if (!good || !left.empty()) {
      in_.fail(
          fmt::format("{}: {} is not a value; expected a number, result:OP or attempt:OP with "
                      "*N, +N and %N in this order",
                      what, in_quotes(text)));
    }
    return value;
  }

  void after(OpId succ) {
    do {
      const std::string_view text = in_.word("done:OP or issued:OP");
      std::string_view left = text;
      On on = On::kDone;
      std::uint64_t pred = 0;
      if (left.starts_with("done:")) {
        left.remove_prefix(5);
      } else if (left.starts_with("issued:")) {
        left.remove_prefix(7);
        on = On::kIssued;
      } else {
        left = {};
      }
      if (!take_number(left, pred) || !left.empty()) {
        in_.fail(fmt::format("{} is not an event; expected done:OP or issued:OP", in_quotes(text)));
      }
      builder_->add_edge(op_number(pred), succ, on);
    } while (in_.peek().starts_with("done:") || in_.peek().starts_with("issued:"));
  }

  void op() {
    need_ranks();
    if (!rank_) in_.fail("an operation comes too early; expected 'rank N' before it");
    const OpId id(static_cast<std::uint32_t>(line_of_op_.size()));
    expect_number("op", id.value);
    Op o;
    o.rank = RankId(*rank_);
    o.kind = named(in_, op_kind_named, "an operation's kind, such as send or recv");
    std::optional<OpArguments> arguments;
    const auto rare = [&arguments]() -> OpArguments& {
      return arguments ? *arguments : arguments.emplace();
    };
    line_of_op_.push_back(in_.line());
    Once seen;
    while (!in_.at_end()) {
      const std::string_view keyword = in_.word("a keyword");
      if (keyword == "step") {
        once(in_, seen, 0, keyword);
        o.step = in_.number32(keyword, 0xfffffffeu);
      } else if (keyword == "on") {
        once(in_, seen, 1, keyword);
        o.channel = ChannelId(in_.number32(keyword, kMaxId));
        if (o.channel.value >= channels_) {
          in_.fail(fmt::format("channel {} is not defined above; there are {}", o.channel.value,
                               channels_));
        }
      } else if (keyword == "reads") {
        once(in_, seen, 2, keyword);
        o.reads = pieces();
      } else if (keyword == "writes") {
        once(in_, seen, 3, keyword);
        o.writes = pieces();
      } else if (keyword == "after") {
        once(in_, seen, 4, keyword);
        after(id);
      } else if (keyword == "lane") {
        once(in_, seen, 5, keyword);
        o.lane = static_cast<std::uint16_t>(in_.number(keyword, 0xffff));
      } else if (keyword == "imm" || keyword == "flag") {
        once(in_, seen, 6, "imm' or 'flag");
        o.notify = *notify_named(keyword);
      } else if (keyword == "for") {
        once(in_, seen, 7, keyword);
        rare().duration = in_.time(keyword);
      } else if (keyword == "operand") {
        once(in_, seen, 8, keyword);
        rare().operand = operand(keyword);
      } else if (keyword == "compare") {
        once(in_, seen, 9, keyword);
        rare().compare = operand(keyword);
      } else if (keyword == "offset") {
        once(in_, seen, 10, keyword);
        rare().address_offset = operand(keyword);
      } else if (keyword == "mask") {
        once(in_, seen, 12, keyword);
        rare().compare_mask = in_.number(keyword, ~std::uint64_t{0});
      } else if (keyword == "expect") {
        once(in_, seen, 13, keyword);
        rare().expect = named(in_, expect_named, "equal or unequal");
      } else if (keyword == "sees") {
        once(in_, seen, 11, keyword);
        builder_->add_flag_match(op_number(in_.number(keyword, kMaxId)), id);
      } else {
        in_.fail(
            fmt::format("{} is not known; expected lane, step, on, imm, flag, reads, writes, "
                        "for, operand, compare, mask, expect, offset, sees or after",
                        in_quotes(keyword)));
      }
    }
    if (arguments) {
      builder_->add(o, *arguments);
    } else {
      builder_->add(o);
    }
  }

  void region() {
    need_ranks();
    Region r;
    r.kind = named(in_, region_kind_named, "retry, alt or repeat");
    in_.expect("entry");
    r.entry = op_number(in_.number("entry", kMaxId));
    in_.expect("count");
    r.count = in_.number32("count");
    read_region_attributes(in_, r);
    builder_->add_region(r);
  }

  void fact(bool pre) {
    need_ranks();
    Fact f;
    f.slice = piece();
    in_.expect("value");
    f.value = ValueId(in_.number32("value"));
    if (in_.peek() == "terms") {
      in_.expect("terms");
      f.terms = in_.number32("terms");
    }
    if (!in_.at_end()) {
      in_.expect("at");
      f.value_offset = in_.bytes("at");
    }
    if (pre) {
      builder_->add_pre(f);
    } else {
      builder_->add_post(f);
    }
  }

  // What is left to find fault with is the builder's; the line is that of the operation it names.
  Schedule build() {
    try {
      return builder_->build();
    } catch (const InputError& error) {
      const Diagnostics found = builder_->validate();
      if (!found.empty() && found.front().op.value < line_of_op_.size()) {
        in_.fail_at(line_of_op_[found.front().op.value], found.front().message);
      }
      throw InputError(fmt::format("{}: {}", in_.file(), error.what()));
    }
  }

  TextScanner in_;
  std::optional<ScheduleBuilder> builder_;
  std::uint32_t ranks_ = 0;
  std::string title_;
  std::optional<Digest> digest_;
  std::uint32_t digest_line_ = 0;
  Once header_once_;
  std::vector<std::uint64_t> buffer_bytes_;
  std::uint32_t channels_ = 0;
  std::optional<std::uint32_t> rank_;
  std::vector<Slice> pieces_;
  std::vector<std::uint32_t> line_of_op_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> forward_;  // op, line that names it
};

}  // namespace

Schedule read_text(std::string_view text, std::string_view file) {
  return Reader(text, file).read();
}

bool looks_like_text(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && text.substr(start).starts_with(kHeader);
}

}  // namespace slackline::sched
