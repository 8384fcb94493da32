#include "sched/import/goal.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <utility>

#include "base/error.h"
#include "base/grouped.h"
#include "base/text_scan.h"
#include "sched/event_graph.h"
#include "sched/import/goal_binary.h"
#include "sched/import/goal_parse.h"
#include "sched/program_writer.h"

namespace slackline::sched {
namespace {

class Importer {
 public:
  Importer(GoalProgram program, std::string_view file)
      : file_(file),
        binary_(program.binary),
        program_(std::move(program.ranks)),
        builder_(static_cast<std::uint32_t>(program_.size())) {}

  Schedule import() {
    builder_.set_title(std::string(file_));
    for (std::uint32_t r = 0; r < program_.size(); ++r) add_rank(r);
    Schedule schedule = build();
    for (std::uint32_t i = 0; i < schedule.op_count(); ++i) check_match(schedule, OpId(i));
    const std::vector<OpId> cycle = find_cycle(schedule);
    if (!cycle.empty()) {
      std::string chain;
      for (std::size_t i = 0; i < std::min<std::size_t>(cycle.size(), 6); ++i) {
        chain += fmt::format("{}{}", i == 0 ? "" : ", ", called(schedule, cycle[i]));
      }
      fail(*origin_[cycle.front().value],
           fmt::format("deadlock: {}{} wait for each other; expected an order in which all can end",
                       chain, cycle.size() > 6 ? ", ..." : ""));
    }
    return schedule;
  }

 private:
  [[noreturn]] void fail(const GoalStatement& at, std::string_view message) const {
    throw InputError(place_of(at) + std::string(message));
  }
  [[noreturn]] void refuse(const GoalStatement& at, std::string_view message) const {
    throw Unsupported(place_of(at) + std::string(message));
  }

  std::string place_of(const GoalStatement& s) const {
    return fmt::format("{}:{}{}: ", file_, binary_ ? " byte " : "", s.at);
  }

  std::string label_of(const GoalStatement& s) const {
    return s.label.empty()
               ? fmt::format("the {} {} {}", name(s.kind), binary_ ? "at byte" : "on line", s.at)
               : in_quotes(s.label);
  }

  std::string called(const Schedule& schedule, OpId id) const {
    return fmt::format("{} of rank {}", label_of(*origin_[id.value]), schedule.op(id).rank.value);
  }

  // The statements in an order that their dependencies allow, as near to the written one as that
  // goes: always the first that is free.
  std::vector<std::uint32_t> local_order(std::uint32_t r) const {
    const GoalRank& rank = program_[r];
    const auto count = static_cast<std::uint32_t>(rank.statements.size());
    const base::Grouped<std::uint32_t> successors(count, [&](auto&& take) {
      for (const GoalDependency& d : rank.dependencies) take(d.pred, d.succ);
    });
    std::vector<std::uint32_t> waiting(count, 0);
    for (const GoalDependency& d : rank.dependencies) ++waiting[d.succ];
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (waiting[i] == 0) free.push(i);
    }
    std::vector<std::uint32_t> order;
    order.reserve(count);
    while (!free.empty()) {
      const std::uint32_t i = free.top();
      free.pop();
      order.push_back(i);
      for (const std::uint32_t succ : successors[i]) {
        if (--waiting[succ] == 0) free.push(succ);
      }
    }
    if (order.size() != count) refuse_cycle(rank, r, waiting);
    return order;
  }

  // Every statement left over waits for another one: walk back until one comes again.
  [[noreturn]] void refuse_cycle(const GoalRank& rank, std::uint32_t r,
                                 const std::vector<std::uint32_t>& waiting) const {
    std::vector<std::uint32_t> cause(rank.statements.size(), 0);
    for (const GoalDependency& d : rank.dependencies) {
      if (waiting[d.pred] != 0) cause[d.succ] = d.pred;
    }
    std::vector<bool> seen(rank.statements.size(), false);
    auto at = static_cast<std::uint32_t>(
        std::find_if(waiting.begin(), waiting.end(), [](auto n) { return n != 0; }) -
        waiting.begin());
    while (!seen[at]) {
      seen[at] = true;
      at = cause[at];
    }
    std::string labels = label_of(rank.statements[at]);
    for (std::uint32_t i = cause[at]; i != at; i = cause[i]) {
      labels += " requires " + label_of(rank.statements[i]);
    }
    fail(rank.statements[at],
         fmt::format("dependency cycle in rank {}: {}; expected none", r,
                     labels + " requires " + label_of(rank.statements[at])));
  }

  ChannelId channel_of(std::uint32_t r, const GoalStatement& s) {
    const bool sends = s.kind == OpKind::kSend;
    return builder_.channel(RankId(sends ? r : s.peer), RankId(sends ? s.peer : r), s.tag);
  }

  // One buffer for all the bytes of a rank that go one way.
  std::optional<BufferId> buffer_for(std::uint32_t r, OpKind kind) {
    std::uint64_t bytes = 0;
    for (const GoalStatement& s : program_[r].statements) {
      if (s.kind != kind) continue;
      if (__builtin_add_overflow(bytes, s.amount, &bytes)) {
        fail(s, fmt::format("the messages of rank {} exceed 2^64 bytes; expected less", r));
      }
    }
    if (bytes == 0) return std::nullopt;
    const BufferId buffer = builder_.add_buffer(RankId(r), bytes);
    if (kind == OpKind::kSend) builder_.add_pre({{buffer, 0, bytes}, ValueId(r), 0});
    return buffer;
  }

  void add_rank(std::uint32_t r) {
    const GoalRank& rank = program_[r];
    const std::optional<BufferId> sent = buffer_for(r, OpKind::kSend);
    const std::optional<BufferId> received = buffer_for(r, OpKind::kRecv);
    std::uint64_t sent_bytes = 0;
    std::uint64_t received_bytes = 0;
    std::vector<OpId> ids(rank.statements.size());
    for (const std::uint32_t i : local_order(r)) {
      const GoalStatement& s = rank.statements[i];
      const OpPlace at{RankId(r), 0, s.cpu};
      origin_.push_back(&s);
      if (s.kind == OpKind::kCalc) {
        ids[i] = builder_.calc(at, std::chrono::nanoseconds(s.amount));
        continue;
      }
      if (s.nic != 0) refuse(s, "a NIC other than 0 is not supported; expected 'nic 0' or none");
      const bool sends = s.kind == OpKind::kSend;
      const ChannelId on = channel_of(r, s);
      SliceRange bytes;
      if (s.amount != 0) {
        std::uint64_t& used = sends ? sent_bytes : received_bytes;
        bytes = builder_.add_slice({sends ? *sent : *received, used, s.amount});
        used += s.amount;
      }
      ids[i] = sends ? builder_.send(at, on, bytes) : builder_.receive(at, on, bytes);
    }
    for (const GoalDependency& d : rank.dependencies) {
      builder_.add_edge(ids[d.pred], ids[d.succ], d.on);
    }
  }

  Schedule build() {
    try {
      return builder_.build();
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", file_, error.what()));
    }
  }

  void check_match(const Schedule& schedule, OpId id) const {
    const Op& op = schedule.op(id);
    if (op.kind == OpKind::kCalc) return;
    const GoalStatement& s = *origin_[id.value];
    const bool sends = op.kind == OpKind::kSend;
    if (!op.match.valid()) {
      fail(s, fmt::format("{} {} rank {} with tag {} has no matching {}; expected one in rank {}",
                          called(schedule, id), sends ? "to" : "from", s.peer, s.tag,
                          sends ? "recv" : "send", s.peer));
    }
    const GoalStatement& other = *origin_[op.match.value];
    if (s.amount != other.amount) {
      fail(s, fmt::format("{} {} {} bytes, but {} ({} {}) {} {}; expected equal sizes",
                          called(schedule, id), sends ? "sends" : "receives", s.amount,
                          called(schedule, op.match), binary_ ? "byte" : "line", other.at, sends ? "receives" : "sends",
                          other.amount));
    }
  }

  std::string_view file_;
  bool binary_;
  std::vector<GoalRank> program_;
  ProgramWriter builder_;
  std::vector<const GoalStatement*> origin_;  // of each operation
};

}  // namespace

Schedule read_goal(std::string_view text, std::string_view file) {
  return Importer(parse_goal(text, file), file).import();
}

Schedule read_goal_binary(std::string_view bytes, std::string_view file) {
  return Importer(parse_goal_binary(bytes, file), file).import();
}

}  // namespace slackline::sched
