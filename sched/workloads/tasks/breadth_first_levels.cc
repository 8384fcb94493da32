#include "sched/workloads/tasks/breadth_first_levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "sched/pattern/shared_options.h"
#include "sched/workloads/tasks/global_address.h"
#include "sched/workloads/tasks/graph_options.h"
#include "sched/workloads/tasks/mark_barrier.h"
#include "sched/workloads/tasks/task_memory.h"
#include "sched/workloads/tasks/task_options.h"

namespace slackline::sched {
namespace {

constexpr std::uint64_t kWord = 8;
constexpr std::uint64_t kMostLevels = 32;   // that operations are counted for
constexpr std::uint32_t kMostRanks = 4096;  // of which every pair may have a message

const TaskOptions& checked(const Spec& spec) {
  const TaskOptions& o = spec.own<TaskOptions>();
  graph_options(spec);
  if (spec.multicast.ranks == 0 || spec.multicast.ranks > kMostRanks) {
    throw InputError(fmt::format("ranks: {}; expected 1 to {}: every pair of them has a message",
                                 spec.multicast.ranks, kMostRanks));
  }
  check_record(o.record);
  return o;
}

Time times(Time each, std::uint64_t count) {
  std::int64_t all = 0;
  if (__builtin_mul_overflow(each.count(), count, &all) || all > std::int64_t{kHour}) {
    throw InputError(fmt::format("a level: {} edges of {} ps each; expected an hour at most", count,
                                 each.count()));
  }
  return Time{all};
}

class LevelProgram {
 public:
  /// The graph must outlive this.
  LevelProgram(const Spec& spec, const Graph& graph)
      : o_(checked(spec)),
        handler_(spec.handler),
        ranks_(spec.multicast.ranks),
        graph_(graph),
        parents_(graph_.vertices(), kUnreached),
        out_(ranks_),
        memory_(out_, ranks_),
        frontier_(ranks_),
        next_(ranks_),
        batches_(std::size_t{ranks_} * ranks_),
        begin_(ranks_) {
    out_.set_title(format_spec(spec));
    const std::uint64_t bytes = striped_share(graph_.vertices() * kWord, ranks_);
    for (std::uint32_t r = 0; r < ranks_; ++r) words_.push_back(memory_.take(r, bytes));
  }

  LevelSearch make() && {
    const std::uint32_t root = busiest_vertex(graph_);
    parents_[root] = root;
    frontier_[home(root)].push_back(root);
    for (bool over = false; !over; ++level_) {
      search_level();
      write_level();
      over = true;
      for (std::uint32_t r = 0; r < ranks_; ++r) {
        frontier_[r] = std::move(next_[r]);
        next_[r].clear();
        over = over && frontier_[r].empty();
      }
    }
    memory_.finish();
    return {out_.build(), std::move(parents_)};
  }

 private:
  // What a rank asks of a home in a level.
  struct Batch {
    std::uint64_t records = 0;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> taken;  // record, and the vertex it gets
  };

  std::uint32_t home(std::uint32_t vertex) const {
    return vertex / static_cast<std::uint32_t>(kGlobalBlock / kWord) % ranks_;
  }
  Slice word(std::uint32_t vertex) const {
    const LocalPiece at = GlobalAddress::linear(vertex * kWord).delegated(kWord, ranks_);
    return {words_[at.rank].buffer, words_[at.rank].offset + at.offset, kWord};
  }
  Batch& batch(std::uint32_t src, std::uint32_t dst) {
    return batches_[std::size_t{src} * ranks_ + dst];
  }
  OpPlace place(std::uint32_t rank) const { return {RankId(rank), level_}; }

  void search_level() {
    for (Batch& b : batches_) b = {};
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      for (const std::uint32_t u : frontier_[r]) {
        for (const std::uint32_t v : graph_.neighbours(u)) {
          Batch& b = batch(r, home(v));
          const std::uint64_t record = b.records++;
          if (parents_[v] != kUnreached) continue;
          parents_[v] = u;
          b.taken.emplace_back(record, v);
          next_[home(v)].push_back(v);
        }
      }
    }
  }

  void write_level() {
    std::vector<std::vector<OpId>> ends(ranks_);  // of each rank, what its barrier waits for
    std::vector<OpId> scanned(ranks_);
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      std::uint64_t edges = 0;
      for (std::uint32_t d = 0; d < ranks_; ++d) edges += batch(r, d).records;
      scanned[r] = busy(r, times(o_.work, edges), begin_[r]);
      ends[r].push_back(scanned[r]);
    }
    for (std::uint32_t apart = 0; apart < ranks_; ++apart) {
      for (std::uint32_t r = 0; r < ranks_; ++r) {
        const std::uint32_t to = (r + apart) % ranks_;
        if (batch(r, to).records != 0) ask(r, to, scanned[r], ends);
      }
    }
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      begin_[r] = out_.join(place(r));
      out_.after(ends[r], begin_[r]);
    }
    begin_ =
        write_mark_barrier(out_, memory_, level_, std::move(begin_),
                           [&](std::uint32_t src, std::uint32_t dst) { return channel(src, dst); });
  }

  // A batch on its way, and what its home does with it.
  void ask(std::uint32_t src, std::uint32_t dst, OpId scanned,
           std::vector<std::vector<OpId>>& ends) {
    const Batch& b = batch(src, dst);
    Slice records = memory_.take(src, b.records * o_.record);
    const TaskMemory::Value value = memory_.add_value(records);
    OpId last = scanned;
    if (src != dst) {
      const Slice landing = memory_.take(dst, records.bytes + kWord);
      const Slice flag = end_of(landing, kWord);
      const OpId put = out_.put(place(src), channel(src, dst), {records, memory_.mark(src)},
                                landing, Notify::kFlag, {scanned});
      ends[src].push_back(put);
      last = out_.poll(place(dst), flag, {begin_[dst]});
      out_.add_flag_match(put, last);
      records = {landing.buffer, landing.offset, records.bytes};
    }
    last = busy(dst, times(handler_, b.records), last);
    ends[dst].push_back(last);
    if (b.taken.empty()) return;
    std::vector<Slice> from;
    std::vector<Slice> to;
    for (const auto& [record, vertex] : b.taken) {
      from.push_back({records.buffer, records.offset + record * o_.record, kWord});
      to.push_back(word(vertex));
      memory_.expect(to.back(), value, record * o_.record);
    }
    ends[dst].back() =
        out_.copy(place(dst), std::span<const Slice>(from), std::span<const Slice>(to), {last});
  }

  ChannelId channel(std::uint32_t src, std::uint32_t dst) {
    return out_.channel(RankId(src), RankId(dst));
  }
  OpId busy(std::uint32_t rank, Time time, OpId after) {
    return time > Time{0} ? out_.calc(place(rank), time, {after}) : after;
  }

  const TaskOptions& o_;
  const Time handler_;
  const std::uint32_t ranks_;
  const Graph& graph_;
  std::vector<std::uint32_t> parents_;
  ProgramWriter out_;
  TaskMemory memory_;
  std::vector<std::vector<std::uint32_t>> frontier_;  // by rank
  std::vector<std::vector<std::uint32_t>> next_;
  std::vector<Batch> batches_;  // of this level, by sender and home
  std::vector<OpId> begin_;     // what each rank begins the level by; none at first
  std::vector<Slice> words_;
  std::uint32_t level_ = 0;
};

}  // namespace

LevelSearch search_levels(const Spec& spec, const Graph& graph) {
  return LevelProgram(spec, graph).make();
}

Schedule breadth_first_by_levels(const Spec& spec) {
  const TaskOptions& o = checked(spec);
  return search_levels(spec, drawn_graph(graph_options(spec), o.seed)).schedule;
}

// Of a message: a put, a poll, a calc and a copy; of a rank and level also a scan and a barrier's.
// The graph, the words and what is kept of each pair of ranks take memory as so many operations
// would.
std::uint64_t breadth_first_levels_ops(const Spec& spec) {
  checked(spec);
  const GraphOptions& graph = graph_options(spec);
  const std::uint64_t ranks = spec.multicast.ranks;
  const std::uint64_t messages = std::min(2 * drawn_edges(graph), kMostLevels * ranks * ranks);
  const std::uint64_t kept = drawn_edges(graph) / 8 + (1ull << graph.scale) + ranks * ranks / 8;
  return 4 * messages + kMostLevels * ranks * (2 + 3 * 12) + kept;
}

namespace {

constexpr auto kBreadthFirstLevelsOptions = option_list(kRanksOption, kHandlerOption, kSeedOption,
                                                        kWorkOption, kRecordOption, kGraphOptions);

}  // namespace

constinit const PatternEntry kBreadthFirstLevelsPattern = schedule_entry(
    "breadth-first-levels", "the same, one message for each pair of ranks and level",
    kBreadthFirstLevelsOptions, breadth_first_by_levels, breadth_first_levels_ops, 260);

}  // namespace slackline::sched
