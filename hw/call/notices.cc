#include "hw/call/notices.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/slots.h"
#include "hw/bytes.h"
#include "hw/call/record.h"

namespace slackline::hw {

std::uint32_t CallNotices::open(SyncState* state, std::span<std::byte> result,
                                std::uint32_t replies) {
  const std::uint32_t token = base::take_slot(notices_, free_);
  notices_[token] = {state, result, replies};
  if (state != nullptr) state->pending += replies;
  return token;
}

void CallNotices::withdraw(std::uint32_t token) {
  Notice& notice = at(token);
  if (notice.state != nullptr) notice.state->pending -= notice.left;
  notice = {};
  free_.push_back(token);
}

CallNotices::Notice& CallNotices::at(std::uint32_t token) {
  if (token >= notices_.size() || notices_[token].left == 0) {
    throw BadBytes("an answer to a call that was never made, or a second one");
  }
  return notices_[token];
}

void CallNotices::one_less(std::uint32_t token) {
  Notice& notice = at(token);
  if (notice.state != nullptr) --notice.state->pending;
  if (--notice.left != 0) return;
  notice = {};
  free_.push_back(token);
}

void CallNotices::replied(std::uint32_t token, std::span<const std::byte> result) {
  const Notice& notice = at(token);
  if (notice.state != nullptr && !notice.result.empty()) {
    if (notice.result.size() != result.size()) throw BadBytes("a result of another size");
    std::memcpy(notice.result.data(), result.data(), result.size());
  }
  one_less(token);
}

void CallNotices::failed(std::uint32_t token, std::uint32_t rank, const std::string& text) {
  if (token == kNoToken) return keep(rank, text);
  SyncState* const state = at(token).state;
  if (state == nullptr) {
    keep(rank, text);
  } else {
    fail(*state, rank, text);
  }
  one_less(token);
}

void CallNotices::fail(SyncState& state, std::uint32_t rank, const std::string& text) {
  if (state.failed == 0) {
    state.failed_rank = rank;
    state.error = text;
  }
  ++state.failed;
}

void CallNotices::keep(std::uint32_t rank, const std::string& text) {
  if (kept_++ != 0) return;
  kept_rank_ = rank;
  kept_text_ = text;
}

void CallNotices::forget(const SyncState* state) {
  for (Notice& notice : notices_) {
    if (notice.state == state) notice.state = nullptr;
  }
}

void CallNotices::throw_kept() {
  const std::uint64_t kept = std::exchange(kept_, 0);
  if (kept == 0) return;
  const std::string more = kept == 1 ? "" : fmt::format(" (and {} more)", kept - 1);
  throw CallFailed(kept_rank_,
                   fmt::format("a call at rank {} has thrown: {}{}", kept_rank_, kept_text_, more));
}

}  // namespace slackline::hw
