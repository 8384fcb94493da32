#include "sched/workloads/tasks/hex_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "sched/pattern/shared_options.h"
#include "sched/workloads/tasks/hex_tree.h"
#include "sched/workloads/tasks/task_program.h"

namespace slackline::sched {
namespace {

constexpr std::uint64_t kWord = 8;
constexpr std::uint32_t kMostRollouts = 1u << 20;
constexpr std::uint32_t kMostPlayouts = 1u << 12;

struct HexSearchOptions {
  std::uint32_t rollouts = 64;  // of all ranks together
  std::uint32_t playouts = 16;  // from each leaf
};

const HexSearchOptions& checked(const Spec& spec) {
  const HexSearchOptions& o = spec.own<HexSearchOptions>();
  if (o.rollouts == 0 || o.rollouts > kMostRollouts) {
    throw InputError(fmt::format("rollouts: {}; expected 1 to {}", o.rollouts, kMostRollouts));
  }
  if (o.playouts == 0 || o.playouts > kMostPlayouts) {
    throw InputError(fmt::format("playouts: {}; expected 1 to {}", o.playouts, kMostPlayouts));
  }
  return o;
}

class HexSearch : public TaskPattern {
 public:
  explicit HexSearch(const Spec& spec)
      : o_(checked(spec)),
        task_(spec.own<TaskOptions>()),
        handler_(spec.handler),
        tree_(spec.multicast.ranks, task_.seed),
        program_(spec, *this),
        next_(std::size_t{spec.multicast.ranks} * task_.tasks),
        rollouts_(o_.rollouts) {}

  Schedule make() { return program_.make(); }

  // Task t of rank r begins rollouts r + ranks · t and every ranks · tasks-th after it.
  void run(TaskId task) override {
    const std::uint32_t rank = program_.rank_of(task);
    const std::uint64_t ranks = program_.ranks();
    const std::uint64_t rollout = rank + ranks * (task % task_.tasks + next_[task] * task_.tasks);
    if (rollout >= o_.rollouts) return program_.finish(task);
    ++next_[task];
    const Slice record = new_record(rank, rollout);
    program_.delegate(task, tree_.vertex(0).owner, kSelect, rollout, record);
  }

  void handle(const TaskMessage& message, OpId after) override {
    const auto vertex = static_cast<std::uint32_t>(message.argument >> 32);
    const std::uint64_t rollout = message.argument & 0xffffffffu;
    switch (message.kind) {
      case kSelect: {
        const OpId last = program_.busy(message.dst, handler_, after);
        const HexTree::Step step = tree_.descend(vertex);
        return pass_on(message, step.fresh ? kPlay : kSelect, step.vertex, last);
      }
      case kPlay:
        rollouts_[rollout].wins = tree_.play_out(vertex, o_.playouts, rollout);
        return update(message, vertex, rollout,
                      program_.busy(message.dst, handler_ + o_.playouts * task_.work, after));
      default:
        return update(message, vertex, rollout, program_.busy(message.dst, handler_, after));
    }
  }

 private:
  enum Kind : std::uint32_t { kSelect, kPlay, kUpdate };
  struct Rollout {
    TaskMemory::Value record = 0;  // of its message
    std::uint32_t wins = 0;
  };
  struct Word {
    Slice slice;
    TaskMemory::Sum sum = 0;
    OpId last;  // that added to it
  };

  Slice new_record(std::uint32_t rank, std::uint64_t rollout) {
    const Slice record = program_.memory().take(rank, task_.record);
    rollouts_[rollout].record = program_.memory().add_value(record);
    return record;
  }

  void pass_on(const TaskMessage& message, Kind kind, std::uint32_t vertex, OpId after) {
    const std::uint64_t rollout = message.argument & 0xffffffffu;
    TaskMessage next = message;
    next.src = message.dst;
    next.dst = tree_.vertex(vertex).owner;
    next.kind = kind;
    next.argument = std::uint64_t{vertex} << 32 | rollout;
    next.record = new_record(next.src, rollout);
    program_.call(next.src, after, next);
  }

  void update(const TaskMessage& message, std::uint32_t vertex, std::uint64_t rollout, OpId after) {
    Word& word = word_of(vertex);
    const Slice operand{message.record.buffer, message.record.offset, kWord};
    word.last = program_.handler(message.dst, OpKind::kReduce, {{word.slice, operand}}, word.slice,
                                 {after, word.last});
    program_.memory().add_term(word.sum, rollouts_[rollout].record);
    tree_.update(vertex, o_.playouts, rollouts_[rollout].wins);
    if (vertex == 0) return program_.reply(message, {}, {&word.last, 1});
    pass_on(message, kUpdate, tree_.vertex(vertex).parent, word.last);
  }

  Word& word_of(std::uint32_t vertex) {
    if (vertex >= words_.size()) words_.resize(vertex + std::size_t{1});
    Word& word = words_[vertex];
    if (word.slice.bytes == 0) {
      word.slice = program_.memory().take(tree_.vertex(vertex).owner, kWord);
      word.sum = program_.memory().add_sum(word.slice);
    }
    return word;
  }

  const HexSearchOptions& o_;
  const TaskOptions& task_;
  const Time handler_;
  HexTree tree_;
  TaskProgram program_;
  std::vector<std::uint64_t> next_;  // by task: rollouts it has begun
  std::vector<Rollout> rollouts_;
  std::vector<Word> words_;  // by vertex
};

}  // namespace

Schedule hex_search(const Spec& spec) { return HexSearch(spec).make(); }

// A rollout goes down and up again at most once through as many vertices as there are rollouts, or
// moves in a game.
std::uint64_t hex_search_ops(const Spec& spec) {
  const HexSearchOptions& o = checked(spec);
  const std::uint64_t depth = std::min<std::uint64_t>(o.rollouts, kHexCells) + 1;
  return std::uint64_t{o.rollouts} * (2 * depth + 2) * (3 + message_ops(spec)) +
         std::uint64_t{2} * spec.multicast.ranks * spec.own<TaskOptions>().tasks;
}

namespace {

constexpr auto kHexSearchOptions = option_list(
    kRanksOption, kHandlerOption, kTaskOptions, kWorkOption, kRequestOptions,
    count_option<&HexSearchOptions::rollouts>("rollouts", "1 to 1048576",
                                              "hex-search: of all ranks together"),
    count_option<&HexSearchOptions::playouts>("playouts", "1 to 4096",
                                              "hex-search: from each leaf"),
    choice_option<&TaskOptions::bundle>("bundle", "none|trad|ovfl", "hex-search: of its channels"));

}  // namespace

constinit const PatternEntry kHexSearchPattern = schedule_entry(
    "hex-search", "a Monte-Carlo tree search over Hex, its vertices spread at random",
    kHexSearchOptions, hex_search, hex_search_ops);

}  // namespace slackline::sched
