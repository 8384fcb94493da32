// A queue of a fluid against the same by hand: what came first leaves first, and what came together
// leaves in one proportion.
#include "analysis/engines/fluid_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace slackline::analysis {
namespace {

TEST(FluidQueue, MixesWhatComesTogether) {
  FluidQueue queue;
  const std::vector<FluidPart> first = {{0, 1, 30}, {1, 2, 10}};
  const std::vector<FluidPart> second = {{2, 1, 5}};
  queue.push(first);
  queue.push(second);
  std::vector<double> out(3, 0);
  std::uint32_t whole = 0;
  const auto take = [&](double most) {
    return queue.take(most, [&](const FluidPart& part, bool is_whole) {
      out[part.message] += part.bytes;
      whole += is_whole ? 1 : 0;
    });
  };
  EXPECT_EQ(take(20), 20);
  EXPECT_EQ(out, (std::vector<double>{15, 5, 0}));
  EXPECT_EQ(whole, 0u);
  EXPECT_EQ(queue.bytes(), 25);
  EXPECT_EQ(take(22), 22);
  EXPECT_EQ(out, (std::vector<double>{30, 10, 2}));
  EXPECT_EQ(whole, 2u);
  EXPECT_EQ(take(100), 3);
  EXPECT_EQ(out, (std::vector<double>{30, 10, 5}));
  EXPECT_EQ(whole, 3u);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.bytes(), 0);
  EXPECT_EQ(queue.entered(), 45);
  EXPECT_EQ(queue.left(), 45);
  EXPECT_EQ(take(1), 0);
}

// After x bytes, of a piece that lay between y and y + b its share of (x − y) / b has left.
TEST(FluidQueue, LosesAndInventsNothing) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> bytes(0.5, 2000);
    FluidQueue queue;
    struct Piece {
      double begin, length;
      std::vector<FluidPart> parts;
    };
    std::vector<Piece> pieces;
    double entered = 0, left = 0;
    std::vector<double> out(4, 0);
    for (int round = 0; round < 200; ++round) {
      if (random() % 2 == 0) {
        Piece piece{entered, 0, {}};
        for (std::uint32_t m = 0; m < 4; ++m) {
          if (m != 3 && random() % 2 == 0) continue;
          piece.parts.push_back({m, 1, bytes(random)});
          piece.length += piece.parts.back().bytes;
        }
        entered += piece.length;
        queue.push(piece.parts);
        pieces.push_back(piece);
      } else {
        const double most = bytes(random);
        const double taken =
            queue.take(most, [&](const FluidPart& part, bool) { out[part.message] += part.bytes; });
        ASSERT_NEAR(taken, std::min(most, entered - left), 1e-5);
        left += taken;
      }
      ASSERT_NEAR(queue.bytes(), entered - left, 1e-5);
      std::vector<double> expected(4, 0);
      for (const Piece& piece : pieces) {
        const double share = std::clamp((left - piece.begin) / piece.length, 0.0, 1.0);
        for (const FluidPart& part : piece.parts) expected[part.message] += share * part.bytes;
      }
      for (std::uint32_t m = 0; m < 4; ++m) ASSERT_NEAR(out[m], expected[m], 1e-4) << seed;
    }
  }
}

}  // namespace
}  // namespace slackline::analysis
