// A group's share of a transport, as the executor of one message sees it: channels of the message's
// schedule become the group's lines, and blocks carry the message's size as their immediate.
//
// A member cannot post the receive of a message's first block when the message begins, for that
// block is what tells it. So between messages the port keeps that receive posted, with its credit
// sent, and at the other end of the line the receive of that credit. When the executor comes to
// post any of these three, the port hands it what is under way, or done, instead.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hw/executor.h"
#include "hw/transport.h"
#include "machine/group/plan.h"

namespace slackline::hw {

using machine::GroupLine;
using machine::GroupMessage;
using machine::GroupPlan;
using machine::GroupShape;
using machine::kNoLine;

class GroupPort final : public Transport {
 public:
  /// Line l is the transport's channel l; tags are below kOtherTags. `bounce` is registered memory
  /// of a block. Nothing is posted yet.
  GroupPort(Transport& transport, std::shared_ptr<GroupPlan> plan, std::uint32_t self,
            Segment bounce);

  static constexpr std::uint64_t kOtherTags = std::uint64_t{1} << 32;

  /// This member's ends of the lines, for peers by member.
  std::vector<ChannelEnd> ends(std::span<const std::uint32_t> rank_of_member) const;

  /// Posts what is posted ahead of a message, as far as it is not.
  void post_ahead();
  /// Posts what there was no room for. Answers whether nothing is left.
  bool flush();
  /// The size that the first block told, once it is here.
  std::optional<std::uint32_t> arrived() const;

  /// From here to end() the port serves the executor of a message of so many bytes.
  void begin(const GroupMessage& message, std::uint32_t bytes, Executor& executor);
  /// One round of the executor. Answers whether anything happened.
  bool progress();
  void end() { message_ = nullptr; }

  /// A completion with a tag of this port.
  void take(const Completion& completion);

  // As the executor sees it.
  std::string_view name() const override { return transport_.name(); }
  LocalMemory register_memory(std::span<std::byte> memory) override {
    return transport_.register_memory(memory);
  }
  void unregister_memory(const LocalMemory& memory) override {
    transport_.unregister_memory(memory);
  }
  std::size_t post(std::span<const WorkRequest> requests) override;
  std::size_t max_segments() const override { return transport_.max_segments(); }
  bool completes_in_order() const override { return transport_.completes_in_order(); }
  bool writes_in_order() const override { return transport_.writes_in_order(); }
  bool has_atomics() const override { return false; }
  void wait(std::chrono::nanoseconds timeout, int also) override { transport_.wait(timeout, also); }
  // The group does these.
  Address open(std::span<const ChannelEnd>) override;
  void connect(std::span<const Address>) override;
  void close(std::span<const ChannelEnd>) override;
  std::size_t poll(std::span<Completion>) override;

 private:
  enum class Ahead : std::uint8_t { kNothing, kWanted, kPosted, kDone };
  struct Line {
    Ahead receive = Ahead::kNothing;
    Ahead send = Ahead::kNothing;        // of a credit
    Completion arrived;                  // receive: kDone
    std::optional<std::uint64_t> bound;  // the executor's tag for the receive posted ahead
  };

  std::uint32_t line_of(const WorkRequest& request) const {
    return message_->line_of_channel[request.channel];
  }
  bool is_ahead(RequestKind kind, std::uint32_t line) const;
  void absorb(const WorkRequest& request, std::uint32_t line);
  void hand_to_executor(Completion completion, std::uint32_t op);

  Transport& transport_;
  std::shared_ptr<GroupPlan> plan_;
  std::uint32_t self_;
  Segment bounce_;
  std::vector<Line> lines_;
  // Of the port's own: what is to be posted, in this order.
  struct Own {
    RequestKind kind;
    std::uint32_t line;
  };
  std::deque<Own> waiting_;

  const GroupMessage* message_ = nullptr;
  std::uint32_t bytes_ = 0;
  Executor* executor_ = nullptr;
  std::deque<Completion> handed_;
  std::vector<WorkRequest> batch_;
};

}  // namespace slackline::hw
