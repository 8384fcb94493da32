#include "sched/import/chakra.h"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text_scan.h"
#include "sched/compile.h"
#include "sched/event_graph.h"
#include "sched/export/chakra_schema.h"
#include "sched/import/chakra_collectives.h"
#include "sched/import/chakra_trace.h"
#include "sched/import/rank_programs.h"
#include "sched/import/tagged_messages.h"
#include "sched/program_writer.h"
#include "sched/schedule_rewriter.h"

namespace slackline::sched {
namespace {

constexpr std::uint16_t kCommunication = 0, kComputation = 1, kCpu = 2;  // lanes
constexpr std::uint64_t kMostMicros = std::numeric_limits<std::int64_t>::max() / 1'000'000;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 62;

struct ChakraProgram {
  std::string_view prefix;
  std::vector<ChakraRank> ranks;
  std::vector<std::vector<std::uint32_t>> order;  // of each rank's nodes
};

std::string place_of(std::string_view prefix, std::uint32_t rank, const ChakraNode& node) {
  return fmt::format("{}.{}.et: node {}: ", prefix, rank, node.id);
}

// The nodes of a rank in the order of their ids, unless their dependencies do not allow it: always
// the least that is free.
class NodeOrder {
 public:
  NodeOrder(const ChakraRank& rank, std::uint32_t r, std::string_view prefix)
      : rank_(rank), r_(r), prefix_(prefix) {
    for (std::uint32_t i = 0; i < rank.nodes.size(); ++i) {
      const auto [known, fresh] = index_.try_emplace(rank.nodes[i].id, i);
      if (fresh) continue;
      fail(rank.nodes[i], fmt::format("it stands at byte {} and at byte {}; expected each id once",
                                      rank.nodes[known->second].at, rank.nodes[i].at));
    }
  }

  // Where the nodes stand that node `i` waits for.
  template <class Visit>
  void for_each_wait(std::uint32_t i, Visit&& visit) const {
    const ChakraNode& node = rank_.nodes[i];
    for (std::uint32_t k = 0; k < node.waits; ++k) {
      visit(index_.find(rank_.waits_for[node.first_wait + k])->second);
    }
  }

  std::vector<std::uint32_t> order() const {
    check_known();
    LocalOrder local = local_order(
        static_cast<std::uint32_t>(rank_.nodes.size()),
        [&](auto&& visit) {
          for (std::uint32_t i = 0; i < rank_.nodes.size(); ++i) {
            for_each_wait(i, [&](std::uint32_t pred) { visit(pred, i); });
          }
        },
        [&](std::uint32_t i) { return rank_.nodes[i].id; });
    if (local.cycle.empty()) return std::move(local.order);
    const ChakraNode& first = rank_.nodes[local.cycle.front()];
    std::string chain;
    for (const std::uint32_t i : local.cycle) {
      chain += fmt::format("{} waits for ", rank_.nodes[i].id);
    }
    fail(first, fmt::format("dependency cycle: {}{}; expected none", chain, first.id));
  }

 private:
  [[noreturn]] void fail(const ChakraNode& node, std::string_view message) const {
    throw InputError(place_of(prefix_, r_, node) + std::string(message));
  }

  void check_known() const {
    for (const ChakraNode& node : rank_.nodes) {
      for (std::uint32_t k = 0; k < node.waits; ++k) {
        const std::uint64_t id = rank_.waits_for[node.first_wait + k];
        if (index_.contains(id)) continue;
        fail(node, fmt::format("it waits for node {}, which the trace does not have; expected one "
                               "that it has",
                               id));
      }
    }
  }

  const ChakraRank& rank_;
  const std::uint32_t r_;
  std::string_view prefix_;
  std::unordered_map<std::uint64_t, std::uint32_t> index_;  // by id
};

class Importer {
 public:
  Importer(const ChakraProgram& program, const ChakraOptions& options, const MemoryLimit& memory)
      : program_(program),
        ranks_(static_cast<std::uint32_t>(program.ranks.size())),
        options_(options),
        memory_(memory),
        builder_(ranks_),
        messages_(options.eager_bytes) {}

  Schedule import() {
    Schedule schedule = make();
    const std::vector<OpId> cycle = find_cycle(schedule);
    if (!cycle.empty()) refuse_deadlock(cycle);
    return schedule;
  }

 private:
  struct Place {
    std::uint32_t rank = 0;
    const ChakraNode* node = nullptr;
  };

  [[noreturn]] void fail(const Place& at, std::string_view message) const {
    throw InputError(place_of(program_.prefix, at.rank, *at.node) + std::string(message));
  }
  [[noreturn]] void refuse(const Place& at, std::string_view message) const {
    throw Unsupported(place_of(program_.prefix, at.rank, *at.node) + std::string(message));
  }

  Schedule make() {
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      for (const ChakraNode& node : program_.ranks[r].nodes) check({r, &node});
    }
    gather_collectives();
    for (std::uint32_t r = 0; r < ranks_; ++r) add_rank(r);
    for (ScheduleRewriter& copy : copies_) copy.finish();
    check_messages();
    builder_.set_title(std::string(program_.prefix));
    builder_.set_message_bytes(0);
    return build_of(builder_, program_.prefix);
  }

  void check(const Place& at) const {
    const ChakraNode& node = *at.node;
    switch (node.type) {
      case ChakraType::kMetadata:
        return;
      case ChakraType::kMemoryLoad:
      case ChakraType::kMemoryStore:
        refuse(at,
               "a MEM_LOAD_NODE or MEM_STORE_NODE is not supported; expected computation and "
               "communication");
      case ChakraType::kCompute:
        return check_computation(at);
      case ChakraType::kSend:
      case ChakraType::kRecv:
        check_communication(at);
        return check_message(at);
      case ChakraType::kCollective:
        return check_communication(at);
    }
  }

  void check_computation(const Place& at) const {
    const ChakraNode& node = *at.node;
    if (node.picoseconds && *node.picoseconds < 0) {
      fail(at, fmt::format("{} is {}; expected at least 0", kChakraPicoseconds, *node.picoseconds));
    }
    if (node.micros > kMostMicros) {
      fail(at, fmt::format("it takes {} us; expected at most {}", node.micros, kMostMicros));
    }
    if (node.micros == 0 && !node.picoseconds && node.instructions.value_or(0) != 0) {
      refuse(at, "it says its instructions (num_ops) and no time; expected duration_micros");
    }
    if (node.lane && (*node.lane < 0 || *node.lane > 0xffff)) {
      fail(at, fmt::format("{} is {}; expected 0 to 65535", kChakraLane, *node.lane));
    }
  }

  void check_communication(const Place& at) const {
    const ChakraNode& node = *at.node;
    if (node.on_cpu) {
      refuse(at,
             "communication on the CPU (is_cpu_op) is not supported; expected what the "
             "accelerator communicates");
    }
    if (!node.group.empty() && node.group != "0") {
      refuse(at,
             fmt::format("communication of group {} (pg_name) is not supported; expected that of "
                         "all ranks",
                         in_quotes(node.group)));
    }
    if (node.some_dimensions) {
      refuse(at, "communication in some dimensions (involved_dim) is not supported; expected all");
    }
    if (node.lane && (*node.lane < 0 || *node.lane > 0xffff)) {
      fail(at, fmt::format("{} is {}; expected 0 to 65535", kChakraLane, *node.lane));
    }
    const bool barrier = node.type == ChakraType::kCollective && !node.size;
    if (!barrier) need(at, node.size, "comm_size", kMostBytes);
  }

  void need(const Place& at, std::optional<std::int64_t> value, std::string_view name,
            std::int64_t most) const {
    if (!value) fail(at, fmt::format("it has no {}; expected one", name));
    if (*value < 0 || *value > most) {
      fail(at, fmt::format("{} is {}; expected 0 to {}", name, *value, most));
    }
  }

  void check_message(const Place& at) const {
    const ChakraNode& node = *at.node;
    const bool sends = node.type == ChakraType::kSend;
    need(at, sends ? node.target : node.source, sends ? "comm_dst" : "comm_src",
         std::int64_t{ranks_} - 1);
    need(at, node.tag, "comm_tag", std::numeric_limits<std::uint32_t>::max());
    const std::optional<std::int64_t> own = sends ? node.source : node.target;
    if (own && *own != std::int64_t{at.rank}) {
      fail(at, fmt::format("{} is {} in the trace of rank {}; expected that rank",
                           sends ? "comm_src" : "comm_dst", *own, at.rank));
    }
    if (peer_of(node) == at.rank) fail(at, "a message to its own rank; expected another one");
  }

  static std::uint32_t peer_of(const ChakraNode& node) {
    return static_cast<std::uint32_t>(node.type == ChakraType::kSend ? *node.target : *node.source);
  }

  // The k-th collectives of all ranks are one.
  void gather_collectives() {
    std::vector<std::vector<const ChakraNode*>> of_rank(ranks_);
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      for (const std::uint32_t i : program_.order[r]) {
        const ChakraNode& node = program_.ranks[r].nodes[i];
        if (node.type == ChakraType::kCollective) of_rank[r].push_back(&node);
      }
    }
    for (std::size_t k = 0; k < of_rank[0].size(); ++k) {
      const Place first{0, of_rank[0][k]};
      for (std::uint32_t r = 1; r < ranks_; ++r) {
        if (k == of_rank[r].size()) {
          fail(first, fmt::format("collective {} of rank 0, but rank {} has {}; expected one of "
                                  "each rank",
                                  k, r, of_rank[r].size()));
        }
        check_same(first, {r, of_rank[r][k]}, k);
      }
      add_collective(first);
    }
    for (std::uint32_t r = 1; r < ranks_; ++r) {
      if (of_rank[r].size() == of_rank[0].size()) continue;
      fail({r, of_rank[r][of_rank[0].size()]},
           fmt::format("collective {} of rank {}, but rank 0 has {}; expected one of each rank",
                       of_rank[0].size(), r, of_rank[0].size()));
    }
  }

  void check_same(const Place& a, const Place& b, std::size_t k) const {
    const auto what = [](const ChakraNode& n) { return std::tie(n.collective, n.size, n.source); };
    if (what(*a.node) == what(*b.node)) return;
    const auto words = [](const ChakraNode& node) {
      return fmt::format("{} of {} bytes{}", chakra_collective_name(node.collective.value_or(-1)),
                         node.size.value_or(0),
                         node.source ? fmt::format(" from {}", *node.source) : "");
    };
    fail(b, fmt::format("collective {} is {}, but in rank 0 (node {}) {}; expected the same", k,
                        words(*b.node), a.node->id, words(*a.node)));
  }

  void add_collective(const Place& first) {
    const ChakraNode& node = *first.node;
    if (!node.collective) fail(first, "it has no comm_type; expected one");
    std::optional<std::string> spec;
    try {
      spec = chakra_collective_spec(node, ranks_);
    } catch (const InputError& error) {
      fail(first, error.what());
    }
    if (!spec) {
      refuse(first, fmt::format("{} is not supported; expected ALL_REDUCE, ALL_GATHER, "
                                "REDUCE_SCATTER, ALL_TO_ALL, BROADCAST or BARRIER",
                                chakra_collective_name(*node.collective)));
    }
    if (!node.size && *node.collective != chakra::collective_type::kBarrier)
      fail(first, "it has no comm_size; expected one");
    const Spec parsed = parse_spec_of_any_size(*spec);
    operations_ += most_ops(parsed);
    if (operations_ >= kMaxOps) {
      fail(first, fmt::format("with it there are {} operations; expected less than {}", operations_,
                              kMaxOps));
    }
    memory_.require(operations_ * kMemoryOfOp, fmt::format("{}: its collectives", program_.prefix),
                    "a shorter trace, or --memory SIZE if it fits all the same");
    auto known = made_.find(*spec);
    if (known == made_.end()) known = made_.emplace(*spec, compile(parsed, memory_)).first;
    collectives_.push_back(&known->second);
  }

  void add_rank(std::uint32_t r) {
    const ChakraRank& rank = program_.ranks[r];
    if (r == 0) copy_collectives();
    OneWay sent = bytes_of(r, ChakraType::kSend);
    OneWay received = bytes_of(r, ChakraType::kRecv);
    std::size_t collective = 0;
    const NodeOrder local(rank, r, program_.prefix);
    std::vector<OpId> ends(rank.nodes.size());
    for (const std::uint32_t i : program_.order[r]) {
      const ChakraNode& node = rank.nodes[i];
      OpId begin;
      switch (node.type) {
        case ChakraType::kSend:
          begin = ends[i] = message(r, node, sent);
          break;
        case ChakraType::kRecv:
          begin = ends[i] = message(r, node, received);
          break;
        case ChakraType::kCompute:
          begin = ends[i] = builder_.calc({RankId(r), 0, lane_of(node)}, duration_of(node));
          break;
        case ChakraType::kCollective:
          std::tie(begin, ends[i]) = part(r, node, collective++);
          break;
        default:
          begin = ends[i] = builder_.join({RankId(r), 0, lane_of(node)});
      }
      while (origin_.size() < builder_.next_op().value) origin_.push_back({r, &node});
      local.for_each_wait(i, [&](std::uint32_t pred) { builder_.after(ends[pred], begin); });
    }
  }

  static std::uint16_t lane_of(const ChakraNode& node) {
    if (node.lane) return static_cast<std::uint16_t>(*node.lane);
    if (node.type != ChakraType::kCompute) return kCommunication;
    return node.on_cpu ? kCpu : kComputation;
  }

  static Time duration_of(const ChakraNode& node) {
    if (node.picoseconds) return Time{*node.picoseconds};
    return Time{static_cast<std::int64_t>(node.micros) * 1'000'000};
  }

  OneWay bytes_of(std::uint32_t r, ChakraType type) {
    std::uint64_t bytes = 0;
    for (const ChakraNode& node : program_.ranks[r].nodes) {
      if (node.type != type) continue;
      if (__builtin_add_overflow(bytes, static_cast<std::uint64_t>(*node.size), &bytes)) {
        fail({r, &node}, "the messages of its rank exceed 2^64 bytes; expected less");
      }
    }
    return OneWay(builder_, RankId(r), bytes, type == ChakraType::kSend);
  }

  OpId message(std::uint32_t r, const ChakraNode& node, OneWay& way) {
    const bool sends = node.type == ChakraType::kSend;
    const OpPlace at{RankId(r), 0, lane_of(node)};
    const TaggedEnds ends =
        tagged_ends(r, sends, peer_of(node), static_cast<std::uint32_t>(*node.tag));
    const auto bytes = static_cast<std::uint64_t>(*node.size);
    const ChannelId on = messages_.add(ends, sends, {r, &node}, bytes, builder_);
    const SliceRange slice = way.next(bytes);
    return sends ? builder_.send(at, on, slice) : builder_.receive(at, on, slice);
  }

  // Values of the contract: one for what each rank sends, then those of the collectives.
  void copy_collectives() {
    std::uint64_t values = ranks_;
    copies_.reserve(collectives_.size());
    for (const Schedule* schedule : collectives_) {
      PartPlace place;
      place.first_value = static_cast<std::uint32_t>(values);
      values += value_count(schedule->contract());
      copies_.emplace_back(*schedule, builder_, place);
    }
  }

  // A rank's part of a collective, between two joins.
  std::pair<OpId, OpId> part(std::uint32_t r, const ChakraNode& node, std::size_t k) {
    const Schedule& schedule = *collectives_[k];
    const OpPlace at{RankId(r), 0, lane_of(node)};
    const OpId begin = builder_.join(at);
    std::vector<OpId> ends;
    const OpId first = schedule.first_op(RankId(r));
    std::vector<bool> awaited(schedule.end_op(RankId(r)).value - first.value, false);
    for (OpId id = first; id < schedule.end_op(RankId(r)); ++id.value) {
      const OpId now = copies_[k].keep(id);
      bool held = false;
      for (const Edge& edge : schedule.edges_into(id)) {
        held = true;
        if (edge.on == On::kDone) awaited[edge.pred.value - first.value] = true;
      }
      if (!held) builder_.after(begin, now);
      ends.push_back(now);
    }
    const OpId end = builder_.join(at, {begin});
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (!awaited[i]) builder_.after(ends[i], end);
    }
    return {begin, end};
  }

  void check_messages() const {
    messages_.each(
        [&](const TaggedEnds&, const Place& sent, const Place& received) {
          if (sent.node->size == received.node->size) return;
          fail(sent, fmt::format(
                         "it sends {} bytes, but node {} of rank {} receives {}; expected equal "
                         "sizes",
                         *sent.node->size, received.node->id, received.rank, *received.node->size));
        },
        [&](const TaggedEnds& ends, std::size_t, bool sends, const Place& at) {
          const std::uint32_t peer = (sends ? ends.dst : ends.src).value;
          fail(at, fmt::format("the {} {} rank {} with tag {} has no {}; expected one in rank {}",
                               sends ? "send" : "receive", sends ? "to" : "from", peer, ends.tag,
                               sends ? "receive" : "send", peer));
        });
  }

  [[noreturn]] void refuse_deadlock(const std::vector<OpId>& cycle) const {
    const auto called = [&](OpId id) {
      return fmt::format("{} of rank {}", origin_[id.value].node->id, origin_[id.value].rank);
    };
    fail(origin_[cycle.front().value],
         fmt::format("deadlock: nodes {} wait for each other; expected an order in which all can "
                     "end{}",
                     cycle_text(cycle, 6, called), way_out()));
  }

  std::string way_out() const {
    std::vector<std::uint64_t> sizes;
    for (const ChakraRank& rank : program_.ranks) {
      for (const ChakraNode& node : rank.nodes) {
        if (node.type != ChakraType::kSend) continue;
        sizes.push_back(static_cast<std::uint64_t>(*node.size));
      }
    }
    return eager_way_out(std::move(sizes), options_.eager_bytes, [&](std::uint64_t bytes) {
      ChakraOptions options = options_;
      options.eager_bytes = bytes;
      return !find_cycle(Importer(program_, options, memory_).make()).empty();
    });
  }

  const ChakraProgram& program_;
  const std::uint32_t ranks_;
  const ChakraOptions& options_;
  const MemoryLimit& memory_;
  ProgramWriter builder_;
  std::uint64_t operations_ = 0;              // of all collectives, about
  std::map<std::string, Schedule> made_;      // by spec
  std::vector<const Schedule*> collectives_;  // in their order
  std::vector<ScheduleRewriter> copies_;      // of them
  TaggedMessages<Place> messages_;
  std::vector<Place> origin_;  // of each operation
};

}  // namespace

Schedule read_chakra(std::span<const std::string> bytes_of_rank, std::string_view prefix,
                     const ChakraOptions& options, const MemoryLimit& memory) {
  ChakraProgram program;
  program.prefix = prefix;
  for (std::uint32_t r = 0; r < bytes_of_rank.size(); ++r) {
    program.ranks.push_back(parse_chakra(bytes_of_rank[r], fmt::format("{}.{}.et", prefix, r),
                                         options.control_dependencies));
  }
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r) {
    program.order.push_back(NodeOrder(program.ranks[r], r, prefix).order());
  }
  return Importer(program, options, memory).import();
}

}  // namespace slackline::sched
