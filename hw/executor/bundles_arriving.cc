// Bundles that come as messages, at their channel's target.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "hw/executor/bundles.h"

namespace slackline::hw {

using sched::Op;
using sched::OpKind;
using sched::Slice;

// Whoever sent it says which operations it has: those of this channel's source, which it has
// posted.
void Bundles::take_apart(Target& target, std::span<const std::byte> bundle) {
  const std::uint32_t source = schedule_.channel(target.channel).src.value;
  while (!bundle.empty()) {
    const auto require = [&](bool holds, const char* what) {
      if (holds) return;
      throw EnvironmentError(fmt::format("rank {} sent what is no bundle: {}", source, what));
    };
    BundleHeader header;
    require(bundle.size() >= sizeof header, "cut short");
    std::memcpy(&header, bundle.data(), sizeof header);
    bundle = bundle.subspan(sizeof header);
    require(header.op < schedule_.op_count(), "an operation that is none");
    const Op& op = schedule_.op(sched::OpId(header.op));
    require(op.channel == target.channel && (op.kind == OpKind::kSend || op.kind == OpKind::kPut),
            "an operation of another channel");
    const std::uint64_t bytes = schedule_.payload_bytes(op);
    require(bytes <= bundle.size(), "cut short");
    std::span<const std::byte> payload = bundle.first(bytes);
    bundle = bundle.subspan(bytes);
    require(!schedule_.regions().empty() || target.arrived.size() < schedule_.op_count(),
            "more messages than there are");
    if (op.kind == OpKind::kSend) {
      target.arrived.emplace_back(payload.begin(), payload.end());
      continue;
    }
    for (Slice slice : schedule_.slices(op.writes)) {
      if (slice.bytes == 0) continue;
      slice.offset += header.shift;
      const std::uint64_t room = schedule_.buffers()[slice.buffer.value].bytes;
      if (slice.offset > room || slice.bytes > room - slice.offset) {
        throw InputError(fmt::format("{} writes outside of its target's buffer",
                                     describe(schedule_, sched::OpId(header.op))));
      }
      // Of the two sides the shorter one counts.
      slice.bytes = std::min<std::uint64_t>(slice.bytes, payload.size());
      std::memcpy(memory_.at(slice).data(), payload.data(), slice.bytes);
      payload = payload.subspan(slice.bytes);
    }
    if (op.notify == sched::Notify::kImm) target.arrived.emplace_back();
  }
}

// The k-th message meets the k-th receive.
void Bundles::match(Target& target) {
  while (!target.arrived.empty() && !target.receives.empty()) {
    std::span<const std::byte> payload = target.arrived.front();
    const std::uint32_t i = target.receives.front();
    for (const Slice& slice : schedule_.slices(program_.op(i).writes)) {
      const std::uint64_t bytes = std::min<std::uint64_t>(slice.bytes, payload.size());
      if (bytes != 0) std::memcpy(memory_.at(slice).data(), payload.data(), bytes);
      payload = payload.subspan(bytes);
    }
    done.push_back(i);
    target.arrived.pop_front();
    target.receives.pop_front();
  }
}

}  // namespace slackline::hw
