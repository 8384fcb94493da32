// The verifier against its oracle on random schedules: every kind of operation on few bytes, tied
// together loosely or tightly.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/support/random_program.h"
#include "tests/support/verifier_agreement.h"

namespace slackline::testing {
namespace {

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
    Draft draft = random_program(seed * 1000 + tight, tight);
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
