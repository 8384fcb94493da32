#include "hw/fabric/atomics.h"

#include <fmt/format.h>
#include <rdma/fi_endpoint.h>

#include <cstring>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "hw/fabric/endpoint.h"

namespace slackline::hw {
namespace {

bool is_atomic(std::uint32_t kind) {
  using enum RequestKind;
  for (const RequestKind known : {kFetchAdd, kFetchAnd, kFetchOr, kFetchXor, kCompareSwap}) {
    if (static_cast<std::uint32_t>(known) == kind) return true;
  }
  return false;
}

std::uint64_t next_value(RequestKind kind, std::uint64_t word, std::uint64_t operand,
                         std::uint64_t compare) {
  switch (kind) {
    case RequestKind::kFetchAdd:
      return word + operand;
    case RequestKind::kFetchAnd:
      return word & operand;
    case RequestKind::kFetchOr:
      return word | operand;
    case RequestKind::kFetchXor:
      return word ^ operand;
    default:
      return word == compare ? operand : word;
  }
}

}  // namespace

FabricAtomics::FabricAtomics(FabricEndpoint& endpoint, std::uint64_t salt, SourceOf source_of)
    : endpoint_(endpoint), salt_(salt), source_of_(std::move(source_of)) {
  static_assert(std::is_trivially_copyable_v<Message>);
  if (endpoint_.info().tx_attr->inject_size < sizeof(Message)) {
    throw EnvironmentError(
        fmt::format("libfabric {}: messages of {} bytes are injected; expected {}",
                    endpoint_.provider(), endpoint_.info().tx_attr->inject_size, sizeof(Message)));
  }
  const std::span<std::byte> memory = std::as_writable_bytes(std::span(receives_));
  auto region = std::make_shared<Fid<fid_mr>>(endpoint_.register_memory(memory, Reach::kHere));
  descriptor_ = fi_mr_desc(region->get());
  region_ = std::move(region);
  for (Receive& receive : receives_) {
    receive.use = FabricContext::Use::kAtomics;
    listen(receive);
  }
}

// Of a message that is shorter, the rest must not be what the one before it had: its salt, say.
void FabricAtomics::listen(Receive& receive) {
  receive.message = {};
  endpoint_.require(fi_recv(endpoint_.ep(), &receive.message, sizeof receive.message, descriptor_,
                            FI_ADDR_UNSPEC, static_cast<FabricContext*>(&receive)),
                    "listening for atomics");
}

void FabricAtomics::add_memory(std::uint64_t key, std::span<std::byte> memory) {
  memory_[key] = memory;
}

void FabricAtomics::remove_memory(std::uint64_t key) { memory_.erase(key); }

bool FabricAtomics::post(const WorkRequest& request, const FabricPeer& peer) {
  if (request.local.size() != 1 || request.local[0].bytes != 8) {
    throw InternalError("an atomic's result has 8 bytes");
  }
  if (free_.empty()) {
    free_.push_back(waiting_.size());
    waiting_.emplace_back();
  }
  const std::uint64_t number = free_.back();
  const Message message{static_cast<std::uint32_t>(request.kind),
                        request.channel,
                        number,
                        request.remote.address,
                        request.remote.key,
                        request.operand,
                        request.compare,
                        peer.salt};
  const ssize_t answer = fi_inject(endpoint_.ep(), &message, sizeof message, peer.place);
  if (answer == -FI_EAGAIN) return false;
  endpoint_.require(answer, fmt::format("posting on channel {}", request.channel));
  free_.pop_back();
  waiting_[number] = {request.tag, request.kind, request.local[0].data, request.signalled};
  return true;
}

std::optional<Completion> FabricAtomics::received(FabricContext* context) {
  auto& receive = *static_cast<Receive*>(context);
  const Message message = receive.message;
  listen(receive);
  if (message.salt != salt_) return std::nullopt;
  if (message.what >= static_cast<std::uint32_t>(What::kAnswer)) return finish(message);
  const std::optional<FabricPeer> source = source_of_(message.channel);
  if (!source) return std::nullopt;
  answers_.push_back({source->place, carry_out(message)});
  answers_.back().message.salt = source->salt;
  flush();
  return std::nullopt;
}

FabricAtomics::Message FabricAtomics::carry_out(const Message& request) {
  Message answer;
  answer.number = request.number;
  answer.channel = request.channel;
  const auto found = memory_.find(request.key);
  if (!is_atomic(request.what) || found == memory_.end() || found->second.size() < 8 ||
      request.address > found->second.size() - 8) {
    answer.what = static_cast<std::uint32_t>(What::kRefusal);
    return answer;
  }
  std::byte* const place = found->second.data() + request.address;
  std::uint64_t word = 0;
  std::memcpy(&word, place, sizeof word);
  answer.what = static_cast<std::uint32_t>(What::kAnswer);
  answer.operand = word;
  word = next_value(static_cast<RequestKind>(request.what), word, request.operand, request.compare);
  std::memcpy(place, &word, sizeof word);
  return answer;
}

std::optional<Completion> FabricAtomics::finish(const Message& answer) {
  if (answer.number >= waiting_.size() || waiting_[answer.number].result == nullptr) {
    return std::nullopt;
  }
  const Waiting done = std::exchange(waiting_[answer.number], {});
  free_.push_back(answer.number);
  if (answer.what == static_cast<std::uint32_t>(What::kRefusal)) {
    throw InternalError(
        fmt::format("channel {}: an atomic outside of its target's memory", answer.channel));
  }
  std::memcpy(done.result, &answer.operand, sizeof answer.operand);
  if (!done.signalled) return std::nullopt;
  return Completion{done.tag, done.kind, 0, 0};
}

void FabricAtomics::flush() {
  while (!answers_.empty()) {
    const Answer& next = answers_.front();
    const ssize_t answer =
        fi_inject(endpoint_.ep(), &next.message, sizeof next.message, next.place);
    if (answer == -FI_EAGAIN) return;
    endpoint_.require(answer, "answering an atomic");
    answers_.pop_front();
  }
}

}  // namespace slackline::hw
