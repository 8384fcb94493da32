// A transport whose one-sided writes come about late and in any order.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "hw/passing_transport.h"

namespace slackline::testing {

// Carries out writes when it likes, in any order, from what stands in their memory by then.
class LateWrites final : public hw::PassingTransport {
 public:
  LateWrites(std::unique_ptr<hw::Transport> under, std::mt19937_64* random)
      : PassingTransport(std::move(under)), random_(random) {}

  std::size_t post(std::span<const hw::WorkRequest> requests) override {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const hw::WorkRequest& request = requests[i];
      if (request.kind == hw::RequestKind::kWrite) {
        if (late_.size() == 5) return i;  // no more room
        late_.push_back({request, {request.local.begin(), request.local.end()}});
      } else if (under().post({&request, 1}) == 0) {
        return i;
      }
    }
    return requests.size();
  }

  std::size_t poll(std::span<hw::Completion> completions) override {
    while (!late_.empty() && (*random_)() % 3 == 0) {
      const auto chosen = late_.begin() + static_cast<std::ptrdiff_t>((*random_)() % late_.size());
      chosen->first.local = chosen->second;
      EXPECT_EQ(under().post({&chosen->first, 1}), 1u);
      late_.erase(chosen);
    }
    return under().poll(completions);
  }

 private:
  std::mt19937_64* random_;
  std::vector<std::pair<hw::WorkRequest, std::vector<hw::Segment>>> late_;
};

}  // namespace slackline::testing
