#pragma once

#include <string_view>

#include "sched/compile.h"

namespace slackline::testing {

/// The schedule of a spec: "chain:ranks=3,bytes=1000,block=100".
inline sched::Schedule compiled(std::string_view spec) {
  return sched::compile(sched::parse_spec(spec));
}

}  // namespace slackline::testing
