// The JSON form of a schedule: every field by name, for other programs.
//
//   {"schema": 1, "digest": "7b8a…", "title": "…", "ranks": 2, "message_bytes": 2097152,
//    "buffers":  [{"id": 0, "rank": 0, "bytes": 2097152}, …],
//    "channels": [{"id": 0, "src": 0, "dst": 1, "service": "rc", "window": 1, "credit_on": 1,
//                  "credit_batch": 1, "bundle": "none", "bundle_bytes": 0,
//                  "bundle_delay_ps": null}, …],
//    "ops":      [{"id": 1, "rank": 0, "kind": "send", "lane": 0, "step": 0, "channel": 0,
//                  "notify": "none", "match": 4,
//                  "reads": [{"buffer": 0, "offset": 0, "bytes": 1048576}], "writes": [],
//                  "arguments": {"duration_ps": 0, "operand": {"value": 1},
//                                "compare": {"result_of": 3, "times": 1, "plus": 1},
//                                "offset": {"attempt_of": 1, "times": 8, "modulo": 4096},
//                                "compare_mask": 255, "expect": "unequal"},
//                  "after": [{"on": "done", "op": 0}]}, …],
//    "regions":  [{"kind": "retry", "entry": 2, "count": 1, "max_attempts": 5, "p_ppm": 250000,
//                  "outcome": "sampled", "backoff_ps": 1000000}, …],
//    "pre":      [{"buffer": 0, "offset": 0, "bytes": 2097152, "value": 0, "value_offset": 0}, …],
//    "post":     [{…, "terms": 4}, …]}
//
// A bundle delay of null waits for ever. `credit_on`, `channel`, `match`, `arguments` and `terms`
// are there only where they mean something; `plus`, `modulo`, `compare_mask` and `expect` where
// they differ from 0, 2^64, all ones and equal.
#pragma once

#include <string>

#include "sched/schedule.h"

namespace slackline::sched {

/// The value of "schema".
inline constexpr int kJsonSchema = 1;

/// The same schedule gives the same document. Bytes of the title that are not UTF-8 are replaced.
std::string write_json(const Schedule& schedule);

}  // namespace slackline::sched
