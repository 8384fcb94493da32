// What a check found. Checks answer with a list of these; they neither throw nor print.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sched/ids.h"

namespace slackline::sched {

enum class Code {
  kStructure,      // an index, a rank or a slice that does not fit the schedule
  kSize,           // the two sides of an operation or match carry different numbers of bytes
  kFifo,           // a send or receive without a match, or matched out of order
  kDeadlock,       // a cycle of arcs
  kTruncate,       // a message longer than its receive
  kFlag,           // a poll that may see something else than its put, or nothing
  kUninitialised,  // bytes are read that nothing wrote
  kRaw,            // read after write, not ordered
  kWar,            // write after read, not ordered
  kWaw,            // write after write, not ordered
  kWindow,         // a channel's window is not kept
  kPost,           // a post fact does not hold
  kDuplicate,      // warning: the same bytes delivered to the same place twice
};

enum class Severity { kError, kWarning };

struct Diagnostic {
  Code code = Code::kStructure;
  Severity severity = Severity::kError;
  OpId op;              // the operation it is about; none() if about the whole
  std::string message;  // one line, naming ranks, operations and bytes
};
using Diagnostics = std::vector<Diagnostic>;

/// "size", "fifo", "deadlock", …: the codes that `check` prints.
std::string_view name(Code code);

/// Whether any of them is an error rather than a warning.
bool has_errors(const Diagnostics& diagnostics);

}  // namespace slackline::sched
