// Schedules that no engine runs, and what its error has to say.
#pragma once

#include <string>
#include <vector>

#include "tests/unit/analysis/program.h"

namespace slackline::testing {

struct BrokenSchedule {
  std::string name;
  sched::Schedule schedule;
  std::string message;
};

inline std::vector<BrokenSchedule> bundled_schedules() {
  std::vector<BrokenSchedule> all;
  {
    Program p(2);
    const ChannelId c = p.channel(0, 1);
    p.builder().channel(c).bundle = sched::Bundle::kTraditional;
    p.builder().channel(c).bundle_bytes = 100;
    p.join(0);
    p.join(0);
    p.put(c, 10);
    all.push_back({"bundles", p.build(), "op 2 (put, rank 0)"});
  }
  return all;
}

inline std::vector<BrokenSchedule> unmatched_schedules() {
  std::vector<BrokenSchedule> all;
  {
    Program p(2);
    p.join(0);
    p.send(p.channel(0, 1), 10);
    all.push_back({"send without receive", p.build(), "op 1 (send, rank 0)"});
  }
  {
    Program p(2);
    p.recv(p.channel(0, 1), 10);
    all.push_back({"receive without send", p.build(), "op 0 (recv, rank 1)"});
  }
  {
    Program p(2);
    p.put(p.channel(0, 1), 10, sched::Notify::kImm);
    all.push_back({"immediate without receive", p.build(), "op 0 (put, rank 0)"});
  }
  {
    Program p(2);
    p.put(p.channel(0, 1), 10, sched::Notify::kFlag);
    all.push_back({"flag without poll", p.build(), "op 0 (put, rank 0)"});
  }
  {
    Program p(2);
    p.poll(1);
    all.push_back({"poll without flag", p.build(), "op 0 (poll, rank 1)"});
  }
  return all;
}

inline std::vector<BrokenSchedule> deadlocked_schedules() {
  std::vector<BrokenSchedule> all;
  {
    Program p(2);
    p.join(0);
    const OpId a = p.join(0);
    const OpId b = p.join(0);
    p.after({a}, b);
    p.after({b}, a);
    all.push_back({"edges in a circle", p.build(), "op 1 (join, rank 0) never finishes"});
  }
  {
    // Each rank receives before it sends.
    Program p(2);
    const ChannelId there = p.channel(0, 1);
    const ChannelId back = p.channel(1, 0);
    const OpId recv0 = p.recv(back, 10);
    const OpId send0 = p.send(there, 10);
    const OpId recv1 = p.recv(there, 10);
    const OpId send1 = p.send(back, 10);
    p.after({recv0}, send0);
    p.after({recv1}, send1);
    all.push_back({"each waits for the other", p.build(), "op 0 (recv, rank 0) never finishes"});
  }
  {
    // A receive is posted only after its own send was acknowledged.
    Program p(1);
    const ChannelId self = p.channel(0, 0);
    const OpId send = p.send(self, 10);
    const OpId recv = p.recv(self, 10);
    p.after({send}, recv);
    all.push_back({"acknowledged by itself", p.build(), "op 0 (send, rank 0) never finishes"});
  }
  return all;
}

}  // namespace slackline::testing
