#include "sched/import/goal.h"

#include <fmt/format.h>

#include <map>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/text_scan.h"
#include "sched/event_graph.h"
#include "sched/import/goal_binary.h"
#include "sched/import/goal_parse.h"
#include "sched/import/rank_programs.h"
#include "sched/import/tagged_messages.h"
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
        messages_(options.eager_bytes),
        builder_(static_cast<std::uint32_t>(program_.size())) {}

  Schedule import() {
    Schedule schedule = make();
    const std::vector<OpId> cycle = find_cycle(schedule);
    if (!cycle.empty()) {
      const auto name = [&](OpId id) { return called(schedule, id); };
      fail(*origin_[cycle.front().value],
           fmt::format("deadlock: {} wait for each other; expected an order in which all can end{}",
                       cycle_text(cycle, 6, name), way_out()));
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
    Schedule schedule = build_of(builder_, file_);
    for (std::uint32_t i = 0; i < schedule.op_count(); ++i) check_match(schedule, OpId(i));
    return schedule;
  }

  std::string way_out() const {
    std::vector<std::uint64_t> sizes;
    for (const GoalRank& rank : program_) {
      for (const GoalStatement& s : rank.statements) {
        if (s.kind == OpKind::kSend) sizes.push_back(s.amount);
      }
    }
    return eager_way_out(std::move(sizes), options_.eager_bytes, [&](std::uint64_t bytes) {
      GoalOptions options = options_;
      options.eager_bytes = bytes;
      return !find_cycle(Importer(whole_, file_, options).make()).empty();
    });
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

  // As near to the written order as the dependencies allow.
  std::vector<std::uint32_t> order_of(std::uint32_t r) const {
    const GoalRank& rank = program_[r];
    LocalOrder local = local_order(
        static_cast<std::uint32_t>(rank.statements.size()),
        [&](auto&& visit) {
          for (const GoalDependency& d : rank.dependencies) visit(d.pred, d.succ);
        },
        [](std::uint32_t i) { return i; });
    if (local.cycle.empty()) return std::move(local.order);
    const GoalStatement& first = rank.statements[local.cycle.front()];
    std::string labels;
    for (const std::uint32_t i : local.cycle) {
      labels += (labels.empty() ? "" : " requires ") + label_of(rank.statements[i]);
    }
    fail(first, fmt::format("dependency cycle in rank {}: {} requires {}; expected none", r, labels,
                            label_of(first)));
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

  static TaggedEnds ends_of(std::uint32_t r, const GoalStatement& s) {
    return tagged_ends(r, s.kind == OpKind::kSend, s.peer, s.tag);
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
        const TaggedEnds ends = ends_of(r, s);
        const Service service = messages_.service_of(s.amount);
        if (!dealt_.try_emplace({ends, service, s.nic}).second) continue;
        std::vector<std::vector<OnNic>>& by_nic = needed[{ends.src, ends.dst}];
        by_nic.resize(*options_.nics);
        by_nic[s.nic].emplace_back(s.tag, service);
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
          dealt_[{{channel.src, channel.dst, tag}, service, static_cast<std::uint8_t>(nic)}] =
              builder_.add_channel(channel);
          --left;
        }
      }
    }
  }

  ChannelId channel_of(std::uint32_t r, const GoalStatement& s) {
    const TaggedEnds ends = ends_of(r, s);
    const bool sends = s.kind == OpKind::kSend;
    if (!options_.nics) return messages_.add(ends, sends, &s, s.amount, builder_);
    messages_.add(ends, sends, &s);
    return dealt_.at({ends, messages_.service_of(s.amount), s.nic});
  }

  void check_sizes() const {
    const auto check = [&](const TaggedEnds& ends, const GoalStatement* sent,
                           const GoalStatement* received) {
      const GoalStatement& send = *sent;
      const GoalStatement& receive = *received;
      if (options_.nics && send.nic != receive.nic) {
        refuse(send,
               fmt::format("{} of rank {} leaves on NIC {}, but {} of rank {} ({} {}) has it "
                           "on NIC {}; expected one NIC at both ends, as rail=channel has "
                           "it, or --one-nic",
                           label_of(send), ends.src.value, send.nic, label_of(receive),
                           ends.dst.value, binary_ ? "byte" : "line", receive.at, receive.nic));
      }
      if (send.amount == receive.amount) return;
      fail(send,
           fmt::format("{} of rank {} sends {} bytes, but {} of rank {} ({} {}) receives {}; "
                       "expected equal sizes",
                       label_of(send), ends.src.value, send.amount, label_of(receive),
                       ends.dst.value, binary_ ? "byte" : "line", receive.at, receive.amount));
    };
    messages_.each(check, [](auto&&...) {});  // of what does not meet check_match() speaks
  }

  OneWay bytes_of(std::uint32_t r, OpKind kind) {
    std::uint64_t bytes = 0;
    for (const GoalStatement& s : program_[r].statements) {
      if (s.kind != kind) continue;
      if (__builtin_add_overflow(bytes, s.amount, &bytes)) {
        fail(s, fmt::format("the messages of rank {} exceed 2^64 bytes; expected less", r));
      }
    }
    return OneWay(builder_, RankId(r), bytes, kind == OpKind::kSend);
  }

  void add_rank(std::uint32_t r) {
    const GoalRank& rank = program_[r];
    OneWay sent = bytes_of(r, OpKind::kSend);
    OneWay received = bytes_of(r, OpKind::kRecv);
    std::vector<OpId> ids(rank.statements.size());
    for (const std::uint32_t i : order_of(r)) {
      const GoalStatement& s = rank.statements[i];
      const OpPlace at{RankId(r), 0, s.cpu};
      origin_.push_back(&s);
      if (s.kind == OpKind::kCalc) {
        ids[i] = builder_.calc(at, std::chrono::nanoseconds(s.amount));
        continue;
      }
      const bool sends = s.kind == OpKind::kSend;
      const ChannelId on = channel_of(r, s);
      const SliceRange bytes = (sends ? sent : received).next(s.amount);
      ids[i] = sends ? builder_.send(at, on, bytes) : builder_.receive(at, on, bytes);
    }
    for (const GoalDependency& d : rank.dependencies) {
      builder_.add_edge(ids[d.pred], ids[d.succ], d.on);
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
  TaggedMessages<const GoalStatement*> messages_;
  ProgramWriter builder_;
  std::map<std::tuple<TaggedEnds, Service, std::uint8_t>, ChannelId> dealt_;  // by service and NIC
  std::vector<const GoalStatement*> origin_;                                  // of each operation
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
