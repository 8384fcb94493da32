// The data messages of a schedule: what tables and labels speak of when they say "block".
#pragma once

#include <cstdint>
#include <vector>

#include "sched/schedule.h"

namespace slackline::sched {

struct DataMessage {
  OpId op;  // the send or put
  RankId src;
  RankId dst;
  std::uint64_t offset = 0;  // where its first byte comes to stand in the receiver's buffer
  std::uint64_t bytes = 0;
  std::uint64_t block = 0;  // offset / the schedule's largest message
};

/// Every send and put but those on credit channels, in operation order. The place of a message is
/// where its match or the put itself writes first; if a copy of the receiver's moves just that
/// piece on (a first block that lands in a buffer of its own) before another message comes there,
/// where the first such copy puts it.
std::vector<DataMessage> data_messages(const Schedule& schedule);

}  // namespace slackline::sched
