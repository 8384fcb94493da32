#include "sched/workloads/tasks/tree_search.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "base/error.h"
#include "base/mix.h"
#include "sched/pattern/shared_options.h"
#include "sched/workloads/tasks/task_program.h"
#include "sched/workloads/tasks/uts_tree.h"

namespace slackline::sched {
namespace {

constexpr std::uint64_t kMostVertices = 1u << 24;
constexpr std::uint64_t kDescriptor = 24;  // bytes: a digest and the number of children
constexpr std::uint64_t kCount = 8;

struct TreeSearchOptions {
  std::string tree = "T1";  // a sample of the benchmark
  std::uint32_t depth = 0;  // instead of the sample's; 0: the sample's
};

UtsTree tree_of(const TreeSearchOptions& options) {
  std::optional<UtsParameters> parameters = uts_sample(options.tree);
  if (!parameters) {
    throw InputError(fmt::format("tree: '{}'; expected T1, T5, T2, T3, T1L or T2L", options.tree));
  }
  if (options.depth != 0 && parameters->shape == UtsShape::kBinomial) {
    throw InputError(fmt::format("depth: {} of {}, which is binomial; expected no depth",
                                 options.depth, options.tree));
  }
  if (options.depth > 4096) {
    throw InputError(fmt::format("depth: {}; expected at most 4096", options.depth));
  }
  if (options.depth != 0) parameters->depth = options.depth;
  return UtsTree(*parameters);
}

std::uint64_t checked_size(const Spec& spec) {
  const std::uint64_t vertices =
      tree_of(spec.own<TreeSearchOptions>()).measure(kMostVertices).vertices;
  if (vertices > kMostVertices) {
    throw InputError(fmt::format("tree: {} has more than {} vertices; expected a smaller depth",
                                 spec.own<TreeSearchOptions>().tree, kMostVertices));
  }
  return vertices;
}

// TaskWork::begin is a vertex, as its place among those that were found.
class TreeSearch : public TaskPattern {
 public:
  explicit TreeSearch(const Spec& spec)
      : task_(spec.own<TaskOptions>()),
        handler_(spec.handler),
        tree_(tree_of(spec.own<TreeSearchOptions>())),
        left_(checked_size(spec)),
        program_(spec, *this),
        visiting_(std::size_t{spec.multicast.ranks} * task_.tasks) {}

  Schedule make() {
    const Slice root = program_.memory().take(0, kDescriptor);
    program_.memory().add_value(root);
    program_.add_work(0, {add_vertex(tree_.root(), 0), 0, OpId::none(), root});
    return program_.make();
  }

  void run(TaskId task) override {
    if (visiting_[task].has_value()) {
      expand(task, *visiting_[task]);
      visiting_[task].reset();
    }
    const auto work = program_.take_work(task);
    if (!work) return program_.idle(task);
    visiting_[task] = static_cast<std::uint32_t>(work->begin);
    const Slice record = program_.memory().take(program_.rank_of(task), task_.record);
    vertices_[work->begin].visit = program_.memory().add_value(record);
    program_.delegate(task, vertices_[work->begin].home, 0, work->begin, record);
  }

  void handle(const TaskMessage& message, OpId after) override {
    Vertex& vertex = vertices_[message.argument];
    const Slice operand{message.record.buffer, message.record.offset, kCount};
    OpId last = program_.busy(message.dst, handler_, after);
    last = program_.handler(message.dst, OpKind::kReduce, {{vertex.count, operand}}, vertex.count,
                            {last});
    program_.memory().add_term(vertex.sum, vertex.visit);
    program_.reply(message, {&vertex.descriptor, 1}, {&last, 1});
  }

  bool may_steal() const override { return left_ != 0; }

 private:
  struct Vertex {
    Sha1 digest;
    std::uint32_t depth;
    std::uint32_t home;
    Slice descriptor;
    Slice count;
    TaskMemory::Sum sum;
    TaskMemory::Value visit = 0;
  };

  std::uint64_t add_vertex(const Sha1& digest, std::uint32_t depth) {
    Vertex made;
    made.digest = digest;
    made.depth = depth;
    // A function of the vertex, and not of when it was found.
    made.home = below(draw(task_.seed, {3, digest[0], digest[1]}), program_.ranks());
    made.descriptor = program_.memory().take(made.home, kDescriptor);
    made.count = program_.memory().take(made.home, kCount);
    made.sum = program_.memory().add_sum(made.count);
    program_.memory().add_value(made.descriptor);
    vertices_.push_back(made);
    return vertices_.size() - 1;
  }

  // The vertex's descriptor is there.
  void expand(TaskId task, std::uint32_t id) {
    program_.compute(task, task_.work);
    --left_;
    const Sha1 digest = vertices_[id].digest;
    const std::uint32_t depth = vertices_[id].depth;
    const std::uint32_t children = tree_.children(digest, depth);
    for (std::uint32_t i = 0; i < children; ++i) {
      program_.spawn(task, {add_vertex(UtsTree::child(digest, i), depth + 1), 0, OpId::none(),
                            program_.result(task)});
    }
  }

  const TaskOptions& task_;
  const Time handler_;
  const UtsTree tree_;
  std::uint64_t left_;  // vertices that no task has been done with
  std::vector<Vertex> vertices_;
  TaskProgram program_;
  std::vector<std::optional<std::uint32_t>> visiting_;
};

}  // namespace

Schedule tree_search(const Spec& spec) { return TreeSearch(spec).make(); }

// Of a vertex: a switch, work, a handler's two, and two messages; a steal or two beside.
std::uint64_t tree_search_ops(const Spec& spec) {
  return checked_size(spec) * (8 + 2 * message_ops(spec)) +
         std::uint64_t{4} * spec.multicast.ranks * spec.own<TaskOptions>().tasks;
}

namespace {

constexpr auto kTreeSearchOptions = option_list(
    kRanksOption, kHandlerOption, kTaskOptions, kWorkOption, kRequestOptions,
    text_option<&TreeSearchOptions::tree>("tree", "T1|T5|T2|T3|T1L|T2L",
                                          "tree-search: of the benchmark"),
    count_option<&TreeSearchOptions::depth>(
        "depth", "0 or more", "tree-search: instead of the tree's own, 0: that", 0, 0xffffffffu));

}  // namespace

constinit const PatternEntry kTreeSearchPattern = schedule_entry(
    "tree-search", "an unbalanced tree of the UTS benchmark, by tasks that steal work",
    kTreeSearchOptions, tree_search, tree_search_ops, 240);

}  // namespace slackline::sched
