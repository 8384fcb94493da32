// What the verifier proves, no run refutes: random programs and mutants of right ones, carried out
// by a machine that moves bytes as badly as transports may.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "base/error.h"
#include "sched/compile.h"
#include "sched/text.h"
#include "sched/verify.h"
#include "tests/support/asked_count.h"
#include "tests/support/byte_adversary.h"
#include "tests/support/mutate.h"
#include "tests/support/random_program.h"
#include "tests/support/sample_drafts.h"
#include "tests/support/verifier_agreement.h"

namespace slackline::testing {
namespace {

constexpr int kRuns = 6;

// How many random programs; more if the environment asks for them.
int programs() { return static_cast<int>(asked_count("SLACKLINE_ADVERSARY_PROGRAMS", 6000)); }

// The first thing that goes wrong in some runs; empty if nothing does.
std::string refutation(const Schedule& schedule, std::uint64_t seed) {
  for (int run = 0; run < kRuns; ++run) {
    std::string wrong = ByteAdversary(schedule, seed + static_cast<std::uint64_t>(run)).run();
    if (!wrong.empty()) return wrong;
  }
  return {};
}

struct Counts {
  int proved = 0;
  int proved_with_flags = 0;
  int refuted = 0;  // by the machine, of those that the verifier refuses
  int refuted_by_flag = 0;
};

void judge(const Schedule& schedule, std::uint64_t seed, const std::string& what, Counts& counts) {
  const Diagnostics found = verify(schedule);
  const bool has_matches = std::none_of(found.begin(), found.end(), [](const Diagnostic& d) {
    return d.code <= Code::kTruncate && d.severity == Severity::kError;
  });
  if (!has_matches) return;  // the machine needs them
  const std::string wrong = refutation(schedule, seed);
  if (!has_errors(found)) {
    ++counts.proved;
    counts.proved_with_flags += std::any_of(schedule.ops().begin(), schedule.ops().end(),
                                            [](const Op& op) { return op.kind == OpKind::kPoll; });
    EXPECT_EQ(wrong, "") << what << " is proved\n" << write_text(schedule);
  } else if (!wrong.empty()) {
    ++counts.refuted;
    counts.refuted_by_flag += std::all_of(found.begin(), found.end(), [](const Diagnostic& d) {
      return d.code == Code::kFlag || d.severity == Severity::kWarning;
    });
  }
}

TEST(VerifyAdversary, NoRunRefutesWhatIsProved) {
  Counts counts;
  for (int i = 0; i < programs(); ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    const std::uint32_t tight = 40 + 20 * static_cast<std::uint32_t>(i % 4);
    Draft draft = random_program(7'000'000 + seed, tight);
    add_facts_of_a_run(draft, seed);
    judge(draft.build(), 11 * seed, fmt::format("program {}", i), counts);
    if (HasFailure()) return;
  }
  RecordProperty("proved", counts.proved);
  RecordProperty("proved with flags", counts.proved_with_flags);
  RecordProperty("refuted", counts.refuted);
  RecordProperty("refuted by flags alone", counts.refuted_by_flag);
  fmt::print(
      "{} programs: {} proved, {} of them with flags; {} refuted in a run, {} for flags alone\n",
      programs(), counts.proved, counts.proved_with_flags, counts.refuted, counts.refuted_by_flag);
  EXPECT_GE(counts.proved, programs() / 20);
  EXPECT_GE(counts.proved_with_flags, programs() / 200);
  EXPECT_GE(counts.refuted, programs() / 50);
  EXPECT_GE(counts.refuted_by_flag, programs() / 1000);
}

struct Mutant {
  Schedule schedule;
  std::string kind;
};
// Nothing where that mutation finds no place, or what comes of it is no schedule.
std::optional<Mutant> mutant_of(Draft draft, Random& random) {
  const auto all = mutations();
  const auto& [kind, mutate] = all[random() % all.size()];
  if (!mutate(draft, random)) return std::nullopt;
  try {
    return Mutant{draft.build(), std::string(kind)};
  } catch (const InputError&) {
    return std::nullopt;
  }
}

TEST(VerifyAdversary, NoRunRefutesAMutantThatIsProved) {
  const std::vector<SampleDraft> samples = handmade_samples();
  Random random(5);
  Counts counts;
  for (int attempt = 0; attempt < 3000; ++attempt) {
    const auto mutant = mutant_of(samples[random() % samples.size()].draft, random);
    if (!mutant) continue;
    judge(mutant->schedule, random(), fmt::format("attempt {}: {}", attempt, mutant->kind), counts);
    if (HasFailure()) return;
  }
  EXPECT_GE(counts.proved, 50);
  EXPECT_GE(counts.refuted, 300);
}

// Small specs of every kind of program that the verifier takes: multicasts, sums, exchanges,
// notifications by flags, calls, and what one-sided operations look up.
constexpr const char* kSpecs[] = {
    "chain:ranks=3,bytes=8,block=3,window=2,ready=write,in-flight=0",
    "circulant:ranks=3,bytes=6,block=2,lower=put,start=all",
    "binomial-pipeline:ranks=4,bytes=4,block=2,order=lockstep",
    "sequential:ranks=2,bytes=6,block=2,stripes=2,messages=2",
    "scatter-allgather:ranks=3,bytes=6,block=2,messages=2,ready=none,first-block=copy",
    "ring-buffer:ranks=3,bytes=3,messages=4,slots=2",
    "ring-buffer:ranks=2,bytes=2,messages=3,slots=2,consume=in-place",
    "table-multicast:ranks=3,bytes=2,messages=3,slots=2,delivery=stable",
    "reduce:ranks=3,bytes=4,block=2,slots=1",
    "reduce:ranks=4,bytes=2,by=binomial-tree,adders=1,messages=2",
    "allreduce:ranks=3,bytes=6,block=2,by=ring",
    "allreduce:ranks=4,bytes=4,block=2,by=recursive-doubling",
    "allreduce:ranks=5,bytes=2,by=bruck",
    "reduce-scatter:ranks=3,bytes=6,block=2",
    "allgather:ranks=3,bytes=2,by=bruck,messages=2",
    "alltoall:ranks=3,bytes=6,messages=2",
    "gather:ranks=4,bytes=2",
    "barrier:ranks=4,messages=2",
    "switch-allreduce:ranks=4,bytes=4,block=2",
    "switch-multicast:ranks=4,bytes=6,block=2,loss=300000",
    "call:ranks=2,bytes=3,messages=2",
    "call-return:ranks=2,bytes=2",
    "broadcast-buffer-read:ranks=3,bytes=2",
};

TEST(VerifyAdversary, NoRunRefutesAMutantOfAPatternThatIsProved) {
  std::vector<Draft> samples;
  for (const char* spec : kSpecs) {
    const Schedule schedule = compile(parse_spec(spec));
    ASSERT_FALSE(has_errors(verify(schedule))) << spec;
    ASSERT_EQ(refutation(schedule, 1), "") << spec;
    samples.push_back(Draft::from(schedule));
  }
  Random random(6);
  Counts counts;
  const int attempts = static_cast<int>(asked_count("SLACKLINE_ADVERSARY_MUTANTS", 2000));
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const std::size_t number = random() % samples.size();
    const auto mutant = mutant_of(samples[number], random);
    if (!mutant) continue;
    judge(mutant->schedule, random(),
          fmt::format("{}, attempt {}: {}", kSpecs[number], attempt, mutant->kind), counts);
    if (HasFailure()) return;
  }
  fmt::print("{} mutants: {} proved, {} refuted in a run\n", attempts, counts.proved,
             counts.refuted);
  EXPECT_GE(counts.proved, attempts / 20);
  EXPECT_GE(counts.refuted, attempts / 20);
}

}  // namespace
}  // namespace slackline::testing
