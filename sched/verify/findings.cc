#include "sched/verify/findings.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace slackline::sched {

void Findings::error(Code code, OpId op, std::string message) {
  if (!full()) errors_.push_back({code, Severity::kError, op, std::move(message)});
}

void Findings::warning(Code code, OpId op, std::string message) {
  if (takes_warnings()) warnings_.push_back({code, Severity::kWarning, op, std::move(message)});
}

void Findings::merge(Findings other) {
  for (Diagnostic& d : other.errors_) error(d.code, d.op, std::move(d.message));
  for (Diagnostic& d : other.warnings_) warning(d.code, d.op, std::move(d.message));
}

Diagnostics Findings::take() {
  Diagnostics all = std::move(errors_);
  const std::size_t room = std::min(limit_ - all.size(), warnings_.size());
  std::move(warnings_.begin(), warnings_.begin() + static_cast<std::ptrdiff_t>(room),
            std::back_inserter(all));
  std::stable_sort(all.begin(), all.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.code, a.op) < std::tie(b.code, b.op);
  });
  return all;
}

}  // namespace slackline::sched
