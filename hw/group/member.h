// One group at one member: messages one after the other, then a close that all agree on, or a
// failure that the survivors settle. What it decides is machine/group/core.h's; here are the
// transport and the bytes. Used by the completion thread alone; never waits.
//
// A group has a transport of its own, which ends with it. So what is under way in a group that
// fails never holds up another, nor outlives it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hw/executor.h"
#include "hw/group.h"
#include "hw/group/control.h"
#include "hw/group/port.h"
#include "hw/group/small_messages.h"
#include "hw/group/status_table.h"
#include "hw/watched_time.h"
#include "machine/group/core.h"

namespace slackline::hw {

struct GroupSetup {
  std::uint32_t id = 0;
  std::vector<std::uint32_t> ranks;  // by member
  std::uint32_t self = 0;            // this rank's place
  std::shared_ptr<GroupPlan> plan;
  bool atomic_delivery = false;
  SmallShape small;
  GroupCallbacks callbacks;
  std::uint32_t name = 0;  // agreed on; no other group ever has it
  std::chrono::milliseconds timeout{30'000};
  std::chrono::milliseconds failure_timeout{2'000};
};

/// What a member needs to know of another.
struct GroupAddress {
  Address address;
  RemoteMemory table;
  RemoteMemory small;
};

class GroupMember final : private machine::GroupHost {
 public:
  using Clock = std::chrono::steady_clock;
  /// Tells a rank something over the mesh; it need not arrive.
  using Tell = std::function<void(std::uint32_t rank, const GroupControl& control)>;

  /// Throws as the transport does.
  GroupMember(std::unique_ptr<Transport> transport, GroupSetup setup, Tell tell);
  GroupMember(const GroupMember&) = delete;
  GroupMember& operator=(const GroupMember&) = delete;

  /// Opens the channels; what the others need to know.
  GroupAddress open();
  /// `addresses` by member, of a mesh of so many ranks. Peers may send from now on. Does nothing,
  /// as start() does, if the group has failed meanwhile.
  void connect(std::span<const GroupAddress> addresses, std::uint32_t ranks);
  /// All members are connected.
  void start();

  const GroupSetup& setup() const { return setup_; }
  /// The place of a rank among the members, if it is one.
  std::optional<std::uint32_t> member(std::uint32_t rank) const;

  /// Whether a message of so many bytes goes without blocks.
  bool is_small(std::uint64_t bytes) const { return setup_.small.takes(bytes); }
  /// At the root. `how` may be null of a small message.
  void send(std::span<std::byte> message, std::shared_ptr<const GroupMessage> how);
  /// The application wants to close. closing() answers once that has come to an end.
  void close() { core_.close(); }
  const std::optional<GroupClosing>& closing() const { return closing_; }
  /// Any thread: the rank whose fault it is that the group has failed, if it has.
  std::optional<std::uint32_t> failure() const {
    const std::uint32_t member = failed_;
    if (member == kNobody) return std::nullopt;
    return setup_.ranks[member];
  }

  /// Sees what has completed, and what time it is. Answers whether anything has completed.
  bool poll();
  void hear(std::uint32_t member, const GroupControl& control) { core_.hear(member, control); }
  /// A member is lost. `reachable`: it lives all the same, and has something to say.
  void lose(std::uint32_t member, const std::string& how, bool reachable) {
    core_.lose(member, how, reachable);
  }
  /// A member's process has no groups any more.
  void see_left(std::uint32_t member) { core_.see_left(member); }
  /// This member leaves the group, which fails.
  void leave(const std::string& why) { core_.leave(why); }
  /// …and nobody can be heard or reached any more.
  void cut_off(const std::string& why) { core_.cut_off(why); }
  /// No callbacks from now on.
  void silence() { setup_.callbacks = {}; }
  /// Goes on from what poll() has seen. Answers whether anything happened. Throws what callbacks
  /// throw.
  bool progress();
  /// Whether it waits for what nobody will wake it for: writes of peers, and words over the mesh.
  bool watches() const { return core_.waits_for_others() || small_ != nullptr; }

  /// The transport, to sleep on; null once the group has ended.
  Transport* transport() { return transport_.get(); }
  /// closing(): what must stay in place, since a lost member that lives may still write there.
  std::shared_ptr<void> leftover() { return std::move(leftover_); }

 private:
  static constexpr std::uint32_t kNobody = 0xffffffffu;
  struct Outgoing {
    std::span<std::byte> message;
    std::shared_ptr<const GroupMessage> how;
  };
  // The message under way.
  struct Current {
    std::span<std::byte> message;
    std::shared_ptr<const GroupMessage> how;
    std::optional<LocalMemory> registered;
    std::unique_ptr<Executor> executor;
  };

  bool is_root() const { return setup_.self == 0; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(setup_.ranks.size()); }
  std::vector<ChannelEnd> ends() const;
  std::uint32_t table_channel(std::uint32_t from, std::uint32_t to) const;
  std::uint32_t small_channel(std::uint32_t other, bool to_other) const;

  bool dispatch();
  void take(const Completion& completion);
  void trouble(const Error& error);
  bool progress_open();
  bool begin_next();
  bool begin_at_root();
  bool take_small();
  std::optional<std::span<std::byte>> memory_for(std::uint64_t bytes);
  void begin(std::span<std::byte> message, std::shared_ptr<const GroupMessage> how);
  void finish_current();
  void finish(std::span<std::byte> message);

  // What the core asks.
  double now_s() const override;
  void tell(std::uint32_t member, const GroupSaying& saying) override;
  bool is_idle() const override { return queue_.empty() && !current_; }
  bool is_written_everywhere() const override {
    return (!table_ || table_->settled()) && (!small_ || small_->settled());
  }
  void complete() override;
  void stop() override;
  void report_failure(std::uint32_t member) override;
  void end() override;

  GroupSetup setup_;
  Tell tell_;
  // What the core takes for the time. It stands still with this process, and hardly moves on while
  // callbacks keep the completion thread: meanwhile nobody can be heard.
  WatchedTime time_;
  machine::GroupCore core_;
  std::unique_ptr<std::byte[]> bounce_;
  std::unique_ptr<Transport> transport_;
  LocalMemory bounce_memory_;
  std::unique_ptr<GroupPort> port_;
  std::unique_ptr<StatusTable> table_;
  std::unique_ptr<SmallMessages> small_;

  std::deque<Completion> completions_;
  std::optional<std::string> trouble_;  // the transport is of no use any more
  Clock::time_point trouble_since_;

  std::deque<Outgoing> queue_;  // root
  std::optional<Current> current_;
  std::deque<std::span<std::byte>> waiting_;    // messages that stand here and are not complete
  std::atomic<std::uint32_t> failed_{kNobody};  // the member whose fault it is
  std::optional<GroupClosing> closing_;
  std::shared_ptr<void> leftover_;
};

}  // namespace slackline::hw
