// The verifier against its oracle on random schedules: every kind of operation on few bytes, tied
// together loosely or tightly.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "sched/error.h"
#include "tests/support/draft.h"
#include "tests/support/verifier_agreement.h"

namespace slackline::testing {
namespace {

constexpr std::uint64_t kBufferBytes = 24;

// Each action joins whatever its ranks have done before with a chance of `tight` percent.
class Generator {
 public:
  Generator(std::uint64_t seed, std::uint32_t tight) : random_(seed), tight_(tight) {
    d_.ranks = 2 + below(2);
    done_.resize(d_.ranks);
    for (std::uint32_t r = 0; r < d_.ranks; ++r) {
      d_.buffer(r, kBufferBytes);
      if (below(8) != 0) d_.pre.push_back({{BufferId(r), 0, kBufferBytes}, ValueId(r), 0});
    }
    for (std::uint32_t src = 0; src < d_.ranks; ++src) {
      for (std::uint32_t dst = 0; dst < d_.ranks; ++dst) {
        if (src == dst && below(2) == 0) continue;
        const std::uint32_t window = below(6) == 0 ? 1 + below(2) : 0;
        d_.channel(src, dst, window, below(10) == 0 ? Service::kDatagram : Service::kReliable);
      }
    }
  }

  Draft make() {
    const std::uint32_t actions = 2 + below(7);
    for (std::uint32_t i = 0; i < actions; ++i) act();
    return d_;
  }

 private:
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

  Slice slice(RankId rank, std::uint64_t bytes) {
    return {BufferId(rank.value), below(static_cast<std::uint32_t>(kBufferBytes - bytes + 1)),
            bytes};
  }
  // A payload's memory: one slice or two.
  std::vector<Slice> slices(RankId rank, std::uint64_t bytes) {
    if (bytes < 2 || below(3) != 0) return {slice(rank, bytes)};
    const std::uint64_t first = 1 + below(static_cast<std::uint32_t>(bytes - 1));
    return {slice(rank, first), slice(rank, bytes - first)};
  }

  void tie(OpId op) {
    std::vector<OpId>& before = done_[d_.ops[op.value].op.rank.value];
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (below(100) < tight_) d_.edge(before[i], op, below(10) == 0 ? On::kIssued : On::kDone);
    }
    before.push_back(op);
  }

  OpId at(OpKind kind, RankId rank, ChannelId on, std::vector<Slice> reads,
          std::vector<Slice> writes, Notify notify = Notify::kNone) {
    const OpId op = d_.add(kind, rank.value, on, std::move(reads), std::move(writes), notify);
    tie(op);
    return op;
  }

  void act() {
    const ChannelId on(below(static_cast<std::uint32_t>(d_.channels.size())));
    const RankId src = d_.channels[on.value].src;
    const RankId dst = d_.channels[on.value].dst;
    const std::uint64_t bytes = 1 + below(6);
    switch (below(9)) {
      case 0:
      case 1: {  // a message, or a mere notice
        const std::uint64_t size = below(4) == 0 ? 0 : bytes;
        const auto post = [&] { at(OpKind::kRecv, dst, on, {}, slices(dst, size)); };
        const bool early = below(2) == 0;
        if (early) post();
        at(OpKind::kSend, src, on, slices(src, size), {});
        if (!early) post();
        break;
      }
      case 2:
        at(OpKind::kPut, src, on, slices(src, bytes), slices(dst, bytes));
        break;
      case 3:
        at(OpKind::kPut, src, on, slices(src, bytes), slices(dst, bytes), Notify::kImm);
        at(OpKind::kRecv, dst, on, {}, {});
        break;
      case 4: {
        const Slice target = slice(dst, bytes);
        Slice flag = target;
        flag.offset += bytes - 1;
        flag.bytes = 1;
        const auto watch = [&] { return at(OpKind::kPoll, dst, {}, {flag}, {}); };
        const bool early = below(2) == 0;
        const OpId watched = early ? watch() : OpId::none();
        const OpId put = at(OpKind::kPut, src, on, {slice(src, bytes)}, {target}, Notify::kFlag);
        d_.flag(put, early ? watched : watch());
        break;
      }
      case 5:
        at(OpKind::kGet, src, on, slices(dst, bytes), slices(src, bytes));
        break;
      case 6:
        atomic(on, src, dst);
        break;
      case 7:
        at(OpKind::kCopy, src, {}, slices(src, bytes), slices(src, bytes));
        break;
      default: {
        const Slice sum = slice(src, bytes);
        at(OpKind::kReduce, src, {}, {below(2) == 0 ? sum : slice(src, bytes), slice(src, bytes)},
           {sum});
      }
    }
  }

  void atomic(ChannelId on, RankId src, RankId dst) {
    const Slice word{BufferId(dst.value), 8ull * below(2) + below(2), 8};
    std::vector<Slice> writes = {word};
    if (below(2) == 0) writes.push_back(slice(src, 8));
    const OpId op = at(OpKind::kFetchAdd, src, on, {word}, writes);
    OpArguments arguments;
    for (OpId earlier : done_[src.value]) {
      if (earlier != op && is_atomic(d_.ops[earlier.value].op.kind) && below(2) == 0) {
        arguments.operand = {Operand::From::kResult, earlier, 1};
      }
    }
    if (below(3) == 0) arguments.address_offset = {Operand::From::kLiteral, {}, below(7)};
    d_.ops[op.value].arguments = arguments;
  }

  std::mt19937_64 random_;
  std::uint32_t tight_;
  Draft d_;
  std::vector<std::vector<OpId>> done_;  // by rank
};

// Facts that hold, now and then one that does not.
void add_post_facts(Draft& draft, const BruteForceVerifier& oracle, std::mt19937_64& random) {
  for (const auto& [place, symbol] : oracle.memory()) {
    const auto& [kind, value, byte] = symbol;
    if (kind != 1 || random() % 4 != 0) continue;
    const bool wrong = random() % 50 == 0;
    draft.post.push_back(
        {{BufferId(place.first), place.second, 1}, ValueId(value), byte + (wrong ? 1 : 0)});
  }
}

class VerifyDifferential : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(VerifyDifferential, AgreesWithTheOracle) {
  const std::uint32_t tight = GetParam();
  int clean = 0;
  int broken = 0;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    Draft draft = Generator(seed * 1000 + tight, tight).make();
    const Schedule bare = draft.build();
    BruteForceVerifier oracle(bare);
    oracle.errors(seed);
    std::mt19937_64 random(seed);
    add_post_facts(draft, oracle, random);
    (agree(draft.build(), seed, "seed " + std::to_string(seed)) ? broken : clean)++;
    if (HasFailure()) return;
  }
  RecordProperty("made", clean);
  RecordProperty("defects", broken);
  EXPECT_GE(clean, 100);
  EXPECT_GE(broken, 100);
}

INSTANTIATE_TEST_SUITE_P(Tightness, VerifyDifferential, ::testing::Values(20, 60, 90, 100));

}  // namespace
}  // namespace slackline::testing
