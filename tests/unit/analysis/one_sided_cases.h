// Puts, gets and atomics, worked out by hand on round_platform(): a post takes 1 us, 1000 bytes
// take 1 us, the way 3 us, seeing a completion 2 us, serving an atomic 5 us.
#pragma once

#include <vector>

#include "tests/unit/analysis/message_case.h"

namespace slackline::testing {

inline MessageCase plain_put() {
  Program p(2);
  const OpId put = p.put(p.channel(0, 1), 10'000);
  const OpId busy = p.calc(1, us(100));
  // There at 14, whatever the target's CPU does; acknowledged at 17, seen at 19.
  return {"put", p.build(), round_platform(), {{put, 1, 1, 19}, {busy, 0, 0, 100}}};
}

inline MessageCase put_with_immediate() {
  Program p(3);
  const ChannelId a = p.channel(0, 1);
  const ChannelId b = p.channel(0, 2);
  const OpId put = p.put(a, 10'000, sched::Notify::kImm);
  const OpId to_late = p.put(b, 10'000, sched::Notify::kImm);
  const OpId recv = p.recv(a, 0);
  p.calc(2, us(30));
  const OpId late = p.recv(b, 0);
  // As a send: its receive is what sees it, and what it waits for.
  return {"put with immediate",
          p.build(),
          round_platform(),
          {{put, 1, 1, 19}, {to_late, 2, 11, 36}, {recv, 1, kAny, 16}, {late, 31, kAny, 33}}};
}

inline MessageCase put_with_flag() {
  Program p(3);
  const OpId put = p.put(p.channel(0, 1), 10'000, sched::Notify::kFlag);
  const OpId seen_late = p.put(p.channel(0, 2), 10'000, sched::Notify::kFlag);
  const OpId poll = p.poll(1);
  const OpId wait = p.delay(2, us(40));
  const OpId late_poll = p.poll(2);
  p.after({wait}, late_poll);
  p.flag(put, poll);
  p.flag(seen_late, late_poll);
  // A put is acknowledged whether or not anybody polls. A poll holds no lane; it sees the flag 2
  // after it is there, or 2 after it began to look.
  return {"put with flag",
          p.build(),
          round_platform(),
          {{put, 1, 1, 19},
           {seen_late, 2, 11, 29},
           {poll, 0, kAny, 16},
           {wait, 0, 0, 40},
           {late_poll, 40, kAny, 42}}};
}

inline MessageCase plain_get() {
  Program p(2);
  const OpId get = p.get(p.channel(0, 1), 10'000);
  const OpId busy = p.calc(1, us(100));
  // The request is at the target at 4; the data leave then, without its CPU, and are back at 17.
  return {"get", p.build(), round_platform(), {{get, 1, 4, 19}, {busy, 0, 0, 100}}};
}

inline MessageCase get_among_the_targets_messages() {
  Program p(3);
  const OpId get = p.get(p.channel(0, 1), 10'000);
  const ChannelId out = p.channel(1, 2);
  const OpId send = p.send(out, 10'000);
  const OpId recv = p.recv(out, 10'000);
  // The target's own message has its out-port from 1 to 11; the data leave after it.
  return {"get among the target's messages",
          p.build(),
          round_platform(),
          {{get, 1, 11, 26}, {send, 1, 1, 19}, {recv, 1, kAny, 16}}};
}

inline MessageCase slow_get() {
  Program p(2);
  const OpId get = p.get(p.channel(0, 1), 10'000);
  machine::DelayPlan delays;
  delays.pairs.push_back({RankId(1), RankId(0), {4'000'000'000}});
  // The data go from 1 to 0: it is that direction's rate that counts.
  return {"slow get", p.build(), round_platform(), {{get, 1, 4, 29}}, delays};
}

inline MessageCase requests_and_the_gap() {
  Program p(2);
  const ChannelId c = p.channel(0, 1);
  const OpId put = p.put(c, 0);
  const OpId get = p.get(c, 1'000);
  const OpId last = p.put(c, 1'000);
  machine::Platform platform = round_platform();
  platform.gap = us(4);
  // Small ones all: out at 1, 5 and 9. The request is there at 8; the data take 8 → 9 → 12 → 14.
  return {"requests keep the gap",
          p.build(),
          platform,
          {{put, 1, 1, 9}, {get, 2, 8, 14}, {last, 3, 9, 18}}};
}

inline MessageCase one_atomic() {
  Program p(2);
  const OpId add = p.fetch_add(p.channel(0, 1), 0);
  // At the target at 4, served at 9; 8 bytes take 0.008.
  return {"atomic", p.build(), round_platform(), {{add, 1, 9, 14.008}}};
}

inline MessageCase atomics_of_one_word() {
  Program p(4);
  const OpId first = p.fetch_add(p.channel(0, 1), 7);
  const OpId second = p.fetch_add(p.channel(2, 1), 7);
  const OpId third = p.fetch_add(p.channel(3, 1), 7);
  // All at the target at 4, in the order of operations: served at 9, 14 and 19.
  return {"atomics of one word",
          p.build(),
          round_platform(),
          {{first, 1, 9, 14.008}, {second, 1, 14, 19.008}, {third, 1, 19, 24.008}}};
}

inline MessageCase atomics_of_two_words() {
  Program p(3);
  const OpId first = p.fetch_add(p.channel(0, 1), 7);
  const OpId second = p.fetch_add(p.channel(2, 1), 8);
  // Served at once; the second answer leaves behind the first one's 8 bytes.
  return {"atomics of two words",
          p.build(),
          round_platform(),
          {{first, 1, 9, 14.008}, {second, 1, 9.008, 14.016}}};
}

inline MessageCase result_passed_on() {
  Program p(2);
  const ChannelId c = p.channel(0, 1);
  const OpId reserve = p.fetch_add(c, 0);
  const OpId write = p.put(c, 1'000);
  const OpId publish = p.fetch_add(c, 1);
  p.after({reserve}, write);
  p.after({write}, publish);
  // 14.008, then 1 + 1 + 3 + 3 + 2 = 10, then 13.008 again.
  return {"atomic, put, atomic",
          p.build(),
          round_platform(),
          {{reserve, 1, 9, 14.008},
           {write, 15.008, 15.008, 24.008},
           {publish, 25.008, 33.008, 38.016}}};
}

inline std::vector<MessageCase> one_sided_cases() {
  std::vector<MessageCase> cases;
  cases.push_back(plain_put());
  cases.push_back(put_with_immediate());
  cases.push_back(put_with_flag());
  cases.push_back(plain_get());
  cases.push_back(get_among_the_targets_messages());
  cases.push_back(slow_get());
  cases.push_back(requests_and_the_gap());
  cases.push_back(one_atomic());
  cases.push_back(atomics_of_one_word());
  cases.push_back(atomics_of_two_words());
  cases.push_back(result_passed_on());
  return cases;
}

}  // namespace slackline::testing
