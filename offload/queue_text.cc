#include "offload/queue_text.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "base/append.h"
#include "base/error.h"
#include "base/text_scan.h"
#include "offload/queue_names.h"
#include "sched/text_parts.h"

namespace slackline::offload {
namespace {

using sched::Attribute;
using sched::Digest;
using sched::Slice;
using sched::SliceRange;
using sched::TextScanner;

constexpr std::uint32_t kMaxIndex = 0xfffffffeu;  // what is above marks an absence

class Writer {
 public:
  explicit Writer(const QueueProgram& program) : program_(program) {}

  std::string run() {
    put("slackline queues {}\n", kQueueTextVersion);
    put("digest {}\n", to_string(program_.digest()));
    put("schedule {}\n", to_string(program_.schedule()));
    if (!program_.title().empty()) {
      put("title ");
      sched::append_title(text_, program_.title());
      put("\n");
    }
    put("mode {}\n", name(program_.mode()));
    put("ready {}", name(program_.readiness()));
    if (program_.window() != 0) put(" {}", program_.window());
    put("\nranks {}\n", program_.rank_count());
    for (std::size_t i = 0; i < program_.buffers().size(); ++i) {
      const auto& buffer = program_.buffers()[i];
      put("buffer {} rank {} bytes {}\n", i, buffer.rank.value, sched::format_bytes(buffer.bytes));
    }
    for (std::size_t i = 0; i < program_.cqs().size(); ++i) {
      const CompletionQueue& cq = program_.cqs()[i];
      put("cq {} rank {}", i, cq.rank.value);
      if (cq.start != 0) put(" start {}", cq.start);
      put("\n");
    }
    for (std::size_t i = 0; i < program_.queues().size(); ++i) add_queue(i);
    return std::move(text_);
  }

 private:
  template <class... Values>
  void put(fmt::format_string<Values...> format, Values&&... values) {
    sched::append(text_, format, std::forward<Values>(values)...);
  }

  void add_queue(std::size_t i) {
    const Queue& q = program_.queues()[i];
    put("queue {} rank {} {} {} pair {} cq {}", i, q.rank.value, name(q.kind), name(q.purpose),
        q.pair, q.cq.value);
    if (q.peer.valid()) put(" peer {}", q.peer.value);
    if (q.serves.valid()) put(" serves {}", q.serves.value);
    if (q.managed) put(" managed");
    if (q.start != 0) put(" start {}", q.start);
    put("\n");
    for (const Entry& entry : program_.entries(q)) add_entry(entry);
  }

  void add_entry(const Entry& entry) {
    put("  {}", name(entry.kind));
    if (entry.kind == EntryKind::kWait || is_enable(entry.kind)) {
      put(" {} count {}", entry.target, entry.count);
    }
    add_pieces(entry.local);
    if (entry.remote.count != 0) put(" to");
    add_pieces(entry.remote);
    if (entry.op.valid()) put(" op {}", entry.op.value);
    if (entry.step != 0) put(" step {}", entry.step);
    if (entry.latest != 0) put(" latest {}", entry.latest);
    if (entry.signaled) put(" signaled");
    put("\n");
  }

  void add_pieces(SliceRange range) {
    for (const Slice& slice : program_.slices(range)) {
      put(" {}[{}+{}]", slice.buffer.value, sched::format_bytes(slice.offset),
          sched::format_bytes(slice.bytes));
    }
  }

  const QueueProgram& program_;
  std::string text_;
};

class Reader {
 public:
  Reader(std::string_view text, std::string_view file) : in_(text, file) {}

  QueueProgram run() {
    read_head();
    while (in_.next_line()) {
      const std::string_view word = in_.peek();
      if (word == "buffer") {
        read_buffer();
      } else if (word == "cq") {
        read_cq();
      } else if (word == "queue") {
        read_queue();
      } else {
        read_entry();
      }
      in_.expect_end();
    }
    QueueProgram program = [&] {
      try {
        return builder_->build();
      } catch (const InputError& error) {
        throw InputError(fmt::format("{}: {}", in_.file(), error.what()));
      }
    }();
    if (digest_ && *digest_ != program.digest()) {
      in_.fail_at(digest_line_, fmt::format("the digest does not fit the contents; expected {}",
                                            to_string(program.digest())));
    }
    return program;
  }

 private:
  // The next line, which must begin with `word`.
  void line_of(std::string_view word) {
    if (!in_.next_line()) in_.fail(fmt::format("the text ends; expected {}", word));
    in_.expect(word);
  }

  Digest read_digest() {
    const std::string_view text = in_.word("32 hexadecimal digits");
    const std::optional<Digest> digest = sched::digest_from(text);
    if (!digest)
      in_.fail(fmt::format("{}; expected 32 hexadecimal digits", sched::in_quotes(text)));
    return *digest;
  }

  void read_head() {
    line_of("slackline");
    in_.expect("queues");
    const std::uint32_t version = in_.number32("the version");
    if (version != kQueueTextVersion) {
      in_.fail(fmt::format("version {}; expected {}", version, kQueueTextVersion));
    }
    in_.expect_end();
    if (!in_.next_line()) in_.fail("the text ends; expected schedule");
    if (in_.peek() == "digest") {
      in_.expect("digest");
      digest_line_ = in_.line();
      digest_ = read_digest();
      in_.expect_end();
      if (!in_.next_line()) in_.fail("the text ends; expected schedule");
    }
    in_.expect("schedule");
    const Digest schedule = read_digest();
    in_.expect_end();
    if (!in_.next_line()) in_.fail("the text ends; expected mode");
    std::string title;
    if (in_.peek() == "title") {
      in_.expect("title");
      title = sched::read_title(in_);
      in_.expect_end();
      if (!in_.next_line()) in_.fail("the text ends; expected mode");
    }
    in_.expect("mode");
    const Mode mode = sched::named(in_, mode_named, "sq-wait, mq-enable or rdmc-mq");
    in_.expect_end();
    line_of("ready");
    const Readiness ready = sched::named(in_, readiness_named, "none, handshake or window");
    const std::uint32_t window = in_.at_end() ? 0 : in_.number32("the window");
    in_.expect_end();
    line_of("ranks");
    const std::uint32_t ranks = in_.number32("the number of ranks", 1u << 24);
    in_.expect_end();
    builder_.emplace(ranks);
    builder_->set_schedule(schedule);
    builder_->set_title(std::move(title));
    builder_->set_mode(mode);
    builder_->set_readiness(ready, window);
  }

  void expect_index(std::size_t next) {
    const std::uint32_t index = in_.number32("a number", kMaxIndex);
    if (index != next) in_.fail(fmt::format("number {}; expected {}", index, next));
  }

  sched::RankId read_rank() {
    in_.expect("rank");
    return sched::RankId(in_.number32("a rank", kMaxIndex));
  }

  void read_buffer() {
    in_.expect("buffer");
    expect_index(buffers_++);
    const sched::RankId rank = read_rank();
    in_.expect("bytes");
    builder_->add_buffer(rank, in_.bytes("the buffer's bytes"));
  }

  void read_cq() {
    in_.expect("cq");
    expect_index(builder_->cqs().size());
    CompletionQueue cq;
    cq.rank = read_rank();
    if (!in_.at_end()) {
      in_.expect("start");
      cq.start = in_.number("the start", ~std::uint64_t{0});
    }
    builder_->add_cq(cq);
  }

  void read_queue() {
    in_.expect("queue");
    expect_index(builder_->queues().size());
    Queue q;
    q.rank = read_rank();
    q.kind = sched::named(in_, queue_kind_named, "send, receive or management");
    q.purpose = sched::named(in_, purpose_named, "data, ready, credit, order or collect");
    in_.expect("pair");
    q.pair = in_.number32("the queue pair", kMaxIndex);
    in_.expect("cq");
    q.cq = CqId(in_.number32("the completion queue", kMaxIndex));
    sched::read_attributes(
        in_, "an attribute",
        Attribute{"peer", [&] { q.peer = QueueId(in_.number32("the peer", kMaxIndex)); }},
        Attribute{"serves",
                  [&] { q.serves = QueueId(in_.number32("the queue served", kMaxIndex)); }},
        Attribute{"managed", [&] { q.managed = true; }},
        Attribute{"start", [&] { q.start = in_.number("the start", ~std::uint64_t{0}); }});
    queue_ = builder_->add_queue(q);
  }

  void read_entry() {
    Entry entry;
    entry.kind = sched::named(in_, entry_kind_named, "buffer, cq, queue or an entry");
    if (!queue_.valid()) in_.fail("an entry before any queue; expected queue");
    if (entry.kind == EntryKind::kWait || is_enable(entry.kind)) {
      entry.target = in_.number32("what is waited for or enabled", kMaxIndex);
      in_.expect("count");
      entry.count = in_.number("the count", ~std::uint64_t{0});
    }
    entry.local = read_pieces();
    if (in_.peek() == "to") {
      in_.expect("to");
      entry.remote = read_pieces();
    }
    sched::read_attributes(
        in_, "an attribute",
        Attribute{"op", [&] { entry.op = sched::OpId(in_.number32("the operation", kMaxIndex)); }},
        Attribute{"step", [&] { entry.step = in_.number32("the step"); }},
        Attribute{"latest", [&] { entry.latest = in_.number32("the latest step"); }},
        Attribute{"signaled", [&] { entry.signaled = true; }});
    builder_->add(queue_, entry);
  }

  SliceRange read_pieces() {
    pieces_.clear();
    while (!in_.peek().empty() && in_.peek().front() >= '0' && in_.peek().front() <= '9') {
      std::string_view text = in_.word("a piece");
      const std::string_view whole = text;
      const auto take = [&](char c) {
        const bool there = !text.empty() && text.front() == c;
        if (there) text.remove_prefix(1);
        return there;
      };
      std::uint64_t buffer = 0;
      Slice slice;
      if (!sched::take_number(text, buffer) || buffer > kMaxIndex || !take('[') ||
          !sched::take_bytes(text, slice.offset) || !take('+') ||
          !sched::take_bytes(text, slice.bytes) || !take(']') || !text.empty()) {
        in_.fail(
            fmt::format("{} is no piece; expected buffer[offset+bytes]", sched::in_quotes(whole)));
      }
      slice.buffer = sched::BufferId(static_cast<std::uint32_t>(buffer));
      pieces_.push_back(slice);
    }
    return pieces_.empty() ? SliceRange{} : builder_->add_slices(pieces_);
  }

  TextScanner in_;
  std::optional<QueueProgramBuilder> builder_;
  std::optional<Digest> digest_;
  std::uint32_t digest_line_ = 0;
  std::size_t buffers_ = 0;
  QueueId queue_;
  std::vector<Slice> pieces_;
};

}  // namespace

std::string write_queues(const QueueProgram& program) { return Writer(program).run(); }

QueueProgram read_queues(std::string_view text, std::string_view file) {
  return Reader(text, file).run();
}

}  // namespace slackline::offload
