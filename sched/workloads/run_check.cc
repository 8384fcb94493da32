#include "sched/workloads/run_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sched/event_graph.h"
#include "sched/value_bytes.h"

namespace slackline::sched {

namespace {

struct Word {
  std::uint64_t value = 0;  // at the start
  std::vector<OpId> adds;
  bool known = true;  // nothing but fetch_adds that can be followed
};
using KnownWords = std::map<std::pair<std::uint32_t, std::uint64_t>, Word>;

KnownWords words_of(const Schedule& schedule, const Trace& trace) {
  KnownWords words;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const Op& op = schedule.ops()[i];
    if (!is_atomic(op.kind)) continue;
    const Slice& at = schedule.slices(op.reads).front();
    const OpArguments& arguments = schedule.arguments(op);
    Word& word = words[{at.buffer.value, at.offset}];
    word.adds.emplace_back(i);
    word.known = word.known && op.kind == OpKind::kFetchAdd && trace.ops[i].attempts == 1 &&
                 arguments.operand.from == Operand::From::kLiteral &&
                 arguments.address_offset.from == Operand::From::kAbsent;
  }
  return words;
}

// The bytes of the contract, zeros where it says nothing.
void read_given(const Schedule& schedule, KnownWords& words) {
  for (const Fact& fact : schedule.contract().pre) {
    const Slice& given = fact.slice;
    const std::uint64_t end = given.offset + given.bytes;
    auto word = words.lower_bound({given.buffer.value, given.offset < 7 ? 0 : given.offset - 7});
    for (;
         word != words.end() && word->first.first == given.buffer.value && word->first.second < end;
         ++word) {
      const std::uint64_t at = word->first.second;
      const std::uint64_t from = std::max(at, given.offset);
      const std::uint64_t to = std::min(at + sizeof word->second.value, end);
      if (from >= to) continue;
      auto bytes = std::bit_cast<std::array<std::byte, 8>>(word->second.value);
      write_value(fact.value, fact.value_offset + (from - given.offset),
                  std::span(bytes).subspan(from - at, to - from));
      word->second.value = std::bit_cast<std::uint64_t>(bytes);
    }
  }
}

}  // namespace

Diagnostics check_ran_once(const Schedule& schedule, const Trace& trace) {
  Diagnostics found;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const OpTimes& times = trace.ops[i];
    if (times.attempts == 1 && std::isfinite(times.done_s)) continue;
    const std::string how =
        times.attempts == 1 ? "never ended" : fmt::format("ran {} times", times.attempts);
    found.push_back({Code::kStructure, Severity::kError, OpId(i),
                     fmt::format("{} {}; expected once", describe(schedule, OpId(i)), how)});
  }
  return found;
}

Diagnostics check_order(const Schedule& schedule, const Trace& trace, double clock_error_s,
                        std::size_t most) {
  return check_order(
      schedule, trace, [&](RankId, double) { return clock_error_s / 2; }, most);
}

Diagnostics check_order(const Schedule& schedule, const Trace& trace, const ClockError& clock_error,
                        std::size_t most) {
  Diagnostics found;
  if (!schedule.regions().empty()) return found;
  constexpr double kInstantS = 1e-12;  // engines take this for one moment
  const ChannelOrder order = channel_order(schedule);
  const auto time_s = [&](EventId event) {
    const OpTimes& times = trace.ops[event.op().value];
    return event.is_done() ? times.done_s : times.issued_s;
  };
  const auto named = [&](EventId event) {
    return fmt::format("{} was {} at {} s", describe(schedule, event.op()),
                       event.is_done() ? "done" : "issued", time_s(event));
  };
  for (std::uint32_t e = 0; e < 2 * schedule.op_count() && found.size() < most; ++e) {
    const EventId event{e};
    const RankId rank = schedule.op(event.op()).rank;
    EventId latest = event;
    for_each_arc_into(schedule, order, event, false, [&](EventId before) {
      if (time_s(before) <= time_s(event) + kInstantS || time_s(before) <= time_s(latest)) return;
      const RankId its_rank = schedule.op(before.op()).rank;
      const double slip_s = its_rank == rank ? 0
                                             : clock_error(rank, time_s(event)) +
                                                   clock_error(its_rank, time_s(before));
      if (time_s(before) > time_s(event) + slip_s + kInstantS) latest = before;
    });
    if (latest == event) continue;
    found.push_back(
        {Code::kStructure, Severity::kError, event.op(),
         fmt::format("{}, although {}; expected it after that", named(event), named(latest))});
  }
  return found;
}

// Sums only grow, so the order can be told from what was fetched; of equal ones, those that add
// nothing come first.
Diagnostics check_fetch_adds(const Schedule& schedule, const Trace& trace) {
  Diagnostics found;
  if (trace.results.empty()) return found;
  KnownWords words = words_of(schedule, trace);
  read_given(schedule, words);
  for (auto& [place, word] : words) {
    if (!word.known) continue;
    struct Add {
      std::uint64_t before;  // what had been added when it came
      std::uint64_t operand;
      OpId op;
    };
    std::vector<Add> adds;
    for (const OpId id : word.adds) {
      adds.push_back({trace.results[id.value] - word.value,
                      schedule.arguments(schedule.op(id)).operand.value, id});
    }
    std::sort(adds.begin(), adds.end(), [](const Add& a, const Add& b) {
      return std::pair(a.before, a.operand) < std::pair(b.before, b.operand);
    });
    std::uint64_t sum = 0;
    for (const Add& add : adds) {
      if (add.before == sum) {
        sum += add.operand;
        continue;
      }
      found.push_back(
          {Code::kPost, Severity::kError, add.op,
           fmt::format("{} fetched {} more than the word at {} of buffer {} began "
                       "with; expected {}, what others had added",
                       describe(schedule, add.op), add.before, place.second, place.first, sum)});
      break;
    }
  }
  return found;
}

}  // namespace slackline::sched
