// The verifier's list of findings, bounded.
#pragma once

#include <cstddef>
#include <string>

#include "sched/diagnostic.h"

namespace slackline::sched {

/// Keeps up to `limit` errors (at least one) and up to `limit` warnings.
class Findings {
 public:
  explicit Findings(std::size_t limit) : limit_(limit == 0 ? 1 : limit) {}

  void error(Code code, OpId op, std::string message);
  void warning(Code code, OpId op, std::string message);

  /// An empty list with the limit of another.
  static Findings like(const Findings& other) { return Findings(other.limit_); }

  bool any_errors() const { return !errors_.empty(); }
  /// No more errors are kept: the checks may stop.
  bool full() const { return errors_.size() >= limit_; }
  bool takes_warnings() const { return warnings_.size() < limit_; }

  /// Adds what `other` holds.
  void merge(Findings other);

  /// Errors, and warnings as far as the limit leaves room, ordered by (code, op).
  Diagnostics take();

 private:
  std::size_t limit_;
  Diagnostics errors_;
  Diagnostics warnings_;
};

}  // namespace slackline::sched
