// What tests share in which all members of a group run in one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "hw/group/member.h"
#include "tests/hw/group_ranks.h"

namespace slackline::testing {

/// Of a member whose ranks are the members, and that never loses its patience: a test says who is
/// lost. The receiver must outlive it.
inline hw::GroupSetup patient_setup(std::shared_ptr<machine::GroupPlan> plan, std::uint32_t self,
                                    bool atomic, hw::SmallShape small, Receiver& receiver) {
  hw::GroupSetup setup;
  for (std::uint32_t m = 0; m < plan->shape().members; ++m) setup.ranks.push_back(m);
  setup.self = self;
  setup.plan = std::move(plan);
  setup.atomic_delivery = atomic;
  setup.small = small;
  setup.callbacks = receiver.callbacks();
  setup.timeout = setup.failure_timeout = std::chrono::hours(1);
  return setup;
}

/// The root sends the message that comes after those, which are kept until the group has ended.
inline void send_next(hw::GroupMember& root, std::deque<std::vector<std::byte>>& messages,
                      std::size_t bytes) {
  messages.push_back(make_message(messages.size(), bytes));
  root.send(messages.back(), root.is_small(bytes) ? nullptr : root.setup().plan->message(bytes));
}

}  // namespace slackline::testing
