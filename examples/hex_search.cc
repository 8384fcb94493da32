// Monte-Carlo tree search on Hex with its tree spread over ranks, after Seriema (sections 2.1 and
// 5.3): each node belongs to a rank that was drawn uniformly, and a rollout travels down the tree
// and up again as calls.
//
//   hex_search --ranks 4 --size 7 --rollouts 4000 --phase 500 --transport shm
//
// A rollout selects children by UCB until it comes to a node with a move that was not tried, adds
// that child, plays 16 games at random from there, and tells the result to all nodes above.
// Counting a visit on the way down, and what it won only on the way up, is the virtual loss that
// keeps rollouts of one phase apart. While a child is being made, selections of it are deferred.
//
// Moves, owners and playouts are drawn from the position and the seed alone. With one rollout a
// phase the tree is the same for any number of ranks; with more it depends on which comes first.
//
// At the end every node is held against its parent's entry of it. Ends with 0 if all counts are
// right, 1 if not.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <string>
#include <vector>

#include "base/units.h"
#include "examples/call_ranks.h"
#include "examples/hex_rules.h"

namespace slackline {
namespace {

using examples::hex_mix;
using examples::HexBoard;
using hw::CallContext;
using hw::Calls;

constexpr std::uint32_t kPlayouts = 16;
constexpr double kExploration = 1.0;

struct Arguments {
  std::uint32_t size = 5;
  std::uint64_t rollouts = 1000;
  std::uint64_t phase = 100;
  std::uint64_t seed = 1;
};

/// Where a node is.
struct Place {
  std::uint32_t rank = 0;
  std::uint32_t node = 0;
};

struct Child {
  std::uint32_t move = 0;
  bool made = false;
  Place place;                 // once it is made
  std::uint64_t visits = 0;    // counted on the way down
  std::uint64_t results = 0;   // …and up
  std::uint64_t wins = 0;      // games of these that the player to move at the parent has won
  std::uint64_t deferred = 0;  // selections that wait until it is made
};

struct Node {
  HexBoard board;
  bool is_root = false;
  Place parent;
  std::uint32_t entry = 0;  // among the parent's children
  std::uint8_t winner = 0;  // the game is over
  std::uint64_t selections = 0;
  std::vector<Child> children;
  std::vector<std::uint32_t> untried;
};

/// What a rank has done, and found wrong.
struct Counts {
  std::uint64_t nodes = 0;
  std::uint64_t playouts = 0;
  std::uint64_t results = 0;  // that came to the root
  std::uint64_t wrong = 0;
};

/// One rank's share of the search. Its functions run where the node is.
class Search {
 public:
  Search(Calls& calls, const Arguments& arguments) : calls_(calls), seed_(arguments.seed) {
    calls.set_local(*this);
    if (calls.rank() != 0) return;
    HexBoard empty;
    empty.size = static_cast<std::uint8_t>(arguments.size);
    add(empty, {}, 0).is_root = true;
  }

  const Counts& counts() const { return counts_; }
  const Node& root() const { return nodes_.front(); }

  /// A rollout has come to this node.
  void select(std::uint32_t number) {
    Node& node = nodes_[number];
    ++node.selections;
    if (node.winner != 0) return tell_parent(node, play(node, node.selections));
    if (!node.untried.empty()) return expand(number);
    Child& child = *std::ranges::max_element(node.children, {},
                                             [&](const Child& c) { return worth(node, c); });
    ++child.visits;
    if (child.made) {
      select_at(child.place);
    } else {
      ++child.deferred;
    }
  }

  /// At the drawn owner: makes the node, and plays from it.
  void make(const HexBoard& board, Place parent, std::uint32_t entry) {
    const Node& node = add(board, parent, entry);
    const Place own{calls_.rank(), static_cast<std::uint32_t>(nodes_.size() - 1)};
    calls_.call(parent.rank, [parent, entry, own](CallContext& here) {
      here.local<Search>().has_made(parent.node, entry, own);
    });
    tell_parent(node, play(node, 0));
  }

  void has_made(std::uint32_t number, std::uint32_t entry, Place place) {
    Child& child = nodes_[number].children[entry];
    if (std::exchange(child.made, true)) ++counts_.wrong;
    child.place = place;
    for (; child.deferred != 0; --child.deferred) select_at(place);
  }

  /// Games of a rollout through this child that player 1 has won.
  void take_result(std::uint32_t number, std::uint32_t entry, std::uint32_t wins_of_first) {
    Node& node = nodes_[number];
    Child& child = node.children[entry];
    ++child.results;
    child.wins += node.board.to_move == 1 ? wins_of_first : kPlayouts - wins_of_first;
    tell_parent(node, wins_of_first);
  }

  /// Every node is asked whether its parent has counted right.
  void verify() {
    for (const Node& node : nodes_) {
      std::uint64_t visits = 0;
      for (const Child& child : node.children) {
        visits += child.visits;
        if (!child.made || child.results != child.visits || child.deferred != 0 ||
            child.wins > kPlayouts * child.visits) {
          ++counts_.wrong;
        }
        if (!child.made) continue;
        const Place place = child.place;
        const std::uint64_t selections = child.visits - 1;  // the first has made it
        calls_.call(place.rank, [place, selections](CallContext& here) {
          here.local<Search>().confirm(place.node, selections);
        });
      }
      if (node.winner == 0 && visits != node.selections) ++counts_.wrong;
    }
  }
  void confirm(std::uint32_t number, std::uint64_t selections) {
    ++confirmed_;
    if (nodes_[number].selections != selections) ++counts_.wrong;
  }
  /// Each node but the root has been confirmed once.
  void end_verify() {
    const std::uint64_t expected = nodes_.size() - (calls_.rank() == 0 ? 1 : 0);
    if (confirmed_ != expected) ++counts_.wrong;
    counts_.nodes = nodes_.size();
  }

 private:
  Node& add(const HexBoard& board, Place parent, std::uint32_t entry) {
    Node& node = nodes_.emplace_back();
    node.board = board;
    node.parent = parent;
    node.entry = entry;
    const auto moved = static_cast<std::uint8_t>(3 - board.to_move);
    if (board.connects(moved)) node.winner = moved;
    for (std::uint32_t c = 0; c < board.count() && node.winner == 0; ++c) {
      if (board.cells[c] == 0) node.untried.push_back(c);
    }
    return node;
  }

  // A move at random, and an owner.
  void expand(std::uint32_t number) {
    Node& node = nodes_[number];
    const std::uint64_t draw = hex_mix(node.board.hash(seed_) + node.untried.size());
    const auto chosen =
        node.untried.begin() + static_cast<std::ptrdiff_t>(draw % node.untried.size());
    HexBoard board = node.board;
    board.play(*chosen);
    const auto entry = static_cast<std::uint32_t>(node.children.size());
    node.children.push_back({});
    node.children.back().move = *chosen;
    node.children.back().visits = 1;
    node.untried.erase(chosen);
    const auto owner = static_cast<std::uint32_t>(hex_mix(draw) % calls_.ranks());
    const Place self{calls_.rank(), number};
    calls_.call_buffer(
        owner,
        [self, entry](CallContext& here, std::span<std::byte> bytes) {
          HexBoard made;
          std::memcpy(&made, bytes.data(), sizeof made);
          here.local<Search>().make(made, self, entry);
        },
        std::as_bytes(std::span(&board, 1)));
  }

  static double worth(const Node& node, const Child& child) {
    const auto visits = static_cast<double>(child.visits);
    const double value = static_cast<double>(child.wins) / (kPlayouts * visits);
    return value +
           kExploration * std::sqrt(std::log(static_cast<double>(node.selections)) / visits);
  }

  void select_at(Place place) {
    calls_.call(place.rank,
                [place](CallContext& here) { here.local<Search>().select(place.node); });
  }

  // How many of its games player 1 wins.
  std::uint32_t play(const Node& node, std::uint64_t turn) {
    counts_.playouts += kPlayouts;
    if (node.winner != 0) return node.winner == 1 ? kPlayouts : 0;
    std::uint32_t wins = 0;
    const std::uint64_t draw = node.board.hash(seed_ + 1) + turn * kPlayouts;
    for (std::uint32_t i = 0; i < kPlayouts; ++i) {
      wins += node.board.play_out(hex_mix(draw + i)) == 1;
    }
    return wins;
  }

  void tell_parent(const Node& node, std::uint32_t wins_of_first) {
    if (node.is_root) {
      ++counts_.results;
      return;
    }
    const Place parent = node.parent;
    const std::uint32_t entry = node.entry;
    calls_.call(parent.rank, [parent, entry, wins_of_first](CallContext& here) {
      here.local<Search>().take_result(parent.node, entry, wins_of_first);
    });
  }

  Calls& calls_;
  const std::uint64_t seed_;
  std::deque<Node> nodes_;
  Counts counts_;
  std::uint64_t confirmed_ = 0;
};

/// "b3": the second column, the third row.
std::string name_of(const HexBoard& board, std::uint32_t move) {
  return fmt::format("{}{}", static_cast<char>('a' + move % board.size), move / board.size + 1);
}

/// Of all ranks, by a call that returns, from each.
Counts gather(Calls& calls) {
  std::vector<Counts> all(calls.ranks());
  hw::Synchronizer done(calls);
  for (std::uint32_t r = 0; r < calls.ranks(); ++r) {
    calls.call_return(
        r, [](CallContext& here) { return here.local<Search>().counts(); }, &all[r], done);
  }
  done.wait();
  Counts sum;
  for (const Counts& counts : all) {
    sum.nodes += counts.nodes;
    sum.playouts += counts.playouts;
    sum.results += counts.results;
    sum.wrong += counts.wrong;
  }
  return sum;
}

bool report(const Node& root, const Counts& sum, const Arguments& arguments) {
  bool right = sum.wrong == 0 && sum.results == arguments.rollouts &&
               sum.playouts == kPlayouts * arguments.rollouts &&
               root.selections == arguments.rollouts;
  std::vector<Child> children = root.children;
  std::ranges::stable_sort(children, std::ranges::greater(), &Child::visits);
  fmt::print("{} rollouts, {} nodes, {} playouts; best move {}\n", sum.results, sum.nodes,
             sum.playouts, name_of(root.board, children.at(0).move));
  for (const Child& child : children) {
    fmt::print("  {:>3}  visits {:>6}  won {:.4f}\n", name_of(root.board, child.move), child.visits,
               static_cast<double>(child.wins) / static_cast<double>(kPlayouts * child.visits));
  }
  if (!right) fmt::print("WRONG: {} counts, of rollouts, playouts or nodes\n", sum.wrong);
  std::fflush(stdout);
  return right;
}

int run(Calls& calls, const Arguments& arguments) {
  Search search(calls, arguments);
  calls.settle();
  for (std::uint64_t begun = 0; begun < arguments.rollouts; begun += arguments.phase) {
    if (calls.rank() == 0) {
      const std::uint64_t count = std::min(arguments.phase, arguments.rollouts - begun);
      for (std::uint64_t i = 0; i < count; ++i) search.select(0);
    }
    calls.settle();
  }
  search.verify();
  calls.settle();
  search.end_verify();
  calls.settle();
  bool right = true;
  if (calls.rank() == 0) right = report(search.root(), gather(calls), arguments);
  calls.settle();
  return right ? 0 : 1;
}

}  // namespace
}  // namespace slackline

int main(int argc, char** argv) {
  using namespace slackline;
  Arguments arguments;
  examples::RankArguments ranks;
  return examples::run_example(
      argc, argv, "hex_search [--size N] [--rollouts N] [--phase N] [--seed N]", ranks,
      [&](const std::string& option, const std::string& value) {
        if (option == "--size") {
          arguments.size =
              static_cast<std::uint32_t>(sched::parse_count(value, option, 2, examples::kMostSize));
        } else if (option == "--rollouts") {
          arguments.rollouts = sched::parse_count(value, option, 1, 1 << 24);
        } else if (option == "--phase") {
          arguments.phase = sched::parse_count(value, option, 1, 1 << 24);
        } else if (option == "--seed") {
          arguments.seed = sched::parse_count(value, option, 0, ~0ull);
        } else {
          return false;
        }
        return true;
      },
      [&](hw::Calls& calls) { return run(calls, arguments); });
}
