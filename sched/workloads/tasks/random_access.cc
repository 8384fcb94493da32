#include "sched/workloads/tasks/random_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/flat_index.h"
#include "base/mix.h"
#include "sched/pattern/shared_options.h"
#include "sched/workloads/tasks/access_stream.h"
#include "sched/workloads/tasks/accessed_words.h"
#include "sched/workloads/tasks/global_address.h"
#include "sched/workloads/tasks/owned_blocks.h"
#include "sched/workloads/tasks/task_program.h"

namespace slackline::sched {
namespace {

constexpr std::uint64_t kWord = 8;
constexpr std::uint64_t kMostWords = 0xffffffffu;

// Of global memory: striped over all ranks in blocks, or a rank and an address.
enum class Addressing : std::uint8_t { kLinear, k2d };
// What a delegate does to its word.
enum class Delegate : std::uint8_t { kFetchAdd, kAdd, kRead, kWrite };
enum class CacheMode : std::uint8_t { kReadOnly, kReadWrite, kWriteOnly, kExclusive };
enum class Home : std::uint8_t { kAny, kOthers };

struct RandomAccessOptions {
  std::string by = "delegate";
  std::uint64_t accesses = 1000;  // of each rank, ≥ 1
  std::uint64_t words = 1024;     // of each rank, ≥ 1
  Delegate access = Delegate::kFetchAdd;
  Addressing address = Addressing::kLinear;
  Home home = Home::kAny;
  CacheMode cache = CacheMode::kReadWrite;
  std::uint64_t cache_bytes = 256;  // of one acquire, a multiple of 8
  std::uint32_t uses = 8;           // exclusive: words updated between acquire and release, ≥ 1
};

const RandomAccessOptions& own(const Spec& spec) { return spec.own<RandomAccessOptions>(); }

bool is_owned(const Spec& spec) {
  return own(spec).by == "cached" && own(spec).cache == CacheMode::kExclusive;
}

const Spec& checked(const Spec& spec) {
  const RandomAccessOptions& o = own(spec);
  if (o.by != "delegate" && o.by != "fetch-add" && o.by != "cached") {
    throw InputError(fmt::format("by: '{}'; expected delegate, fetch-add or cached", o.by));
  }
  if (o.accesses == 0) throw InputError("accesses: 0; expected at least 1 of each rank");
  if (o.words == 0) throw InputError("words: 0; expected at least 1 at each rank");
  if (o.words > kMostWords / std::max(spec.multicast.ranks, 1u)) {
    throw InputError(fmt::format("words: {} at each of {} ranks; expected at most {} together",
                                 o.words, spec.multicast.ranks, kMostWords));
  }
  if (o.address == Addressing::k2d && spec.multicast.ranks > kEndPoints) {
    throw InputError(
        fmt::format("ranks: {}; expected at most {}, as 2D addresses have 15 bits "
                    "for them",
                    spec.multicast.ranks, kEndPoints));
  }
  if (o.cache_bytes == 0 || o.cache_bytes % kWord != 0 || o.cache_bytes > (1u << 20)) {
    throw InputError(
        fmt::format("cache-bytes: {}; expected a multiple of 8, 8 to 1048576", o.cache_bytes));
  }
  if (o.uses == 0) throw InputError("uses: 0; expected at least 1 of each acquire");
  if (!is_owned(spec) && o.uses != RandomAccessOptions().uses) {
    throw InputError(fmt::format(
        "uses: {} of a block that nobody owns; expected by=cached,cache=exclusive", o.uses));
  }
  if (o.by == "cached" && o.home == Home::kOthers) {
    throw InputError("home: others with by=cached, whose ranges are of all ranks; expected any");
  }
  if (o.by != "cached" && o.cache == CacheMode::kExclusive) {
    throw InputError(fmt::format("cache: exclusive with by={}; expected by=cached", o.by));
  }
  const std::uint64_t words = o.words * spec.multicast.ranks;
  if (is_owned(spec) && words < o.cache_bytes / kWord) {
    throw InputError(fmt::format("words: {} at all ranks; expected a block of {} at least", words,
                                 o.cache_bytes / kWord));
  }
  const bool at_one_rank = o.address == Addressing::kLinear && words <= kGlobalBlock / kWord;
  if (o.home == Home::kOthers && (spec.multicast.ranks < 2 || at_one_rank)) {
    throw InputError("home: others; expected words at two ranks at least");
  }
  return spec;
}

OwnedBlockOptions owned(const Spec& spec) {
  const RandomAccessOptions& o = own(spec);
  return {o.accesses, o.words * spec.multicast.ranks, o.cache_bytes, o.uses};
}

AccessedWords words_of(const Spec& spec) {
  const RandomAccessOptions& o = own(spec);
  return {spec.own<TaskOptions>().seed, spec.multicast.ranks, o.words,
          o.address == Addressing::kLinear, o.home == Home::kOthers};
}

class Accesses : public TaskPattern {
 public:
  Accesses(const Spec& spec, std::uint64_t bytes_per_rank)
      : o_(own(spec)),
        task_(spec.own<TaskOptions>()),
        handler_(spec.handler),
        program_(checked(spec), *this),
        next_(std::size_t{spec.multicast.ranks} * task_.tasks) {
    const bool atomics = o_.by == "fetch-add";
    program_.expect(random_access_ops(spec),
                    atomics ? std::uint64_t{spec.multicast.ranks} * o_.accesses : 0);
    for (std::uint32_t r = 0; r < spec.multicast.ranks; ++r) {
      arrays_.push_back(program_.memory().take(r, bytes_per_rank));
    }
  }

  Schedule make() { return program_.make(); }

 protected:
  // The number of the task's next access, if it has one.
  std::optional<std::uint64_t> next_access(TaskId task) {
    const std::uint64_t k = task % task_.tasks + std::uint64_t{next_[task]} * task_.tasks;
    if (k >= o_.accesses) return std::nullopt;
    ++next_[task];
    return k;
  }
  Slice slice_of(const LocalPiece& home) const {
    return {arrays_[home.rank].buffer, arrays_[home.rank].offset + home.offset, home.bytes};
  }
  void handle(const TaskMessage&, OpId) override {}

  const RandomAccessOptions& o_;
  const TaskOptions& task_;
  const Time handler_;
  TaskProgram program_;
  std::vector<Slice> arrays_;  // by rank

 private:
  std::vector<std::uint32_t> next_;  // by task: how many accesses it has begun
};

class FetchAdds : public Accesses {
 public:
  explicit FetchAdds(const Spec& spec)
      : Accesses(spec, words_of(spec).bytes_per_rank()), words_(words_of(spec)) {
    for (const Slice& array : arrays_) program_.memory().add_value(array);
  }
  void run(TaskId task) override {
    const auto k = next_access(task);
    if (!k) return program_.finish(task);
    program_.compute(task, task_.work);
    const WordAccess a = words_.access(program_.rank_of(task), *k);
    const LocalPiece home = words_.home(a.word);
    program_.fetch_add(task, home.rank, slice_of(home), a.value);
  }

 private:
  const AccessedWords words_;
};

class Delegates : public Accesses {
 public:
  explicit Delegates(const Spec& spec)
      : Accesses(spec, words_of(spec).bytes_per_rank()),
        words_(words_of(spec)),
        read_(std::size_t{spec.multicast.ranks} * task_.tasks) {
    const std::uint64_t accesses = std::uint64_t{spec.multicast.ranks} * o_.accesses;
    program_.memory().expect_values(accesses + words_.count());
    if (words_.count() <= accesses) by_word_.resize(words_.count());
  }

  void run(TaskId task) override {
    TaskMemory& memory = program_.memory();
    if (read_[task].has_value()) memory.expect(program_.result(task), *read_[task]);
    read_[task].reset();
    const auto k = next_access(task);
    if (!k) return program_.finish(task);
    const std::uint32_t rank = program_.rank_of(task);
    const std::uint64_t word = words_.access(rank, *k).word;
    look_ahead(word);  // if the handler comes soon
    program_.compute(task, task_.work);
    const Slice record = memory.take(rank, task_.record);
    const TaskMemory::Value value = memory.add_value(record);
    if (o_.access == Delegate::kRead) read_[task] = memory.initial(state_of(word).sum);
    program_.delegate(task, words_.home(word).rank, 0, word << 32 | value, record);
  }

  void look_ahead(const TaskMessage& message) const override { look_ahead(message.argument >> 32); }

  void handle(const TaskMessage& message, OpId after) override {
    const std::uint64_t word = message.argument >> 32;
    const auto value = static_cast<TaskMemory::Value>(message.argument & 0xffffffffu);
    State& state = state_of(word);
    const Slice at = slice_of(words_.home(word));
    const Slice operand{message.record.buffer, message.record.offset, kWord};
    const std::uint32_t rank = message.dst;
    OpId last = program_.busy(rank, handler_, after);
    std::optional<Slice> fetched;
    if (o_.access == Delegate::kFetchAdd || o_.access == Delegate::kRead) {
      fetched = program_.memory().take(rank, kWord);
      last = program_.handler(rank, OpKind::kCopy, {{at}}, *fetched, {last, state.last});
    }
    if (o_.access == Delegate::kFetchAdd || o_.access == Delegate::kAdd) {
      const OpId before = fetched ? OpId::none() : state.last;
      last = program_.handler(rank, OpKind::kReduce, {{at, operand}}, at, {last, before});
      state.last = last;
      program_.memory().add_term(state.sum, value);
    } else if (o_.access == Delegate::kWrite) {
      last = program_.handler(rank, OpKind::kCopy, {{operand}}, at, {last, state.last});
      state.last = last;
      state.written = value;
    }
    program_.reply(message, fetched ? std::span(&*fetched, 1) : std::span<const Slice>(),
                   {&last, 1});
  }

  void finish() override {
    if (o_.access != Delegate::kWrite) return;
    for (const std::uint64_t word : touched_) {
      program_.memory().expect(slice_of(words_.home(word)), state_of(word).written);
    }
  }

 private:
  struct State {
    OpId last;  // handler that changed it
    TaskMemory::Sum sum = 0;
    TaskMemory::Value written = 0;
    bool touched = false;
  };
  struct HashOfWord {
    std::uint64_t operator()(std::uint64_t word) const { return mixed(word); }
  };
  // Until another word is asked for.
  State& state_of(std::uint64_t word) {
    State& state = by_word_.empty() ? states_.find_or_add(word).number : by_word_[word];
    if (state.touched) return state;
    state.touched = true;
    touched_.push_back(word);
    if (o_.access != Delegate::kWrite) {
      state.sum = program_.memory().add_sum(slice_of(words_.home(word)));
    }
    return state;
  }

  void look_ahead(std::uint64_t word) const {
    if (by_word_.empty()) return states_.look_ahead(word);
    __builtin_prefetch(&by_word_[word]);
  }

  const AccessedWords words_;
  // Of each word that is accessed: by word, or where few of them are, by hash.
  std::vector<State> by_word_;
  base::FlatIndex<std::uint64_t, HashOfWord, State> states_;
  std::vector<std::uint64_t> touched_;                  // the words, in the order of their states
  std::vector<std::optional<TaskMemory::Value>> read_;  // by task: what it is reading
};

class Caches : public Accesses {
 public:
  explicit Caches(const Spec& spec)
      : Accesses(spec, striped_share(ranges(spec) * own(spec).cache_bytes, spec.multicast.ranks)),
        ranges_(ranges(spec)),
        step_(coprime_step(ranges_)),
        caches_(std::size_t{spec.multicast.ranks} * task_.tasks) {
    if (o_.cache != CacheMode::kReadOnly) return;
    for (const Slice& array : arrays_) whole_.push_back(program_.memory().add_value(array));
  }

  void run(TaskId task) override {
    Cache& cache = caches_[task];
    if (cache.acquired) {
      cache.acquired = false;
      if (o_.cache == CacheMode::kReadWrite) return update_and_release(task);
      for (std::size_t i = 0; i < cache.pieces.size(); ++i) {
        program_.memory().expect(cache.here[i], whole_[cache.pieces[i].rank],
                                 cache.pieces[i].offset);
      }
    }
    const auto k = next_access(task);
    if (!k) return program_.finish(task);
    program_.compute(task, task_.work);
    acquire(task, *k);
  }

 private:
  struct Cache {  // of a task
    std::vector<LocalPiece> pieces;
    std::vector<Slice> here;
    Slice whole;
    bool acquired = false;
  };

  // Ranges that are written: one an access.
  static std::uint64_t ranges(const Spec& spec) {
    const std::uint64_t count = own(spec).accesses * spec.multicast.ranks;
    if (own(spec).accesses > kMostWords / spec.multicast.ranks) {
      throw InputError(
          fmt::format("accesses: {} of each of {} ranks; expected at most {} "
                      "together",
                      own(spec).accesses, spec.multicast.ranks, kMostWords));
    }
    return count;
  }
  static std::uint64_t coprime_step(std::uint64_t count) {
    std::uint64_t step = std::max<std::uint64_t>(1, count * 5 / 8);
    while (std::gcd(step, count) != 1) ++step;
    return step;
  }

  void acquire(TaskId task, std::uint64_t k) {
    const std::uint32_t rank = program_.rank_of(task);
    Cache& cache = caches_[task];
    const std::uint64_t number = rank * o_.accesses + k;
    const std::uint64_t range = o_.cache == CacheMode::kReadOnly
                                    ? access_of(task_.seed, rank, k, ranges_).word
                                    : (number * step_ + draw(task_.seed, {2}) % ranges_) % ranges_;
    cache.pieces =
        GlobalAddress::linear(range * o_.cache_bytes).pieces(o_.cache_bytes, program_.ranks());
    cache.whole = program_.memory().take(rank, o_.cache_bytes);
    cache.here = cut(cache.whole, cache.pieces);
    if (o_.cache == CacheMode::kWriteOnly) {
      for (std::size_t i = 0; i < cache.pieces.size(); ++i) {
        program_.memory().expect(slice_of(cache.pieces[i]),
                                 program_.memory().add_value(cache.here[i]));
      }
      return release(task);
    }
    cache.acquired = true;
    for (std::size_t i = 0; i < cache.pieces.size(); ++i) {
      program_.begin_get(task, cache.pieces[i].rank, slice_of(cache.pieces[i]), cache.here[i]);
    }
    program_.await(task);
  }

  void update_and_release(TaskId task) {
    TaskMemory& memory = program_.memory();
    const Cache& cache = caches_[task];
    const Slice operand = memory.take(program_.rank_of(task), o_.cache_bytes);
    const std::vector<Slice> operands = cut(operand, cache.pieces);
    for (std::size_t i = 0; i < cache.pieces.size(); ++i) {
      const TaskMemory::Sum sum = memory.add_sum(slice_of(cache.pieces[i]));
      memory.add_term(sum, memory.add_value(operands[i]));
    }
    program_.local(task, OpKind::kReduce, {{cache.whole, operand}}, cache.whole);
    release(task);
  }

  // Its acknowledgements are waited for.
  void release(TaskId task) {
    const Cache& cache = caches_[task];
    for (std::size_t i = 0; i < cache.pieces.size(); ++i) {
      program_.begin_put(task, cache.pieces[i].rank, cache.here[i], slice_of(cache.pieces[i]));
    }
    program_.await(task);
  }

  static std::vector<Slice> cut(Slice whole, const std::vector<LocalPiece>& pieces) {
    std::vector<Slice> cuts;
    for (const LocalPiece& piece : pieces) {
      cuts.push_back({whole.buffer, whole.offset, piece.bytes});
      whole.offset += piece.bytes;
    }
    return cuts;
  }

  const std::uint64_t ranges_;
  const std::uint64_t step_;
  std::vector<Cache> caches_;
  std::vector<TaskMemory::Value> whole_;  // by rank, read-only: what its array holds
};

}  // namespace

Schedule random_access(const Spec& spec) {
  checked(spec);
  const std::string& by = own(spec).by;
  if (by == "delegate") return Delegates(spec).make();
  if (by == "fetch-add") return FetchAdds(spec).make();
  return is_owned(spec) ? owned_blocks(spec, owned(spec)) : Caches(spec).make();
}

// Of a delegate: a switch, two messages of a write and a poll, and four of the handler. Gathered,
// each hop may also take two copies and a delay.
std::uint64_t random_access_ops(const Spec& spec) {
  const RandomAccessOptions& o = own(spec);
  std::uint64_t each = 4 + message_ops(spec) * 2 + 4;
  if (own(spec).by == "fetch-add") each = 2;
  if (own(spec).by == "cached") each = 4 + 2 * (o.cache_bytes / kGlobalBlock + 2);
  if (is_owned(spec)) each = owned_block_ops(spec, owned(spec));
  if (o.by != "cached" || is_owned(spec)) each += spec.own<TaskOptions>().work > Time{0} ? 1 : 0;
  std::uint64_t all = 0;
  const bool beyond = __builtin_mul_overflow(o.accesses, each, &all) ||
                      __builtin_add_overflow(all, 2ull * spec.own<TaskOptions>().tasks, &all) ||
                      __builtin_mul_overflow(all, spec.multicast.ranks, &all);
  return beyond ? ~std::uint64_t{0} : all;
}

namespace {

constexpr auto kRandomAccessOptions = option_list(
    kRanksOption,
    text_option<&RandomAccessOptions::by>("by", "delegate|fetch-add|cached",
                                          "random-access: what carries out an access"),
    kHandlerOption, kTaskOptions, kRequestOptions, kWorkOption,
    count_option<&RandomAccessOptions::accesses>("accesses", "1 or more",
                                                 "random-access: of each rank"),
    count_option<&RandomAccessOptions::words>("words", "1 or more", "random-access: of each rank"),
    choice_option<&RandomAccessOptions::access>("access", "fetch-add|add|read|write",
                                                "delegates: to a word"),
    choice_option<&RandomAccessOptions::address>("address", "linear|2d",
                                                 "random-access: where words are"),
    choice_option<&RandomAccessOptions::home>("home", "any|others",
                                              "random-access: whose words are accessed"),
    choice_option<&RandomAccessOptions::cache>("cache", "read-only|read-write|write-only|exclusive",
                                               "by=cached: the mode"),
    size_option<&RandomAccessOptions::cache_bytes>("cache-bytes", "a size",
                                                   "by=cached: of an acquire"),
    count_option<&RandomAccessOptions::uses>("uses", "1 or more",
                                             "cache=exclusive: updates of each acquire"));

}  // namespace

constinit const PatternEntry kRandomAccessPattern =
    schedule_entry("random-access", "uniform random access to global memory, by many tasks a core",
                   kRandomAccessOptions, random_access, random_access_ops, 280);

}  // namespace slackline::sched
