#include "sched/import/mscclpp_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text_scan.h"

namespace slackline::sched {
namespace {

constexpr std::uint64_t kChunkBytes = 4096;
constexpr std::uint64_t kAlignment = 16;  // bytes, unless buffer_alignment says it
constexpr std::uint64_t kMostAlignment = 1u << 20;
constexpr std::uint32_t kMostGpus = 1024;

std::uint32_t count_of(const JsonPlace& root) {
  const JsonPlace gpus = root.list("gpus");
  if (gpus.size() == 0 || gpus.size() > kMostGpus) {
    gpus.fail(fmt::format("{} GPUs; expected 1 to {}", gpus.size(), kMostGpus));
  }
  return static_cast<std::uint32_t>(gpus.size());
}

std::uint64_t alignment_of(const JsonPlace& root) {
  if (!root.has("buffer_alignment")) return kAlignment;
  const JsonPlace place = root.at("buffer_alignment");
  const std::uint64_t bytes = place.number(kMostAlignment);
  if (bytes == 0) place.fail("0 bytes; expected 1 or more");
  return bytes;
}

}  // namespace

const std::string& channel_kind(const JsonPlace& place) {
  const std::string& kind = place.text();
  if (kind != "memory" && kind != "port") {
    place.fail(
        fmt::format("{} channels are not supported; expected memory or port", in_quotes(kind)));
  }
  return kind;
}

PlanMemory::PlanMemory(const JsonPlace& root, const MscclOptions& options)
    : root_(root),
      count_(count_of(root)),
      chunk_(options.chunk_bytes.value_or(kChunkBytes)),
      alignment_(alignment_of(root)) {}

void PlanMemory::add_to(ProgramWriter& builder) {
  refuse_what_is_not_there();
  builder.set_title(root_.at("name").text());
  in_place_ = root_.at("inplace").boolean();
  collective_ = root_.at("collective").text();
  const JsonPlace gpus = root_.list("gpus");
  for (std::uint32_t g = 0; g < count_; ++g) add_gpu(gpus.entry(g), builder);
  add_contract(builder);
}

void PlanMemory::refuse_what_is_not_there() const {
  const JsonPlace protocol = root_.at("protocol");
  if (protocol.text() != "Simple") {
    protocol.fail(
        fmt::format("protocol {} is not supported; expected Simple", in_quotes(protocol.text())));
  }
  if (root_.has("reuse_resources") && root_.at("reuse_resources").boolean()) {
    root_.at("reuse_resources")
        .fail(
            "scratch memory that is used again is not supported; "
            "expected false");
  }
  if (chunk_ == 0 || chunk_ % alignment_ != 0) {
    root_.fail(fmt::format("chunks of {} bytes; expected a multiple of {}", chunk_, alignment_));
  }
}

// The chunks of a GPU's own part of the whole.
std::uint32_t PlanMemory::part() const {
  return collective_ == "reducescatter" ? gpus_[0].output : gpus_[0].input;
}
void PlanMemory::add_gpu(const JsonPlace& place, ProgramWriter& builder) {
  const auto g = static_cast<std::uint32_t>(gpus_.size());
  const JsonPlace id = place.at("id");
  if (id.number() != g) id.fail(fmt::format("expected {}: GPUs stand in order", g));
  Gpu& gpu = gpus_.emplace_back();
  gpu.input = place.at("input_chunks").number32(kMostPlanChunks);
  gpu.output = place.at("output_chunks").number32(kMostPlanChunks);
  gpu.scratch = place.at("scratch_chunks").number32(kMostPlanChunks);
  if (gpu.input != gpus_[0].input || gpu.output != gpus_[0].output) {
    place.fail(
        fmt::format("{} chunks of input and {} of output, GPU 0 has {} and {}; expected "
                    "the same",
                    gpu.input, gpu.output, gpus_[0].input, gpus_[0].output));
  }
  const auto add = [&](std::uint64_t chunks) {
    return chunks == 0 ? BufferId() : builder.add_buffer(RankId(g), chunks * chunk_);
  };
  gpu.buffers[0] = add(in_place_ ? std::max(gpu.input, gpu.output) : gpu.input);
  gpu.buffers[1] = in_place_ ? gpu.buffers[0] : add(gpu.output);
  gpu.buffers[2] = add(gpu.scratch);
  if (!place.has("channels")) return;
  const JsonPlace channels = place.list("channels");
  for (std::size_t c = 0; c < channels.size(); ++c) {
    const JsonPlace channel = channels.entry(c);
    const std::string& kind = channel_kind(channel.at("channel_type"));
    const JsonPlace connected = channel.list("connected_to");
    for (std::size_t i = 0; i < connected.size(); ++i) {
      const JsonPlace peer = connected.entry(i);
      gpu.peers[kind].push_back(peer.number32(count_ - 1));
      if (gpu.peers[kind].back() == g) peer.fail("its own GPU; expected another one");
    }
  }
}

Slice PlanMemory::chunks(std::uint32_t g, std::uint32_t buffer, std::uint64_t first,
                         std::uint64_t count, const JsonPlace& place) const {
  const Gpu& gpu = gpus_[g];
  const std::uint32_t size = buffer == 0 ? gpu.input : buffer == 1 ? gpu.output : gpu.scratch;
  const std::uint32_t inner = collective_ == "reducescatter" ? 1 : 0;
  // In place, of the larger memory the smaller one is the GPU's own part; by either name all of
  // the larger one may be meant.
  const std::uint64_t shift =
      in_place_ && in_parts() && buffer == inner ? std::uint64_t{g} * part() : 0;
  if (count == 0 || first + count > size) {
    place.fail(fmt::format("chunks {} to {} of {} of GPU {}; expected some of its {} chunks", first,
                           std::int64_t(first + count) - 1,
                           buffer == 0   ? "the input"
                           : buffer == 1 ? "the output"
                                         : "the scratch memory",
                           g, size));
  }
  return {gpu.buffers[buffer], (first + shift) * chunk_, count * chunk_};
}

// A plan may be for messages of some sizes only: of its input, or of allgather's output.
void PlanMemory::require_size() const {
  const std::uint64_t chunks = collective_ == "allgather" ? gpus_[0].output : gpus_[0].input;
  const std::uint64_t bytes = chunks * chunk_;
  const auto limit = [&](std::string_view key, std::uint64_t without) {
    return root_.has(key) ? root_.at(key).number() : without;
  };
  const std::uint64_t least = limit("min_message_size", 0);
  const std::uint64_t most = limit("max_message_size", ~std::uint64_t{0});
  if (bytes >= least && bytes <= most) return;
  root_.fail(
      fmt::format("a message of {} bytes; expected {} to {}, which the plan is for (--chunk)",
                  bytes, least, most));
}

void PlanMemory::add_contract(ProgramWriter& builder) const {
  const Gpu& any = gpus_[0];
  const std::uint64_t whole = std::max(any.input, any.output);
  builder.set_message_bytes(whole * chunk_);
  const bool sums = collective_ == "allreduce" || collective_ == "reducescatter";
  const JsonPlace place = root_.at("collective");
  const auto need = [&](std::uint64_t input, std::uint64_t output) {
    if (any.input == input && any.output == output && whole != 0) return;
    place.fail(
        fmt::format("{} chunks of input and {} of output; expected {} and {}, as {} among {} "
                    "GPUs has them",
                    any.input, any.output, input, output, collective_, count_));
  };
  const std::uint64_t each = std::uint64_t{part()} * count_;
  if (collective_ == "broadcast") return need(any.input, any.input);
  if (collective_ == "custom") return add_inputs(place, builder);
  if (collective_ == "allreduce") {
    need(any.input, any.input);
  } else if (collective_ == "allgather") {
    need(any.input, each);
  } else if (collective_ == "reducescatter") {
    need(each, any.output);
  } else if (collective_ == "alltoall") {
    need(any.input / count_ * count_, any.input);
  } else {
    place.fail(
        fmt::format("{} is not supported; expected allreduce, allgather, reducescatter, "
                    "alltoall, broadcast or custom",
                    in_quotes(collective_)));
  }
  require_size();
  for (std::uint32_t g = 0; g < count_; ++g) {
    builder.add_pre({chunks(g, 0, 0, any.input, place), ValueId(g), 0});
    if (sums) {
      const std::uint64_t from = collective_ == "allreduce" ? 0 : g * part() * chunk_;
      builder.add_post({chunks(g, 1, 0, any.output, place), ValueId(0), from, count_});
      continue;
    }
    const std::uint64_t share = any.output / count_;
    for (std::uint32_t from = 0; from < count_; ++from) {
      const std::uint64_t of_value = collective_ == "allgather" ? 0 : g * share * chunk_;
      builder.add_post({chunks(g, 1, from * share, share, place), ValueId(from), of_value});
    }
  }
}

// Of a custom collective nothing is known about the end.
void PlanMemory::add_inputs(const JsonPlace& place, ProgramWriter& builder) const {
  const Gpu& any = gpus_[0];
  const std::uint32_t buffer = in_place_ && any.output > any.input ? 1 : 0;
  const std::uint32_t given = buffer == 1 ? any.output : any.input;
  for (std::uint32_t g = 0; g < count_ && given != 0; ++g) {
    builder.add_pre({chunks(g, buffer, 0, given, place), ValueId(g), 0});
  }
}

void PlanMemory::add_broadcast(const std::vector<bool>& written, ProgramWriter& builder) const {
  const JsonPlace place = root_.at("collective");
  const auto roots = std::count(written.begin(), written.end(), false);
  if (roots != 1) {
    place.fail(
        fmt::format("a broadcast in which {} GPUs get nothing from others; expected one, "
                    "the root",
                    roots));
  }
  for (std::uint32_t g = 0; g < count_; ++g) {
    if (!written[g]) builder.add_pre({chunks(g, 0, 0, gpus_[0].input, place), ValueId(0), 0});
    builder.add_post({chunks(g, 1, 0, gpus_[0].output, place), ValueId(0), 0});
  }
}

}  // namespace slackline::sched
