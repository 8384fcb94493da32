#include "machine/completions.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "machine/run/signals.h"

namespace slackline::machine {

using sched::Op;
using sched::OpId;
using sched::OpKind;
using sched::Slice;

bool completions_cost(const Platform& platform) { return !completion_figure(platform).empty(); }

std::string_view completion_figure(const Platform& platform) {
  if (platform.o_poll.count() > 0) return "o_poll";
  if (platform.o_match.count() > 0) return "o_match";
  if (platform.o_block.count() > 0) return "o_block";
  if (platform.o_callback.count() > 0) return "o_callback";
  if (platform.o_signal.count() > 0) return "o_signal";
  if (platform.poll_for && platform.interrupt_cost.count() > 0) return "poll_for";
  const bool served = platform.o_complete.count() > 0 || platform.switch_cost.count() > 0;
  if (platform.service_thread && served) return "completions=service";
  return "";
}

void require_program_sees(const Platform& platform, std::string_view consumer) {
  if (!platform.service_thread) return;
  throw Unsupported(fmt::format(
      "{}: completions that a service thread sees; expected completions=program", consumer));
}

Completions::Completions(const sched::Schedule& schedule, const Platform& platform,
                         const IssueOrder& order)
    : schedule_(schedule),
      look_s_(sched::seconds(platform.o_poll)),
      match_s_(sched::seconds(platform.o_match)),
      block_s_(sched::seconds(platform.o_block)),
      callback_s_(sched::seconds(platform.o_callback)),
      signal_s_(sched::seconds(platform.o_signal)),
      poll_for_s_(sched::seconds(platform.poll_for.value_or(Time{0}))),
      interrupt_s_(platform.poll_for ? sched::seconds(platform.interrupt_cost) : 0),
      handle_s_(platform.service_thread ? sched::seconds(platform.o_complete) : 0),
      switch_s_(platform.service_thread ? sched::seconds(platform.switch_cost) : 0),
      batch_(platform.poll_batch),
      any_(completions_cost(platform)) {
  if (!any_) return;
  makes_ =
      signalled_operations(schedule, sched::RegionTree(schedule), order, platform.interleave_bytes);
  if (block_s_ > 0 || callback_s_ > 0) find_messages();
}

// A message is what receives bring into one buffer. A receive without bytes brings nothing, whether
// it names a place in memory (a block of a message without bytes) or none (a credit).
void Completions::find_messages() {
  message_of_.resize(schedule_.op_count(), kNone);
  receives_.resize(schedule_.buffers().size(), 0);
  std::vector<char> immediate(schedule_.channels().size(), 0);  // whether puts are received there
  for (const Op& op : schedule_.ops()) {
    if (op.kind == OpKind::kPut && sched::is_fifo_source(op)) immediate[op.channel.value] = 1;
  }
  for (std::uint32_t i = 0; i < schedule_.op_count(); ++i) {
    const Op& op = schedule_.ops()[i];
    if (op.kind != OpKind::kRecv) continue;
    if (callback_s_ > 0 && !schedule_.regions().empty()) {
      throw Unsupported(
          fmt::format("{} stands in a schedule with regions, where receives come again; expected "
                      "none on a platform with o_callback",
                      describe(schedule_, OpId(i))));
    }
    sched::SliceRange data = op.writes;
    if (data.count == 0 && op.match.valid()) data = schedule_.op(op.match).writes;
    if (data.count == 0 && !op.match.valid() && immediate[op.channel.value] != 0) {
      throw Unsupported(
          fmt::format("{} is of whichever message comes; expected receives whose match is known on "
                      "a platform with {}",
                      describe(schedule_, OpId(i)), block_s_ > 0 ? "o_block" : "o_callback"));
    }
    if (op.match.valid() && schedule_.payload_bytes(schedule_.op(op.match)) == 0) continue;
    const auto slices = schedule_.slices(data);
    const auto first =
        std::find_if(slices.begin(), slices.end(), [](const Slice& s) { return s.bytes != 0; });
    if (first == slices.end()) continue;
    message_of_[i] = first->buffer.value;
    ++receives_[message_of_[i]];
  }
}

}  // namespace slackline::machine
