// Two lists of slices, cut at each other's ends: against both written out byte by byte.
#include "sched/pieces.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace slackline::sched {
namespace {

using Bytes = std::vector<std::pair<std::uint32_t, std::uint64_t>>;  // buffer, offset

// Pieces of those lengths, each behind a gap of one byte, in a buffer of its own number.
std::vector<Slice> slices_of(const std::vector<std::uint64_t>& lengths, std::uint32_t buffer) {
  std::vector<Slice> all;
  std::uint64_t at = 3;
  for (const std::uint64_t bytes : lengths) {
    all.push_back({BufferId(buffer++), at, bytes});
    at += bytes + 1;
  }
  return all;
}

Bytes bytes_of(const std::vector<Slice>& slices) {
  Bytes all;
  for (const Slice& s : slices) {
    for (std::uint64_t i = 0; i < s.bytes; ++i) all.emplace_back(s.buffer.value, s.offset + i);
  }
  return all;
}

void each_list(std::uint64_t total, std::vector<std::uint64_t>& lengths,
               std::vector<std::vector<std::uint64_t>>& all) {
  if (total == 0) all.push_back(lengths);
  if (lengths.size() == 4) return;
  for (std::uint64_t bytes = 0; bytes <= total; ++bytes) {
    lengths.push_back(bytes);
    each_list(total - bytes, lengths, all);
    lengths.pop_back();
  }
}

TEST(Pieces, AreOneRunInBothListsAndAsLongAsCanBe) {
  for (std::uint64_t total = 0; total <= 4; ++total) {
    std::vector<std::vector<std::uint64_t>> lists;
    std::vector<std::uint64_t> lengths;
    each_list(total, lengths, lists);
    for (const auto& a : lists) {
      for (const auto& b : lists) {
        const std::vector<Slice> from = slices_of(a, 0), to = slices_of(b, 10);
        std::vector<Slice> found_from, found_to;
        for_each_piece(std::span<const Slice>(from), std::span<const Slice>(to),
                       [&](const Slice& f, const Slice& t) {
                         ASSERT_EQ(f.bytes, t.bytes);
                         ASSERT_NE(f.bytes, 0u);
                         found_from.push_back(f);
                         found_to.push_back(t);
                       });
        ASSERT_EQ(bytes_of(found_from), bytes_of(from));
        ASSERT_EQ(bytes_of(found_to), bytes_of(to));
        // Two that follow each other in both lists would be one.
        for (std::size_t i = 1; i < found_from.size(); ++i) {
          ASSERT_FALSE(found_from[i - 1].buffer == found_from[i].buffer &&
                       found_to[i - 1].buffer == found_to[i].buffer);
        }
      }
    }
  }
}

TEST(Pieces, EndWithTheShorterList) {
  const std::vector<Slice> from = slices_of({5}, 0), to = slices_of({2, 1}, 10);
  int pieces = 0;
  for_each_piece(std::span<const Slice>(from), std::span<const Slice>(to),
                 [&](const Slice&, const Slice&) { ++pieces; });
  EXPECT_EQ(pieces, 2);
}

}  // namespace
}  // namespace slackline::sched
