// How the members of a group come to be of one mind before it is made: rounds in which each tells
// all others something, over the mesh.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "hw/bytes.h"
#include "hw/mesh.h"

namespace slackline::hw {

/// What a member wants, and must want like all others.
struct GroupWish {
  std::uint32_t id = 0;
  std::vector<std::uint32_t> ranks;  // by member
  std::string options;               // in words
};

class GroupMeeting {
 public:
  GroupMeeting(Mesh& mesh, GroupWish wish, std::chrono::milliseconds timeout);

  /// The first round: all tell their wish, and the root something besides, which it answers. Throws
  /// InputError if wishes differ, naming two members and what they want; and as exchange().
  std::uint32_t agree(std::uint32_t from_root);

  /// A further round: what each member gave, by member. Throws PeerLost if one is lost, has left
  /// or does not come within the timeout; and what a member refuse()d for.
  std::vector<Bytes> exchange(std::span<const std::byte> bytes);

  /// Instead of a round: this member cannot go on, so that no other need wait for it.
  void refuse(const std::exception& error) noexcept;

 private:
  void tell(std::span<const std::byte> bytes);
  std::vector<Bytes> hear();
  // What has come of a member and was not looked at.
  struct Member {
    bool has_wished = false;
    std::deque<Bytes> told;
  };
  void listen();
  bool hear(std::uint32_t rank, Member* member, ByteReader& reader);
  [[noreturn]] void throw_refusal(std::uint32_t from, ByteReader& reader) const;
  void compare(std::uint32_t rank, ByteReader& wish) const;

  Mesh& mesh_;
  GroupWish wish_;
  std::uint32_t topic_;
  std::chrono::steady_clock::time_point deadline_;
  std::chrono::milliseconds timeout_;
  std::uint32_t told_by_root_ = 0;
  std::vector<Member> inbox_;  // by member
};

}  // namespace slackline::hw
