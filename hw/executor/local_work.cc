#include "hw/executor/local_work.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "hw/device_barrier.h"
#include "sched/pieces.h"

namespace slackline::hw {

using sched::Slice;

void copy(const RankProgram& program, RankMemory& memory, std::uint32_t op) {
  const sched::Schedule& schedule = program.schedule();
  sched::for_each_piece(schedule.slices(program.op(op).reads),
                        schedule.slices(program.op(op).writes),
                        [&](const Slice& from, const Slice& to) {
                          std::memmove(memory.at(to).data(), memory.at(from).data(), from.bytes);
                        });
}

void reduce(const RankProgram& program, RankMemory& memory, std::uint32_t op) {
  const sched::Schedule& schedule = program.schedule();
  const sched::Op& o = program.op(op);
  if (o.writes.count == 0) return;
  const std::span<std::byte> target = memory.at(schedule.slices(o.writes).front());
  // Beside the target, which may be among the operands.
  std::vector<std::byte> sum(target.size(), std::byte{0});
  for (const Slice& slice : schedule.slices(o.reads)) {
    const std::span<std::byte> operand = memory.at(slice);
    for (std::size_t b = 0; b < std::min(sum.size(), operand.size()); ++b) {
      sum[b] = static_cast<std::byte>(std::to_integer<unsigned>(sum[b]) +
                                      std::to_integer<unsigned>(operand[b]));
    }
  }
  std::copy(sum.begin(), sum.end(), target.begin());
}

bool is_flag_up(const RankProgram& program, RankMemory& memory, std::uint32_t op) {
  for (const Slice& slice : program.schedule().slices(program.op(op).reads)) {
    for (const volatile std::byte& byte : memory.at(slice)) {
      if (byte == std::byte{0}) return false;
    }
  }
  order_after_device_writes();
  return true;
}

void lower_flag(const RankProgram& program, RankMemory& memory, std::uint32_t op) {
  for (const Slice& slice : program.schedule().slices(program.op(op).reads)) {
    std::memset(memory.at(slice).data(), 0, slice.bytes);
  }
}

}  // namespace slackline::hw
