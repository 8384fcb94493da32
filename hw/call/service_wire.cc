#include "hw/call/service_wire.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "hw/bytes.h"

namespace slackline::hw {
namespace {

constexpr std::size_t kSlotBytes = kSmallMessage;
constexpr std::size_t kReceives = 2;  // of a peer: a request and an answer
constexpr std::size_t kSends = 8;     // at a time, to all peers
constexpr std::uint64_t kReceived = std::uint64_t{1} << 62;

}  // namespace

ServiceWire::ServiceWire(CallPort& port, std::uint32_t rank, std::uint32_t ranks,
                         std::uint32_t first_channel)
    : port_(port), rank_(rank), ranks_(ranks), first_channel_(first_channel), answers_(ranks) {
  port_.with_transport([this](Transport& use) {
    pages_ = Pages((ranks_ * kReceives + kSends) * kSlotBytes, use.numa_node());
    registered_ = use.register_memory(pages_.bytes());
  });
  for (std::size_t i = 0; i < kSends; ++i) unused_.push_back(ranks_ * kReceives + i);
}

std::span<std::byte> ServiceWire::slot(std::size_t place) const {
  return pages_.bytes().subspan(place * kSlotBytes, kSlotBytes);
}

std::vector<ChannelEnd> ServiceWire::ends() const {
  std::vector<ChannelEnd> ends;
  for (std::uint32_t r = 0; r < ranks_; ++r) {
    if (r == rank_) continue;
    ChannelEnd end;
    end.peer = r;
    end.small = true;
    end.channel = first_channel_ + rank_ * ranks_ + r;
    end.initiates = true;
    end.requests = kSends;
    ends.push_back(end);
    end.channel = first_channel_ + r * ranks_ + rank_;
    end.initiates = false;
    end.requests = kReceives;
    ends.push_back(end);
  }
  return ends;
}

void ServiceWire::start() {
  {
    const std::lock_guard lock(mutex_);
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      for (std::size_t i = 0; i < kReceives && r != rank_; ++i) {
        unposted_.push_back(r * kReceives + i);
      }
    }
  }
  while (true) {
    tend();
    const std::lock_guard lock(mutex_);
    if (unposted_.empty()) return;
  }
}

WorkRequest ServiceWire::receive_into(std::size_t place) const {
  WorkRequest request;
  request.kind = RequestKind::kRecv;
  const auto from = static_cast<std::uint32_t>(place / kReceives);
  request.channel = first_channel_ + from * ranks_ + rank_;
  request.tag = CallPort::kServiceTag | kReceived | place;
  return request;
}

void ServiceWire::send(std::uint32_t to, Kind kind, std::span<const std::byte> bytes) {
  if (bytes.size() > kMostBytes) throw InternalError("a message to a service thread is too long");
  ByteWriter writer;
  writer.add(kind);
  writer.add_all(bytes);
  {
    const std::lock_guard lock(mutex_);
    outgoing_.push_back({to, writer.take()});
  }
  tend();
}

bool ServiceWire::tend() {
  for (bool moved = false;; moved = true) {
    WorkRequest request;
    std::size_t place = 0;
    Outgoing message;
    Segment segment{nullptr, kSlotBytes, registered_.handle};
    {
      const std::lock_guard lock(mutex_);
      if (!unposted_.empty()) {
        place = unposted_.front();
        unposted_.pop_front();
        request = receive_into(place);
      } else if (!outgoing_.empty() && !unused_.empty()) {
        message = std::move(outgoing_.front());
        outgoing_.pop_front();
        place = unused_.back();
        unused_.pop_back();
        std::ranges::copy(message.bytes, slot(place).begin());
        segment.bytes = message.bytes.size();
        request.kind = RequestKind::kSend;
        request.channel = first_channel_ + rank_ * ranks_ + message.to;
        request.tag = CallPort::kServiceTag | place;
      } else {
        return moved;
      }
    }
    segment.data = slot(place).data();
    request.local = {&segment, 1};
    if (port_.post(request)) continue;
    const std::lock_guard lock(mutex_);
    if (request.kind == RequestKind::kRecv) {
      unposted_.push_front(place);
    } else {
      unused_.push_back(place);
      outgoing_.push_front(std::move(message));
    }
    return moved;
  }
}

void ServiceWire::complete(const Completion& completion) {
  const std::size_t place = completion.tag & ~(CallPort::kServiceTag | kReceived);
  if ((completion.tag & kReceived) == 0) {
    {
      const std::lock_guard lock(mutex_);
      unused_.push_back(place);
    }
    tend();
    return;
  }
  const auto from = static_cast<std::uint32_t>(place / kReceives);
  const auto whole = slot(place).first(std::min<std::uint64_t>(completion.bytes, kSlotBytes));
  Kind kind = Kind::kRequest;
  Bytes bytes = read_from(from, "message to a service thread", whole, [&](ByteReader& reader) {
    kind = reader.choice(Kind::kAnswer);
    const std::span<const std::byte> rest = reader.rest();
    return Bytes(rest.begin(), rest.end());
  });
  // The sender may send the next as soon as it has heard of this one.
  {
    const std::lock_guard lock(mutex_);
    unposted_.push_back(place);
  }
  tend();
  const std::lock_guard lock(mutex_);
  if (kind == Kind::kRequest) {
    requests_.push_back({from, std::move(bytes)});
  } else {
    answers_[from].push_back(std::move(bytes));
  }
}

std::optional<ServiceWire::Message> ServiceWire::take_request() {
  const std::lock_guard lock(mutex_);
  if (requests_.empty()) return std::nullopt;
  Message message = std::move(requests_.front());
  requests_.pop_front();
  return message;
}

bool ServiceWire::has_request() const {
  const std::lock_guard lock(mutex_);
  return !requests_.empty();
}

std::optional<Bytes> ServiceWire::take_answer(std::uint32_t from) {
  const std::lock_guard lock(mutex_);
  std::deque<Bytes>& answers = answers_[from];
  if (answers.empty()) return std::nullopt;
  Bytes bytes = std::move(answers.front());
  answers.pop_front();
  return bytes;
}

bool ServiceWire::is_quiet() const {
  const std::lock_guard lock(mutex_);
  return outgoing_.empty() && unused_.size() == kSends;
}

}  // namespace slackline::hw
