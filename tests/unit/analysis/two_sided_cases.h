// Sends and receives, worked out by hand on round_platform(): a post takes 1 us, 1000 bytes take
// 1 us, the way 3 us, seeing a completion 2 us.
#pragma once

#include <vector>

#include "tests/unit/analysis/message_case.h"

namespace slackline::testing {

inline MessageCase one_large_message() {
  Program p(2);
  const ChannelId c = p.channel(0, 1);
  const OpId send = p.send(c, 10'000);
  const OpId recv = p.recv(c, 10'000);
  // Out at 1, through at 11, there at 14, seen at 16. The acknowledgement is back at 17, seen
  // at 19.
  return {
      "one large message", p.build(), round_platform(), {{send, 1, 1, 19}, {recv, 1, kAny, 16}}};
}

inline MessageCase message_in_packets() {
  Program p(2);
  const ChannelId c = p.channel(0, 1);
  const OpId send = p.send(c, 10'000);
  const OpId recv = p.recv(c, 10'000);
  machine::Platform platform = round_platform();
  platform.framing = {2'000, 400, 8, 10};
  // Five packets of 2400 bytes, each byte of 10 bits: 15,000. Out at 1, through at 16, there at 19,
  // seen at 21. The acknowledgement is back at 22, seen at 24.
  return {"message in packets", p.build(), platform, {{send, 1, 1, 24}, {recv, 1, kAny, 21}}};
}

inline MessageCase small_message_and_credit() {
  Program p(4);
  const ChannelId small = p.channel(0, 1);
  const ChannelId credit = p.channel(2, 3);
  const OpId send = p.send(small, 1'000);
  const OpId recv = p.recv(small, 1'000);
  const OpId grant = p.send(credit, 0);
  const OpId notice = p.recv(credit, 0);
  // 1000 bytes: 1 + 1 + 3 = 5. A credit pays all but the bytes: 1 + 3 = 4.
  return {"small message and credit",
          p.build(),
          round_platform(),
          {{send, 1, 1, 10}, {recv, 1, kAny, 7}, {grant, 1, 1, 9}, {notice, 1, kAny, 6}}};
}

inline MessageCase late_receive() {
  Program p(2);
  const ChannelId c = p.channel(0, 1);
  const OpId send = p.send(c, 10'000);
  const OpId busy = p.calc(1, us(30));
  const OpId recv = p.recv(c, 10'000);
  // There at 14; the receive is posted from 30 to 31. It lands then: seen at 33, and the
  // acknowledgement at 31 + 3 + 2.
  return {"late receive",
          p.build(),
          round_platform(),
          {{send, 1, 1, 36}, {busy, 0, 0, 30}, {recv, 31, kAny, 33}}};
}

inline MessageCase datagram() {
  Program p(3);
  const ChannelId prompt = p.channel(0, 1, sched::Service::kDatagram);
  const ChannelId late = p.channel(0, 2, sched::Service::kDatagram);
  const OpId first = p.send(prompt, 10'000);
  const OpId second = p.send(late, 10'000);
  const OpId recv = p.recv(prompt, 10'000);
  const OpId busy = p.calc(2, us(40));
  const OpId late_recv = p.recv(late, 10'000);
  // Nobody acknowledges: a send is done when it has left. 1 → 11 → 13; 11 → 21 → 23.
  return {"datagrams",
          p.build(),
          round_platform(),
          {{first, 1, 1, 13},
           {second, 2, 11, 23},
           {recv, 1, kAny, 16},
           {busy, 0, 0, 40},
           {late_recv, 41, kAny, 43}}};
}

inline MessageCase incast_serial() {
  Program p(4);
  const ChannelId from1 = p.channel(1, 0);
  const ChannelId from2 = p.channel(2, 0);
  const ChannelId from3 = p.channel(3, 0);
  const OpId recv1 = p.recv(from1, 10'000);
  const OpId recv2 = p.recv(from2, 10'000);
  const OpId recv3 = p.recv(from3, 10'000);
  p.calc(1, us(0.5));
  const OpId send1 = p.send(from1, 10'000);
  const OpId send2 = p.send(from2, 10'000);
  const OpId send3 = p.send(from3, 10'000);
  // 2 and 3 head their queues at 1, the lower operation first; 1 heads at 1.5 and comes last.
  return {"incast, serial",
          p.build(),
          round_platform(),
          {{send2, 1, 1, 19},
           {send3, 1, 11, 29},
           {send1, 1.5, 21, 39},
           {recv2, 2, kAny, 16},
           {recv3, 3, kAny, 26},
           {recv1, 1, kAny, 36}}};
}

inline MessageCase one_sender_gap(double gap_us, double second_wire_us, const char* name) {
  Program p(3);
  const ChannelId a = p.channel(0, 1);
  const ChannelId b = p.channel(0, 2);
  const OpId first = p.send(a, 10'000);
  const OpId second = p.send(b, 10'000);
  const OpId recv_a = p.recv(a, 10'000);
  const OpId recv_b = p.recv(b, 10'000);
  machine::Platform platform = round_platform();
  platform.gap = us(gap_us);
  // The out-port is held from 1 for max(gap, 10); the first message's own times do not change.
  return {name,
          p.build(),
          platform,
          {{first, 1, 1, 19},
           {second, 2, second_wire_us, second_wire_us + 18},
           {recv_a, 1, kAny, 16},
           {recv_b, 1, kAny, second_wire_us + 15}}};
}

inline MessageCase gap_between_small() {
  Program p(2);
  const ChannelId c = p.channel(0, 1);
  const OpId credit = p.send(c, 0);
  const OpId small = p.send(c, 1'000);
  const OpId last = p.send(c, 0);
  p.recv(c, 0);
  p.recv(c, 1'000);
  p.recv(c, 0);
  machine::Platform platform = round_platform();
  platform.gap = us(4);
  // Each starts 4 after the one before, whatever its size.
  return {"gap between small messages",
          p.build(),
          platform,
          {{credit, 1, 1, 9}, {small, 2, 5, 14}, {last, 3, 9, 17}}};
}

inline MessageCase head_of_line() {
  Program p(4);
  const ChannelId to2 = p.channel(0, 2);
  const ChannelId to3 = p.channel(0, 3);
  const ChannelId rival = p.channel(1, 2);
  p.calc(0, us(1));
  const OpId blocked = p.send(to2, 10'000);
  const OpId behind = p.send(to3, 10'000);
  const OpId holder = p.send(rival, 20'000);
  const OpId recv_holder = p.recv(rival, 20'000);
  const OpId recv_blocked = p.recv(to2, 10'000);
  const OpId recv_behind = p.recv(to3, 10'000);
  // Rank 2 takes 20 KB from 1 to 21. What is for it blocks rank 0, although rank 3 is idle.
  return {"head of line",
          p.build(),
          round_platform(),
          {{holder, 1, 1, 29},
           {blocked, 2, 21, 39},
           {behind, 3, 31, 49},
           {recv_holder, 1, kAny, 26},
           {recv_blocked, 2, kAny, 36},
           {recv_behind, 1, kAny, 46}}};
}

inline MessageCase small_between_large() {
  Program p(2);
  const ChannelId a = p.channel(0, 1);
  const ChannelId b = p.channel(0, 1);
  const OpId large = p.send(a, 20'000);
  const OpId packet = p.send(b, 4'096);  // still one packet
  const OpId credit = p.send(b, 0);      // behind the packet
  const OpId two = p.send(a, 4'097);     // no longer
  const OpId recv_large = p.recv(a, 20'000);
  const OpId recv_packet = p.recv(b, 4'096);
  const OpId recv_credit = p.recv(b, 0);
  const OpId recv_two = p.recv(a, 4'097);
  // The large ones hold their ports from 1 to 21 and on to 25.097; the packet passes from 2 to
  // 6.096, the credit after it.
  return {"small between large",
          p.build(),
          round_platform(),
          {{large, 1, 1, 29},
           {packet, 2, 2, 14.096},
           {credit, 3, 6.096, 14.096},
           {two, 4, 21, 33.097},
           {recv_large, 1, kAny, 26},
           {recv_packet, 2, kAny, 11.096},
           {recv_credit, 3, kAny, 11.096},
           {recv_two, 4, kAny, 30.097}}};
}

inline MessageCase slow_pair() {
  Program p(3);
  const ChannelId slow = p.channel(0, 1);
  const ChannelId fast = p.channel(0, 2);
  const ChannelId back = p.channel(1, 0);
  const ChannelId small = p.channel(0, 1);
  const OpId first = p.send(slow, 10'000);
  const OpId second = p.send(fast, 10'000);
  const OpId packet = p.send(small, 1'000);
  const OpId recv_back = p.recv(back, 10'000);
  const OpId send_back = p.send(back, 10'000);
  const OpId recv_first = p.recv(slow, 10'000);
  const OpId recv_packet = p.recv(small, 1'000);
  const OpId recv_second = p.recv(fast, 10'000);
  machine::DelayPlan delays;
  delays.pairs.push_back({RankId(0), RankId(1), {4'000'000'000}});   // half
  delays.pairs.push_back({RankId(0), RankId(2), {80'000'000'000}});  // above the NIC's: no change
  // 0 → 1 takes twice as long, and its port is not free for 0 → 2 before; 1 → 0 is as fast as ever.
  return {"slow pair",
          p.build(),
          round_platform(),
          {{first, 1, 1, 29},
           {second, 2, 21, 39},
           {packet, 3, 3, 13},
           {send_back, 1, 1, 19},
           {recv_back, 4, kAny, 16},
           {recv_first, 2, kAny, 26},
           {recv_packet, 3, kAny, 10},
           {recv_second, 1, kAny, 36}},
          delays};
}

// Everything but bytes is free: a wave of credits passes in one instant, in the order of
// operations.
inline MessageCase one_instant() {
  constexpr std::uint32_t kRanks = 9;
  Program p(kRanks);
  std::vector<ChannelId> credit;
  std::vector<ChannelId> data;
  for (std::uint32_t r = 0; r + 1 < kRanks; ++r) {
    credit.push_back(p.channel(r, r + 1));
    data.push_back(p.channel(r + 1, r));
  }
  std::vector<Seen> expected;
  for (std::uint32_t r = 0; r < kRanks; ++r) {
    OpId notice;
    if (r != 0) {
      notice = p.recv(credit[r - 1], 0);
      expected.push_back({notice, 0, kAny, 0});
    }
    if (r + 1 < kRanks) {
      const OpId pass = p.send(credit[r], 0);
      if (r != 0) p.after({notice}, pass);
      expected.push_back({pass, 0, 0, 0});
      const OpId recv = p.recv(data[r], 10'000);
      expected.push_back({recv, 0, kAny, 10});
    }
    if (r != 0) {
      const OpId send = p.send(data[r - 1], 10'000);
      p.after({notice}, send);
      expected.push_back({send, 0, 0, 10});
    }
  }
  machine::Platform platform;
  platform.rate = {8'000'000'000};
  platform.latency = us(0);
  return {"one instant", p.build(), platform, expected};
}

inline std::vector<MessageCase> two_sided_cases() {
  std::vector<MessageCase> cases;
  cases.push_back(one_large_message());
  cases.push_back(message_in_packets());
  cases.push_back(small_message_and_credit());
  cases.push_back(late_receive());
  cases.push_back(datagram());
  cases.push_back(incast_serial());
  cases.push_back(one_sender_gap(4, 11, "gap below the wire's time"));
  cases.push_back(one_sender_gap(15, 16, "gap above the wire's time"));
  cases.push_back(gap_between_small());
  cases.push_back(head_of_line());
  cases.push_back(small_between_large());
  cases.push_back(slow_pair());
  cases.push_back(one_instant());
  return cases;
}

}  // namespace slackline::testing
