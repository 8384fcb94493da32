// A transport whose completions come in order, made of one whose do not: as those of verbs' queue
// pairs do, so that what rests on that runs on any machine.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>

#include "hw/passing_transport.h"

namespace slackline::testing {

class InOrderTransport final : public hw::PassingTransport {
 public:
  using PassingTransport::PassingTransport;

  bool completes_in_order() const override { return true; }

  std::size_t post(std::span<const hw::WorkRequest> requests) override {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      hw::WorkRequest request = requests[i];
      const std::uint64_t number = next_++;
      request.tag = number;
      request.signalled = true;
      if (under().post({&request, 1}) != 1) return i;
      posted_[request.channel].push_back({number, requests[i].tag, requests[i].signalled, false});
      channel_of_[number] = request.channel;
    }
    return requests.size();
  }

  std::size_t poll(std::span<hw::Completion> completions) override {
    hw::Completion batch[16];
    const std::size_t count = under().poll(batch);
    for (std::size_t i = 0; i < count; ++i) {
      auto& row = posted_[channel_of_[batch[i].tag]];
      channel_of_.erase(batch[i].tag);
      for (Posted& posted : row) posted.done = posted.done || posted.number == batch[i].tag;
      for (; !row.empty() && row.front().done; row.pop_front()) {
        if (!row.front().signalled) continue;
        ready_.push_back(batch[i]);
        ready_.back().tag = row.front().tag;
      }
    }
    std::size_t filled = 0;
    for (; filled < completions.size() && !ready_.empty(); ready_.pop_front()) {
      completions[filled++] = ready_.front();
    }
    return filled;
  }

 private:
  struct Posted {
    std::uint64_t number = 0;
    std::uint64_t tag = 0;
    bool signalled = false;
    bool done = false;
  };
  std::uint64_t next_ = 0;
  std::map<std::uint32_t, std::deque<Posted>> posted_;  // by channel
  std::map<std::uint64_t, std::uint32_t> channel_of_;
  std::deque<hw::Completion> ready_;
};

}  // namespace slackline::testing
