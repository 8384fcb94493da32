#include "sched/import/msccl.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text_scan.h"
#include "base/xml_reader.h"
#include "sched/event_graph.h"
#include "sched/import/msccl_algorithm.h"
#include "sched/import/rank_programs.h"
#include "sched/import/tagged_messages.h"
#include "sched/program_writer.h"

namespace slackline::sched {
namespace {

constexpr std::uint64_t kChunkBytes = 4096;
constexpr std::uint64_t kAllEager = std::numeric_limits<std::uint64_t>::max();

class Importer {
 public:
  Importer(const MscclAlgorithm& algorithm, std::string_view file, const MscclOptions& options)
      : file_(file),
        algorithm_(algorithm),
        gpus_(static_cast<std::uint32_t>(algorithm.gpus.size())),
        chunk_(options.chunk_bytes.value_or(kChunkBytes)),
        builder_(gpus_) {}

  Schedule import() {
    if (chunk_ == 0) fail(algorithm_.line, "chunks of 0 bytes; expected at least 1");
    builder_.set_title(std::string(algorithm_.name));
    for (std::uint32_t g = 0; g < gpus_; ++g) add_buffers(g);
    add_contract();
    for (std::uint32_t g = 0; g < gpus_; ++g) add_gpu(g);
    check_messages();
    Schedule schedule = build_of(builder_, file_);
    if (const std::vector<OpId> cycle = find_cycle(schedule); !cycle.empty()) refuse(cycle);
    return schedule;
  }

 private:
  // A step, and the GPU and thread block that it is of.
  struct Place {
    std::uint32_t gpu = 0;
    std::uint32_t block = 0;
    const MscclInstruction* step = nullptr;
  };

  [[noreturn]] void fail(std::uint32_t line, std::string_view message) const {
    throw InputError(fmt::format("{}:{}: {}", file_, line, message));
  }
  [[noreturn]] void unsupported(std::string_view message) const {
    throw Unsupported(fmt::format("{}:{}: {}", file_, algorithm_.line, message));
  }

  static std::string called(const Place& place) {
    const auto& steps = place.step;
    return fmt::format("the step on line {} of thread block {} of GPU {}", steps->line, place.block,
                       place.gpu);
  }

  std::uint64_t bytes(std::uint64_t chunks, std::uint32_t line) const {
    std::uint64_t out = 0;
    if (__builtin_mul_overflow(chunks, chunk_, &out) || out > kMostBytes) {
      fail(line,
           fmt::format("{} chunks of {} bytes; expected less than 2^62 bytes", chunks, chunk_));
    }
    return out;
  }

  // The chunks of a GPU's own part of the whole.
  std::uint64_t part() const { return algorithm_.chunks / gpus_; }

  // Of two buffers that are one: what holds the other, and where that begins in it, in chunks.
  bool output_holds_input() const { return algorithm_.collective != "reduce_scatter"; }
  std::uint64_t inner_offset(std::uint32_t g) const {
    const bool parts =
        algorithm_.collective == "allgather" || algorithm_.collective == "reduce_scatter";
    return algorithm_.in_place && parts ? g * part() : 0;
  }

  void add_buffers(std::uint32_t g) {
    const MscclProcessor& gpu = algorithm_.gpus[g];
    std::array<BufferId, 3>& own = buffers_.emplace_back();
    const auto add = [&](std::uint64_t chunks) {
      return chunks == 0 ? BufferId() : builder_.add_buffer(RankId(g), bytes(chunks, gpu.line));
    };
    if (algorithm_.in_place) {
      const std::uint64_t inner = output_holds_input() ? gpu.input : gpu.output;
      const std::uint64_t outer = output_holds_input() ? gpu.output : gpu.input;
      own[0] = own[1] = add(std::max(inner + (inner == 0 ? 0 : inner_offset(g)), outer));
    } else {
      own[0] = add(gpu.input);
      own[1] = add(gpu.output);
    }
    own[2] = add(gpu.scratch);
  }

  // Chunks of the input or the output, wherever they lie.
  Slice slice(std::uint32_t g, char buffer, std::uint64_t offset, std::uint64_t count,
              std::uint32_t line) const {
    const MscclProcessor& gpu = algorithm_.gpus[g];
    const std::uint32_t size = buffer == 'i' ? gpu.input : buffer == 'o' ? gpu.output : gpu.scratch;
    if (offset + count > size) {
      fail(line,
           fmt::format("chunks {} to {} of buffer {} of GPU {}; expected at most its {} chunks",
                       offset, offset + count - 1, buffer, g, size));
    }
    const bool inner = output_holds_input() ? buffer == 'i' : buffer == 'o';
    const std::uint64_t first = offset + (inner ? inner_offset(g) : 0);
    return {buffers_[g][buffer == 'i' ? 0 : buffer == 'o' ? 1 : 2], first * chunk_, count * chunk_};
  }

  // The input of a GPU, or the output: in place they may be given by the other's name only.
  Slice whole(std::uint32_t g, bool input, std::uint64_t from, std::uint64_t count) const {
    const MscclProcessor& gpu = algorithm_.gpus[g];
    const std::uint32_t size = input ? gpu.input : gpu.output;
    const std::uint32_t line = gpu.line;
    if (size >= from + count) return slice(g, input ? 'i' : 'o', from, count, line);
    const bool inner = input == output_holds_input();
    if (!algorithm_.in_place || size != 0) {
      fail(line, fmt::format("{} chunks of {} in GPU {}; expected {} for {} of {} chunks", size,
                             input ? "input" : "output", g, from + count, algorithm_.collective,
                             algorithm_.chunks));
    }
    return slice(g, input ? 'o' : 'i', from + (inner ? inner_offset(g) : 0), count, line);
  }

  void add_contract() {
    const std::string_view collective = algorithm_.collective;
    const std::uint64_t all = algorithm_.chunks;
    builder_.set_message_bytes(bytes(all, algorithm_.line));
    const bool parts =
        collective == "allgather" || collective == "reduce_scatter" || collective == "alltoall";
    if (parts && all % gpus_ != 0) {
      fail(algorithm_.line,
           fmt::format("{} chunks among {} GPUs; expected a multiple", all, gpus_));
    }
    const auto has = [&](const Slice& at, std::uint32_t value, std::uint64_t from) {
      builder_.add_pre({at, ValueId(value), from * chunk_});
    };
    const auto ends = [&](const Slice& at, std::uint32_t value, std::uint64_t from,
                          std::uint32_t terms = 1) {
      builder_.add_post({at, ValueId(value), from * chunk_, terms});
    };
    if (collective == "broadcast") return add_broadcast();
    for (std::uint32_t g = 0; g < gpus_; ++g) {
      if (collective == "allreduce") {
        has(whole(g, true, 0, all), g, 0);
        ends(whole(g, false, 0, all), 0, 0, gpus_);
      } else if (collective == "reduce_scatter") {
        has(whole(g, true, 0, all), g, 0);
        ends(whole(g, false, 0, part()), 0, g * part(), gpus_);
      } else if (collective == "allgather") {
        has(whole(g, true, 0, part()), g, 0);
        for (std::uint32_t from = 0; from < gpus_; ++from) {
          ends(whole(g, false, from * part(), part()), from, 0);
        }
      } else if (collective == "alltoall") {
        has(whole(g, true, 0, all), g, 0);
        for (std::uint32_t from = 0; from < gpus_; ++from) {
          ends(whole(g, false, from * part(), part()), from, g * part());
        }
      } else if (collective == "custom") {
        const MscclProcessor& gpu = algorithm_.gpus[g];
        const std::uint32_t given =
            algorithm_.in_place ? std::max(gpu.input, gpu.output) : gpu.input;
        if (given == 0) continue;
        has({buffers_[g][0], 0, given * chunk_}, g, 0);
      } else {
        unsupported(
            fmt::format("coll: {} is not supported; expected allreduce, allgather, "
                        "reduce_scatter, alltoall, broadcast or custom",
                        in_quotes(collective)));
      }
    }
  }

  void add_broadcast() {
    std::vector<std::uint32_t> roots;
    for (std::uint32_t g = 0; g < gpus_; ++g) {
      const auto& blocks = algorithm_.gpus[g].blocks;
      const bool any = std::any_of(blocks.begin(), blocks.end(), [](const MscclThreadBlock& b) {
        return std::any_of(b.steps.begin(), b.steps.end(),
                           [](const MscclInstruction& s) { return receives(s.action); });
      });
      if (!any) roots.push_back(g);
    }
    if (roots.size() != 1) {
      unsupported(fmt::format(
          "a broadcast in which {} GPUs receive nothing; expected one, the root", roots.size()));
    }
    for (std::uint32_t g = 0; g < gpus_; ++g) {
      const bool root = g == roots.front();
      if (root) builder_.add_pre({whole(g, true, 0, algorithm_.chunks), ValueId(0), 0});
      builder_.add_post({whole(g, false, 0, algorithm_.chunks), ValueId(0), 0});
    }
  }

  // The channel of a thread block to or from its peer, which no other of its GPU has.
  ChannelId channel_of(const Place& place, const MscclThreadBlock& block, bool sends) {
    const auto peer = static_cast<std::uint32_t>(sends ? block.send : block.recv);
    const TaggedEnds ends = tagged_ends(place.gpu, sends, peer, block.channel);
    return messages_.add(ends, sends, place, 0, builder_);
  }

  // The operations of a step, each behind the other.
  void add_step(const Place& place, const MscclThreadBlock& block, BufferId kept,
                std::pair<OpId, OpId>& made) {
    const MscclInstruction& step = *place.step;
    const auto index = static_cast<std::uint32_t>(&step - block.steps.data());
    const OpPlace at{RankId(place.gpu), index, static_cast<std::uint16_t>(place.block)};
    made = {};
    const auto add = [&](OpId op) {
      if (made.second.valid()) builder_.after(made.second, op);
      if (!made.first.valid()) made.first = op;
      made.second = op;
    };
    const auto at_chunks = [&](bool own, const MscclChunks& from) {
      return own ? slice(place.gpu, from.buffer, from.offset, step.count, step.line) : Slice();
    };
    const Slice source = at_chunks(reads_own(step.action), step.source);
    const Slice target = at_chunks(writes_own(step.action), step.target);
    const Slice came{kept, 0, step.count * chunk_};
    const auto receive = [&](const Slice& to) {
      add(builder_.receive(at, channel_of(place, block, false), to));
    };
    const auto send = [&](const Slice& from) {
      add(builder_.send(at, channel_of(place, block, true), from));
    };
    const auto reduce = [&](const Slice& a, const Slice& b, const Slice& to) {
      add(builder_.add(builder_.op(OpKind::kReduce, at, {}, {a, b}, to)));
    };
    switch (step.action) {
      case MscclAction::kSend:
        return send(source);
      case MscclAction::kRecv:
        return receive(target);
      case MscclAction::kRcs:
        receive(target);
        return send(target);
      case MscclAction::kRrs:
        receive(came);
        reduce(came, source, came);
        return send(came);
      case MscclAction::kRrc:
        receive(came);
        return reduce(source, came, target);
      case MscclAction::kRrcs:
        receive(came);
        reduce(source, came, target);
        return send(target);
      case MscclAction::kCopy:
        return add(builder_.copy(at, source, target));
      case MscclAction::kReduce:
        return reduce(target, source, target);
      case MscclAction::kNop:
        return add(builder_.join(at));
    }
  }

  void add_gpu(std::uint32_t g) {
    const std::vector<MscclThreadBlock>& blocks = algorithm_.gpus[g].blocks;
    check_channels(g, blocks);
    // Of each step, its first operation and its last.
    std::vector<std::vector<std::pair<OpId, OpId>>> made(blocks.size());
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
      const BufferId kept = memory_of(g, blocks[b]);
      made[b].resize(blocks[b].steps.size());
      for (std::size_t s = 0; s < made[b].size(); ++s) {
        const Place place{g, b, &blocks[b].steps[s]};
        add_step(place, blocks[b], kept, made[b][s]);
        while (origin_.size() < builder_.next_op().value) origin_.push_back(place);
        if (s != 0) builder_.after(made[b][s - 1].second, made[b][s].first);
      }
    }
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
      for (std::size_t s = 0; s < made[b].size(); ++s) {
        const MscclInstruction& step = blocks[b].steps[s];
        if (step.block < 0) continue;
        check_wait(step, g, blocks);
        builder_.after(
            made[static_cast<std::size_t>(step.block)][static_cast<std::size_t>(step.step)].second,
            made[b][s].first);
      }
    }
  }

  // Where a thread block keeps what comes to be reduced.
  BufferId memory_of(std::uint32_t g, const MscclThreadBlock& block) {
    std::uint32_t most = 0;
    for (const MscclInstruction& step : block.steps) {
      const bool keeps = step.action == MscclAction::kRrs || step.action == MscclAction::kRrc ||
                         step.action == MscclAction::kRrcs;
      if (keeps) most = std::max(most, step.count);
    }
    return most == 0 ? BufferId() : builder_.add_buffer(RankId(g), bytes(most, block.line));
  }

  void check_channels(std::uint32_t g, const std::vector<MscclThreadBlock>& blocks) const {
    std::map<std::tuple<bool, std::int32_t, std::uint32_t>, std::uint32_t> lines;
    for (const MscclThreadBlock& block : blocks) {
      for (const bool out : {true, false}) {
        const std::int32_t peer = out ? block.send : block.recv;
        if (peer < 0) continue;
        const auto [known, fresh] = lines.try_emplace({out, peer, block.channel}, block.line);
        if (fresh) continue;
        fail(
            block.line,
            fmt::format("GPU {} {} GPU {} on channel {} in the thread block of line {} already; "
                        "expected one thread block",
                        g, out ? "sends to" : "receives from", peer, block.channel, known->second));
      }
    }
  }

  void check_wait(const MscclInstruction& step, std::uint32_t g,
                  const std::vector<MscclThreadBlock>& blocks) const {
    const auto b = static_cast<std::size_t>(step.block);
    const auto s = static_cast<std::size_t>(step.step);
    if (b >= blocks.size() || s >= blocks[b].steps.size()) {
      fail(step.line, fmt::format("it waits for step {} of thread block {}, which GPU {} does not "
                                  "have; expected one that it has",
                                  s, b, g));
    }
    if (!blocks[b].steps[s].tells) {
      fail(step.line, fmt::format("it waits for step {} of thread block {} (line {}), which tells "
                                  "nobody of its end; expected hasdep=\"1\" there",
                                  s, b, blocks[b].steps[s].line));
    }
  }

  void check_messages() const {
    messages_.each(
        [&](const TaggedEnds&, const Place& sent, const Place& received) {
          if (sent.step->count == received.step->count) return;
          fail(sent.step->line,
               fmt::format("{} sends {} chunks, but {} receives {}; expected equal counts",
                           called(sent), sent.step->count, called(received), received.step->count));
        },
        [&](const TaggedEnds& ends, std::size_t k, bool sends, const Place& at) {
          fail(at.step->line,
               fmt::format("{} {} message {} of channel {} from GPU {} to GPU {}, which no step "
                           "{}; expected as many that receive as send",
                           called(at), sends ? "sends" : "receives", k, ends.tag, ends.src.value,
                           ends.dst.value, sends ? "receives" : "sends"));
        });
  }

  [[noreturn]] void refuse(const std::vector<OpId>& cycle) const {
    const auto name = [&](OpId id) { return called(origin_[id.value]); };
    fail(origin_[cycle.front().value].step->line,
         fmt::format("deadlock: {} wait for each other; expected an order in which all can end",
                     cycle_text(cycle, 4, name)));
  }

  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;

  std::string_view file_;
  const MscclAlgorithm& algorithm_;
  const std::uint32_t gpus_;
  const std::uint64_t chunk_;
  ProgramWriter builder_;
  std::vector<std::array<BufferId, 3>> buffers_;  // of each GPU: input, output, scratch
  TaggedMessages<Place> messages_{kAllEager};
  std::vector<Place> origin_;  // of each operation
};

}  // namespace

Schedule read_msccl(std::string_view text, std::string_view file, const MscclOptions& options) {
  return Importer(parse_msccl(text, file), file, options).import();
}

bool looks_like_msccl(std::string_view text) { return base::xml_root(text) == "algo"; }

}  // namespace slackline::sched
