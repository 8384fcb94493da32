#include "sched/workloads/calls/component_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/mix.h"
#include "sched/operands.h"
#include "sched/pattern/pattern.h"
#include "sched/pattern/shared_options.h"
#include "sched/program_writer.h"

namespace slackline::sched {
namespace {

constexpr std::uint64_t kWord = 8;
constexpr std::uint64_t kPayload = 4;             // of a put or a get
constexpr std::uint32_t kAnswers = 1;             // the channel beside that of requests
constexpr std::uint32_t kMostAttempts = 100'000;  // more is no contention, but a mistake
constexpr std::uint64_t kMostOps = 1ull << 30;
constexpr std::uint64_t kMostVariables = 1ull << 27;  // of all ranks: a run keeps their bytes

// A pure function of where it is drawn.
std::uint32_t drawn(std::uint64_t seed, std::uint32_t rank, std::uint32_t index, std::uint32_t site,
                    std::uint32_t bound) {
  std::uint64_t x = mixed(seed);
  x = finalized(x + kSplitMixStep * (std::uint64_t{rank} << 32 | index));
  x = finalized(x + kSplitMixStep * (site + 1));
  return below(x, bound);
}

void check(const Spec& spec) {
  const OneSidedOptions& one_sided = spec.own<OneSidedOptions>();
  if (spec.multicast.ranks == 0) throw InputError("ranks: 0; expected at least 1");
  if (one_sided.operations == 0) throw InputError("operations: 0; expected at least 1");
  if (one_sided.variables == 0) throw InputError("variables: 0; expected at least 1");
  if (std::uint64_t{one_sided.variables} * spec.multicast.ranks > kMostVariables) {
    throw InputError(fmt::format("variables: {} at each of {} ranks; expected at most {} together",
                                 one_sided.variables, spec.multicast.ranks, kMostVariables));
  }
  if (spec.handler.count() < 0) throw InputError("handler: below 0; expected 0 or more");
  if (one_sided_ops(spec) > kMostOps) {
    throw InputError(fmt::format("operations: {} of {} ranks make {}; expected at most {}",
                                 one_sided.operations, spec.multicast.ranks, one_sided_ops(spec),
                                 kMostOps));
  }
}

class Writer {
 public:
  explicit Writer(const Spec& spec)
      : options_(spec.own<OneSidedOptions>()),
        ranks_(spec.multicast.ranks),
        handler_(spec.handler),
        out_(spec.multicast.ranks),
        incoming_(spec.multicast.ranks, 0) {
    out_.set_title(format_spec(spec));
  }

  Schedule run() {
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      for (std::uint32_t i = 0; i < options_.operations; ++i) ++incoming_[target(r, i)];
    }
    for (std::uint32_t r = 0; r < ranks_; ++r) add_memory(r);
    std::fill(incoming_.begin(), incoming_.end(), 0);
    for (std::uint32_t r = 0; r < ranks_; ++r) add_program(r);
    return out_.build();
  }

 private:
  std::uint32_t target(std::uint32_t rank, std::uint32_t i) const {
    return drawn(options_.seed, rank, i, 0, ranks_);
  }
  bool is_atomic() const {
    return options_.access != ComponentKind::kPut && options_.access != ComponentKind::kGet &&
           options_.access != ComponentKind::kActiveMessage;
  }
  bool is_message() const { return options_.access == ComponentKind::kActiveMessage; }
  bool has_variables() const { return is_atomic() || options_.access == ComponentKind::kGet; }

  // What others reach, and what is the rank's own.
  void add_memory(std::uint32_t r) {
    const RankId rank(r);
    const std::uint64_t slots = has_variables() ? options_.variables : incoming_[r];
    const std::uint64_t slot = is_message() ? 2 * kWord : kWord;
    shared_.push_back(out_.add_buffer(rank, std::max<std::uint64_t>(1, slots * slot)));
    own_.push_back(out_.add_buffer(rank, (options_.operations + 2) * kWord));
    if (has_variables()) out_.add_pre({{shared_[r], 0, slots * slot}, ValueId(2 * r), 0});
    out_.add_pre({source(r), ValueId(2 * r + 1), 0});
  }
  // What is sent: a word, and a mark that is never zero.
  Slice source(std::uint32_t r) const { return {own_[r], options_.operations * kWord, 2 * kWord}; }
  Slice own(std::uint32_t r, std::uint32_t i) const { return {own_[r], i * kWord, kWord}; }

  void add_program(std::uint32_t r) {
    OpId before;
    for (std::uint32_t i = 0; i < options_.operations; ++i) {
      const std::uint32_t to = target(r, i);
      before = is_message() ? add_message(r, i, to, before) : add_access(r, i, to, before);
    }
  }

  OpId add_access(std::uint32_t r, std::uint32_t i, std::uint32_t to, OpId before) {
    const OpPlace at{RankId(r), i};
    const ChannelId on = out_.channel(RankId(r), RankId(to));
    if (options_.access == ComponentKind::kPut) {
      Slice from = source(r);
      from.bytes = kPayload;
      return out_.put(at, on, from, {{shared_[to], incoming_[to]++ * kWord, kPayload}},
                      Notify::kNone, {before});
    }
    const std::uint64_t place = drawn(options_.seed, r, i, 1, options_.variables) * kWord;
    if (options_.access == ComponentKind::kGet) {
      Slice landed = own(r, i);
      landed.bytes = kPayload;
      return out_.get(at, on, {{shared_[to], place, kPayload}}, landed, {before});
    }
    const Slice word{shared_[to], place, kWord};
    const bool adds = options_.access == ComponentKind::kFetchAdd;
    const Op atomic =
        out_.op(adds ? OpKind::kFetchAdd : OpKind::kCompareSwap, at, on, word, {word, own(r, i)});
    OpArguments arguments;
    arguments.operand = literal(adds ? 1 : r + std::uint64_t{1});
    if (!adds) arguments.compare = literal(0);
    const bool persists = options_.access == ComponentKind::kPersistentCompareSwap;
    // Its own result: what the time before fetched, 0 at first.
    if (persists) arguments.compare = {Operand::From::kResult, out_.next_op(), 1};
    const OpId done = out_.add(atomic, arguments, {before});
    if (persists) out_.retry(done, 1, kMostAttempts);
    return done;
  }

  // A write that the target looks for, its handler, and a write back. Answers have channels of
  // their own, or they would wait for the target's later messages.
  OpId add_message(std::uint32_t r, std::uint32_t i, std::uint32_t to, OpId before) {
    const OpPlace here{RankId(r), i};
    const OpPlace there{RankId(to), options_.operations + i};
    const Slice landing{shared_[to], 2 * kWord * incoming_[to]++, 2 * kWord};
    const OpId request = out_.put(here, out_.channel(here.rank, there.rank), source(r), landing,
                                  Notify::kFlag, {before});
    const OpId seen = out_.poll(there, end_of(landing, kWord));
    out_.add_flag_match(request, seen);
    // A handler that takes no time has no arguments.
    const OpId ran = handler_ == Time{0} ? out_.add(out_.op(OpKind::kCalc, there), {seen})
                                         : out_.calc(there, handler_, {seen});
    const OpId answer = out_.put(there, out_.channel(there.rank, here.rank, kAnswers),
                                 end_of(source(to), kWord), own(r, i), Notify::kFlag, {ran});
    const OpId back = out_.poll(here, own(r, i));
    out_.after(request, back, On::kIssued);
    out_.add_flag_match(answer, back);
    return back;
  }

  const OneSidedOptions options_;
  const std::uint32_t ranks_;
  const Time handler_;
  ProgramWriter out_;
  std::vector<std::uint32_t> incoming_;  // of every rank, how many operations come to it
  std::vector<BufferId> shared_;
  std::vector<BufferId> own_;
};

}  // namespace

Schedule one_sided(const Spec& spec) {
  check(spec);
  return Writer(spec).run();
}

std::uint64_t one_sided_ops(const Spec& spec) {
  const std::uint64_t each =
      spec.own<OneSidedOptions>().access == ComponentKind::kActiveMessage ? 5 : 1;
  return each * spec.multicast.ranks * spec.own<OneSidedOptions>().operations;
}

namespace {

constexpr auto kOneSidedOptions = option_list(
    kRanksOption, kHandlerOption,
    count_option<&OneSidedOptions::operations>(
        "operations", "1 or more", "structures, one-sided: of each client", 1, kMostOps),
    choice_option<&OneSidedOptions::access>(
        "op", "put|get|fetch-add|compare-swap|persistent-compare-swap|active-message",
        "one-sided: what ranks do"),
    count_option<&OneSidedOptions::variables>(
        "variables", "1 or more", "one-sided: of each rank, to choose from", 1, kMostOps),
    count_option<&OneSidedOptions::seed>(
        "seed", "0 or more", "structures, one-sided: draws targets and keys", 0, kAnyNumber));

}  // namespace

constinit const PatternEntry kOneSidedPattern =
    schedule_entry("one-sided", "one operation after the other, each at a random rank",
                   kOneSidedOptions, one_sided, one_sided_ops, 440);

}  // namespace slackline::sched
