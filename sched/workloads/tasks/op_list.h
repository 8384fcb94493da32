// Operations that something waits for: one, mostly, which then takes no memory of its own.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "sched/ids.h"

namespace slackline::sched {

class OpList {
 public:
  std::span<const OpId> all() const {
    return many_.empty() ? std::span(&one_, has_one_ ? 1 : 0) : std::span(many_);
  }
  void clear() {
    has_one_ = false;
    many_.clear();
  }
  /// That one alone.
  void set(OpId op) {
    one_ = op;
    has_one_ = true;
    many_.clear();
  }
  void set(std::vector<OpId> ops) {
    has_one_ = false;
    many_ = std::move(ops);
  }
  /// Unless it is there.
  void add(OpId op) {
    const auto now = all();
    if (std::find(now.begin(), now.end(), op) != now.end()) return;
    if (now.empty()) return set(op);
    if (many_.empty()) many_.push_back(one_);
    many_.push_back(op);
  }

 private:
  OpId one_;
  bool has_one_ = false;
  std::vector<OpId> many_;  // if not empty, these instead
};

}  // namespace slackline::sched
