#include "sched/export/csv.h"

#include <algorithm>
#include <tuple>

#include "base/append.h"
#include "sched/export/messages.h"

namespace slackline::sched {

std::string write_csv(const Schedule& schedule) {
  require_static(schedule, "csv");
  std::vector<DataMessage> messages = data_messages(schedule);
  const auto key = [&](const DataMessage& m) {
    return std::tuple(schedule.op(m.op).step, m.src, m.dst, m.op);
  };
  std::sort(messages.begin(), messages.end(),
            [&](const DataMessage& a, const DataMessage& b) { return key(a) < key(b); });
  std::string out = "step,src,dst,offset,bytes,block\n";
  for (const DataMessage& m : messages) {
    append(out, "{},{},{},{},{},{}\n", schedule.op(m.op).step, m.src.value, m.dst.value, m.offset,
           m.bytes, m.block);
  }
  return out;
}

}  // namespace slackline::sched
