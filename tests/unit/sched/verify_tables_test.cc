// The verifier's tables, each against the plainest thing that could stand in its place: buffers cut
// into segments, and what stands in memory byte by byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "sched/verify/segments.h"
#include "sched/verify/values.h"
#include "tests/support/draft.h"

namespace slackline::testing {
namespace {

using Origin = SymbolicValue::Origin;
using Random = std::mt19937;
using Segments = slackline::sched::SegmentRun;  // a test has a member of that name

std::uint32_t below(Random& random, std::uint64_t n) {
  return static_cast<std::uint32_t>(random() % n);
}

// Copies and facts at random places of a few small buffers, some of them empty.
Draft random_draft(Random& random) {
  Draft d;
  const std::uint32_t buffers = 1 + below(random, 4);
  for (std::uint32_t b = 0; b < buffers; ++b) d.buffer(0, 1 + below(random, 12));
  d.channel(0, 0);
  const auto slice = [&] {
    const std::uint32_t b = below(random, buffers);
    const std::uint64_t size = d.buffers[b].bytes;
    const std::uint64_t first = below(random, size);
    return Slice{BufferId(b), first, below(random, size - first + 1)};
  };
  std::optional<Slice> before;
  for (std::uint32_t i = below(random, 8); i > 0; --i) {
    Slice from = slice();
    // Blocks mostly follow each other.
    if (before && below(random, 2) == 0) {
      from = *before;
      from.offset += from.bytes;
      if (from.offset + from.bytes > d.buffers[from.buffer.value].bytes) from = slice();
    }
    before = from;
    const OpId op = d.add(OpKind::kPut, 0, ChannelId(0), {from}, {slice(), slice()});
    if (below(random, 3) == 0) {
      std::uint64_t room = 12;
      for (const Slice& s : d.ops[op.value].writes) {
        room = std::min(room, d.buffers[s.buffer.value].bytes - s.bytes - s.offset);
      }
      d.ops[op.value].arguments.emplace().address_offset = {
          Operand::From::kLiteral, {}, below(random, room + 1)};
    }
  }
  for (std::uint32_t i = below(random, 3); i > 0; --i) d.pre.push_back({slice(), ValueId(0), 0});
  for (std::uint32_t i = below(random, 3); i > 0; --i) d.post.push_back({slice(), ValueId(0), 0});
  return d;
}

std::vector<Slice> accesses(const Schedule& schedule) {
  std::vector<Slice> all(schedule.slices().begin(), schedule.slices().end());
  for (const Op& op : schedule.ops()) {
    for_each_read(schedule, op, [&](const Slice& s) { all.push_back(s); });
    for_each_write(schedule, op, [&](const Slice& s) { all.push_back(s); });
  }
  for (const Fact& fact : schedule.contract().pre) all.push_back(fact.slice);
  for (const Fact& fact : schedule.contract().post) all.push_back(fact.slice);
  std::erase_if(all, [](const Slice& s) { return s.bytes == 0; });
  return all;
}

void expect_covers(const SegmentTable& segments, SegmentRun run, const Slice& slice) {
  std::uint64_t at = slice.offset;
  for (std::uint32_t s = run.first; s < run.last; ++s) {
    const Slice part = segments.slice(s);
    EXPECT_EQ(part.buffer, slice.buffer);
    EXPECT_EQ(part.offset, at);
    at += part.bytes;
  }
  EXPECT_EQ(at, slice.offset + slice.bytes);
}

TEST(SegmentTable, CutsWhereAnAccessBeginsOrEndsAndNowhereElse) {
  Random random(1);
  for (int trial = 0; trial < 3000; ++trial) {
    const Schedule schedule = random_draft(random).build();
    const SegmentTable segments(schedule);
    std::set<std::pair<std::uint32_t, std::uint64_t>> cuts;
    const std::vector<Slice> all = accesses(schedule);
    for (const Slice& s : all) {
      cuts.insert({s.buffer.value, s.offset});
      cuts.insert({s.buffer.value, s.offset + s.bytes});
    }
    EXPECT_EQ(segments.size(), cuts.size());
    for (const Slice& s : all) {
      const Segments run = segments.run(s);
      expect_covers(segments, run, s);
      const auto begin = cuts.find({s.buffer.value, s.offset});
      const auto end = cuts.find({s.buffer.value, s.offset + s.bytes});
      EXPECT_EQ(run.last - run.first, std::distance(begin, end));
      for (std::uint64_t byte = s.offset; byte < s.offset + s.bytes; ++byte) {
        const Slice held = segments.slice(segments.holding({s.buffer, byte, 1}));
        EXPECT_EQ(held.buffer, s.buffer);
        EXPECT_LE(held.offset, byte);
        EXPECT_LT(byte, held.offset + held.bytes);
      }
    }
    EXPECT_EQ(segments.run({BufferId(0), 0, 0}).first, segments.run({BufferId(0), 0, 0}).last);
    for (const Op& op : schedule.ops()) {
      std::vector<Slice> expected;
      for_each_read(schedule, op, [&](const Slice& s) { expected.push_back(s); });
      for_each_write(schedule, op, [&](const Slice& s) { expected.push_back(s); });
      std::size_t next = 0;
      const auto visit = [&](Segments run) {
        const Slice& s = expected.at(next++);
        if (s.bytes == 0) {
          EXPECT_EQ(run.first, run.last);
        } else {
          expect_covers(segments, run, s);
        }
      };
      segments.for_each_read(op, visit);
      segments.for_each_write(op, visit);
      EXPECT_EQ(next, expected.size());
    }
    if (HasFailure()) FAIL() << "trial " << trial;
  }
}

// Memory byte by byte: whose byte, and which of it.
using Byte = std::tuple<Origin, std::uint32_t, std::uint64_t>;

std::vector<Byte> bytes_of(const Pieces& pieces) {
  std::vector<Byte> bytes;
  for (const Piece& piece : pieces) {
    for (std::uint64_t i = 0; i < piece.bytes; ++i) {
      bytes.emplace_back(piece.value.origin, piece.value.id, piece.value.offset + i);
    }
  }
  return bytes;
}

class BytesInMemory {
 public:
  BytesInMemory(const SegmentTable& segments, bool joins)
      : segments_(segments), map_(segments, joins) {}

  Byte& at(const Slice& slice, std::uint64_t i) {
    return bytes_[{slice.buffer.value, slice.offset + i}];
  }

  void set(const Slice& slice, SymbolicValue value) {
    map_.set(segments_.run(slice), value);
    for (std::uint64_t i = 0; i < slice.bytes; ++i) {
      at(slice, i) = {value.origin, value.id, value.offset + i};
    }
  }

  // Moves bytes and compares what is said of them.
  void move(const Slice& from, const std::vector<Slice>& to, OpId op) {
    Pieces pieces;
    const auto missing = map_.gather(segments_.run(from), op, pieces);
    std::vector<Byte> payload;
    std::optional<std::uint64_t> gap;
    for (std::uint64_t i = 0; i < from.bytes; ++i) {
      const Byte byte = at(from, i);
      const bool none =
          std::get<0>(byte) == Origin::kNothing || std::get<0>(byte) == Origin::kLowered;
      if (none && !gap) gap = i;
      payload.push_back(none ? Byte{Origin::kUnknown, op.value, from.offset + i} : byte);
    }
    EXPECT_EQ(bytes_of(pieces), payload);
    for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {  // neighbours are joined
      Pieces two = {pieces[i]};
      append(two, pieces[i + 1]);
      EXPECT_EQ(two.size(), 2u);
    }
    ASSERT_EQ(missing.has_value(), gap.has_value());
    if (gap) {
      const Origin origin = std::get<0>(at(from, *gap));
      std::uint64_t end = *gap;
      while (end < from.bytes && std::get<0>(at(from, end)) == origin) ++end;
      EXPECT_EQ(missing->value.origin, origin);
      EXPECT_EQ(missing->slice, (Slice{from.buffer, from.offset + *gap, end - *gap}));
    }
    scatter(pieces, payload, to);
  }

  void scatter(const Pieces& pieces, const std::vector<Byte>& payload,
               const std::vector<Slice>& to) {
    ValueMap::Scatter scatter(map_, pieces);
    std::uint64_t unchanged = 0;
    std::optional<std::uint32_t> first;
    std::size_t next = 0;
    for (const Slice& slice : to) {
      const SegmentRun run = segments_.run(slice);
      for (std::uint32_t s = run.first; s < run.last; ++s) {
        const Slice part = segments_.slice(s);
        bool same = true;
        for (std::uint64_t i = 0; i < part.bytes; ++i) {
          same = same && at(part, i) == payload[next];
          at(part, i) = payload[next++];
        }
        if (!same) continue;
        if (!first) first = s;
        unchanged += part.bytes;
      }
      scatter.into(run);
    }
    EXPECT_EQ(scatter.unchanged_bytes(), unchanged);
    if (first) {
      EXPECT_EQ(scatter.first_unchanged(), *first);
    }
  }

  void compare(const Slice& slice, const SymbolicValue& value) {
    const auto found = map_.mismatch(slice, value);
    const auto differs = [&](std::uint64_t i) {
      return i < slice.bytes && at(slice, i) != Byte{value.origin, value.id, value.offset + i};
    };
    std::uint64_t first = 0;
    while (first < slice.bytes && !differs(first)) ++first;
    ASSERT_EQ(found.has_value(), first < slice.bytes);
    if (found) {
      std::uint64_t end = first;
      while (differs(end)) ++end;
      EXPECT_EQ(found->slice, (Slice{slice.buffer, slice.offset + first, end - first}));
      EXPECT_EQ(found->expected, (SymbolicValue{value.offset + first, value.id, value.origin}));
      const auto [origin, id, offset] = at(slice, first);
      EXPECT_EQ(found->found.origin, origin);
      EXPECT_EQ(found->found.id, id);
      if (origin != Origin::kNothing) {
        EXPECT_EQ(found->found.offset, offset);
      }
    }
    static constexpr std::array kFew{Origin::kContract, Origin::kLowered};
    const auto other = map_.other_than(segments_.run(slice), kFew);
    std::uint64_t odd = 0;
    const auto fits = [&](std::uint64_t i) {
      const Origin origin = std::get<0>(at(slice, i));
      return origin == Origin::kContract || origin == Origin::kLowered;
    };
    while (odd < slice.bytes && fits(odd)) ++odd;
    ASSERT_EQ(other.has_value(), odd < slice.bytes);
    if (other) {
      EXPECT_EQ(other->value.origin, std::get<0>(at(slice, odd)));
      EXPECT_EQ(other->value.id, std::get<1>(at(slice, odd)));
    }
  }

 private:
  const SegmentTable& segments_;
  ValueMap map_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Byte> bytes_;
};

TEST(ValueMap, HoldsWhatEveryByteHolds) {
  Random random(2);
  for (int trial = 0; trial < 1500; ++trial) {
    const Schedule schedule = random_draft(random).build();
    const SegmentTable segments(schedule);
    const std::vector<Slice> all = accesses(schedule);
    if (all.empty()) continue;
    BytesInMemory memory(segments, trial % 2 == 0);
    const auto any = [&] { return all[below(random, all.size())]; };
    for (std::uint32_t step = 0; step < 12; ++step) {
      static constexpr std::array kOrigins{Origin::kContract, Origin::kContract, Origin::kLowered,
                                           Origin::kWord, Origin::kReduced};
      const SymbolicValue value{below(random, 3), below(random, 2),
                                kOrigins[below(random, kOrigins.size())]};
      if (below(random, 2) == 0) memory.set(any(), value);
      // To as many bytes in one slice or two.
      const Slice from = any();
      std::vector<Slice> to = {any(), any()};
      if (to[0].bytes == from.bytes) to.pop_back();
      if (to.back() != to.front() && to[0].bytes + to[1].bytes != from.bytes) to = {from};
      if (to.size() == 2 && to[0] == to[1]) to = {from};
      memory.move(from, to, OpId(step));
      memory.compare(any(), value);
      const Slice held = any();
      const auto [origin, id, offset] = memory.at(held, 0);
      if (origin != Origin::kNothing) memory.compare(held, {offset, id, origin});
    }
    if (HasFailure()) FAIL() << "trial " << trial;
  }
}

}  // namespace
}  // namespace slackline::testing
