#include "analysis/engines/stream.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "analysis/engines/alike_ranks.h"
#include "analysis/engines/stream_noise.h"
#include "analysis/engines/stream_pass.h"
#include "base/error.h"
#include "base/units.h"
#include "machine/completions.h"
#include "sched/pattern/collective_series.h"
#include "sched/pattern/pattern.h"

namespace slackline::analysis {
namespace {

using sched::RankId;

std::uint64_t smallest_block(const sched::MulticastOptions& multicast) {
  const std::uint64_t rest = multicast.bytes % multicast.block_bytes;
  return rest != 0 || multicast.bytes == 0 ? rest : multicast.block_bytes;
}

using Progress = std::function<void(std::uint32_t done, std::uint32_t of)>;

// Rather than to be ended by the system, half-way.
void require_memory(std::uint64_t bytes) {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return;
  const std::uint64_t there = static_cast<std::uint64_t>(pages) * page_bytes;
  if (bytes <= there) return;
  throw EnvironmentError(fmt::format(
      "ranks: they need {} of memory, and this machine has {}; expected fewer, or a larger machine",
      sched::format_bytes(bytes), sched::format_bytes(there)));
}

// As a schedule's messages: see ScheduleBuilder::validate().
void require_bytes(const sched::MulticastOptions& multicast) {
  constexpr std::uint64_t kMost = 0x7fffffffffffffffu;
  if (multicast.ranks < 2 || multicast.bytes <= kMost / (multicast.ranks - 1)) return;
  throw InputError(
      fmt::format("bytes: {} to {} ranks: the messages carry 2^63 bytes or more in all; expected "
                  "less",
                  multicast.bytes, multicast.ranks - 1));
}

template <class Noise>
void run(sched::StepSource& source, const sched::MulticastOptions& multicast,
         const StreamFigures& figures, const Noise& noise, const Progress& progress,
         Stream& result) {
  StreamPass<1, Noise> pass(source, figures, noise);
  const std::uint32_t steps = source.steps();
  pass.run(progress ? [&](std::uint32_t done) { progress(done, steps); }
                    : std::function<void(std::uint32_t)>());
  result.exact = !pass.out_of_order(0);
  result.message_bytes = multicast.bytes;
  // Every block has the full size but the last.
  const std::uint64_t short_by =
      (figures.last_block + std::uint64_t{1}) * multicast.block_bytes - multicast.bytes;
  result.rank_finish_s.resize(figures.ranks);
  result.sent_bytes.resize(figures.ranks);
  result.received_bytes.resize(figures.ranks);
  result.sent_wire_bytes.resize(figures.ranks);
  result.received_wire_bytes.resize(figures.ranks);
  for (std::uint32_t r = 0; r < figures.ranks; ++r) {
    const auto& counts = pass.counts(r);
    result.sent_bytes[r] = counts.sent * multicast.block_bytes - counts.last_sent * short_by;
    result.received_bytes[r] =
        counts.received * multicast.block_bytes - counts.last_received * short_by;
    const auto wire_bytes = [&](std::uint32_t blocks, std::uint32_t last) {
      return (blocks - last) * figures.block_wire_bytes + last * figures.last_block_wire_bytes;
    };
    result.sent_wire_bytes[r] = wire_bytes(counts.sent, counts.last_sent);
    result.received_wire_bytes[r] = wire_bytes(counts.received, counts.last_received);
    result.transfers += counts.sent;
    result.rank_finish_s[r] = pass.finish_s(r, 0);
    result.makespan_s = std::max(result.makespan_s, result.rank_finish_s[r]);
  }
}

// Of multicasts and collectives alike.
std::optional<std::string> why_not_on(const machine::Platform& platform) {
  if (platform.topology.kind() != machine::TopologyKind::kStar) return "the network is no star";
  if (platform.placement != machine::Placement{}) return "ranks have places, which may be wrong";
  if (platform.node.is_shared()) return "ranks share nodes";
  if (platform.node.own_in_memory) return "own messages go through memory";
  if (platform.node.rails.are_several()) return "hosts have several NICs";
  if (platform.hosts.any()) return "hosts differ";
  if (platform.node.qp_lock.count() > 0) return "posts take a lock";
  if (platform.switches.any()) return "ranks are switches";
  if (platform.congestion.any()) return "the platform has congestion";
  if (platform.post_of_receive() != platform.o_post) return "posting a receive has its own time";
  if (platform.ack_bytes != 0) return "acknowledgements use the ports";
  if (machine::completions_cost(platform)) return "completions take time of the CPU";
  return std::nullopt;
}

}  // namespace

StreamFigures stream_figures(const sched::Spec& spec, const machine::Platform& platform) {
  StreamFigures f;
  f.o_post_s = sched::seconds(platform.o_post);
  f.o_complete_s = sched::seconds(platform.o_complete);
  f.gap_s = sched::seconds(platform.gap);
  f.latency_s = sched::seconds(platform.latency);
  const sched::MulticastOptions& multicast = spec.multicast;
  f.last_block = multicast.blocks() - 1;
  const std::uint64_t last_bytes = multicast.bytes - f.last_block * multicast.block_bytes;
  const std::uint64_t bytes = std::min(multicast.bytes, multicast.block_bytes);
  f.block_s = platform.transfer_s(bytes);
  f.last_block_s = platform.transfer_s(last_bytes);
  f.block_wire_bytes = platform.framing.wire_bytes(bytes);
  f.last_block_wire_bytes = platform.framing.wire_bytes(last_bytes);
  f.copy_s = platform.copy_s(bytes);
  f.last_copy_s = platform.copy_s(last_bytes);
  f.ranks = multicast.ranks;
  f.root = multicast.root;
  f.serial = platform.nic == machine::NicDiscipline::kSerial;
  f.one_in_flight = spec.transfers.in_flight == 1;
  f.copies_first_block = spec.transfers.copy_first_block;
  return f;
}

std::optional<std::string> why_not_streamed(const sched::Spec& spec,
                                            const machine::Platform& platform,
                                            const machine::DelayPlan& delays) {
  const bool is_multicast = sched::find_plan_pattern(spec.pattern) != nullptr;
  if (!is_multicast && !sched::ranks_are_alike(spec)) {
    return spec.pattern + " has no steps, and its ranks do not all do the same";
  }
  if (spec.messages != 1) return "there are several messages";
  if (spec.stripes != 1) return "messages go in stripes";
  if (!is_multicast) {
    if (!delays.empty()) return "delays make ranks differ";
    return why_not_on(platform);
  }
  if (spec.order != sched::Order::kAsync) return "order is lockstep";
  if (spec.credits.ready != sched::Ready::kSend) return "ready is not send";
  if (spec.credits.start != sched::Start::kPairwise) return "start is not pairwise";
  if (spec.credits.window != 1) return "window is not 1";
  if (spec.transfers.in_flight > 1) return "in-flight is above 1";
  if (const auto why = why_not_on(platform)) return why;
  if (spec.transfers.in_flight == 0 && platform.nic != machine::NicDiscipline::kSerial) {
    return "fair NICs share among blocks in flight";
  }
  if (platform.o_post.count() == 0) return "o_post is 0";
  if (platform.latency.count() == 0 && platform.o_complete.count() == 0) {
    return "latency and o_complete are 0";
  }
  if (smallest_block(spec.multicast) <= platform.interleave_bytes) {
    return "a block is of at most the interleave size";
  }
  const bool told = delays.ops.empty() && delays.steps.empty() && delays.pairs.empty() &&
                    delays.link_rates.empty() && delays.failures.empty();
  if (!told) return "the delay plan has more than noise and stragglers";
  return std::nullopt;
}

std::optional<Stream> stream(const sched::Spec& spec, const machine::Platform& platform,
                             const machine::DelayPlan& delays, const Progress& progress) {
  const sched::PatternEntry* pattern = sched::find_plan_pattern(spec.pattern);
  if (pattern != nullptr) check(spec.multicast);
  validate(delays, spec.multicast.ranks);
  if (why_not_streamed(spec, platform, delays)) return std::nullopt;
  if (pattern == nullptr) {
    require_memory(bytes_for_alike(spec));
    return stream_of_alike(spec, platform);
  }
  require_bytes(spec.multicast);
  const auto source = steps_of(*pattern, spec.multicast);
  require_memory(StreamPass<1, OneNoise>::bytes_for(*source, spec.multicast.ranks));
  const StreamFigures figures = stream_figures(spec, platform);
  Stream result;
  if (delays.empty()) {
    run(*source, spec.multicast, figures, NoNoise(), progress, result);
  } else {
    run(*source, spec.multicast, figures, OneNoise(delays, figures), progress, result);
  }
  return result;
}

}  // namespace slackline::analysis
