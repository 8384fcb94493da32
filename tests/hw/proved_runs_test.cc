// What the verifier proves ends well on real transports: random programs, and mutants of right ones
// that are right still; in bytes and in blocks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "sched/text.h"
#include "sched/verify.h"
#include "tests/hw/local_ranks.h"
#include "tests/support/asked_count.h"
#include "tests/support/mutate.h"
#include "tests/support/random_program.h"
#include "tests/support/sample_drafts.h"

namespace slackline::testing {
namespace {

using std::chrono::seconds;

// How many proved programs; more if the environment asks for them.
int programs() { return static_cast<int>(asked_count("SLACKLINE_REAL_PROGRAMS", 20)); }

bool is_run(const Draft& draft) {
  return std::ranges::none_of(draft.ops, [&](const DraftOp& op) {
    return op.op.channel.valid() &&
           draft.channels[op.op.channel.value].service != Service::kReliable;
  });
}

// The same program with a block in place of every byte; nothing for one with words in it.
bool enlarge(Draft& draft, std::uint64_t by) {
  if (std::ranges::any_of(draft.ops, [](const DraftOp& op) { return is_atomic(op.op.kind); })) {
    return false;
  }
  const auto slice = [&](Slice& s) {
    s.offset *= by;
    s.bytes *= by;
  };
  for (Buffer& buffer : draft.buffers) buffer.bytes *= by;
  for (DraftOp& op : draft.ops) {
    for (Slice& s : op.reads) slice(s);
    for (Slice& s : op.writes) slice(s);
  }
  for (std::vector<Fact>* facts : {&draft.pre, &draft.post}) {
    for (Fact& fact : *facts) {
      slice(fact.slice);
      fact.value_offset *= by;
    }
  }
  return true;
}

class ProvedRuns : public ::testing::TestWithParam<const char*> {
 protected:
  // Small enough to be copied by the provider, or too large for it; or as it is. What `tcp` stands
  // for depends on the schedule; net by itself keeps small messages alone.
  static bool grow(Draft& draft, std::uint64_t seed) {
    const bool early = std::ranges::any_of(
        draft.ops, [](const DraftOp& op) { return op.op.kind == OpKind::kSend; });
    const bool may_grow = seed % 3 != 0 && !(early && std::string(GetParam()) == "net");
    return may_grow && enlarge(draft, seed % 3 == 1 ? 700 : 30'000);
  }

  static void expect_right(const Schedule& schedule, const std::string& what) {
    ASSERT_FALSE(has_errors(verify(schedule))) << what << '\n' << write_text(schedule);
    const auto reports = run_locally(schedule, hw::FabricOptions{GetParam(), {}}, seconds(20));
    for (std::uint32_t r = 0; r < reports.size(); ++r) {
      EXPECT_EQ(reports[r].error, "") << what << ", rank " << r << '\n' << write_text(schedule);
    }
  }
};

TEST_P(ProvedRuns, EndWithTheRightBytes) {
  int with_flags = 0;
  int enlarged = 0;
  int run = 0;
  for (std::uint64_t seed = 0; run < programs(); ++seed) {
    Draft draft = random_program(9'000'000 + seed, 60 + 20 * static_cast<std::uint32_t>(seed % 3));
    if (!is_run(draft) || has_errors(verify(draft.build()))) continue;
    // Programs without flags are the greater part, and the others the one that is in doubt.
    const bool flags = !draft.flags.empty();
    if (!flags && seed % 4 != 0) continue;
    add_facts_of_a_run(draft, 1);
    enlarged += grow(draft, seed);
    ++run;
    with_flags += flags;
    expect_right(draft.build(), fmt::format("seed {}", seed));
    if (HasFailure()) return;
  }
  EXPECT_GE(with_flags, programs() / 4);
  EXPECT_GE(enlarged, programs() / 8);
}

// Where the verifier still proves a mutant, something else makes up for what the mutation took
// away.
TEST_P(ProvedRuns, OfMutantsEndWithTheRightBytes) {
  std::vector<SampleDraft> samples = handmade_samples();
  const std::size_t handmade = samples.size();
  for (SampleDraft& sample : lowered_samples()) samples.push_back(std::move(sample));
  const auto all = mutations();
  Random random(31);
  std::set<std::string> kinds;
  int enlarged = 0;
  int run = 0;
  while (run < (programs() + 1) / 2) {
    // What the patterns have is less varied than what was made by hand.
    const SampleDraft& sample = samples[random() % (random() % 3 == 0 ? samples.size() : handmade)];
    Draft draft = sample.draft;
    const auto& [kind, mutate] = all[random() % all.size()];
    if (!mutate(draft, random) || !is_run(draft)) continue;
    try {
      if (has_errors(verify(draft.build()))) continue;
    } catch (const InputError&) {
      continue;  // such a schedule cannot even be made
    }
    add_facts_of_a_run(draft, 1);
    enlarged += grow(draft, static_cast<std::uint64_t>(run));
    ++run;
    kinds.insert(kind);
    expect_right(draft.build(), fmt::format("mutant {} of {}: {}", run, sample.name, kind));
    if (HasFailure()) return;
  }
  EXPECT_GE(enlarged, run / 8);
  EXPECT_GE(kinds.size(), 4u);
}

std::string provider_name(const ::testing::TestParamInfo<const char*>& info) {
  const std::string name = info.param;
  return name == "tcp;ofi_rxm" ? "rxm" : name;
}

INSTANTIATE_TEST_SUITE_P(Providers, ProvedRuns, ::testing::Values("shm", "net", "tcp;ofi_rxm"),
                         provider_name);

}  // namespace
}  // namespace slackline::testing
