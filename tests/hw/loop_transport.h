// A transport within one process, for tests of what an executor posts and when: messages are copied
// when both halves are there. Everything is in the open, and can be held back.
#pragma once

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "hw/transport.h"

namespace slackline::testing {

class LoopTransport;

/// What the transports of all ranks share.
struct Loop {
  struct Half {
    hw::WorkRequest request;
    std::vector<hw::Segment> segments;
    LoopTransport* at = nullptr;
    std::weak_ptr<const bool> open;  // until the transport ends, and its memory with it
  };
  struct Channel {
    std::deque<Half> sends;
    std::deque<Half> receives;
    std::deque<std::uint32_t> writes;  // immediates without their receives
    std::deque<Half> write_receives;
  };
  std::map<std::uint32_t, Channel> channels;
};

class LoopTransport final : public hw::Transport {
 public:
  explicit LoopTransport(Loop& loop) : loop_(loop) {}

  bool in_order = false;
  bool ordered_writes = true;
  bool atomics = true;
  bool bitwise = true;                  // and, or and xor among them
  bool held = false;                    // completions stay where they are
  std::size_t room = 1000;              // requests taken per poll
  std::set<std::uint32_t> full;         // channels of which none are taken
  std::vector<hw::WorkRequest> posted;  // without their segments, in order
  std::size_t open_ends = 0;
  std::size_t registered = 0;

  std::string_view name() const override { return "loop"; }
  hw::LocalMemory register_memory(std::span<std::byte> memory) override {
    ++registered;
    return {7, {reinterpret_cast<std::uint64_t>(memory.data()), 11}};
  }
  void unregister_memory(const hw::LocalMemory&) override { --registered; }
  hw::Address open(std::span<const hw::ChannelEnd> ends) override {
    open_ends += ends.size();
    return hw::Address(1);
  }
  void connect(std::span<const hw::Address>) override {}
  void close(std::span<const hw::ChannelEnd> ends) override {
    open_ends -= ends.size();
    for (const hw::ChannelEnd& end : ends) {
      Loop::Channel& channel = loop_.channels[end.channel];
      (end.initiates ? channel.sends : channel.receives).clear();
    }
  }
  void wait(std::chrono::nanoseconds, int) override {}
  std::size_t max_segments() const override { return 4; }
  bool completes_in_order() const override { return in_order; }
  bool writes_in_order() const override { return ordered_writes; }
  bool has_atomics() const override { return atomics; }
  bool has_bitwise_atomics() const override { return bitwise; }

  std::size_t post(std::span<const hw::WorkRequest> requests) override {
    std::size_t taken = 0;
    for (const hw::WorkRequest& request : requests) {
      if (room == 0 || full.contains(request.channel)) break;
      --room;
      ++taken;
      posted.push_back(request);
      posted.back().local = {};
      start({request, {request.local.begin(), request.local.end()}, this, open_});
    }
    return taken;
  }

  std::size_t poll(std::span<hw::Completion> completions) override {
    room = room_per_poll;
    std::size_t count = 0;
    while (!held && count < completions.size() && !ready_.empty()) {
      completions[count++] = ready_.front();
      ready_.pop_front();
    }
    return count;
  }
  std::size_t room_per_poll = 1000;

 private:
  void complete(const Loop::Half& half, std::uint32_t immediate = 0, std::uint64_t bytes = 0) {
    if (!half.request.signalled) return;
    ready_.push_back({half.request.tag, half.request.kind, immediate, bytes});
  }

  static std::uint64_t bytes_of(const std::vector<hw::Segment>& segments) {
    std::uint64_t bytes = 0;
    for (const hw::Segment& segment : segments) bytes += segment.bytes;
    return bytes;
  }

  static void copy(const std::vector<hw::Segment>& from, const std::vector<hw::Segment>& to) {
    std::vector<std::byte> bytes;
    for (const hw::Segment& segment : from) {
      bytes.insert(bytes.end(), segment.data, segment.data + segment.bytes);
    }
    std::size_t used = 0;
    for (const hw::Segment& segment : to) {
      const std::size_t count = std::min(segment.bytes, bytes.size() - used);
      std::copy_n(bytes.data() + used, count, segment.data);
      used += count;
    }
  }

  static void act(const hw::WorkRequest& request, std::byte* result) {
    std::byte* const place = std::bit_cast<std::byte*>(request.remote.address);
    std::uint64_t word = 0;
    std::memcpy(&word, place, 8);
    std::memcpy(result, &word, 8);
    switch (request.kind) {
      case hw::RequestKind::kFetchAdd:
        word += request.operand;
        break;
      case hw::RequestKind::kFetchAnd:
        word &= request.operand;
        break;
      case hw::RequestKind::kFetchOr:
        word |= request.operand;
        break;
      case hw::RequestKind::kFetchXor:
        word ^= request.operand;
        break;
      default:
        if (word == request.compare) word = request.operand;
    }
    std::memcpy(place, &word, 8);
  }

  void start(const Loop::Half& half) {
    if (is_atomic(half.request.kind)) {
      act(half.request, half.segments.at(0).data);
      return complete(half);
    }
    Loop::Channel& channel = loop_.channels[half.request.channel];
    switch (half.request.kind) {
      case hw::RequestKind::kSend:
        channel.sends.push_back(half);
        break;
      case hw::RequestKind::kRecv:
        (half.request.expects_write ? channel.write_receives : channel.receives).push_back(half);
        break;
      default: {
        std::byte* place = std::bit_cast<std::byte*>(half.request.remote.address);
        for (const hw::Segment& segment : half.segments) {
          const bool read = half.request.kind == hw::RequestKind::kRead;
          std::memcpy(read ? segment.data : place, read ? place : segment.data, segment.bytes);
          place += segment.bytes;
        }
        if (half.request.kind == hw::RequestKind::kWriteImm) {
          channel.writes.push_back(half.request.immediate);
        }
        complete(half);
      }
    }
    for (std::deque<Loop::Half>* const halves :
         {&channel.sends, &channel.receives, &channel.write_receives}) {
      while (!halves->empty() && halves->front().open.expired()) halves->pop_front();
    }
    while (!channel.sends.empty() && !channel.receives.empty()) {
      const Loop::Half send = channel.sends.front();
      const Loop::Half receive = channel.receives.front();
      channel.sends.pop_front();
      channel.receives.pop_front();
      copy(send.segments, receive.segments);
      send.at->complete(send);
      receive.at->complete(receive, send.request.immediate, bytes_of(send.segments));
    }
    while (!channel.writes.empty() && !channel.write_receives.empty()) {
      const Loop::Half receive = channel.write_receives.front();
      receive.at->complete(receive, channel.writes.front());
      channel.writes.pop_front();
      channel.write_receives.pop_front();
    }
  }

  Loop& loop_;
  const std::shared_ptr<const bool> open_ = std::make_shared<bool>(true);
  std::deque<hw::Completion> ready_;
};

}  // namespace slackline::testing
