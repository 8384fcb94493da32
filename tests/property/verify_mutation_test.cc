// The verifier's strength, measured: single-point defects in schedules that are right. A defect
// counts if the oracle, which shares no code with the verifier, finds that no other path makes up
// for it; of those, all must be caught. The others must not be complained of.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/error.h"
#include "tests/support/mutate.h"
#include "tests/support/sample_drafts.h"
#include "tests/support/verifier_agreement.h"

namespace slackline::testing {
namespace {

TEST(VerifyMutation, SamplesAreRight) {
  for (const auto& samples : {lowered_samples(), handmade_samples(), summing_samples()}) {
    for (const SampleDraft& sample : samples) {
      EXPECT_FALSE(agree(sample.draft.build(), 1, sample.name));
    }
  }
}

class VerifyMutation : public ::testing::TestWithParam<std::size_t> {};

TEST_P(VerifyMutation, EveryDefectIsCaught) {
  const auto [kind, mutate] = mutations()[GetParam()];
  const std::vector<SampleDraft> lowered = lowered_samples();
  const std::vector<SampleDraft> handmade = handmade_samples();
  Random random(1000 + GetParam());
  int made = 0;
  int defects = 0;
  for (int attempt = 0; attempt < 4000 && made < 400; ++attempt) {
    const std::vector<SampleDraft>& samples = random() % 2 == 0 ? lowered : handmade;
    const SampleDraft& sample = samples[random() % samples.size()];
    Draft draft = sample.draft;
    if (!mutate(draft, random)) continue;
    std::optional<Schedule> schedule;
    try {
      schedule = draft.build();
    } catch (const InputError&) {
      continue;  // such a schedule cannot even be made
    }
    ++made;
    if (agree(*schedule, random(), fmt::format("{}: {}, attempt {}", sample.name, kind, attempt))) {
      ++defects;
    }
    if (HasFailure()) return;
  }
  RecordProperty("made", made);
  RecordProperty("defects", defects);
  EXPECT_GE(made, 100) << kind;
  EXPECT_GE(defects, 20) << kind;
}

std::string name_for_test(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
  std::erase(text, '\'');
  return text;
}

std::string mutation_name(const ::testing::TestParamInfo<std::size_t>& info) {
  return name_for_test(mutations()[info.param].first);
}

// Sums with a defect: a term twice, or not at all.
class VerifySumMutation : public ::testing::TestWithParam<std::size_t> {};

TEST_P(VerifySumMutation, EveryDefectIsCaught) {
  const auto [kind, mutate] = sum_mutations()[GetParam()];
  const std::vector<SampleDraft> samples = summing_samples();
  Random random(2000 + GetParam());
  int defects = 0;
  for (int attempt = 0; attempt < 200; ++attempt) {
    const SampleDraft& sample = samples[random() % samples.size()];
    Draft draft = sample.draft;
    if (!mutate(draft, random)) continue;
    if (agree(draft.build(), random(),
              fmt::format("{}: {}, attempt {}", sample.name, kind, attempt))) {
      ++defects;
    }
    if (HasFailure()) return;
  }
  RecordProperty("defects", defects);
  EXPECT_GE(defects, 20) << kind;
}

std::string sum_mutation_name(const ::testing::TestParamInfo<std::size_t>& info) {
  return name_for_test(sum_mutations()[info.param].first);
}

INSTANTIATE_TEST_SUITE_P(Kinds, VerifySumMutation,
                         ::testing::Range<std::size_t>(0, sum_mutations().size()),
                         sum_mutation_name);

INSTANTIATE_TEST_SUITE_P(Kinds, VerifyMutation,
                         ::testing::Range<std::size_t>(0, mutations().size()), mutation_name);

}  // namespace
}  // namespace slackline::testing
