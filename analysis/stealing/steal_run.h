// A search of an unbalanced tree whose ranks steal as they run: who has nothing asks a rank that is
// drawn then, and what that rank answers depends on what it has then.
//
// No static schedule says this: which messages there are depends on time. So the run itself is a
// program on an engine's clock, by the machine model's rules for lanes, NICs and messages
// (docs/architecture.md), and what it decided is written down (steal_log.h).
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "analysis/stealing/steal_log.h"
#include "machine/paths.h"
#include "machine/run/settling_run.h"
#include "machine/setting.h"

namespace slackline::analysis {

class StealRun final : public machine::SettlingRun {
 public:
  /// The setting's schedule has a channel for every ordered pair of ranks, in order, and `vertices`
  /// is how many the tree has. All but the options must outlive this.
  StealRun(const StealOptions& options, std::uint64_t vertices, const machine::Setting& setting,
           const machine::Paths& paths, machine::DrivenClock& clock);

  void start() override;
  /// The log, for log_of().
  std::string result() override;

 private:
  using OpId = sched::OpId;

  struct Vertex {
    sched::Sha1 digest;
    std::uint32_t depth;
  };
  struct Message {
    std::uint32_t dst = 0;
    StealMessage kind = StealMessage::kAsk;
    std::uint64_t count = 0;  // of a token: vertices that were visited
    double wire_s = 0;
    std::vector<Vertex> given;
    std::uint64_t vertices = 0;
  };
  enum class State : std::uint8_t { kWaiting, kSearching, kPosting, kSeeing, kHandling, kFinished };
  struct Rank {
    State state = State::kWaiting;
    std::vector<Vertex> stack;      // the newest last
    std::deque<OpId> inbox;         // messages that have arrived, in that order
    std::deque<OpId> outbox;        // to be posted
    OpId taken;                     // what it sees or handles
    std::vector<Message> messages;  // that it sent
    std::vector<StealStep> steps;
    std::uint64_t visited = 0;
    std::uint64_t attempts = 0;
    std::uint32_t refusals = 0;  // since it last got something
    bool asked = false;          // and not answered
    bool resting = false;
    bool has_token = false;
    bool token_returned = false;  // of rank 0
    std::uint64_t token_count = 0;
    bool told_done = false;
    double slowdown = 1;
  };

  // Numbers of messages and ranks as those of operations. Messages are ordered as the puts of the
  // written schedule are: by rank, then as they are sent.
  OpId id_of(std::uint32_t rank, std::size_t number) const;
  std::uint32_t rank_of(OpId message) const { return message.value >> shift_; }
  std::size_t number_of(OpId message) const { return message.value & ((1u << shift_) - 1); }
  Message& message(OpId id) { return ranks_[rank_of(id)].messages[number_of(id)]; }
  machine::PathId path_of(OpId id, bool back = false);

  // What ranks do.
  void go_on(std::uint32_t rank);
  bool decide(Rank& self, std::uint32_t rank);
  void search(Rank& self, std::uint32_t rank);
  void ask(Rank& self, std::uint32_t rank);
  void pass_token(Rank& self, std::uint32_t rank);
  void tell_done(Rank& self, std::uint32_t rank);
  void take_effect(Rank& self, std::uint32_t rank);
  void give(Rank& self, std::uint32_t rank, std::uint32_t thief);
  void rest(Rank& self, std::uint32_t rank);
  Message& send(Rank& self, std::uint32_t rank, std::uint32_t dst, StealMessage kind);
  void hold(Rank& self, std::uint32_t rank, sched::Time time);

  // What the machine does.
  void handle_all(const std::vector<Event>& events) override {
    for (const Event& event : events) handle(event);
  }
  void serve_lanes() override {}  // a rank goes on as soon as it can
  void start_message(const machine::PortArbiter::Start& start, bool large) override;
  void handle(const Event& event);
  void leave(OpId id);
  void sent(OpId id);
  bool is_large(OpId id) { return bytes(id) > platform_.interleave_bytes; }
  std::uint64_t bytes(OpId id) {
    const Message& m = message(id);
    return bytes_of(m.kind, m.vertices);
  }
  double gap_s(const machine::Path& way) const { return way.scale_up ? 0 : gap_s_; }
  void reach(double time_s) { figures_.makespan_s = std::max(figures_.makespan_s, time_s); }

  const StealOptions options_;
  const sched::UtsTree tree_;
  const std::uint64_t vertices_;
  const machine::Platform& platform_;
  const machine::Paths& paths_;
  const std::uint32_t shift_;
  const double o_complete_s_;
  const double gap_s_;
  const bool serial_;
  std::vector<Rank> ranks_;
  StealFigures figures_;
};

/// What result() says.
StealLog log_of(const std::string& result, std::uint32_t ranks);

}  // namespace slackline::analysis
