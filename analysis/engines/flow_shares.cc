#include "analysis/engines/flow_shares.h"

#include <algorithm>

#include "base/slots.h"

namespace slackline::analysis {
namespace {

constexpr std::size_t kAhead = 3;  // flows between two looks at one

}  // namespace

void FlowShares::start(double now_s, machine::PathId path, std::uint64_t bytes, sched::OpId op) {
  const std::uint32_t slot = base::take_slot(flows_, free_);
  flows_[slot] = {path, op, true, 0, paths_.wire_bytes(path, bytes), now_s};
  started_.push_back({slot, paths_.most_bytes_per_s(path, bytes)});
}

void FlowShares::add_started() {
  const auto path = [&](std::size_t n) { return flows_[started_[n].slot].path; };
  for (std::size_t n = 0; n < started_.size(); ++n) {
    if (n + 3 * kAhead < started_.size()) rates_.prefetch_way(path(n + 3 * kAhead));
    if (n + 2 * kAhead < started_.size()) rates_.prefetch_hops(path(n + 2 * kAhead));
    if (n + kAhead < started_.size()) rates_.prefetch_links(path(n + kAhead));
    rates_.add(started_[n].slot, path(n), started_[n].most_bytes_per_s);
  }
  started_.clear();
}

void FlowShares::remove_all(const std::vector<std::uint32_t>& slots) {
  for (std::size_t n = 0; n < slots.size(); ++n) {
    if (n + kAhead < slots.size()) rates_.prefetch_links_of(slots[n + kAhead]);
    flows_[slots[n]].live = false;
    free_.push_back(slots[n]);
    rates_.remove(slots[n]);
  }
}

void FlowShares::settle(double now_s) {
  add_started();
  rates_.settle([&](std::uint32_t slot, double rate) {
    Flow& flow = flows_[slot];
    flow.left = std::max(0.0, flow.left - (now_s - flow.since_s) * flow.rate);
    flow.since_s = now_s;
    flow.rate = rate;
    ends_.set(slot, now_s + flow.left / rate);
  });
}

std::vector<std::uint32_t> FlowShares::cut_by(double cut_s) const {
  std::vector<std::uint32_t> slots;
  for (std::uint32_t slot = 0; slot < flows_.size(); ++slot) {
    if (flows_[slot].live && paths_[flows_[slot].path].cut_s <= cut_s) slots.push_back(slot);
  }
  std::sort(slots.begin(), slots.end(),
            [&](std::uint32_t a, std::uint32_t b) { return flows_[a].op < flows_[b].op; });
  return slots;
}

void FlowShares::resume(const FlowShares& other) {
  rates_.resume(other.rates_);
  flows_ = other.flows_;
  free_ = other.free_;
  started_ = other.started_;
  ends_ = other.ends_;
}

// In order of their operations: none has two at a time.
std::vector<const FlowShares::Flow*> FlowShares::live() const {
  std::vector<const Flow*> flows;
  for (const Flow& flow : flows_) {
    if (flow.live) flows.push_back(&flow);
  }
  std::sort(flows.begin(), flows.end(), [](const Flow* a, const Flow* b) { return a->op < b->op; });
  return flows;
}

// What is known of a link follows from its users, but for its rate if that has changed.
bool FlowShares::goes_on_as(const FlowShares& other) const {
  if (flows_.size() - free_.size() != other.flows_.size() - other.free_.size()) return false;
  const std::vector<const Flow*> mine = live();
  const std::vector<const Flow*> its = other.live();
  return std::equal(mine.begin(), mine.end(), its.begin(), its.end(),
                    [](const Flow* a, const Flow* b) {
                      return a->op == b->op && a->path == b->path && a->rate == b->rate &&
                             a->left == b->left && a->since_s == b->since_s;
                    });
}

}  // namespace slackline::analysis
