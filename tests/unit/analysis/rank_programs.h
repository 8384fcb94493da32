// Random programs whose ranks may stand for ranks of one machine, or for the lanes of one rank.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sched/trace.h"
#include "tests/property/random_runs.h"
#include "tests/unit/analysis/program.h"

namespace slackline::testing {

/// One operation of a rank; they are in order.
struct Part {
  std::uint32_t kind;
  std::uint32_t peer;
  bool target;  // the receiving half
  std::uint64_t bytes;
  std::uint64_t word;
  std::uint32_t back;  // which of the rank's operations before it waits for; 0: none
  bool issued;         // for its issue
};
using Parts = std::vector<std::vector<Part>>;  // by rank

/// `speak(a, b)` says whether a may name b; each rank has somebody.
template <class Speak>
Parts random_parts(Dice& dice, std::uint32_t ranks, Speak&& speak) {
  Parts parts(ranks);
  for (std::uint32_t i = 2 + dice.below(30); i != 0; --i) {
    const std::uint32_t a = dice.below(ranks);
    std::uint32_t b = dice.below(ranks);
    while (!speak(a, b)) b = dice.below(ranks);
    Part part{dice.below(5), b,
              false,         dice.pick<std::uint64_t>({0, 8, 700, 4'097, 30'000}),
              dice.below(2), dice.below(3),
              dice.one_in(3)};
    // Receives first, so that nobody waits for what comes later.
    if (part.kind == 0) {
      parts[b].push_back({0, a, true, part.bytes, 0, 0, false});
      part.back = 0;
    }
    parts[a].push_back(part);
  }
  return parts;
}

/// Each of them a rank, or `per_node` of them the lanes of one. There are channels between all, or
/// with `same_place` between those of one place in their nodes.
inline sched::Schedule written(const Parts& parts, std::uint32_t per_node, bool lanes,
                               bool same_place = false) {
  const auto ranks = static_cast<std::uint32_t>(parts.size());
  const auto rank_of = [&](std::uint32_t r) { return lanes ? r / per_node : r; };
  Program p(lanes ? (ranks + per_node - 1) / per_node : ranks);
  std::vector<ChannelId> channels;
  for (std::uint32_t a = 0; a < ranks; ++a) {
    for (std::uint32_t b = 0; b < ranks; ++b) {
      const bool counts = !same_place || a % per_node == b % per_node;
      channels.push_back(counts ? p.channel(rank_of(a), rank_of(b)) : ChannelId());
    }
  }
  for (std::uint32_t r = 0; r < ranks; ++r) {
    std::vector<OpId> ops;
    const auto lane = static_cast<std::uint16_t>(lanes ? r % per_node : 0);
    for (const Part& part : parts[r]) {
      const ChannelId out = channels[r * ranks + part.peer];
      const ChannelId in = channels[part.peer * ranks + r];
      OpId op;
      switch (part.kind) {
        case 0:
          op = part.target ? p.recv(in, part.bytes, lane) : p.send(out, part.bytes, lane);
          break;
        case 1:
          op = p.put(out, part.bytes, sched::Notify::kNone, lane);
          break;
        case 2:
          op = p.get(out, part.bytes, lane);
          break;
        case 3:
          op = p.fetch_add(out, part.word + 4 * (part.peer % per_node), lane);
          break;
        default:
          op = p.calc(rank_of(r), us(0.7), lane);
      }
      if (part.back != 0 && part.back <= ops.size()) {
        p.after({ops[ops.size() - part.back]}, op,
                part.issued ? sched::On::kIssued : sched::On::kDone);
      }
      ops.push_back(op);
    }
  }
  return p.build();
}

/// Holds the runs to the same times, bit by bit. How many messages left later than they were
/// issued.
inline int expect_same_run(const sched::Trace& a, const sched::Trace& b, const std::string& what) {
  EXPECT_EQ(a.ops.size(), b.ops.size()) << what;
  EXPECT_EQ(a.contended, b.contended) << what;
  EXPECT_EQ(a.results, b.results) << what;
  int waited = 0;
  for (std::size_t i = 0; i < a.ops.size() && i < b.ops.size(); ++i) {
    const sched::OpTimes& x = a.ops[i];
    const sched::OpTimes& y = b.ops[i];
    if (x.issued_s != y.issued_s || x.wire_s != y.wire_s || x.done_s != y.done_s) {
      ADD_FAILURE() << what << ", op " << i << ": issued " << x.issued_s << " and " << y.issued_s
                    << ", on the wire " << x.wire_s << " and " << y.wire_s << ", done " << x.done_s
                    << " and " << y.done_s;
      break;
    }
    waited += x.wire_s > x.issued_s ? 1 : 0;
  }
  return waited;
}

}  // namespace slackline::testing
