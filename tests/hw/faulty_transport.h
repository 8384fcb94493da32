// A transport that does not keep its promises, once or always, so that tests see who notices.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "hw/passing_transport.h"

namespace slackline::testing {

enum class Fault : std::uint8_t {
  kNone,
  kLostWrite,   // the n-th write does not bring its bytes, but for a mark: the last 8 of more
  kTwice,       // the n-th fetch_add acts twice
  kLyingSwaps,  // a compare_swap that fails says that it found what it expected
};

class FaultyTransport final : public hw::PassingTransport {
 public:
  /// `at` counts from 0.
  FaultyTransport(std::unique_ptr<hw::Transport> under, Fault fault, std::uint32_t at)
      : PassingTransport(std::move(under)), fault_(fault), left_(at) {
    memory_ = register_memory(std::as_writable_bytes(std::span(spare_)));
  }

  std::size_t post(std::span<const hw::WorkRequest> requests) override {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (!post_one(requests[i])) return i;
    }
    return requests.size();
  }

  std::size_t poll(std::span<hw::Completion> completions) override {
    const std::size_t count = under().poll(completions);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (completions[i].tag == kTwin) continue;
      if (const auto swap = swaps_.find(completions[i].tag); swap != swaps_.end()) {
        std::memcpy(swap->second.result, &swap->second.compare, 8);
        swaps_.erase(swap);
      }
      completions[kept++] = completions[i];
    }
    return kept;
  }

 private:
  static constexpr std::uint64_t kTwin = ~std::uint64_t{0};
  struct Swap {
    std::byte* result;
    std::uint64_t compare;
  };

  bool strikes() { return left_-- == 0; }

  bool post_one(hw::WorkRequest request) {
    using hw::RequestKind;
    if (fault_ == Fault::kLostWrite && request.kind == RequestKind::kWrite && strikes()) {
      std::size_t bytes = 0;
      for (const hw::Segment& segment : request.local) bytes += segment.bytes;
      hw::Segment mark = request.local.back();
      const std::size_t all = mark.bytes;
      mark.bytes = bytes > 8 ? std::min<std::size_t>(8, all) : 0;
      mark.data += all - mark.bytes;
      request.remote.address += bytes - mark.bytes;
      request.local = {&mark, 1};
      const bool taken = under().post({&request, 1}) == 1;
      if (!taken) left_ = 0;  // the next time
      return taken;
    }
    if (under().post({&request, 1}) != 1) return false;
    if (fault_ == Fault::kLyingSwaps && request.kind == RequestKind::kCompareSwap) {
      swaps_[request.tag] = {request.local.front().data, request.compare};
    }
    if (fault_ == Fault::kTwice && request.kind == RequestKind::kFetchAdd && strikes()) {
      const hw::Segment spare{reinterpret_cast<std::byte*>(spare_.data()), 8, memory_.handle};
      request.tag = kTwin;
      request.local = {&spare, 1};
      under().post({&request, 1});
    }
    return true;
  }

  const Fault fault_;
  std::uint32_t left_;
  std::array<std::uint64_t, 1> spare_{};
  hw::LocalMemory memory_;
  std::map<std::uint64_t, Swap> swaps_;  // by tag
};

}  // namespace slackline::testing
