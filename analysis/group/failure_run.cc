#include "analysis/group/failure_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <queue>
#include <span>
#include <utility>

#include "analysis/group/check_scenario.h"
#include "analysis/group/messages.h"
#include "analysis/group/simulated_member.h"
#include "analysis/group/victim_ops.h"
#include "base/error.h"
#include "machine/paths.h"
#include "machine/run/alone_clock.h"
#include "machine/run/executable.h"
#include "machine/run/execution.h"
#include "machine/run/link_crowding.h"
#include "machine/wiring.h"
#include "sched/builder.h"

namespace slackline::analysis {
namespace {

using machine::GroupSaying;
using sched::OpId;
using sched::RankId;

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kRowBytes = 8;
// A group whose members only ask each other for signs comes to an end by their patience long
// before.
constexpr int kMostTicks = 100'000;

std::uint64_t word_bytes(std::uint32_t members) { return 8 * (6 + std::uint64_t{members}); }

// With the posts of receives that calcs stand for.
machine::Delays delays_of(const machine::Setting& setting, const GroupMessages& messages,
                          std::span<const machine::Straggler> stragglers) {
  machine::Delays delays(setting);
  const double post = static_cast<double>(setting.platform.post_of_receive().count());
  for (const GroupMessageOps& ops : messages.ahead) {
    if (ops.own == ops.end) continue;
    const sched::Op& first = setting.schedule.op(ops.own);
    if (first.kind != sched::OpKind::kCalc) continue;
    const auto slow = std::ranges::find(stragglers, first.rank, &machine::Straggler::rank);
    const double slowdown = slow == stragglers.end() ? 1 : slow->slowdown;
    delays.add({ops.own, sched::Time(std::llround(post * slowdown)), true, first.rank});
  }
  return delays;
}

// The ways between all members, for what goes beside the blocks.
sched::Schedule all_ways(std::uint32_t members) {
  sched::ScheduleBuilder builder(members);
  for (std::uint32_t from = 0; from < members; ++from) {
    for (std::uint32_t to = 0; to < members; ++to) {
      sched::Channel channel;
      channel.src = RankId(from);
      channel.dst = RankId(to);
      if (from != to) builder.add_channel(channel);
    }
  }
  return builder.build();
}

class GroupSimulation final : public GroupSurroundings {
 public:
  GroupSimulation(const GroupScenario& scenario, const machine::Platform& platform,
                  const machine::DelayPlan& delays, const machine::IssueOrder& order)
      : scenario_(scenario),
        plan_(scenario.shape),
        messages_(messages_of_group(plan_, scenario.messages, scenario.small)),
        wiring_(platform, size()),
        setting_(messages_.schedule, platform, wiring_, delays, order),
        delays_(delays_of(setting_, messages_, delays.stragglers)),
        paths_(setting_),
        ways_(all_ways(size()), wiring_, delays),
        clock_(paths_),
        crowding_(setting_, paths_, clock_),
        o_post_s_(sched::seconds(platform.o_post)),
        post_more_s_(platform.node.post_more_s()),
        o_complete_s_(sched::seconds(platform.o_complete)) {
    machine::require_executable(messages_.schedule);
    if (const auto& kill = scenario.kill) {
      victim_ops_.emplace(kill->member, messages_, scenario.small, trace_);
    }
    execution_ = std::make_unique<machine::Execution>(
        setting_, delays_, paths_, machine::record_in(trace_, messages_.schedule, delays.seed),
        crowding_);
    for (std::uint32_t m = 0; m < size(); ++m) {
      members_.push_back(std::make_unique<SimulatedMember>(*this, m, scenario));
      members_.back()->next = messages_.ops(0, m).own;
      threads_[m].ahead_of = next_in_blocks(0);
    }
  }

  GroupRun run() {
    if (const auto& kill = scenario_.kill; kill && kill->at) {
      push({sched::seconds(*kill->at), Kind::kKill, kill->member});
    }
    for (auto& member : members_) member->core.close();
    execution_->start();
    look();
    for (int ticks = 0; ticks < kMostTicks;) {
      const double clock_s = clock_.next_s();
      const double event_s = events_.empty() ? kNever : events_.top().at_s;
      const double next_s = std::min(clock_s, event_s);
      if (next_s >= patience_s_) {
        SimulatedMember* const impatient = most_impatient();
        if (impatient == nullptr && next_s == kNever) return result();
        if (impatient != nullptr && impatient->core.patience_ends_s() <= next_s) {
          ++ticks;
          now_s_ = std::max(now_s_, impatient->core.patience_ends_s());
          impatient->progress();
          continue;
        }
      }
      now_s_ = next_s;
      if (clock_s <= event_s) {
        clock_.step(*execution_);
        look();
      } else {
        const Event event = events_.top();
        events_.pop();
        handle(event);
      }
    }
    throw InternalError("group: its members wait for each other and never end");
  }

  double now_s() const override { return now_s_; }
  std::uint32_t size() const override { return scenario_.shape.members; }
  std::uint64_t message_count() const override { return scenario_.messages.size(); }
  std::uint64_t small_writes(std::uint32_t member, std::uint64_t messages) const override {
    if (messages_.small.empty() || size() == 1) return 0;
    const auto small = static_cast<std::uint64_t>(
        std::ranges::lower_bound(messages_.small, messages) - messages_.small.begin());
    return member == 0 ? small : small / scenario_.small.messages_per_count();
  }
  void stop(std::uint32_t member) override {
    execution_->stop(RankId(member));
    threads_[member].stopped = true;
    post_waiting(*members_[member]);
  }

  void tell(SimulatedMember& from, std::uint32_t to, const GroupSaying& saying) override {
    when_free(from, [this, &from, to, saying] { post_word(from, to, saying); });
  }
  void write_row(SimulatedMember& from, std::uint32_t to, std::uint64_t count) override {
    when_free(from, [this, &from, to, count] { post_row(from, to, count); });
  }

 private:
  // The thread of a member, which posts words and rows behind what it makes ready.
  struct Thread {
    std::size_t ahead_of = 0;  // which message in blocks; of none: how many messages there are
    std::size_t posted = 0;    // operations ahead of it, as far as was looked
    std::size_t counts = 0;    // of small messages that it has posted, likewise
    bool stopped = false;      // it posts no more operations
    std::deque<std::function<void()>> waiting;
  };

  // The first message in blocks from that one on, or how many messages there are.
  std::size_t next_in_blocks(std::size_t message) const {
    while (message < message_count() && messages_.messages[message] == nullptr) ++message;
    return message;
  }

  // What a member posts ahead of a message in blocks; none() behind the last.
  OpId ahead_op(std::uint32_t member, const Thread& thread) const {
    if (thread.ahead_of < message_count()) {
      const auto& places = (*messages_.places_ahead[thread.ahead_of])[member];
      if (thread.posted == places.size()) return OpId::none();
      return OpId(messages_.ops(thread.ahead_of, member).own.value + places[thread.posted]);
    }
    if (messages_.ahead.empty()) return OpId::none();
    const GroupMessageOps& ops = messages_.ahead[member];
    const OpId id(ops.own.value + static_cast<std::uint32_t>(thread.posted));
    return id < ops.end ? id : OpId::none();
  }

  // A calc stands for the post of a receive, which is one at its end.
  bool is_posted(OpId op) const {
    const sched::OpTimes& times = trace_.ops[op.value];
    const bool is_calc = messages_.schedule.op(op).kind == sched::OpKind::kCalc;
    return (is_calc ? times.done_s : times.issued_s) < kNever;
  }

  // Whether the member has yet to post what goes ahead of the next message in blocks, or a count of
  // small messages that may leave.
  bool is_making_ready(const SimulatedMember& member) {
    Thread& thread = threads_[member.self];
    if (thread.stopped) return false;
    for (OpId op = ahead_op(member.self, thread); op.valid(); op = ahead_op(member.self, thread)) {
      if (!is_posted(op)) return true;
      ++thread.posted;
    }
    const std::vector<OpId>& counts = messages_.counts[member.self];
    while (thread.counts < counts.size() && is_posted(counts[thread.counts])) ++thread.counts;
    return thread.counts < counts.size() &&
           trace_.ops[counts[thread.counts].value].ready_s < kNever;
  }

  void when_free(SimulatedMember& member, std::function<void()> post) {
    if (!member.alive) return;
    threads_[member.self].waiting.push_back(std::move(post));
    post_waiting(member);
  }

  // What is posted may be the last thing that the member does.
  void post_waiting(SimulatedMember& member) {
    std::deque<std::function<void()>>& waiting = threads_[member.self].waiting;
    while (!waiting.empty() && member.alive && !is_making_ready(member)) {
      const std::function<void()> post = std::move(waiting.front());
      waiting.pop_front();
      post();
    }
    if (!member.alive) waiting.clear();
  }

  void post_word(SimulatedMember& from, std::uint32_t to, const GroupSaying& saying) {
    Event event{0, Kind::kWord, to, from.self, 0, saying};
    const double there_s = send(from, to, word_bytes(size()), event, hears_after_s(to));
    if (is_victim(from.self)) words_left_.push_back({to, from.posts_from_s, there_s});
    acted(from);
  }
  void post_row(SimulatedMember& from, std::uint32_t to, std::uint64_t count) {
    const double there_s =
        send(from, to, kRowBytes, {0, Kind::kRow, to, from.self, count, {}}, sees_after_s(to));
    const double known_s = there_s + way(to, from.self).latency_s + o_complete_s_;
    Event written{known_s + sees_after_s(from.self), Kind::kRowWritten, from.self, to};
    written.left_s = there_s;
    push(std::move(written));
    // One write to a member is under way at a time: the one before has left.
    if (is_victim(from.self)) {
      cut_.rows[to] = rows_left_[to].count;
      rows_left_[to] = {count, from.posts_from_s};
    }
    acted(from);
  }

  enum class Kind : std::uint8_t {
    kFinished,    // a message stands at the member
    kSmall,       // its writes of so many small messages, or so many counts, have come
    kRow,         // the row of `from` comes to it
    kRowWritten,  // its row has come to `from`
    kWord,        // of `from`
    kLoss,        // its mesh learns who is lost
    kKill,
  };
  struct Event {
    double at_s = 0;
    Kind kind = Kind::kFinished;
    std::uint32_t member = 0;
    std::uint32_t from = 0;
    std::uint64_t count = 0;
    GroupSaying saying = {};
    double left_s = 0;         // of a word or a row: when `from` had posted it, or had it
    std::uint64_t serial = 0;  // of the same time, the first that was foreseen is first
    bool operator<(const Event& other) const {
      return std::pair(at_s, serial) > std::pair(other.at_s, other.serial);
    }
  };

  bool is_victim(std::uint32_t member) const {
    return scenario_.kill && scenario_.kill->member == member;
  }
  const machine::Path& way(std::uint32_t from, std::uint32_t to) const {
    return ways_[way_id(from, to)];
  }
  machine::PathId way_id(std::uint32_t from, std::uint32_t to) const {
    return ways_.of(sched::ChannelId(from * (size() - 1) + to - (to > from ? 1 : 0)), false);
  }

  void push(Event event) {
    event.serial = ++serial_;
    events_.push(std::move(event));
  }

  GroupLateness lateness(std::uint32_t member) const {
    return scenario_.lateness.empty() ? GroupLateness{} : scenario_.lateness[member];
  }
  double hears_after_s(std::uint32_t member) const {
    return sched::seconds(lateness(member).hears);
  }
  double sees_after_s(std::uint32_t member) const { return sched::seconds(lateness(member).sees); }

  // Has a member post something small, which counts `later_s` after it has come; answers when it
  // has.
  double send(SimulatedMember& from, std::uint32_t to, std::uint64_t bytes, Event event,
              double later_s = 0) {
    const double more_s = way(from.self, to).passes_no_nic() ? 0 : post_more_s_;
    from.posts_from_s = std::max(now_s_, from.posts_from_s) + o_post_s_ + more_s;
    event.left_s = from.posts_from_s;
    event.at_s = ways_.sent_s(from.posts_from_s, way_id(from.self, to), bytes) +
                 way(from.self, to).latency_s + o_complete_s_;
    const double there_s = event.at_s;
    event.at_s += later_s;
    push(std::move(event));
    return there_s;
  }

  // One thing more that a member did.
  void acted(SimulatedMember& member) {
    if (!is_victim(member.self) || !scenario_.kill->after) return;
    if (++actions_ == *scenario_.kill->after) kill(member, std::max(now_s_, member.posts_from_s));
  }

  void kill(SimulatedMember& victim, double at_s) {
    if (!victim.alive || victim.core.state() == machine::GroupCore::State::kEnded) return;
    victim.alive = false;
    killed_s_ = at_s;
    stop(victim.self);
    victim_ops_->note(cut_);
    note_left(at_s);
    const GroupKill& how = *scenario_.kill;
    for (std::uint32_t m = 0; m < size(); ++m) {
      const bool sees = !how.seen_by || std::ranges::find(*how.seen_by, m) != how.seen_by->end();
      if (m == victim.self || !sees) continue;
      const double seen_s = connection_ends_s(m, at_s) + sched::seconds(how.detection);
      push({seen_s + hears_after_s(m), Kind::kLoss, m, m});
    }
  }

  // When the end of its connection with a member comes there of the victim that ends at `at_s`:
  // behind the last word that it had told there.
  double connection_ends_s(std::uint32_t m, double at_s) const {
    double end_s = at_s + way(scenario_.kill->member, m).latency_s;
    for (const WordLeft& word : words_left_) {
      if (word.to == m && word.at_s <= at_s) end_s = std::max(end_s, word.there_s);
    }
    return end_s;
  }

  // Of the victim's rows and words, those that it had posted.
  void note_left(double at_s) {
    for (std::uint32_t m = 0; m < size(); ++m) {
      if (rows_left_[m].at_s <= at_s) cut_.rows[m] = rows_left_[m].count;
    }
    cut_.words = static_cast<std::uint64_t>(std::ranges::count_if(
        words_left_, [=](const WordLeft& word) { return word.at_s <= at_s; }));
  }

  bool is_done(OpId op) const { return trace_.ops[op.value].done_s < kNever; }

  // After an instant of the event engine: what has come of it.
  void look() {
    for (auto& each : members_) {
      SimulatedMember& member = *each;
      const bool is_open = member.alive && member.core.is_open();
      if (is_open && is_victim(member.self)) count_issued(member);
      if (!threads_[member.self].waiting.empty()) post_waiting(member);
      if (!is_open || !member.alive) continue;
      while (look_at_message(member)) {
      }
      while (look_at_small(member)) {
      }
    }
  }

  // Answers whether the message under way stands at the member now.
  bool look_at_message(SimulatedMember& member) {
    if (member.message == message_count()) return false;
    const OpId before = member.next;
    const GroupMessageOps& ops = messages_.ops(member.message, member.self);
    for (; member.next < ops.end; ++member.next.value) {
      const sched::OpTimes& times = trace_.ops[member.next.value];
      const double came_s = ops.until == sched::On::kDone ? times.done_s : times.issued_s;
      if (came_s == kNever) break;
      member.last_done_s = std::max(member.last_done_s, came_s);
    }
    if (member.next != before) member.core.notice_sign();
    if (member.next != ops.end) return false;
    push({std::max(now_s_, member.last_done_s) + sees_after_s(member.self), Kind::kFinished,
          member.self});
    if (messages_.messages[member.message] != nullptr) {
      threads_[member.self].ahead_of = next_in_blocks(member.message + 1);
      threads_[member.self].posted = 0;
    }
    if (++member.message < message_count()) {
      member.next = messages_.ops(member.message, member.self).own;
    }
    return true;
  }

  // Answers whether the next of its writes have come: the root's of a message, or a count.
  bool look_at_small(SimulatedMember& member) {
    if (member.small_done == small_writes(member.self, message_count())) return false;
    OpId id, end;
    if (member.self == 0) {
      const GroupMessageOps& ops = messages_.ops(messages_.small[member.small_done], 0);
      id = OpId(ops.own.value + 1);
      end = ops.end;
    } else {
      id = messages_.counts[member.self][member.small_done];
      end = OpId(id.value + 1);
    }
    double done_s = std::max(now_s_, member.small_done_s);
    for (; id < end; ++id.value) {
      if (!is_done(id)) return false;
      done_s = std::max(done_s, trace_.ops[id.value].done_s);
    }
    member.small_done_s = done_s;
    push({done_s + sees_after_s(member.self), Kind::kSmall, member.self, 0, ++member.small_done});
    return true;
  }

  // The victim's operations that were issued in this instant.
  void count_issued(SimulatedMember& victim) {
    if (!scenario_.kill->after) return;
    const std::uint64_t more = victim_ops_->newly_issued(victim.message);
    actions_ += more;
    if (more != 0 && actions_ >= *scenario_.kill->after) kill(victim, now_s_);
  }

  void handle(const Event& event) {
    SimulatedMember& member = *members_[event.member];
    if (event.kind == Kind::kKill) return kill(member, now_s_);
    if (!member.alive || !was_sent(event)) return;
    switch (event.kind) {
      case Kind::kFinished:
        member.finish();
        break;
      case Kind::kSmall:
        member.small_written = event.count;
        member.core.notice_sign();
        break;
      case Kind::kRow:
        member.row_came(event.from, event.count);
        break;
      case Kind::kRowWritten:
        member.row_written(event.from);
        break;
      case Kind::kWord:
        hear(member, event);
        break;
      case Kind::kLoss:
        learn(member, event.from);
        break;
      case Kind::kKill:
        break;
    }
    member.progress();
  }

  // What the victim had not posted when it ended never leaves, and what came later is not answered.
  bool was_sent(const Event& event) const {
    const bool of_peer =
        event.kind == Kind::kWord || event.kind == Kind::kRow || event.kind == Kind::kRowWritten;
    return !of_peer || !is_victim(event.from) || !killed_s_ || event.left_s <= *killed_s_;
  }

  void hear(SimulatedMember& member, const Event& event) {
    if (member.core.state() != machine::GroupCore::State::kEnded) {
      return member.core.hear(event.from, event.saying);
    }
    const auto answer = machine::answer_without_group(event.saying.word);
    if (answer) tell(member, event.from, *answer);
  }

  // A mesh learns of the loss, itself or from another's, and passes it on.
  void learn(SimulatedMember& member, std::uint32_t seen_by) {
    if (std::exchange(member.knows_loss, true)) return;
    const std::uint32_t lost = scenario_.kill->member;
    for (std::uint32_t m = 0; m < size(); ++m) {
      if (m == member.self || m == lost) continue;
      send(member, m, word_bytes(size()), {0, Kind::kLoss, m, seen_by}, hears_after_s(m));
    }
    member.core.lose(
        lost, fmt::format("rank {} was lost: its process ended, as rank {} saw", lost, seen_by),
        false);
  }

  SimulatedMember* most_impatient() {
    SimulatedMember* first = nullptr;
    for (auto& member : members_) {
      if (!member->alive || member->core.state() == machine::GroupCore::State::kEnded) continue;
      if (first == nullptr || member->core.patience_ends_s() < first->core.patience_ends_s()) {
        first = member.get();
      }
    }
    patience_s_ = first == nullptr ? kNever : first->core.patience_ends_s();
    return first;
  }

  void note_issued(SimulatedMember& member) const {
    const auto note = [this](const GroupMessageOps& ops, std::vector<bool>& issued) {
      for (OpId id = ops.own; id < ops.end; ++id.value) {
        issued.push_back(trace_.ops[id.value].issued_s < kNever);
      }
    };
    for (std::size_t k = 0; k < message_count(); ++k) {
      if (messages_.messages[k] != nullptr) note(messages_.ops(k, member.self), member.run.issued);
    }
    if (!messages_.ahead.empty()) note(messages_.ahead[member.self], member.run.issued_ahead);
  }

  GroupRun result() {
    GroupRun result;
    result.digest = messages_.schedule.digest();
    result.contended = crowding_.found(execution_->shared());
    result.killed_s = killed_s_;
    if (killed_s_) result.cut = std::move(cut_);
    for (auto& member : members_) {
      if (member->alive) member->run.outcome = member->core.outcome();
      note_issued(*member);
      result.members.push_back(std::move(member->run));
    }
    return result;
  }

  const GroupScenario& scenario_;
  machine::GroupPlan plan_;
  const GroupMessages messages_;
  const machine::Wiring wiring_;
  const machine::Setting setting_;
  const machine::Delays delays_;
  const machine::Paths paths_;
  const machine::Paths ways_;
  machine::AloneClock clock_;
  machine::LinkCrowding crowding_;
  const double o_post_s_;
  const double post_more_s_;  // on a queue pair that threads share
  const double o_complete_s_;
  sched::Trace trace_;
  std::unique_ptr<machine::Execution> execution_;
  std::vector<std::unique_ptr<SimulatedMember>> members_;
  std::vector<Thread> threads_ = std::vector<Thread>(size());  // by member
  std::priority_queue<Event> events_;
  std::uint64_t serial_ = 0;
  double now_s_ = 0;
  double patience_s_ = 0;  // no member's ends earlier

  std::optional<double> killed_s_;
  std::uint64_t actions_ = 0;  // of the victim
  std::optional<VictimOps> victim_ops_;
  struct RowLeft {
    std::uint64_t count = 0;
    double at_s = 0;
  };
  std::vector<RowLeft> rows_left_ =
      std::vector<RowLeft>(size());  // the victim's latest to each member
  struct WordLeft {
    std::uint32_t to = 0;
    double at_s = 0;
    double there_s = 0;
  };
  std::vector<WordLeft> words_left_;  // of the victim
  GroupCut cut_{std::vector<std::uint64_t>(size(), 0), 0, std::vector<std::uint64_t>(size(), 0), 0};
};

}  // namespace

GroupRun run_group(const GroupScenario& scenario, const machine::Platform& platform,
                   const machine::DelayPlan& delays, const machine::IssueOrder& order) {
  check_scenario(scenario, platform, delays);
  return GroupSimulation(scenario, platform, delays, order).run();
}

}  // namespace slackline::analysis
