// Traces on disk, as JSON:
//
//   {"schema": 1, "schedule": "7b8a…", "title": "chain:…", "platform": "star:…", "delays": "",
//    "engine": "analytic", "seed": 0, "contended": false,
//    "ready_s": [0.0, …], "issued_s": […], "wire_s": […], "done_s": […],
//    "attempts": [1, …], "cause": [null, 0, …], "request_s": [0.0, …],
//    "results": [0, …]}
//
// One entry per operation in each list; without gets and atomics there is neither
// `request_s` nor `results`. Times are
// exact; null is a time that never came, and in `cause` that nothing was waited for. The title may
// be left out.
#pragma once

#include <string>
#include <string_view>

#include "sched/trace.h"

namespace slackline::sched {

inline constexpr int kTraceSchema = 1;

/// The same trace gives the same document. What is not UTF-8 in a text is replaced.
std::string write_trace(const Trace& trace);

/// The trace that the document holds, every time with the very bits that were written. Throws
/// InputError, "file: place: what was expected", on anything else, a newer schema included.
Trace read_trace(std::string_view text, std::string_view file = "trace");

}  // namespace slackline::sched
