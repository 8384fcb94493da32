// Multicasts that overlap in ranks and in time, as one schedule, and what each of them came to.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/multicast.h"
#include "sched/compose.h"
#include "sched/trace.h"

namespace slackline::experiments {

/// Schedules by their spec, each compiled once. Keeps them until it is destroyed.
class ScheduleStore {
 public:
  const sched::Schedule* get(const Multicast& multicast);

 private:
  std::map<std::string, std::unique_ptr<sched::Schedule>> schedules_;
};

/// Groups of the ranks 0 … members − 1, one per sender; the senders are the first ranks. Each sends
/// `messages` messages, one after another. Part g · messages + i is group g's message i.
sched::Composition same_members(ScheduleStore& store, const Multicast& message,
                                std::uint32_t senders, std::uint32_t messages);

/// How many of a group's members send, of `nodes`.
struct SenderShare {
  std::string_view name;
  std::uint32_t (*of)(std::uint32_t nodes);
};
/// stated: of RDMC's figures 10 and 11, all, half or one of the members send.
inline constexpr std::array kSenderShares = {
    SenderShare{"all send", [](std::uint32_t n) { return n; }},
    SenderShare{"half send", [](std::uint32_t n) { return n / 2; }},
    SenderShare{"one sends", [](std::uint32_t) { return 1u; }},
};

/// When each part had reached all its receivers.
std::vector<double> parts_delivered_s(const sched::Composition& whole, const sched::Trace& trace);

/// A rank that has a part's whole message, and since when.
struct Receipt {
  std::uint32_t part = 0;
  sched::RankId rank;
  double at_s = 0;
};
/// Of every part and every receiver of it, by part, then by rank.
std::vector<Receipt> receipts(const sched::Composition& whole, const sched::Trace& trace);

/// When each part's rank 0, its root, was done with it.
std::vector<double> parts_sent_s(const sched::Composition& whole, const sched::Trace& trace);

}  // namespace slackline::experiments
