#include "sched/import/goal_binary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "sched/export/goal_binary.h"

namespace slackline::sched {
namespace {

// No number of the file is believed before it was held against the file's length. Each byte of a
// block belongs to one thing only, so that what is made of a file is never much larger than it.
class Parser {
 public:
  Parser(std::string_view bytes, std::string_view file) : bytes_(bytes), file_(file) {}

  GoalProgram parse() {
    const auto magic = take<std::uint64_t>("the head");
    if (magic == kGoalSpentMagic) {
      fail(0, "a run of LogGOPSim with --save-mem has spoilt it; expected what txt2bin wrote");
    }
    ranks_ = take<std::uint32_t>("the head");
    highest_cpu_ = take<std::uint8_t>("the head");
    highest_nic_ = take<std::uint8_t>("the head");
    if (ranks_ == 0 || ranks_ > kMostGoalRanks || ranks_ > left() / kGoalRankBytes) {
      fail(8,
           fmt::format("{} ranks; expected 1 to {}, each with {} bytes of the table that follows",
                       ranks_, kMostGoalRanks, kGoalRankBytes));
    }
    GoalProgram program;
    program.binary = true;
    program.ranks.reserve(ranks_);
    std::uint64_t end = kGoalTable + kGoalRankBytes * ranks_;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      at_ = kGoalTable + kGoalRankBytes * rank;
      const std::uint64_t entry = at_;
      const auto begins = take<std::uint64_t>("the table");
      const auto ends = take<std::uint64_t>("the table");
      const std::uint64_t begin = end;
      if (begins != begin - sizeof kGoalMagic || ends < begins ||
          ends > bytes_.size() - sizeof kGoalMagic) {
        fail(entry, fmt::format("the block of rank {} is from byte {} to {}, counted from byte 8; "
                                "expected from {} to at most {}",
                                rank, begins, ends, begin - sizeof kGoalMagic,
                                bytes_.size() - sizeof kGoalMagic));
      }
      end = ends + sizeof kGoalMagic;
      at_ = begin;
      program.ranks.push_back(block(end));
    }
    if (end != bytes_.size()) {
      fail(end, fmt::format("{} bytes behind the last rank's block; expected the file's end",
                            bytes_.size() - end));
    }
    return program;
  }

 private:
  // The two runs of a node's arcs: what requires it, what irequires it.
  struct Arcs {
    std::uint32_t count = 0;
    std::uint32_t first = 0;
  };

  GoalRank block(std::uint64_t end) {
    const std::uint64_t begin = at_;
    end_ = end;
    const auto nodes = take<std::uint32_t>("the block");
    const auto roots = take<std::uint32_t>("the block");
    if (nodes > left() / kGoalNodeBytes || roots > nodes ||
        sizeof(std::uint32_t) * roots > left() - kGoalNodeBytes * nodes) {
      fail(begin, fmt::format("{} nodes, {} of them roots; expected what {} bytes hold", nodes,
                              roots, left()));
    }
    const std::uint64_t first_root = at_;
    const std::uint64_t first_node = first_root + sizeof(std::uint32_t) * roots;
    const std::uint64_t first_arc = first_node + kGoalNodeBytes * nodes;
    if ((end - first_arc) % sizeof(std::uint32_t) != 0) {
      fail(begin, fmt::format("{} bytes are left for arcs of 4; expected a multiple of 4",
                              end - first_arc));
    }
    const std::uint64_t arcs = (end - first_arc) / sizeof(std::uint32_t);

    GoalRank rank;
    rank.statements.reserve(nodes);
    rank.dependencies.reserve(arcs);
    std::vector<std::uint32_t> waits_for(nodes, 0);
    at_ = first_node;
    for (std::uint32_t i = 0; i < nodes; ++i) {
      waits_for[i] = take<std::uint32_t>("a node");
      rank.statements.push_back(statement(at_ - sizeof(std::uint32_t)));
      for (const On on : {On::kDone, On::kIssued}) {
        const std::uint64_t here = at_;
        const auto count = take<std::uint32_t>("a node");
        const auto first = take<std::uint32_t>("a node");
        // Where there are none txt2bin may leave any place.
        if (count != 0 && first != rank.dependencies.size()) {
          fail(here, fmt::format("arcs from number {} on; expected {}, behind those of the nodes "
                                 "before",
                                 first, rank.dependencies.size()));
        }
        if (count > arcs - rank.dependencies.size()) {
          fail(here, fmt::format("{} arcs; expected at most {}, which the block has left", count,
                                 arcs - rank.dependencies.size()));
        }
        for (std::uint32_t k = 0; k < count; ++k) {
          const std::uint64_t place = first_arc + sizeof(std::uint32_t) * rank.dependencies.size();
          rank.dependencies.push_back({i, index(place, nodes, "an arc"), on});
        }
      }
    }
    if (rank.dependencies.size() != arcs) {
      fail(first_arc, fmt::format("{} arcs, of which nodes have {}; expected no others", arcs,
                                  rank.dependencies.size()));
    }
    check_waits(rank, waits_for, first_node);
    check_roots(waits_for, first_root, roots);
    return rank;
  }

  GoalStatement statement(std::uint64_t at) {
    GoalStatement s;
    s.at = static_cast<std::uint32_t>(at);
    const auto kind = take<std::uint8_t>("a node");
    s.peer = take<std::uint32_t>("a node");
    s.amount = take<std::uint64_t>("a node");
    s.tag = take<std::uint32_t>("a node");
    s.cpu = take<std::uint8_t>("a node");
    s.nic = take<std::uint8_t>("a node");
    if (kind < 1 || kind > 3) {
      fail(at, fmt::format("a node of kind {}; expected 1 (send), 2 (recv) or 3 (calc)", kind));
    }
    s.kind = kind == 1 ? OpKind::kSend : kind == 2 ? OpKind::kRecv : OpKind::kCalc;
    const bool calc = s.kind == OpKind::kCalc;
    const std::uint64_t most = calc ? kMostGoalNanoseconds : kMostGoalBytes;
    if (s.amount > most) {
      fail(at, fmt::format("a {} of {}; expected 0 to {}", name(s.kind), s.amount, most));
    }
    if (s.cpu > highest_cpu_ || s.nic > highest_nic_) {
      fail(at, fmt::format("cpu {} and nic {}; expected at most {} and {}, as the head says", s.cpu,
                           s.nic, highest_cpu_, highest_nic_));
    }
    if (calc) return s;
    for (const auto& [value, what] : {std::pair(s.peer, "rank"), std::pair(s.tag, "tag")}) {
      if (value == 0xffffffffu) {
        throw Unsupported(
            fmt::format("{}: byte {}: a message of any {} (-1) is not supported; "
                        "expected a {}",
                        file_, at, what, what));
      }
    }
    if (s.peer >= ranks_) {
      fail(at,
           fmt::format("a {} with rank {}; expected 0 to {}", name(s.kind), s.peer, ranks_ - 1));
    }
    return s;
  }

  // LogGOPSim starts a node once so many arcs were followed, too early or never if it is wrong.
  void check_waits(const GoalRank& rank, const std::vector<std::uint32_t>& waits_for,
                   std::uint64_t first_node) const {
    std::vector<std::uint32_t> arcs_into(waits_for.size(), 0);
    for (const GoalDependency& d : rank.dependencies) ++arcs_into[d.succ];
    for (std::size_t i = 0; i < waits_for.size(); ++i) {
      if (arcs_into[i] == waits_for[i]) continue;
      fail(first_node + kGoalNodeBytes * i,
           fmt::format("a node that waits for {} arcs, but {} lead to it; expected the same",
                       waits_for[i], arcs_into[i]));
    }
  }

  // It starts with these, and with no others.
  void check_roots(const std::vector<std::uint32_t>& waits_for, std::uint64_t first_root,
                   std::uint32_t roots) const {
    std::vector<bool> listed(waits_for.size(), false);
    for (std::uint32_t k = 0; k < roots; ++k) {
      const std::uint64_t place = first_root + sizeof(std::uint32_t) * k;
      const std::uint32_t root =
          index(place, static_cast<std::uint32_t>(waits_for.size()), "a root");
      if (waits_for[root] != 0 || listed[root]) {
        fail(place, fmt::format("node {} as a root {}; expected each node without arcs into it, "
                                "once",
                                root, listed[root] ? "twice" : "that has arcs into it"));
      }
      listed[root] = true;
    }
    const auto all = std::ranges::count(waits_for, 0u);
    if (all != roots) {
      fail(first_root,
           fmt::format("{} roots; expected {}, each node without arcs into it", roots, all));
    }
  }

  std::uint32_t index(std::uint64_t at, std::uint32_t nodes, std::string_view what) const {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    if (value >= nodes) {
      fail(at,
           fmt::format("{} names node {}; expected 0 to {}", what, value, std::int64_t{nodes} - 1));
    }
    return value;
  }

  std::uint64_t left() const { return end_ - at_; }

  template <class T>
  T take(std::string_view what) {
    if (left() < sizeof(T)) {
      fail(at_, fmt::format("{} ends too early; expected {} bytes more", what, sizeof(T)));
    }
    T value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  [[noreturn]] void fail(std::uint64_t at, std::string_view message) const {
    throw InputError(fmt::format("{}: byte {}: {}", file_, at, message));
  }

  std::string_view bytes_;
  std::string_view file_;
  std::uint64_t at_ = 0;
  std::uint64_t end_ = bytes_.size();  // of what is being read
  std::uint32_t ranks_ = 0;
  std::uint8_t highest_cpu_ = 0;
  std::uint8_t highest_nic_ = 0;
};

}  // namespace

GoalProgram parse_goal_binary(std::string_view bytes, std::string_view file) {
  return Parser(bytes, file).parse();
}

bool looks_like_goal_binary(std::string_view bytes) {
  std::uint64_t magic = 0;
  if (bytes.size() < sizeof magic) return false;
  std::memcpy(&magic, bytes.data(), sizeof magic);
  return magic == kGoalMagic || magic == kGoalSpentMagic;
}

}  // namespace slackline::sched
