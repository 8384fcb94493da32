#include "sched/workloads/tasks/owned_blocks.h"

#include <array>
#include <deque>
#include <unordered_map>
#include <vector>

#include "base/mix.h"
#include "sched/workloads/tasks/global_address.h"
#include "sched/workloads/tasks/task_program.h"

namespace slackline::sched {
namespace {

constexpr std::uint64_t kWord = 8;
constexpr std::uint64_t kBlockDraw = 7;  // sites of draws
constexpr std::uint64_t kWordDraw = 8;
constexpr std::uint32_t kRequest = 0;  // kinds of messages
constexpr std::uint32_t kReturn = 1;

class OwnedBlocks : public TaskPattern {
 public:
  OwnedBlocks(const Spec& spec, const OwnedBlockOptions& options)
      : o_(options),
        task_(spec.own<TaskOptions>()),
        handler_(spec.handler),
        words_of_block_(static_cast<std::uint32_t>(options.block / kWord)),
        count_(static_cast<std::uint32_t>(options.words / words_of_block_)),
        program_(spec, *this),
        states_(std::size_t{spec.multicast.ranks} * task_.tasks) {
    const std::uint64_t bytes = striped_share(count_ * o_.block, spec.multicast.ranks);
    for (std::uint32_t r = 0; r < spec.multicast.ranks; ++r) {
      arrays_.push_back(program_.memory().take(r, bytes));
    }
  }

  Schedule make() { return program_.make(); }

  void run(TaskId task) override {
    State& state = states_[task];
    switch (state.next) {
      case Next::kAsk:
        return ask(task);
      case Next::kGet:
        state.next = Next::kWriteBack;
        return fetch(task);
      case Next::kWriteBack:
        state.next = Next::kRelease;
        update(task);
        return write_back(task);
      case Next::kRelease:
        release(task);
        return ask(task);
    }
  }

  void handle(const TaskMessage& message, OpId after) override {
    Block& block = blocks_[message.argument];
    // After the handler before it: the home looks at one request of a block at a time.
    const OpId handled =
        program_.joined(message.dst, {program_.busy(message.dst, handler_, after), block.last});
    block.last = handled;
    if (message.kind == kRequest) {
      block.asked.push_back(message);
      if (block.asked.size() > 1) return;
    } else {
      block.asked.pop_front();
      if (block.asked.empty()) return;
    }
    program_.reply(block.asked.front(), {}, {&handled, 1});
  }

 private:
  enum class Next : std::uint8_t { kAsk, kGet, kWriteBack, kRelease };
  struct State {  // of a task
    Next next = Next::kAsk;
    std::uint64_t acquired = 0;
    std::uint64_t block = 0;
    Slice here;
    std::vector<bool> dirty;  // of each word, whether it was updated
  };
  struct Block {
    std::deque<TaskMessage> asked;  // the owner's first
    OpId last;                      // the last handler of its home
    std::vector<TaskMemory::Sum> sums;
  };

  std::uint64_t first_byte(std::uint64_t block) const { return block * o_.block; }
  std::uint32_t home(std::uint64_t block) const {
    return GlobalAddress::linear(first_byte(block)).delegated(kWord, program_.ranks()).rank;
  }
  Slice at(const LocalPiece& piece) const {
    return {arrays_[piece.rank].buffer, arrays_[piece.rank].offset + piece.offset, piece.bytes};
  }
  // The number of what a task is about to acquire, or has last acquired, among its rank's.
  std::uint64_t number(TaskId task) const {
    return task % task_.tasks + states_[task].acquired * task_.tasks;
  }

  Slice request(std::uint32_t rank) {
    const Slice record = program_.memory().take(rank, task_.record);
    program_.memory().add_value(record);
    return record;
  }

  void ask(TaskId task) {
    State& state = states_[task];
    const std::uint64_t k = number(task);
    if (k >= o_.acquires) return program_.finish(task);
    const std::uint32_t rank = program_.rank_of(task);
    state.block = below(draw(task_.seed, {kBlockDraw, rank, k}), count_);
    state.here = program_.memory().take(rank, o_.block);
    state.next = Next::kGet;
    know(state.block);
    program_.delegate(task, home(state.block), kRequest, state.block, request(rank));
  }

  // Its words have values of their own.
  void know(std::uint64_t number) {
    std::vector<TaskMemory::Sum>& sums = blocks_[number].sums;
    for (std::uint64_t i = sums.size(); i < words_of_block_; ++i) {
      const GlobalAddress word = GlobalAddress::linear(first_byte(number) + i * kWord);
      sums.push_back(program_.memory().add_sum(at(word.delegated(kWord, program_.ranks()))));
    }
  }

  void fetch(TaskId task) {
    const State& state = states_[task];
    Slice here = state.here;
    const GlobalAddress block = GlobalAddress::linear(first_byte(state.block));
    for (const LocalPiece& piece : block.pieces(o_.block, program_.ranks())) {
      here.bytes = piece.bytes;
      program_.begin_get(task, piece.rank, at(piece), here);
      here.offset += piece.bytes;
    }
    program_.await(task);
  }

  void update(TaskId task) {
    State& state = states_[task];
    TaskMemory& memory = program_.memory();
    const std::uint32_t rank = program_.rank_of(task);
    state.dirty.assign(words_of_block_, false);
    for (std::uint32_t i = 0; i < o_.uses; ++i) {
      const std::uint32_t word =
          below(draw(task_.seed, {kWordDraw, rank, number(task), i}), words_of_block_);
      const Slice operand = memory.take(rank, kWord);
      memory.add_term(blocks_[state.block].sums[word], memory.add_value(operand));
      const Slice sum{state.here.buffer, state.here.offset + word * kWord, kWord};
      state.dirty[word] = true;
      program_.compute(task, task_.work);
      program_.local(task, OpKind::kReduce, std::array{sum, operand}, sum);
    }
  }

  // The runs of words that were updated, of each home by itself.
  void write_back(TaskId task) {
    const State& state = states_[task];
    for (std::uint64_t word = 0; word < words_of_block_;) {
      std::uint64_t end = word;
      while (end < words_of_block_ && state.dirty[end]) ++end;
      const GlobalAddress run = GlobalAddress::linear(first_byte(state.block) + word * kWord);
      Slice here{state.here.buffer, state.here.offset + word * kWord, 0};
      for (const LocalPiece& piece : run.pieces((end - word) * kWord, program_.ranks())) {
        here.bytes = piece.bytes;
        program_.begin_put(task, piece.rank, here, at(piece));
        here.offset += piece.bytes;
      }
      word = end + 1;
    }
    program_.await(task);
  }

  void release(TaskId task) {
    State& state = states_[task];
    const std::uint32_t rank = program_.rank_of(task);
    ++state.acquired;
    program_.call(rank, program_.last_of(task),
                  {rank, home(state.block), task, kReturn, state.block, request(rank)});
  }

  const OwnedBlockOptions o_;
  const TaskOptions& task_;
  const Time handler_;
  const std::uint32_t words_of_block_;
  const std::uint32_t count_;                        // of blocks
  std::unordered_map<std::uint64_t, Block> blocks_;  // that were asked for; never walked
  TaskProgram program_;
  std::vector<State> states_;
  std::vector<Slice> arrays_;  // by rank
};

}  // namespace

Schedule owned_blocks(const Spec& spec, const OwnedBlockOptions& options) {
  return OwnedBlocks(spec, options).make();
}

// Four switches, two joins, a request, a grant and a release of a calc and a join each, a get of
// each piece, a calc and a reduce of each use, and a put of each use at the most.
std::uint64_t owned_block_ops(const Spec& spec, const OwnedBlockOptions& options) {
  return 6 + 3 * (message_ops(spec) + 3) + 3 * std::uint64_t{options.uses} +
         2 * (options.block / kGlobalBlock + 2);
}

}  // namespace slackline::sched
