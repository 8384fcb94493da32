#include "sched/workloads/tasks/breadth_first_search.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "sched/pattern/shared_options.h"
#include "sched/workloads/tasks/global_address.h"
#include "sched/workloads/tasks/graph_options.h"
#include "sched/workloads/tasks/task_program.h"

namespace slackline::sched {
namespace {

constexpr std::uint64_t kWord = 8;

struct BreadthFirstOptions {
  std::uint32_t threshold = 4;  // iterations below which a parallel loop is not split
};

const BreadthFirstOptions& checked(const Spec& spec) {
  const BreadthFirstOptions& o = spec.own<BreadthFirstOptions>();
  graph_options(spec);
  if (o.threshold == 0) throw InputError("threshold: 0 iterations; expected at least 1");
  return o;
}

class BreadthFirstSearch : public TaskPattern {
 public:
  explicit BreadthFirstSearch(const Spec& spec)
      : o_(checked(spec)),
        task_(spec.own<TaskOptions>()),
        handler_(spec.handler),
        graph_(drawn_graph(graph_options(spec), task_.seed)),
        parents_(graph_.vertices(), kUnreached),
        program_(spec, *this),
        loops_(std::size_t{spec.multicast.ranks} * task_.tasks),
        left_(spec.multicast.ranks, 0),
        frontier_(spec.multicast.ranks),
        first_edge_(spec.multicast.ranks),
        next_(spec.multicast.ranks) {
    const std::uint64_t bytes = striped_share(graph_.vertices() * kWord, spec.multicast.ranks);
    for (std::uint32_t r = 0; r < spec.multicast.ranks; ++r) {
      words_.push_back(program_.memory().take(r, bytes));
    }
  }

  Schedule make() {
    const std::uint32_t root = busiest_vertex(graph_);
    parents_[root] = root;
    next_[home(root).rank].push_back(root);
    begin_level();
    return program_.make();
  }
  std::vector<std::uint32_t> parents() && { return std::move(parents_); }

  void run(TaskId task) override {
    if (over_) return program_.finish(task);
    const std::uint32_t rank = program_.rank_of(task);
    Loop& loop = loops_[task];
    while (!ask_next_neighbour(task)) {
      if (loop.running) {
        loop.running = false;
        left_[rank] -= loop.edges;
        if (left_[rank] == 0) program_.wake_idle(rank);
      }
      const auto work = program_.take_work(task);
      if (!work) return left_[rank] == 0 ? program_.wait_barrier(task) : program_.idle(task);
      begin_loop(task, work->begin, work->end);
    }
  }

  void handle(const TaskMessage& message, OpId after) override {
    const auto v = static_cast<std::uint32_t>(message.argument >> 32);
    const auto value = static_cast<TaskMemory::Value>(message.argument & 0xffffffffu);
    OpId last = program_.busy(message.dst, handler_, after);
    if (parents_[v] == kUnreached) {
      parents_[v] = loops_[message.task].vertex;
      next_[message.dst].push_back(v);
      const LocalPiece at = home(v);
      const Slice word{words_[at.rank].buffer, words_[at.rank].offset + at.offset, kWord};
      const Slice parent{message.record.buffer, message.record.offset, kWord};
      last = program_.handler(message.dst, OpKind::kCopy, {{parent}}, word, {last});
      program_.memory().expect(word, value);
    }
    program_.reply(message, {}, {&last, 1});
  }

  void passed_barrier() override { begin_level(); }

 private:
  // A task's run of iterations over the edges that leave the frontier of its core.
  struct Loop {
    std::uint64_t at = 0;
    std::uint64_t end = 0;
    std::uint64_t edges = 0;
    std::uint32_t vertex = 0;  // whose neighbour was asked last
    bool running = false;
  };

  LocalPiece home(std::uint32_t vertex) const {
    return GlobalAddress::linear(vertex * kWord).delegated(kWord, program_.ranks());
  }

  void begin_level() {
    program_.set_step(level_++);
    over_ = true;
    for (std::uint32_t r = 0; r < program_.ranks(); ++r) {
      frontier_[r] = std::move(next_[r]);
      next_[r].clear();
      first_edge_[r].assign(1, 0);
      for (const std::uint32_t v : frontier_[r]) {
        first_edge_[r].push_back(first_edge_[r].back() + graph_.neighbours(v).size());
      }
      left_[r] = first_edge_[r].back();
      if (left_[r] == 0) continue;
      over_ = false;
      program_.add_work(r, {0, left_[r], OpId::none(), Slice{}});
    }
  }

  void begin_loop(TaskId task, std::uint64_t begin, std::uint64_t end) {
    while (end - begin > o_.threshold) {
      const std::uint64_t middle = begin + (end - begin) / 2;
      program_.spawn(task, {middle, end, OpId::none(), Slice{}});
      end = middle;
    }
    loops_[task] = {begin, end, end - begin, 0, true};
  }

  // False if the task's loop is over.
  bool ask_next_neighbour(TaskId task) {
    Loop& loop = loops_[task];
    const std::uint32_t rank = program_.rank_of(task);
    if (!loop.running || loop.at == loop.end) return false;
    const std::vector<std::uint64_t>& first = first_edge_[rank];
    const auto after = std::upper_bound(first.begin(), first.end(), loop.at);
    const auto place = static_cast<std::size_t>(after - first.begin()) - 1;
    const std::uint32_t u = frontier_[rank][place];
    const std::uint32_t v = graph_.neighbours(u)[loop.at++ - first[place]];
    loop.vertex = u;
    const Slice record = program_.memory().take(rank, task_.record);
    const std::uint64_t value = program_.memory().add_value(record);
    program_.delegate(task, home(v).rank, 0, std::uint64_t{v} << 32 | value, record);
    return true;
  }

  const BreadthFirstOptions& o_;
  const TaskOptions& task_;
  const Time handler_;
  const Graph graph_;
  std::vector<std::uint32_t> parents_;
  TaskProgram program_;
  std::vector<Loop> loops_;          // by task
  std::vector<std::uint64_t> left_;  // by rank: edges of this level not done with
  std::vector<std::vector<std::uint32_t>> frontier_;
  std::vector<std::vector<std::uint64_t>> first_edge_;  // of each vertex of the frontier
  std::vector<std::vector<std::uint32_t>> next_;
  std::vector<Slice> words_;
  std::uint32_t level_ = 0;
  bool over_ = false;
};

}  // namespace

Schedule breadth_first_search(const Spec& spec) { return BreadthFirstSearch(spec).make(); }

std::vector<std::uint32_t> breadth_first_parents(const Spec& spec) {
  BreadthFirstSearch search(spec);
  search.make();
  return std::move(search).parents();
}

// Of an edge, both ways: a switch, a handler's two, a spawn's joins, and two messages. Levels are
// few: a barrier's operations are counted as if there were 64.
std::uint64_t breadth_first_search_ops(const Spec& spec) {
  checked(spec);
  const GraphOptions& graph = graph_options(spec);
  const std::uint64_t barrier =
      std::uint64_t{spec.multicast.ranks} * (2 + 3 * 32 + spec.own<TaskOptions>().tasks);
  return 2 * drawn_edges(graph) * (6 + 2 * message_ops(spec)) + (2ull << graph.scale) +
         64 * barrier;
}

namespace {

constexpr auto kBreadthFirstOptions =
    option_list(kRanksOption, kHandlerOption, kTaskOptions, kRequestOptions, kGraphOptions,
                count_option<&BreadthFirstOptions::threshold>(
                    "threshold", "1 or more", "breadth-first-search: a loop's parts are as long"));

}  // namespace

constinit const PatternEntry kBreadthFirstSearchPattern =
    schedule_entry("breadth-first-search", "a Kronecker graph, level by level, by parallel loops",
                   kBreadthFirstOptions, breadth_first_search, breadth_first_search_ops);

}  // namespace slackline::sched
