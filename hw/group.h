// RDMC's groups (sections 3 and 4.1): replicate messages of any size from one member, the root, to
// all others, along a schedule of Slackline's: the very one that is compiled, simulated and run
// elsewhere.
//
//   Mesh mesh(…);
//   Groups groups(mesh, [] { return make_transport("shm", {}); });
//   groups.create_group(7, {0, 2, 3}, {.incoming = …, .completion = …, .failure = …});
//   if (mesh.rank() == 0) groups.send(7, bytes);
//   const GroupClosing closing = groups.destroy_group(7);  // closing.delivered
//
// Guarantees. Messages of a group arrive whole, once, in the order in which the root sent them. If
// destroy_group() says `delivered`, every message came to every member. When a member is lost, its
// groups fail: nothing more is sent in them, every survivor's `failure` is called once, and its
// destroy_group() names the member; other groups go on. Messages that were completed before are
// right; the one under way may have come to some members and not to others, unless the group has
// `atomic_delivery`.
//
// Atomic delivery (section 4.6). `completion` is called only once every member is known to have the
// message. When the group fails, the survivors settle which messages all of them have (see
// machine/group/settlement.h) and complete just these, before `failure`: a message completes at all
// survivors, or at none. What a member had completed before it was lost, all survivors complete.
// (A member that others take for lost, though it lives, is no survivor: its own `failure` is
// called, and what it completed before is a part of what survivors complete.)
//
// Threads. One thread, made here, serves all groups and makes all callbacks, one at a time. A
// callback may call send(), and should not take long: meanwhile nothing moves in any group. It must
// not call create_group() or destroy_group(), which wait for that thread. All other threads may
// call everything.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hw/mesh.h"
#include "hw/transport.h"
#include "sched/pass/lower_credits.h"

namespace slackline::hw {

struct GroupCallbacks {
  /// Not at the root: a message of so many bytes is coming; where is it to stand? At least as many
  /// bytes, which are the group's until completion() or, if that never comes, until destroy_group()
  /// has returned. (RDMC's incoming_message_callback.)
  std::function<std::span<std::byte>(std::size_t bytes)> incoming;
  /// The message is there, in the bytes that incoming() gave; at the root: the bytes given to
  /// send() may be used again. Other members may not have all of it yet, unless delivery is atomic.
  std::function<void(std::span<std::byte> message)> completion;
  /// The group has failed since this rank was lost, or left the group for a reason of its own. At
  /// most once. Of messages that did not complete, completion() is never called; their bytes are
  /// the group's until destroy_group() has returned.
  std::function<void(std::uint32_t rank)> failure;
};

/// All members give the same.
struct GroupOptions {
  /// One of group_patterns(), in machine/group/plan.h.
  std::string pattern = "binomial-pipeline";
  std::uint64_t block_bytes = 1 << 20;
  /// Blocks a member has under way at once, as RDMC; 0: no bound.
  std::uint32_t in_flight = 1;
  /// kSend: a message without bytes tells that a receive is posted, as RDMC's code does; kNone: a
  /// block may come before its receive, which is up to the transport.
  sched::Ready ready = sched::Ready::kSend;
  /// Receives posted ahead.
  std::uint32_t window = 1;
  bool atomic_delivery = false;
  /// Messages of at most so many bytes do not go in blocks along the pattern: the root writes them
  /// into a ring of `small_slots` slots at every member, as Derecho does up to 10,240 bytes
  /// (hw/group/small_messages.h). The order of messages is kept across both ways. 0: none go so.
  /// At most kMostSmallBytes. Members of such a group look at their memory all the time.
  std::uint64_t small_bytes = 0;
  /// 1 to 65536.
  std::uint32_t small_slots = 16;
};

/// The largest GroupOptions::small_bytes.
inline constexpr std::uint64_t kMostSmallBytes = 1 << 20;

/// How a group ended.
struct GroupClosing {
  /// Every message came to every member.
  bool delivered = false;
  /// Messages that were completed here.
  std::uint64_t messages = 0;
  /// Not delivered: whose fault that is, and how it showed.
  std::optional<std::uint32_t> rank;
  std::string why;
};

struct GroupsOptions {
  /// How long create_group() and destroy_group() wait for a member that lives and does nothing.
  /// Time in which this process stood still, or a callback kept its completion thread, hardly
  /// counts for destroy_group().
  std::chrono::milliseconds timeout{30'000};
  /// The completion thread polls for so long after something happened, then sleeps (section 4.2).
  std::chrono::microseconds poll_for{50'000};
  /// As MeshOptions::failure_timeout. A process that was stopped for a quarter of it asks its peers
  /// whether they still count it in, before it believes what it received.
  std::chrono::milliseconds failure_timeout{2'000};
};

/// One per process. Members are ranks of the mesh.
///
/// Every group has a transport of its own: what a lost member leaves undone in it holds up no other
/// group, and closing it is what takes the application's memory back.
class Groups {
 public:
  using MakeTransport = std::function<std::unique_ptr<Transport>()>;

  /// The mesh must outlive this. `make_transport` is called by create_group(), in its thread.
  Groups(Mesh& mesh, MakeTransport make_transport, const GroupsOptions& options = {});
  /// Leaves groups that were not destroyed, which fails them.
  ~Groups();
  Groups(const Groups&) = delete;
  Groups& operator=(const Groups&) = delete;

  /// The first member is the root. All members call it, with the same members in the same order and
  /// the same options; members that share several groups create them in the same order. `id` is
  /// below 2^24 and names one group at a time. Returns when all members have. Throws
  /// - InputError for arguments out of range, from within a callback, and if members do not agree,
  ///   naming two of them and what they gave: the id is then best not used again;
  /// - Unsupported for a pattern that groups cannot take;
  /// - PeerLost if a member is lost, has left, or does not call it within the timeout;
  /// - EnvironmentError as the transport does.
  void create_group(std::uint32_t id, std::span<const std::uint32_t> members,
                    GroupCallbacks callbacks, const GroupOptions& options = {});
  void create_group(std::uint32_t id, std::initializer_list<std::uint32_t> members,
                    GroupCallbacks callbacks, const GroupOptions& options = {}) {
    create_group(id, std::span(members.begin(), members.end()), std::move(callbacks), options);
  }

  /// At the root: sends to all other members, after what was sent before. Returns at once;
  /// `message` is the group's until completion(). At most 2^32 − 1 bytes, for the size travels in
  /// 32 bits. Throws InputError if there is no such group, this rank is not its root, or the
  /// message is too long; PeerLost once the group has failed.
  void send(std::uint32_t id, std::span<std::byte> message);

  /// All members call it; it returns when all messages that were sent before it have come to all
  /// members, or the group has failed and nothing of it is under way any more. Throws InputError if
  /// there is no such group, or from within a callback.
  GroupClosing destroy_group(std::uint32_t id);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace slackline::hw
