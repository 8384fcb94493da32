#include "sched/workloads/calls/component_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/mix.h"
#include "sched/builder.h"
#include "sched/pattern/pattern.h"
#include "sched/pattern/shared_options.h"

namespace slackline::sched {
namespace {

constexpr std::uint64_t kWord = 8;
constexpr std::uint64_t kPayload = 4;             // of a put or a get
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

  ChannelId channel(std::uint32_t src, std::uint32_t dst, bool reply) {
    const auto [found, fresh] = channels_.try_emplace({src, dst, reply});
    if (fresh) {
      Channel channel;
      channel.src = RankId(src);
      channel.dst = RankId(dst);
      found->second = out_.add_channel(channel);
    }
    return found->second;
  }

  void add_program(std::uint32_t r) {
    OpId before;
    for (std::uint32_t i = 0; i < options_.operations; ++i) {
      const std::uint32_t to = target(r, i);
      before = is_message() ? add_message(r, i, to, before) : add_access(r, i, to, before);
    }
  }

  OpId add(const Op& op, OpId before, const OpArguments& arguments = {}) {
    const OpId id = arguments == OpArguments{} ? out_.add(op) : out_.add(op, arguments);
    ++ops_;
    if (before.valid()) out_.add_edge(before, id);
    return id;
  }

  Op op_of(OpKind kind, std::uint32_t rank, std::uint32_t step) const {
    Op op;
    op.kind = kind;
    op.rank = RankId(rank);
    op.step = step;
    return op;
  }

  OpId add_access(std::uint32_t r, std::uint32_t i, std::uint32_t to, OpId before) {
    constexpr std::array kKinds = {OpKind::kPut, OpKind::kGet, OpKind::kFetchAdd,
                                   OpKind::kCompareSwap, OpKind::kCompareSwap};
    Op op = op_of(kKinds[static_cast<std::size_t>(options_.access)], r, i);
    op.channel = channel(r, to, false);
    if (options_.access == ComponentKind::kPut) {
      Slice from = source(r);
      from.bytes = kPayload;
      op.reads = out_.add_slice(from);
      op.writes = out_.add_slice({shared_[to], incoming_[to]++ * kWord, kPayload});
      return add(op, before);
    }
    const std::uint64_t place = drawn(options_.seed, r, i, 1, options_.variables) * kWord;
    if (options_.access == ComponentKind::kGet) {
      op.reads = out_.add_slice({shared_[to], place, kPayload});
      Slice landed = own(r, i);
      landed.bytes = kPayload;
      op.writes = out_.add_slice(landed);
      return add(op, before);
    }
    const Slice word{shared_[to], place, kWord};
    const Slice both[] = {word, own(r, i)};
    op.reads = out_.add_slice(word);
    op.writes = out_.add_slices(both);
    OpArguments arguments;
    arguments.operand = {Operand::From::kLiteral, {}, 1};
    if (options_.access == ComponentKind::kFetchAdd) return add(op, before, arguments);
    arguments.operand.value = r + std::uint64_t{1};
    arguments.compare = {Operand::From::kLiteral, {}, 0};
    if (options_.access == ComponentKind::kCompareSwap) return add(op, before, arguments);
    // Its own result: what the time before fetched, 0 at first.
    arguments.compare = {Operand::From::kResult, OpId(ops_), 1};
    const OpId swap = add(op, before, arguments);
    Region region;
    region.entry = swap;
    region.count = 1;
    region.max_attempts = kMostAttempts;
    region.outcome = Outcome::kActual;
    out_.add_region(region);
    return swap;
  }

  // A write that the target looks for, its handler, and a write back. Answers have channels of
  // their own, or they would wait for the target's later messages.
  OpId add_message(std::uint32_t r, std::uint32_t i, std::uint32_t to, OpId before) {
    const std::uint64_t place = 2 * kWord * incoming_[to]++;
    const std::uint32_t there = options_.operations + i;
    Op op = op_of(OpKind::kPut, r, i);
    op.channel = channel(r, to, false);
    op.notify = Notify::kFlag;
    op.reads = out_.add_slice(source(r));
    op.writes = out_.add_slice({shared_[to], place, 2 * kWord});
    const OpId request = add(op, before);

    op = op_of(OpKind::kPoll, to, there);
    op.reads = out_.add_slice({shared_[to], place + kWord, kWord});
    const OpId seen = add(op, {});
    out_.add_flag_match(request, seen);
    OpArguments handler;
    handler.duration = handler_;
    const OpId ran = add(op_of(OpKind::kCalc, to, there), seen, handler);
    op = op_of(OpKind::kPut, to, there);
    op.channel = channel(to, r, true);
    op.notify = Notify::kFlag;
    Slice mark = source(to);
    mark.offset += kWord;
    mark.bytes = kWord;
    op.reads = out_.add_slice(mark);
    op.writes = out_.add_slice(own(r, i));
    const OpId answer = add(op, ran);

    op = op_of(OpKind::kPoll, r, i);
    op.reads = out_.add_slice(own(r, i));
    const OpId back = add(op, {});
    out_.add_edge(request, back, On::kIssued);
    out_.add_flag_match(answer, back);
    return back;
  }

  const OneSidedOptions options_;
  const std::uint32_t ranks_;
  const Time handler_;
  ScheduleBuilder out_;
  std::uint32_t ops_ = 0;
  std::vector<std::uint32_t> incoming_;  // of every rank, how many operations come to it
  std::vector<BufferId> shared_;
  std::vector<BufferId> own_;
  struct Ends {
    std::uint32_t src;
    std::uint32_t dst;
    bool reply;
    friend auto operator<=>(const Ends&, const Ends&) = default;
  };
  std::map<Ends, ChannelId> channels_;
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
                   kOneSidedOptions, one_sided, one_sided_ops);

}  // namespace slackline::sched
