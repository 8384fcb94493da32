// Where values of many owners stand that come by turns and are never moved: each owner's together
// for a while, and those that come at once in a row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace slackline::base {

class OwnerRows {
 public:
  /// Each owner has room for `room` values at a time, of which it may leave some unused.
  OwnerRows(std::uint32_t owners, std::size_t room) : room_(room), rooms_(owners) {}

  /// Puts the values of an owner, which is below `owners`, in a row and returns the place of the
  /// first. What is left unused holds copies of others. The table is this one's alone.
  template <class Value>
  std::size_t add(std::uint32_t owner, std::span<const Value> values, std::vector<Value>& table) {
    Room& room = rooms_[owner];
    if (room.left < values.size()) {
      room = {table.size(), std::max(room_, values.size())};
      table.resize(room.next + room.left, values.front());
    }
    std::copy(values.begin(), values.end(), table.data() + room.next);
    room.left -= values.size();
    return std::exchange(room.next, room.next + values.size());
  }

 private:
  struct Room {
    std::size_t next = 0;
    std::size_t left = 0;
  };

  std::size_t room_;
  std::vector<Room> rooms_;  // by owner
};

}  // namespace slackline::base
