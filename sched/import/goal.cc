#include "sched/import/goal.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <tuple>
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

constexpr std::uint64_t kMostDealt = std::uint64_t{1} << 24;

class Importer {
 public:
  Importer(const GoalProgram& program, std::string_view file, const GoalOptions& options)
      : file_(file),
        whole_(program),
        binary_(program.binary),
        program_(program.ranks),
        options_(options),
        builder_(static_cast<std::uint32_t>(program_.size())) {}

  Schedule import() {
    Schedule schedule = make();
    const std::vector<OpId> cycle = find_cycle(schedule);
    if (!cycle.empty()) {
      std::string chain;
      for (std::size_t i = 0; i < std::min<std::size_t>(cycle.size(), 6); ++i) {
        chain += fmt::format("{}{}", i == 0 ? "" : ", ", called(schedule, cycle[i]));
      }
      fail(*origin_[cycle.front().value],
           fmt::format("deadlock: {}{} wait for each other; expected an order in which all can "
                       "end{}",
                       chain, cycle.size() > 6 ? ", ..." : "", way_out()));
    }
    return schedule;
  }

 private:
  // The schedule, whose messages all have their other half, and which may deadlock.
  Schedule make() {
    builder_.set_title(std::string(file_));
    if (options_.nics) deal_channels();
    for (std::uint32_t r = 0; r < program_.size(); ++r) {
      if (!options_.one_nic && !options_.nics) check_nics(program_[r]);
      add_rank(r);
    }
    check_sizes();
    Schedule schedule = build();
    for (std::uint32_t i = 0; i < schedule.op_count(); ++i) check_match(schedule, OpId(i));
    return schedule;
  }

  // The more messages are eager, the fewer wait: the least size that is enough, if any is.
  std::string way_out() const {
    std::vector<std::uint64_t> sizes;
    for (const GoalRank& rank : program_) {
      for (const GoalStatement& s : rank.statements) {
        const bool more = !options_.eager_bytes || s.amount > *options_.eager_bytes;
        if (s.kind == OpKind::kSend && more) sizes.push_back(s.amount);
      }
    }
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    const auto enough = std::partition_point(sizes.begin(), sizes.end(), [&](std::uint64_t bytes) {
      GoalOptions options = options_;
      options.eager_bytes = bytes;
      return !find_cycle(Importer(whole_, file_, options).make()).empty();
    });
    if (enough == sizes.end()) return "";
    return fmt::format(", or --eager {}, with which sends of up to so many bytes are buffered",
                       *enough);
  }

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
    fail(rank.statements[at], fmt::format("dependency cycle in rank {}: {}; expected none", r,
                                          labels + " requires " + label_of(rank.statements[at])));
  }

  // Out and in are two ports: what a rank sends may go over another NIC than what it receives.
  void check_nics(const GoalRank& rank) const {
    const GoalStatement* first[2] = {nullptr, nullptr};
    for (const GoalStatement& s : rank.statements) {
      if (s.kind == OpKind::kCalc) continue;
      const GoalStatement*& other = first[s.kind == OpKind::kSend ? 0 : 1];
      if (other == nullptr) other = &s;
      if (s.nic == other->nic) continue;
      refuse(s, fmt::format("{} is on NIC {}, and {} on NIC {}; a rank has one NIC here: expected "
                            "one for all that it {}, --nics N, with which they are the rails of a "
                            "platform, or --one-nic, with which all of its NICs are one",
                            label_of(s), s.nic, label_of(*other), other->nic,
                            s.kind == OpKind::kSend ? "sends" : "receives"));
    }
  }

  // The messages of a source, a destination and a tag meet in their order, of whatever size; those
  // that are buffered have a channel apart.
  struct Messages {
    ChannelId channel;
    ChannelId eager;
    std::vector<const GoalStatement*> sent;
    std::vector<const GoalStatement*> received;
  };

  Channel ends_of(std::uint32_t r, const GoalStatement& s) const {
    const bool sends = s.kind == OpKind::kSend;
    Channel channel;
    channel.src = RankId(sends ? r : s.peer);
    channel.dst = RankId(sends ? s.peer : r);
    const bool eager = options_.eager_bytes && s.amount <= *options_.eager_bytes;
    if (eager) channel.service = Service::kEager;
    return channel;
  }

  // Where NICs have channels of their own.
  using OnNic = std::tuple<std::uint32_t, Service>;  // tag
  using Ends = std::pair<RankId, RankId>;

  // Channel i of two ranks is on NIC i mod nics: where a NIC has fewer than others, its turn is
  // taken by a channel that carries nothing.
  void deal_channels() {
    std::map<Ends, std::vector<std::vector<OnNic>>> needed;  // by NIC
    for (std::uint32_t r = 0; r < program_.size(); ++r) {
      for (const GoalStatement& s : program_[r].statements) {
        if (s.kind == OpKind::kCalc) continue;
        if (s.nic >= *options_.nics) {
          fail(s, fmt::format("{} is on NIC {}; expected 0 to {}, since --nics says {}",
                              label_of(s), s.nic, *options_.nics - 1, *options_.nics));
        }
        const Channel channel = ends_of(r, s);
        const bool fresh =
            dealt_.try_emplace({channel.src, channel.dst, s.tag, channel.service, s.nic}).second;
        if (!fresh) continue;
        std::vector<std::vector<OnNic>>& by_nic = needed[{channel.src, channel.dst}];
        by_nic.resize(*options_.nics);
        by_nic[s.nic].emplace_back(s.tag, channel.service);
      }
    }
    std::uint64_t made = 0;
    for (const auto& entry : needed) {
      std::size_t left = 0;
      for (const std::vector<OnNic>& all : entry.second) left += all.size();
      for (std::size_t turn = 0; left != 0; ++turn) {
        for (std::uint32_t nic = 0; nic < *options_.nics && left != 0; ++nic) {
          if (++made > kMostDealt) {
            throw Unsupported(fmt::format(
                "{}: more than {} channels, so that each NIC has its own; expected fewer "
                "tags, or --one-nic",
                file_, kMostDealt));
          }
          Channel channel;
          std::tie(channel.src, channel.dst) = entry.first;
          if (turn >= entry.second[nic].size()) {
            builder_.add_channel(channel);
            continue;
          }
          const auto [tag, service] = entry.second[nic][turn];
          channel.service = service;
          dealt_[{channel.src, channel.dst, tag, service, static_cast<std::uint8_t>(nic)}] =
              builder_.add_channel(channel);
          --left;
        }
      }
    }
  }

  ChannelId channel_of(std::uint32_t r, const GoalStatement& s) {
    const bool sends = s.kind == OpKind::kSend;
    const Channel channel = ends_of(r, s);
    Messages& all = messages_[{channel.src, channel.dst, s.tag}];
    (sends ? all.sent : all.received).push_back(&s);
    if (options_.nics) {
      return dealt_.at({channel.src, channel.dst, s.tag, channel.service, s.nic});
    }
    ChannelId& on = channel.service == Service::kEager ? all.eager : all.channel;
    if (!on.valid()) on = builder_.add_channel(channel);
    return on;
  }

  void check_sizes() const {
    for (const auto& [ends, all] : messages_) {
      const std::size_t count = std::min(all.sent.size(), all.received.size());
      for (std::size_t k = 0; k < count; ++k) {
        const GoalStatement& send = *all.sent[k];
        const GoalStatement& receive = *all.received[k];
        if (options_.nics && send.nic != receive.nic) {
          refuse(send,
                 fmt::format("{} of rank {} leaves on NIC {}, but {} of rank {} ({} {}) has it "
                             "on NIC {}; expected one NIC at both ends, as rail=channel has "
                             "it, or --one-nic",
                             label_of(send), std::get<0>(ends).value, send.nic, label_of(receive),
                             std::get<1>(ends).value, binary_ ? "byte" : "line", receive.at,
                             receive.nic));
        }
        if (send.amount == receive.amount) continue;
        fail(send,
             fmt::format("{} of rank {} sends {} bytes, but {} of rank {} ({} {}) receives {}; "
                         "expected equal sizes",
                         label_of(send), std::get<0>(ends).value, send.amount, label_of(receive),
                         std::get<1>(ends).value, binary_ ? "byte" : "line", receive.at,
                         receive.amount));
      }
    }
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
  }

  std::string_view file_;
  const GoalProgram& whole_;
  const bool binary_;
  const std::vector<GoalRank>& program_;
  const GoalOptions& options_;
  ProgramWriter builder_;
  std::map<std::tuple<RankId, RankId, std::uint32_t>, Messages> messages_;
  // By ends, tag, service and NIC.
  std::map<std::tuple<RankId, RankId, std::uint32_t, Service, std::uint8_t>, ChannelId> dealt_;
  std::vector<const GoalStatement*> origin_;  // of each operation
};

}  // namespace

Schedule read_goal(std::string_view text, std::string_view file, const GoalOptions& options) {
  return Importer(parse_goal(text, file), file, options).import();
}

Schedule read_goal_binary(std::string_view bytes, std::string_view file,
                          const GoalOptions& options) {
  return Importer(parse_goal_binary(bytes, file), file, options).import();
}

}  // namespace slackline::sched
