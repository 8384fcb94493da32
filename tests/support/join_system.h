// A join without sockets and clocks: rank 0's protocol, all others' and a network between them, in
// which the test chooses what happens next. Every step is held to what a join promises; what is
// not kept is thrown as BrokenPromise.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "hw/mesh/root_protocol.h"
#include "tests/support/insider_words.h"
#include "tests/support/join_promises.h"
#include "tests/support/joining_ranks.h"

namespace slackline::testing {

/// What may go wrong. Each has what those before it have.
enum class JoinFaults : std::uint8_t {
  kNone,
  kLosses,     // connections end, processes die, time runs out
  kInsiders,   // somebody who knows the secret comes to any rank, and says anything
  kFalseRoot,  // what rank 0 says is anybody's
};

class JoinSystem : private hw::RootActions {
 public:
  /// `choose` answers a number below the one it is given; 0 for ever ends each join.
  JoinSystem(std::uint32_t ranks, std::uint32_t full_up_to, JoinFaults faults, Choose choose)
      : ranks_(ranks), faults_(faults), choose_(std::move(choose)), options_(ranks) {
    for (std::uint32_t r = 0; r < ranks; ++r) {
      options_[r].rank = r;
      options_[r].ranks = ranks;
      options_[r].full_up_to = full_up_to;
    }
    hw::RootActions& actions = *this;
    root_ = std::make_unique<hw::RootProtocol>(options_[0], hello_of(0), kRun, actions);
    promises_.emplace(options_[0], kRun, faults == JoinFaults::kFalseRoot);
    others_.resize(1);
    for (std::uint32_t r = 1; r < ranks; ++r) {
      others_.push_back(std::make_unique<JoiningRank>(connections_, options_[r], hello_of(r)));
      // An insider may stand in for it.
      others_[r]->died = faults >= JoinFaults::kInsiders && choose_(3) == 2;
    }
  }

  /// So many steps of which some may be faults; then none are, and time runs out for who still
  /// waits. All ends are as promised then.
  void run(std::uint32_t steps) {
    for (std::uint32_t i = 0; i < steps; ++i) {
      if (faults_ != JoinFaults::kNone && choose_(faults_ == JoinFaults::kLosses ? 4 : 2) == 1) {
        fault();
      } else {
        step();
      }
      promises_->look(*root_, others_);
    }
    settle();
    if (faults_ == JoinFaults::kNone) return promises_->expect_all_joined(*root_, others_);
    if (!root_->state().done) root_->late(choose_(2) == 1, choose_(2));
    settle();
    if (!root_->state().done && stays_) {
      promise(somebody_may_come(), "rank 0 stays though all were told");
      root_->stayed();
    }
    settle();
    promise(root_->state().done, "rank 0 waits for ever");
    expect_all_told();
    for (std::uint32_t r = 1; r < ranks_; ++r) {
      if (others_[r]->waits()) others_[r]->protocol.late(choose_(2) == 1);
      settle();
      promise(!others_[r]->waits(), fmt::format("rank {} waits for ever", r));
    }
  }

  bool all_joined() const { return JoinPromises::all_joined(*root_, others_); }

 private:
  static constexpr std::uint64_t kRun = 77;

  hw::Hello hello_of(std::uint32_t rank) const {
    hw::Hello hello;
    hello.version = "1";
    hello.rank = rank;
    hello.ranks = ranks_;
    hello.member = {"host", 100 + rank, rank == 0 ? "" : "10.0.0.1", rank};
    hello.agreed = {"schedule: 1f3c"};
    return hello;
  }

  // ---- what rank 0 does ----

  void send(std::size_t guest, std::span<const std::byte> bytes) override {
    using enum hw::FrameKind;
    RootConnection& to = connections_[guests_.at(guest)];
    const hw::Frame frame = frame_of(bytes);
    if (frame.kind == kWelcome) promise(to.told.empty(), "a welcome that is not the first word");
    if (frame.kind == kTable) expect_table(to, frame);
    if (frame.kind == kGo) expect_all_ready();
    if (frame.kind == kVerdict) hw::decode_verdict(frame.payload, ranks_);
    to.told.insert(frame.kind);
    promise(to.told.count(kGo) + to.told.count(kVerdict) <= 1,
            "rank 0 says twice what comes of it");
    to.down.push_back(frame);
  }
  void finish() override { promise(!std::exchange(finishes_, true), "rank 0 finishes twice"); }
  void stay(std::chrono::milliseconds) override {
    promise(!std::exchange(stays_, true), "rank 0 stays twice");
  }

  void expect_table(RootConnection& to, const hw::Frame& frame) const {
    promise(to.told.count(hw::FrameKind::kWelcome) == 1, "a table to who is not welcome");
    const auto members = hw::decode_members(std::span(frame.payload).subspan(8));
    for (const hw::Member& member : members) to.table.push_back(member.pid);
    if (to.table.size() < ranks_) return;
    promise(to.table.size() == ranks_, "a table of other ranks");
    for (const RootConnection& one : connections_) {
      if (one.told.count(hw::FrameKind::kWelcome) == 0) continue;
      promise(to.table[one.hello->rank] == one.hello->member.pid, "a table of others");
    }
  }

  void expect_all_ready() const {
    std::set<std::uint32_t> ready;
    for (const RootConnection& one : connections_) {
      if (one.ready && one.told.count(hw::FrameKind::kWelcome) == 1) ready.insert(one.hello->rank);
    }
    promise(ready.size() + 1 == ranks_, "the word to go before all are ready");
    promise(!root_->state().verdict, "the word to go after a verdict");
  }

  // ---- what may happen ----

  using Event = std::function<void()>;

  // All that a network without faults may do next; what ends things comes first.
  std::vector<Event> possible() {
    std::vector<Event> events;
    if (finishes_ && !root_->state().done) events.push_back([this] { root_->sent(); });
    for (std::size_t c = 0; c < connections_.size(); ++c) add_of_connection(c, events);
    for (std::uint32_t r = 1; r < ranks_; ++r) {
      JoiningRank& other = *others_[r];
      if (!other.waits()) continue;
      if (!other.callers.empty() && other.accepts) {
        events.push_back([this, &other] { greet(other); });
      }
      for (const std::uint32_t to : other.connecting) {
        const JoiningRank& there = *others_[to];
        if (there.accepts || !there.waits()) {
          events.push_back([this, &other, to] { connect(other, to); });
        }
      }
      if (!other.connection && !root_->state().done) {
        events.push_back([this, &other] { reach(other); });
      }
    }
    return events;
  }

  void add_of_connection(std::size_t c, std::vector<Event>& events) {
    RootConnection& one = connections_[c];
    if (!root_->state().done && !one.silent && !one.up.empty()) {
      events.push_back([this, c] { hear(c); });
    } else if (!root_->state().done && !one.silent && one.left) {
      events.push_back([this, c] { silence(c); });
    }
    if (one.owner == kInsider || !others_[one.owner]->waits() || one.left) return;
    JoiningRank& owner = *others_[one.owner];
    if (!one.down.empty()) {
      events.push_back([this, c, &owner] { tell(c, owner); });
    } else if (one.dropped || (root_->state().done && root_->state().verdict)) {
      events.push_back([this, c, &owner] { end_at(c, owner); });
    }
  }

  void reach(JoiningRank& other) {
    other.connection = connections_.size();
    connections_.emplace_back().owner = other.rank;
    connections_.back().up.push_back({other.protocol.state().hello, {}});
  }

  // Rank 0 hears the next word of a connection.
  void hear(std::size_t c) {
    const SaidToRoot said = connections_[c].up.front();
    connections_[c].up.pop_front();
    if (said.hello) {
      if (!root_->hears(*said.hello)) return drop(c);
      connections_[c].guest = guests_.size();
      connections_[c].hello = *said.hello;
      guests_.push_back(c);
      root_->greet(*said.hello, std::chrono::milliseconds(int(choose_(3)) - 1));
      return;
    }
    connections_[c].ready = connections_[c].ready || said.frame.kind == hw::FrameKind::kReady;
    try {
      root_->heed(*connections_[c].guest, said.frame);
    } catch (const hw::WireError&) {
      silence(c);
    }
  }

  void drop(std::size_t c) {
    connections_[c].dropped = connections_[c].silent = true;
    connections_[c].up.clear();
  }

  void silence(std::size_t c) {
    connections_[c].silent = true;
    if (connections_[c].guest) root_->ended(*connections_[c].guest);
  }

  // A rank hears rank 0's next word.
  void tell(std::size_t c, JoiningRank& owner) {
    const hw::Frame frame = connections_[c].down.front();
    connections_[c].down.pop_front();
    owner.heard.insert(frame.kind);
    try {
      owner.protocol.heed(frame);
    } catch (const hw::WireError&) {
      owner.protocol.root_ended();
    }
    if (owner.protocol.state().verdict) connections_[c].left = true;
  }

  // Who hears nothing at all comes again.
  void end_at(std::size_t c, JoiningRank& owner) {
    connections_[c].left = true;
    owner.connection.reset();
    if (!owner.heard.empty()) owner.protocol.root_ended();
  }

  void greet(JoiningRank& other) {
    const hw::Hello hello = other.callers.front();
    other.callers.pop_front();
    if (other.protocol.greet(hello)) {
      promise(other.linked.insert(hello.rank).second, "a rank takes another twice");
    }
  }

  void connect(JoiningRank& other, std::uint32_t to) {
    std::erase(other.connecting, to);
    JoiningRank& there = *others_[to];
    // Where a rank is not there, an insider may listen.
    const bool insider = there.died && faults_ >= JoinFaults::kInsiders && choose_(4) != 3;
    if (!there.waits() && !insider) return other.protocol.unreachable(to, true, "at all");
    there.callers.push_back(other.protocol.state().hello);
    other.linked.insert(to);
    other.protocol.connected(to);
  }

  bool step() {
    const std::vector<Event> events = possible();
    if (events.empty()) return false;
    events[choose_(static_cast<std::uint32_t>(events.size()))]();
    return true;
  }

  // Until nothing more happens by itself.
  void settle() {
    constexpr std::uint32_t kMostSteps = 20'000;
    for (std::uint32_t steps = 0; step(); ++steps) {
      promise(steps < kMostSteps, "a join that does not end");
      promises_->look(*root_, others_);
    }
    promises_->look(*root_, others_);
  }

  // ---- faults ----

  void fault() {
    JoiningRank& other = *others_[1 + choose_(ranks_ - 1)];
    // Most losses end a join, before insiders can say much.
    if (faults_ != JoinFaults::kLosses && choose_(32) != 31) return insider(other, choose_(4));
    const std::uint32_t kind = choose_(6);
    if (kind == 0 && !connections_.empty()) return lose(choose_(count(connections_)));
    if (kind == 1 && !root_->state().done) return root_->late(choose_(2) == 1, choose_(2));
    if (kind == 2 && !root_->state().done && stays_) return root_->stayed();
    if (!other.waits()) return;
    if (kind == 3) return die(other);
    if (kind == 4 && other.complains) {
      other.complains = false;
      return other.protocol.complain();
    }
    if (kind == 5 && choose_(2) == 0) return late(other);
    if (kind == 5 && !other.connecting.empty() && other.connection) {
      const std::uint32_t to = other.connecting[choose_(count(other.connecting))];
      std::erase(other.connecting, to);
      other.protocol.unreachable(to, choose_(2) == 1, "somehow");
    }
  }

  template <class Things>
  static std::uint32_t count(const Things& things) {
    return static_cast<std::uint32_t>(things.size());
  }

  void lose(std::size_t c) {
    RootConnection& one = connections_[c];
    one.up.clear();
    one.down.clear();
    if (!root_->state().done && !one.silent) silence(c);
    if (one.owner == kInsider) return;
    JoiningRank& owner = *others_[one.owner];
    if (!one.left && owner.waits()) end_at(c, owner);
    one.left = true;
  }

  void die(JoiningRank& other) {
    other.died = true;
    if (other.connection) connections_[*other.connection].left = true;
  }

  void late(JoiningRank& other) {
    other.protocol.late(choose_(2) == 1);
    if (other.connection) connections_[*other.connection].left = true;
  }

  void insider(JoiningRank& other, std::uint32_t kind) {
    InsiderWords words(ranks_, kRun, choose_);
    if (kind <= 1) {
      // Mostly for a rank that is not there: one that is there twice ends the join.
      hw::Hello hello = hello_of(1 + choose_(ranks_ - 1));
      if (!others_[hello.rank]->died && choose_(32) != 31) return;
      if (kind == 1) hello.run = kRun;
      const auto heard = words.hello(hello);
      if (!heard || connections_.size() > 60) return;
      if (kind == 1) return other.callers.push_back(*heard);
      connections_.emplace_back().up.push_back({heard, {}});
    } else if (faults_ == JoinFaults::kFalseRoot && kind == 2) {
      if (!other.connection) return;
      auto& down = connections_[*other.connection].down;
      down.insert(choose_(2) == 0 ? down.begin() : down.end(), words.frame());
    } else {
      std::vector<RootConnection*> own;
      for (RootConnection& one : connections_) {
        if (one.owner == kInsider && !one.silent) own.push_back(&one);
      }
      if (!own.empty()) own[choose_(count(own))]->up.push_back({std::nullopt, words.frame()});
    }
  }

  // ---- what is promised ----

  // To rank 0, or go.
  bool somebody_may_come() const {
    std::set<std::uint32_t> came;
    for (const std::size_t c : guests_) {
      if (!connections_[c].silent) return true;
      came.insert(connections_[c].hello->rank);
    }
    return came.size() + 1 < ranks_;
  }

  // Whoever said Hello to rank 0, of what came of it.
  void expect_all_told() const {
    for (const std::size_t c : guests_) {
      const auto& told = connections_[c].told;
      promise(told.contains(hw::FrameKind::kGo) || told.contains(hw::FrameKind::kVerdict),
              "somebody is not told what came of it");
    }
  }

  const std::uint32_t ranks_;
  const JoinFaults faults_;
  const Choose choose_;
  std::vector<hw::MeshOptions> options_;  // by rank
  std::unique_ptr<hw::RootProtocol> root_;
  JoiningRanks others_;  // by rank; rank 0 is none
  std::vector<RootConnection> connections_;
  std::vector<std::size_t> guests_;  // their connections
  std::optional<JoinPromises> promises_;
  bool finishes_ = false;
  bool stays_ = false;
};

}  // namespace slackline::testing
