#include "hw/executor/lanes.h"

#include <map>

namespace slackline::hw {

Lanes::Lanes(const RankProgram& program, const machine::IssueOrder& order,
             std::uint64_t interleave_bytes)
    : program_(program),
      order_(order),
      interleave_bytes_(interleave_bytes),
      lane_of_op_(program.size()) {
  require_complete(order, program.schedule().op_count());
  std::map<std::uint16_t, std::uint32_t> lanes;
  for (std::uint32_t i = 0; i < program.size(); ++i) {
    const auto fresh = static_cast<std::uint32_t>(lanes.size());
    lane_of_op_[i] = lanes.try_emplace(program.op(i).lane, fresh).first->second;
  }
  lanes_.resize(lanes.size());
}

void Lanes::add(std::uint32_t op, std::uint64_t instant) {
  double place = 0;
  if (order_.policy == machine::IssuePolicy::kReady) place = static_cast<double>(instant);
  if (order_.policy == machine::IssuePolicy::kLeastSlack) {
    place = order_.slack_s[program_.id(op).value];
  }
  Lane& lane = lanes_[lane_of_op_[op]];
  lane.ready.push({place, op, lane.held});
}

std::optional<Lanes::Turn> Lanes::next(std::size_t index) {
  Lane& lane = lanes_[index];
  while (!lane.busy && !lane.ready.empty()) {
    const Waiting next = lane.ready.top();
    lane.ready.pop();
    if (is_bounded(next.op)) {
      if (in_flight_ >= order_.sends_in_flight) {
        bounded_.push(next);
        continue;
      }
      ++in_flight_;
    }
    return Turn{next.op, next.held == lane.held ? kNoOp : lane.last};
  }
  return std::nullopt;
}

void Lanes::hold(std::uint32_t op) {
  Lane& lane = lanes_[lane_of_op_[op]];
  lane.busy = true;
  lane.last = op;
}

void Lanes::release(std::uint32_t op) {
  Lane& lane = lanes_[lane_of_op_[op]];
  lane.busy = false;
  ++lane.held;
}

std::uint32_t Lanes::done(std::uint32_t op) {
  if (!is_bounded(op)) return kNoOp;
  --in_flight_;
  if (bounded_.empty()) return kNoOp;
  const std::uint32_t next = bounded_.top().op;
  bounded_.pop();
  return next;
}

bool Lanes::is_bounded(std::uint32_t op) const {
  if (order_.sends_in_flight == 0) return false;
  const sched::Op& o = program_.op(op);
  return (o.kind == sched::OpKind::kSend || o.kind == sched::OpKind::kPut) &&
         program_.schedule().payload_bytes(o) > interleave_bytes_;
}

void Lanes::clear() {
  for (Lane& lane : lanes_) lane = {};
  bounded_ = {};
  in_flight_ = 0;
}

}  // namespace slackline::hw
