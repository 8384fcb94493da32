// One small schedule, and three programs that carry it out, written down by hand.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "sched/digest.h"
#include "sched/text.h"

namespace slackline::testing {

// What is replaced by what, each once.
using Edits = std::vector<std::pair<std::string, std::string>>;

// Two messages from rank 0 to rank 1, which relays the first to rank 2 a step later.
inline const sched::Schedule& relay() {
  static const sched::Schedule schedule = sched::read_text(
      "slackline schedule 1\nranks 3\nbuffer 0 rank 0 bytes 24\nbuffer 1 rank 1 bytes 24\n"
      "buffer 2 rank 2 bytes 24\nbuffer 3 rank 0 bytes 8\nchannel 0 from 0 to 1\n"
      "channel 1 from 1 to 2\nrank 0\n  0 send on 0 reads 0[0+8]\n  1 send on 0 reads 0[8+8]\n"
      "rank 1\n  2 recv on 0 writes 1[0+8]\n  3 recv on 0 writes 1[8+8]\n"
      "  4 send step 1 on 1 reads 1[0+8] after done:2\nrank 2\n"
      "  5 recv step 1 on 1 writes 2[0+8]\npre 0[0+16] value 0\npost 2[0+8] value 0\n",
      "relay");
  return schedule;
}

// As many completion queues as there are queues, each of its queue's rank.
inline std::string head(const std::string& mode, const std::string& ready,
                        const std::string& ranks) {
  std::string text = "slackline queues 1\nschedule " + to_string(relay().digest()) + "\nmode " +
                     mode + "\nready " + ready +
                     "\nranks 3\nbuffer 0 rank 0 bytes 24\nbuffer 1 rank 1 bytes 24\n"
                     "buffer 2 rank 2 bytes 24\nbuffer 3 rank 0 bytes 8\n";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    text += fmt::format("cq {} rank {}\n", i, ranks[i]);
  }
  return text;
}

inline std::string sq_wait() {
  return head("sq-wait", "handshake", "01101221102") +
         "queue 0 rank 0 send data pair 0 cq 0 peer 1\n"
         "  wait 3 count 1\n"
         "  send 0[0+8] op 0\n"
         "  send 0[8+8] op 1 latest 1 signaled\n"
         "queue 1 rank 1 receive data pair 1 cq 1 peer 0\n"
         "  recv 1[0+8] op 2\n"
         "  recv 1[8+8] op 3 latest 1\n"
         "queue 2 rank 1 send ready pair 1 cq 2 peer 3 serves 1\n"
         "  send\n"
         "queue 3 rank 0 receive ready pair 0 cq 3 peer 2 serves 0\n"
         "  recv\n"
         "queue 4 rank 1 send data pair 2 cq 4 peer 5\n"
         "  wait 7 count 1 step 1 latest 1\n"
         "  wait 1 count 1 step 1 latest 1\n"
         "  send 1[0+8] op 4 step 1 latest 1 signaled\n"
         "queue 5 rank 2 receive data pair 3 cq 5 peer 4\n"
         "  recv 2[0+8] op 5 step 1 latest 1\n"
         "queue 6 rank 2 send ready pair 3 cq 6 peer 7 serves 5\n"
         "  send\n"
         "queue 7 rank 1 receive ready pair 2 cq 7 peer 6 serves 4\n"
         "  recv\n"
         "queue 8 rank 1 management collect pair 4 cq 8\n"
         "  wait 1 count 2\n"
         "  wait 4 count 1\n"
         "  nop signaled\n"
         "queue 9 rank 0 management collect pair 5 cq 9\n"
         "  wait 0 count 1\n"
         "  nop signaled\n"
         "queue 10 rank 2 management collect pair 6 cq 10\n"
         "  wait 5 count 1\n"
         "  nop signaled\n";
}

inline std::string mq_enable() {
  return head("mq-enable", "window 1", "0110122101102") +
         "queue 0 rank 0 send data pair 0 cq 0 peer 1 managed\n"
         "  send 0[0+8] op 0\n"
         "  send 0[8+8] op 1 latest 1 signaled\n"
         "queue 1 rank 1 receive data pair 1 cq 1 peer 0 managed\n"
         "  recv 1[0+8] op 2\n"
         "  recv 1[8+8] op 3 latest 1\n"
         "queue 2 rank 1 send credit pair 2 cq 2 peer 3 serves 1\n"
         "  recv_enable 1 count 1\n"
         "  send\n"
         "  wait 1 count 1\n"
         "  recv_enable 1 count 2\n"
         "  send\n"
         "queue 3 rank 0 receive credit pair 3 cq 3 peer 2 serves 0\n"
         "  recv\n"
         "  recv\n"
         "queue 4 rank 1 send data pair 4 cq 4 peer 5 managed\n"
         "  send 1[0+8] op 4 step 1 latest 1 signaled\n"
         "queue 5 rank 2 receive data pair 5 cq 5 peer 4 managed\n"
         "  recv 2[0+8] op 5 step 1 latest 1\n"
         "queue 6 rank 2 send credit pair 6 cq 6 peer 7 serves 5\n"
         "  recv_enable 5 count 1\n"
         "  send\n"
         "queue 7 rank 1 receive credit pair 7 cq 7 peer 6 serves 4\n"
         "  recv\n"
         "queue 8 rank 0 management order pair 8 cq 8\n"
         "  wait 3 count 1\n"
         "  send_enable 0 count 1\n"
         "  wait 3 count 2 latest 1\n"
         "  send_enable 0 count 2 latest 1\n"
         "queue 9 rank 1 management order pair 9 cq 9\n"
         "  wait 7 count 1 step 1 latest 1\n"
         "  wait 1 count 1 step 1 latest 1\n"
         "  send_enable 4 count 1 step 1 latest 1\n"
         "queue 10 rank 1 management collect pair 10 cq 10\n"
         "  wait 1 count 2\n"
         "  wait 4 count 1\n"
         "  nop signaled\n"
         "queue 11 rank 0 management collect pair 11 cq 11\n"
         "  wait 0 count 1\n"
         "  nop signaled\n"
         "queue 12 rank 2 management collect pair 12 cq 12\n"
         "  wait 5 count 1\n"
         "  nop signaled\n";
}

inline std::string rdmc_mq() {
  return head("rdmc-mq", "none", "0112012102") +
         "queue 0 rank 0 send data pair 0 cq 0 peer 1 managed\n"
         "  send 0[0+8] op 0 signaled\n"
         "  send 0[8+8] op 1 latest 1 signaled\n"
         "queue 1 rank 1 receive data pair 1 cq 1 peer 0 managed\n"
         "  recv 1[0+8] op 2\n"
         "  recv 1[8+8] op 3 latest 1\n"
         "queue 2 rank 1 send data pair 2 cq 2 peer 3 managed\n"
         "  send 1[0+8] op 4 step 1 latest 1 signaled\n"
         "queue 3 rank 2 receive data pair 3 cq 3 peer 2 managed\n"
         "  recv 2[0+8] op 5 step 1 latest 1\n"
         "queue 4 rank 0 management order pair 4 cq 4\n"
         "  send_enable 0 count 1\n"
         "  send_enable 0 count 2 latest 1\n"
         "  wait 0 count 1\n"
         "  wait 0 count 2 latest 1\n"
         "queue 5 rank 1 management order pair 5 cq 5\n"
         "  recv_enable 1 count 1\n"
         "  recv_enable 1 count 2 latest 1\n"
         "  wait 1 count 1\n"
         "  wait 1 count 2 latest 1\n"
         "  send_enable 2 count 1 step 1 latest 1\n"
         "  wait 2 count 1 step 1 latest 1\n"
         "queue 6 rank 2 management order pair 6 cq 6\n"
         "  recv_enable 3 count 1 step 1 latest 1\n"
         "  wait 3 count 1 step 1 latest 1\n"
         "queue 7 rank 1 management collect pair 7 cq 7\n"
         "  wait 1 count 2\n"
         "  wait 2 count 1\n"
         "  nop signaled\n"
         "queue 8 rank 0 management collect pair 8 cq 8\n"
         "  wait 0 count 2\n"
         "  nop signaled\n"
         "queue 9 rank 2 management collect pair 9 cq 9\n"
         "  wait 3 count 1\n"
         "  nop signaled\n";
}

inline std::string edited(std::string text, const Edits& edits) {
  for (const auto& [from, to] : edits) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace slackline::testing
