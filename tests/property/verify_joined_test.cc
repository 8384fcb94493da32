// Pieces of memory kept as one, or each on its own: the verifier says the same, word by word.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "base/error.h"
#include "sched/text.h"
#include "sched/verify.h"
#include "tests/support/mutate.h"
#include "tests/support/random_program.h"
#include "tests/support/sample_drafts.h"
#include "tests/support/verifier_agreement.h"

namespace slackline::testing {
namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

// What both say, if it is the same.
std::optional<std::string> said(const Schedule& schedule, const std::string& what) {
  std::string joined;
  for (const std::size_t limit : {std::size_t{1}, std::size_t{5}, std::size_t{100'000}}) {
    joined = text(verify(schedule, {.max_diagnostics = limit, .join_from = 0}));
    const std::string apart =
        text(verify(schedule, {.max_diagnostics = limit, .join_from = kNever}));
    EXPECT_EQ(joined, apart) << what << ", limit " << limit << '\n' << write_text(schedule);
    if (joined != apart) return std::nullopt;
  }
  return joined;
}

TEST(VerifyJoined, RandomPrograms) {
  int clean = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const std::uint32_t tight = 20 + 20 * static_cast<std::uint32_t>(seed % 5);
    Draft draft = random_program(4'000'000 + seed, tight);
    if (seed % 2 == 0) add_facts_of_a_run(draft, seed);
    const auto all = said(draft.build(), fmt::format("seed {}", seed));
    ASSERT_TRUE(all);
    clean += all->empty();
  }
  EXPECT_GE(clean, 25);
  EXPECT_LE(clean, 975);
}

TEST(VerifyJoined, Mutants) {
  std::vector<SampleDraft> samples = handmade_samples();
  for (SampleDraft& sample : lowered_samples()) samples.push_back(std::move(sample));
  const auto all = mutations();
  Random random(21);
  for (int attempt = 0; attempt < 1500; ++attempt) {
    const SampleDraft& sample = samples[random() % samples.size()];
    Draft draft = sample.draft;
    const auto& [kind, mutate] = all[random() % all.size()];
    if (!mutate(draft, random)) continue;
    try {
      ASSERT_TRUE(said(draft.build(), fmt::format("{}, {}", sample.name, kind)));
    } catch (const InputError&) {
      continue;  // such a schedule cannot even be made
    }
  }
}

// Many accesses to few bytes of one rank, mostly in order: long lists of reads, writes over parts
// of them, operations that overlap themselves, puts whose two ends are one rank's, and words.
class Crowd {
 public:
  explicit Crowd(std::uint64_t seed) : random_(seed), bytes_(16 + 8 * below(16)) {}

  Draft make() {
    d_.ranks = 1;
    for (int i = 0; i < 2; ++i) d_.buffer(0, bytes_);
    for (std::uint32_t b = 0; b < 2; ++b) {
      if (below(4) != 0) d_.pre.push_back({{BufferId(b), 0, bytes_}, ValueId(b), 0});
    }
    const ChannelId self = d_.channel(0, 0);
    const std::uint32_t loose = below(3) == 0 ? 1 + below(30) : 0;
    const std::uint32_t count = 3 + below(40);
    for (std::uint32_t i = 0; i < count; ++i) {
      const OpId op = act(self);
      const auto before = [&] { return OpId(op.value - 1 - below(std::min(op.value, 3u))); };
      if (op.value > 0 && (loose == 0 || below(loose) != 0)) {
        d_.edge(OpId(op.value - 1), op);
      } else if (op.value > 0) {
        d_.edge(before(), op);
      }
    }
    return d_;
  }

 private:
  std::uint32_t below(std::uint64_t n) { return static_cast<std::uint32_t>(random_() % n); }
  Slice slice(std::uint64_t bytes) {
    return {BufferId(below(2)), below(bytes_ - bytes + 1), bytes};
  }
  OpId act(ChannelId self) {
    const std::uint64_t bytes = 1 + below(below(2) == 0 ? 4 : bytes_);
    switch (below(12)) {
      case 0:
      case 1:
        return d_.put(self, slice(bytes), slice(bytes));
      case 2: {
        const Slice to = slice(bytes);
        const OpId put = d_.put(self, slice(bytes), to, Notify::kFlag);
        if (put.value > 0) d_.edge(OpId(put.value - 1), put);
        if (below(2) == 0) d_.pre.clear();
        const OpId poll = d_.poll(0, {{to.buffer, to.offset + bytes - 1, 1}});
        d_.flag(put, poll);
        return poll;
      }
      case 3:
        return d_.get(self, slice(bytes), slice(bytes));
      case 4:
      case 5: {
        const Slice in_place = slice(bytes);
        return d_.add(OpKind::kReduce, 0, {}, {in_place, slice(bytes)}, {in_place});
      }
      case 6: {
        const Slice word{BufferId(below(2)), 8 * std::uint64_t{below(bytes_ / 8)}, 8};
        return d_.atomic(OpKind::kFetchAdd, self, word, {slice(8)});
      }
      case 7:  // gathered from two places and scattered over three
        if (bytes >= 3) {
          const std::uint64_t half = bytes / 2;
          return d_.add(OpKind::kCopy, 0, {}, {slice(half), slice(bytes - half)},
                        {slice(1), slice(1), slice(bytes - 2)});
        }
        [[fallthrough]];
      default:
        return d_.copy(0, slice(bytes), slice(bytes));
    }
  }

  Random random_;
  std::uint64_t bytes_;
  Draft d_;
};

TEST(VerifyJoined, Crowds) {
  int races = 0;
  int in_order = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const auto all = said(Crowd(seed).make().build(), fmt::format("seed {}", seed));
    ASSERT_TRUE(all);
    (all->find("raw:") == std::string::npos && all->find("war:") == std::string::npos &&
             all->find("waw:") == std::string::npos
         ? in_order
         : races)++;
  }
  EXPECT_GE(races, 100);
  EXPECT_GE(in_order, 30);
}

}  // namespace
}  // namespace slackline::testing
