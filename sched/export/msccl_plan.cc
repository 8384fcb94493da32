#include "sched/export/msccl_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "sched/event_graph.h"

namespace slackline::sched {
namespace {

// Where an operation stands: thread block and step.
using Stand = std::pair<std::uint32_t, std::uint32_t>;

class Planner {
 public:
  explicit Planner(const Schedule& schedule)
      : schedule_(schedule),
        order_(channel_order(schedule)),
        credit_(schedule.control_channels()),
        kept_(schedule.op_count(), false),
        stand_(schedule.op_count()) {}

  MscclPlan plan() {
    plan_.gpus.resize(schedule_.rank_count());
    for (std::uint32_t i = 0; i < schedule_.op_count(); ++i) sort_out(OpId(i));
    choose_chunk();
    lay_out_buffers();
    for (std::uint32_t i = 0; i < schedule_.op_count(); ++i) {
      if (kept_[i]) place(OpId(i));
    }
    check_pairs();
    for (MscclGpu& gpu : plan_.gpus) {
      for (std::uint32_t b = 0; b < gpu.blocks.size(); ++b) wait_for_others(gpu, b);
    }
    check_progress();
    return std::move(plan_);
  }

 private:
  [[noreturn]] void refuse(OpId id, std::string_view why) const {
    throw Unsupported(fmt::format("msccl-xml: {} {}", describe(schedule_, id), why));
  }

  // Decides whether the operation becomes a step, vanishes, or cannot be said.
  void sort_out(OpId id) {
    const Op& op = schedule_.op(id);
    if (op.kind == OpKind::kJoin || op.kind == OpKind::kFlush) return;
    if (op.channel.valid() && credit_[op.channel.value]) return;
    if (op.kind == OpKind::kPoll && op.match.valid() &&
        credit_[schedule_.op(op.match).channel.value]) {
      return;
    }
    const bool message = op.kind == OpKind::kRecv || is_fifo_source(op);
    if (message && !op.match.valid()) refuse(id, "has nothing that matches it");
    if (message && schedule_.channel(op.channel).src == schedule_.channel(op.channel).dst) {
      refuse(id, "is of a message to its own GPU; MSCCL's thread blocks lead to others");
    }
    if (!message && op.kind != OpKind::kCopy && op.kind != OpKind::kReduce) {
      refuse(id, "has no counterpart in MSCCL");
    }
    if (op.kind == OpKind::kReduce && schedule_.arguments(op).duration.count() != 0) {
      refuse(id, "has a time of its own, as what counts has; MSCCL's `re` has none");
    }
    if (source_of(id).bytes == 0) refuse(id, "moves no bytes; MSCCL steps move at least a chunk");
    if (source_of(id).bytes != target_of(id).bytes) {
      refuse(id, "has sides of different size; MSCCL moves whole chunks");
    }
    kept_[id.value] = true;
  }

  // Pieces that follow each other in one buffer, as one.
  Slice joined(OpId id, SliceRange range) const {
    Slice whole;
    for (const Slice& slice : schedule_.slices(range)) {
      if (!whole.buffer.valid()) {
        whole = slice;
      } else if (slice.buffer == whole.buffer && slice.offset == whole.offset + whole.bytes) {
        whole.bytes += slice.bytes;
      } else {
        refuse(id, "has pieces that are not contiguous; an MSCCL step has one");
      }
    }
    return whole;
  }

  Slice source_of(OpId id) const {
    const Op& op = schedule_.op(id);
    if (op.kind == OpKind::kRecv) return source_of(op.match);
    if (op.kind != OpKind::kReduce) return joined(id, op.reads);
    const auto reads = schedule_.slices(op.reads);
    const Slice& target = schedule_.slices(op.writes)[0];
    if (reads.size() != 2 || (reads[0] != target && reads[1] != target)) {
      refuse(id, "does not combine one operand into another in place; MSCCL's `re` does only that");
    }
    return reads[0] == target ? reads[1] : reads[0];
  }

  Slice target_of(OpId id) const {
    const Op& op = schedule_.op(id);
    if (op.kind == OpKind::kSend) return joined(op.match, schedule_.op(op.match).writes);
    if (op.kind == OpKind::kRecv && schedule_.op(op.match).kind == OpKind::kPut) {
      return joined(op.match, schedule_.op(op.match).writes);
    }
    return joined(id, op.writes);
  }

  void choose_chunk() {
    std::uint64_t chunk = 0;
    std::uint64_t largest = 0;
    for (std::uint32_t i = 0; i < schedule_.op_count(); ++i) {
      if (!kept_[i]) continue;
      for (const Slice& slice : {source_of(OpId(i)), target_of(OpId(i))}) {
        largest = std::max(largest, slice.bytes);
        chunk = std::gcd(chunk, slice.offset);
        const std::uint64_t end = schedule_.buffers()[slice.buffer.value].bytes;
        if (slice.offset + slice.bytes != end) chunk = std::gcd(chunk, slice.bytes);
      }
    }
    if (largest == 0) throw Unsupported("msccl-xml: the schedule moves no bytes; expected some");
    plan_.chunk_bytes = chunk == 0 ? largest : chunk;
  }

  std::uint64_t chunks(std::uint64_t bytes) const {
    return bytes / plan_.chunk_bytes + (bytes % plan_.chunk_bytes != 0 ? 1 : 0);
  }

  void lay_out_buffers() {
    // Of each rank: the buffer that steps touch and the contract speaks of, the one it speaks of,
    // or the first that steps touch.
    std::vector<bool> used(schedule_.buffers().size(), false);
    for (std::uint32_t i = 0; i < schedule_.op_count(); ++i) {
      if (!kept_[i]) continue;
      used[source_of(OpId(i)).buffer.value] = true;
      used[target_of(OpId(i)).buffer.value] = true;
    }
    std::vector<BufferId> output(schedule_.rank_count());
    const auto name_output = [&](BufferId buffer) {
      BufferId& mine = output[schedule_.buffers()[buffer.value].rank.value];
      if (!mine.valid()) mine = buffer;
    };
    // What the contract says of an untouched buffer holds only if no step writes to the output.
    for (const bool touched : {true, false}) {
      for (const auto* facts : {&schedule_.contract().post, &schedule_.contract().pre}) {
        for (const Fact& fact : *facts) {
          if (used[fact.slice.buffer.value] || !touched) name_output(fact.slice.buffer);
        }
      }
    }
    for (std::uint32_t b = 0; b < schedule_.buffers().size(); ++b) {
      if (used[b]) name_output(BufferId(b));
    }
    require_one_output(used, output);
    base_.resize(schedule_.buffers().size());
    for (std::uint32_t b = 0; b < schedule_.buffers().size(); ++b) {
      if (!used[b]) continue;
      const Buffer& buffer = schedule_.buffers()[b];
      MscclGpu& gpu = plan_.gpus[buffer.rank.value];
      if (output[buffer.rank.value] == BufferId(b)) {
        gpu.output_chunks = chunks(buffer.bytes);
      } else {
        base_[b] = gpu.scratch_chunks;
        gpu.scratch_chunks += chunks(buffer.bytes);
      }
    }
    plan_.broadcast = is_broadcast(output);
  }

  // Whether all ranks come to have what one had, where that one had it: of a scatter each has other
  // bytes in the end. It has to be the whole of every output, since the runtime cuts the user's
  // buffer into as many chunks as the longest has. One rank alone is told nothing.
  bool is_broadcast(const std::vector<BufferId>& output) const {
    using Pieces =
        std::set<std::tuple<std::uint64_t, std::uint64_t, ValueId, std::uint64_t, std::uint32_t>>;
    const auto by_rank = [&](const std::vector<Fact>& facts) {
      std::map<RankId, Pieces> ranks;
      for (const Fact& fact : facts) {
        const Slice& slice = fact.slice;
        const RankId rank = schedule_.buffers()[slice.buffer.value].rank;
        if (output[rank.value] != slice.buffer) continue;
        ranks[rank].insert({slice.offset, slice.bytes, fact.value, fact.value_offset, fact.terms});
      }
      return ranks;
    };
    const std::map<RankId, Pieces> pres = by_rank(schedule_.contract().pre);
    const std::map<RankId, Pieces> posts = by_rank(schedule_.contract().post);
    if (plan_.gpus.size() == 1 || pres.size() != 1 || posts.size() != plan_.gpus.size()) {
      return false;
    }
    const Pieces& root = pres.begin()->second;
    std::uint64_t end = 0;
    for (const auto& piece : root) {
      if (std::get<0>(piece) == end) end += std::get<1>(piece);
    }
    return std::all_of(posts.begin(), posts.end(),
                       [&](const auto& post) { return post.second == root; }) &&
           std::all_of(plan_.gpus.begin(), plan_.gpus.end(),
                       [&](const MscclGpu& gpu) { return gpu.output_chunks == chunks(end); });
  }

  // What stands in another buffer before would be garbage there, and what comes into one be lost:
  // scratch memory is the algorithm's own.
  void require_one_output(const std::vector<bool>& used,
                          const std::vector<BufferId>& output) const {
    for (const auto* facts : {&schedule_.contract().pre, &schedule_.contract().post}) {
      for (const Fact& fact : *facts) {
        const BufferId buffer = fact.slice.buffer;
        const RankId rank = schedule_.buffers()[buffer.value].rank;
        if (!used[buffer.value] || output[rank.value] == buffer) continue;
        throw Unsupported(
            fmt::format("msccl-xml: the contract speaks of buffers {} and {} of rank {}; an "
                        "algorithm that is in place has one",
                        output[rank.value].value, buffer.value, rank.value));
      }
    }
  }

  MscclPlace in_chunks(OpId id, const Slice& slice) const {
    const std::optional<std::uint64_t>& base = base_[slice.buffer.value];
    const std::uint64_t count = chunks(slice.bytes);
    if (count > kMscclChunks) {
      refuse(id, fmt::format("moves {} chunks of {} bytes in one step; MSCCL's limit is {}", count,
                             plan_.chunk_bytes, kMscclChunks));
    }
    const std::uint64_t offset = base.value_or(0) + slice.offset / plan_.chunk_bytes;
    if (offset > kMscclOffset) {
      refuse(id, fmt::format("begins at chunk {} of {} bytes; MSCCL's limit is {}", offset,
                             plan_.chunk_bytes, kMscclOffset));
    }
    return {base ? 's' : 'o', offset, count};
  }

  void place(OpId id) {
    const Op& op = schedule_.op(id);
    MscclGpu& gpu = plan_.gpus[op.rank.value];
    std::int64_t send = -1;
    std::int64_t recv = -1;
    if (op.channel.valid()) {
      const Channel& channel = schedule_.channel(op.channel);
      (op.kind == OpKind::kRecv ? recv : send) =
          (op.kind == OpKind::kRecv ? channel.src : channel.dst).value;
    }
    const auto [found, fresh] = blocks_.try_emplace({op.rank, send, recv}, gpu.blocks.size());
    if (fresh) {
      if (gpu.blocks.size() == kMscclBlocks) {
        refuse(id, fmt::format("needs thread block {} of its GPU; MSCCL's limit is {}",
                               kMscclBlocks + 1, kMscclBlocks));
      }
      gpu.blocks.push_back({send, recv, {}});
    }
    MscclBlock& block = gpu.blocks[found->second];
    MscclStep step;
    step.op = id;
    step.type = op.kind == OpKind::kRecv     ? "r"
                : op.kind == OpKind::kCopy   ? "cpy"
                : op.kind == OpKind::kReduce ? "re"
                                             : "s";
    step.source = in_chunks(id, source_of(id));
    step.target = in_chunks(id, target_of(id));
    stand_[id.value] = {static_cast<std::uint32_t>(found->second),
                        static_cast<std::uint32_t>(block.steps.size())};
    if (block.steps.size() == kMscclSteps) {
      refuse(id, fmt::format("needs step {} of its thread block; MSCCL's limit is {}",
                             kMscclSteps + 1, kMscclSteps));
    }
    block.steps.push_back(std::move(step));
  }

  // MSCCL matches the messages of a pair of GPUs in order, whatever channel of ours they were on.
  void check_pairs() const {
    for (const MscclGpu& gpu : plan_.gpus) {
      for (const MscclBlock& block : gpu.blocks) {
        if (block.send < 0) continue;
        for (std::uint32_t s = 0; s < block.steps.size(); ++s) {
          const OpId id = block.steps[s].op;
          if (stand_[schedule_.op(id).match.value].second != s) {
            refuse(id,
                   "is received in another order than it is sent; MSCCL keeps one order for "
                   "each pair of GPUs");
          }
        }
      }
    }
  }

  // The steps whose end must come before `top` is issued: along edges, through what vanished and
  // through what only had to be issued.
  std::vector<OpId> awaited(OpId top) {
    std::vector<OpId> found;
    std::vector<OpId> stack = {top};
    ++round_;
    seen_.resize(schedule_.op_count(), 0);
    seen_[top.value] = round_;
    const auto follow = [&](OpId id) {
      if (std::exchange(seen_[id.value], round_) != round_) stack.push_back(id);
    };
    while (!stack.empty()) {
      const OpId id = stack.back();
      stack.pop_back();
      for (const Edge& edge : schedule_.edges_into(id)) {
        if (edge.on == On::kDone && kept_[edge.pred.value]) {
          found.push_back(edge.pred);
        } else {
          follow(edge.pred);
        }
      }
      if (id != top && order_.previous[id.value].valid()) follow(order_.previous[id.value]);
    }
    return found;
  }

  void wait_for_others(MscclGpu& gpu, std::uint32_t b) {
    std::vector<std::int64_t> waited(gpu.blocks.size(), -1);  // the last step of each, so far
    std::vector<MscclStep>& steps = gpu.blocks[b].steps;
    for (std::uint32_t s = 0; s < steps.size(); ++s) {
      std::vector<std::int64_t> wanted = waited;
      for (OpId pred : awaited(steps[s].op)) {
        const auto [block, step] = stand_[pred.value];
        if (block != b) {
          wanted[block] = std::max(wanted[block], std::int64_t{step});
        } else if (step >= s) {
          refuse(steps[s].op, "waits for a later step of its own thread block");
        }
      }
      for (std::uint32_t other = 0; other < wanted.size(); ++other) {
        if (wanted[other] > waited[other]) {
          steps[s].after.emplace_back(other, static_cast<std::uint32_t>(wanted[other]));
        }
      }
      waited = std::move(wanted);
    }
  }

  // Steps of a thread block run one after another, which the schedule did not ask for: make sure
  // that all of them still get their turn.
  void check_progress() const {
    std::vector<std::vector<std::uint32_t>> done(plan_.gpus.size());
    for (std::size_t g = 0; g < done.size(); ++g) done[g].assign(plan_.gpus[g].blocks.size(), 0);
    const auto ready = [&](std::uint32_t g, std::uint32_t b) {
      const MscclStep& step = plan_.gpus[g].blocks[b].steps[done[g][b]];
      for (const auto& [other, last] : step.after) {
        if (done[g][other] <= last) return false;
      }
      const Op& op = schedule_.op(step.op);
      if (op.kind != OpKind::kRecv) return true;
      const Stand from = stand_[op.match.value];
      return done[schedule_.op(op.match).rank.value][from.first] > from.second;
    };
    // Sweeps over all blocks, each as far as it goes; at most as many as there are steps.
    std::optional<OpId> stuck;
    for (bool moved = true; moved;) {
      moved = false;
      stuck.reset();
      for (std::uint32_t g = 0; g < done.size(); ++g) {
        for (std::uint32_t b = 0; b < done[g].size(); ++b) {
          const auto& steps = plan_.gpus[g].blocks[b].steps;
          for (; done[g][b] < steps.size() && ready(g, b); ++done[g][b]) moved = true;
          if (done[g][b] < steps.size() && !stuck) stuck = steps[done[g][b]].op;
        }
      }
    }
    if (stuck) refuse(*stuck, "would wait for ever: thread blocks run their steps in order");
  }

  const Schedule& schedule_;
  ChannelOrder order_;
  std::vector<bool> credit_;
  std::vector<bool> kept_;
  std::vector<Stand> stand_;
  std::vector<std::optional<std::uint64_t>> base_;  // of scratch buffers, in chunks
  std::map<std::tuple<RankId, std::int64_t, std::int64_t>, std::size_t> blocks_;
  std::vector<std::uint32_t> seen_;
  std::uint32_t round_ = 0;
  MscclPlan plan_;
};

}  // namespace

MscclPlan plan_msccl(const Schedule& schedule) {
  require_static(schedule, "msccl-xml");
  return Planner(schedule).plan();
}

}  // namespace slackline::sched
