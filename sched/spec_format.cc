// Writes specs; compile.h says what they mean.
#include <fmt/format.h>

#include <algorithm>

#include "sched/compile.h"
#include "sched/pattern/rack_map.h"
#include "sched/spec_words.h"
#include "sched/units.h"

namespace slackline::sched {
namespace {

// ",racks=…" or ",rack-map=…"; nothing for the default.
std::string format_racks(const Spec& spec) {
  const std::vector<std::uint32_t>& given = spec.multicast.rack_of_rank;
  if (!spec.rack_map.empty()) return fmt::format(",rack-map={}", spec.rack_map);
  if (given.empty()) return "";
  const std::uint32_t ranks = spec.multicast.ranks;
  const std::uint32_t racks = *std::max_element(given.begin(), given.end()) + 1;
  if (given != contiguous_racks(ranks, racks)) return ",rack-map=?";
  return racks == default_rack_count(ranks) ? "" : fmt::format(",racks={}", racks);
}

}  // namespace

std::string format_spec(const Spec& spec) {
  const Spec defaults;
  const MulticastOptions& multicast = spec.multicast;
  std::string text = fmt::format("{}:ranks={}", spec.pattern, multicast.ranks);
  const auto add = [&](bool differs, std::string_view key, const auto& value) {
    if (differs) text += fmt::format(",{}={}", key, value);
  };
  const auto traits = traits_of(spec.pattern);
  add(!traits || traits->takes("bytes"), "bytes", format_bytes(multicast.bytes));
  add(multicast.block_bytes != kDefaultBlock, "block", format_bytes(multicast.block_bytes));
  add(multicast.root != RankId(0), "root", multicast.root.value);
  text += format_racks(spec);
  const TransferOptions& transfers = spec.transfers;
  add(transfers.lowering != defaults.transfers.lowering, "lower",
      name_of(kLowerings, transfers.lowering));
  add(transfers.in_flight != defaults.transfers.in_flight, "in-flight", transfers.in_flight);
  add(transfers.copy_first_block != defaults.transfers.copy_first_block, "first-block",
      name_of(kFirstBlocks, transfers.copy_first_block));
  const CreditOptions& credits = spec.credits;
  add(credits.ready != defaults.credits.ready, "ready", name_of(kReadies, credits.ready));
  add(credits.start != defaults.credits.start, "start", name_of(kStarts, credits.start));
  add(credits.window != defaults.credits.window, "window", credits.window);
  add(spec.order != defaults.order, "order", name_of(kOrders, spec.order));
  add(spec.messages != defaults.messages, "messages", spec.messages);
  add(spec.slots != defaults.slots, "slots", spec.slots);
  add(spec.copy_out != defaults.copy_out, "consume", name_of(kConsumes, spec.copy_out));
  add(spec.by != default_by(spec.pattern), "by", spec.by);
  const CallOptions& call = spec.call;
  add(call.via != defaults.call.via, "via", name_of(kVias, call.via));
  add(call.chunk_bytes != defaults.call.chunk_bytes, "chunk", format_bytes(call.chunk_bytes));
  add(call.chunks != defaults.call.chunks, "chunks", call.chunks);
  add(call.chunk_limit != defaults.call.chunk_limit, "chunk-limit", call.chunk_limit);
  add(call.notify != defaults.call.notify, "notify", name_of(kNotifies, call.notify));
  add(call.signal != defaults.call.signal, "signal", call.signal);
  add(call.handler != defaults.call.handler, "handler", format_time(call.handler));
  add(call.aggregation != defaults.call.aggregation, "aggregation",
      name_of(kAggregations, call.aggregation));
  add(call.flush_bytes != defaults.call.flush_bytes, "flush", format_bytes(call.flush_bytes));
  if (traits && is_structure(*traits)) {
    text += format_structure_options(spec.pattern, spec.structure);
    return text;
  }
  if (traits && is_one_sided(*traits)) return text + format_one_sided_options(spec.one_sided);
  for (const IrregularOption& option : irregular_options()) {
    const std::string value = option.format(spec.irregular);
    add(value != option.format(defaults.irregular), option.key, value);
  }
  return text;
}

}  // namespace slackline::sched
