#include "hw/fabric/acknowledgements.h"

#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include "base/error.h"
#include "hw/fabric/endpoint.h"

namespace slackline::hw {
namespace {

// An answer carries the number below, and above it what only its receiver's peers know.
constexpr int kNumberBits = 31;
constexpr std::uint32_t kMostNumbers = std::uint32_t{1} << kNumberBits;

constexpr std::uint64_t answer_data(std::uint64_t salt, std::uint32_t number) {
  return salt << kNumberBits | number;
}

}  // namespace

FabricAcknowledgements::FabricAcknowledgements(FabricEndpoint& endpoint, std::uint64_t salt)
    : endpoint_(endpoint), salt_(salt) {
  for (FabricContext& receive : receives_) {
    receive.use = FabricContext::Use::kAcknowledgement;
    if (!listen(receive)) deaf_.push_back(&receive);
  }
}

// False if there is no room now: in shm, messages that wait for a receive take the room of
// receives.
bool FabricAcknowledgements::listen(FabricContext& receive) {
  const ssize_t answer =
      fi_recv(endpoint_.ep(true), nullptr, 0, nullptr, FI_ADDR_UNSPEC, &receive.context);
  if (answer == -FI_EAGAIN || (answer == -FI_ENOMEM && endpoint_.provider() == "shm")) return false;
  endpoint_.require(answer, "listening for acknowledgements");
  return true;
}

std::uint32_t FabricAcknowledgements::await(const Sent& send, bool provider_tells) {
  if (free_.empty()) {
    if (waiting_.size() == kMostNumbers) throw InternalError("2^31 sends wait to be acknowledged");
    free_.push_back(static_cast<std::uint32_t>(waiting_.size()));
    waiting_.emplace_back();
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  waiting_[number] = {send, provider_tells ? 2u : 1u};
  return number;
}

void FabricAcknowledgements::forget(std::uint32_t number) {
  waiting_[number].missing = 0;
  free_.push_back(number);
}

void FabricAcknowledgements::landed(std::uint64_t data, const FabricPeer& sender) {
  if ((data & kAsked) == 0) return;
  const auto number = static_cast<std::uint32_t>(data >> 33);
  answers_.push_back({sender.place, answer_data(sender.salt, number)});
  flush();
}

std::optional<FabricAcknowledgements::Sent> FabricAcknowledgements::received(FabricContext* context,
                                                                             std::uint64_t data) {
  if (!listen(*context)) deaf_.push_back(context);
  const auto number = static_cast<std::uint32_t>(data & (kMostNumbers - 1));
  if (data != answer_data(salt_, number)) return std::nullopt;
  if (number >= waiting_.size() || waiting_[number].missing == 0) return std::nullopt;
  return one_less(number);
}

std::optional<FabricAcknowledgements::Sent> FabricAcknowledgements::one_less(std::uint32_t number) {
  Waiting& waiting = waiting_[number];
  if (--waiting.missing != 0) return std::nullopt;
  free_.push_back(number);
  return waiting.send;
}

void FabricAcknowledgements::flush() {
  while (!deaf_.empty() && listen(*deaf_.back())) deaf_.pop_back();
  while (!answers_.empty()) {
    const Answer& next = answers_.front();
    const ssize_t answer = fi_injectdata(endpoint_.ep(true), nullptr, 0, next.data, next.place);
    if (answer == -FI_EAGAIN) return;
    endpoint_.require(answer, "acknowledging a message");
    answers_.pop_front();
  }
}

}  // namespace slackline::hw
