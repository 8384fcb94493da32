// From a pattern's name to a schedule: `binomial-pipeline:ranks=16,bytes=256MiB,block=1MiB`.
#pragma once

#include <string>
#include <string_view>

#include "sched/pass/lower_credits.h"
#include "sched/pass/lower_transfers.h"
#include "sched/pattern/pattern.h"
#include "sched/schedule.h"

namespace slackline::sched {

/// What a spec says, with every default filled in.
struct Spec {
  std::string pattern;
  MulticastOptions multicast;
  TransferOptions transfers;
  CreditOptions credits;
};

/// One option of a spec, for `list patterns` and for error messages.
struct SpecOption {
  std::string_view name;
  std::string_view values;
  std::string_view meaning;
};
std::span<const SpecOption> spec_options();

/// Whether `text` reads like a spec (a pattern's name, alone or before a colon) and not a file
/// name.
bool looks_like_spec(std::string_view text);

/// Reads `pattern:key=value,…` in any order of keys. Throws InputError on an unknown pattern or
/// key, a key given twice, or a value out of range.
Spec parse_spec(std::string_view text);

/// The pattern's Plan.
Plan plan_of(const Spec& spec);

/// Plan, then the passes in their order: lower_transfers, lower_credits.
Schedule compile(const Spec& spec);

}  // namespace slackline::sched
