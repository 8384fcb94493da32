// Messages that meet by their source, their destination and a tag, in their order and of whatever
// size, as other tools have it.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sched/builder.h"

namespace slackline::sched {

struct TaggedEnds {
  RankId src;
  RankId dst;
  std::uint32_t tag = 0;
  friend auto operator<=>(const TaggedEnds&, const TaggedEnds&) = default;
};

/// Of what the rank sends to the peer, or receives from it.
inline TaggedEnds tagged_ends(std::uint32_t rank, bool sends, std::uint32_t peer,
                              std::uint32_t tag) {
  return {RankId(sends ? rank : peer), RankId(sends ? peer : rank), tag};
}

/// A `Place` is where one stands in its file.
template <class Place>
class TaggedMessages {
 public:
  /// Messages of up to `eager_bytes` are buffered, if that is given, and have a channel apart.
  explicit TaggedMessages(std::optional<std::uint64_t> eager_bytes = std::nullopt)
      : eager_bytes_(eager_bytes) {}

  Service service_of(std::uint64_t bytes) const {
    return eager_bytes_ && bytes <= *eager_bytes_ ? Service::kEager : Service::kReliable;
  }

  /// The next one.
  void add(const TaggedEnds& ends, bool sends, Place place) {
    added(ends, sends, std::move(place));
  }
  /// The same, and the channel that it goes over, which is made for the first.
  ChannelId add(const TaggedEnds& ends, bool sends, Place place, std::uint64_t bytes,
                ScheduleBuilder& builder) {
    Messages& all = added(ends, sends, std::move(place));
    Channel channel;
    channel.src = ends.src;
    channel.dst = ends.dst;
    channel.service = service_of(bytes);
    ChannelId& on = channel.service == Service::kEager ? all.eager : all.channel;
    if (!on.valid()) on = builder.add_channel(channel);
    return on;
  }

  /// pair(ends, sent, received) of those that meet, and lone(ends, k, sends, place) of those that
  /// do not, the k-th of their ends.
  template <class Pair, class Lone>
  void each(const Pair& pair, const Lone& lone) const {
    for (const auto& [ends, all] : messages_) {
      const std::size_t count = std::max(all.sent.size(), all.received.size());
      for (std::size_t k = 0; k < count; ++k) {
        const bool sends = k < all.sent.size();
        if (sends && k < all.received.size()) {
          pair(ends, all.sent[k], all.received[k]);
        } else {
          lone(ends, k, sends, sends ? all.sent[k] : all.received[k]);
        }
      }
    }
  }

 private:
  struct Messages {
    ChannelId channel;
    ChannelId eager;
    std::vector<Place> sent;
    std::vector<Place> received;
  };

  Messages& added(const TaggedEnds& ends, bool sends, Place place) {
    Messages& all = messages_[ends];
    (sends ? all.sent : all.received).push_back(std::move(place));
    return all;
  }

  std::optional<std::uint64_t> eager_bytes_;
  std::map<TaggedEnds, Messages> messages_;
};

}  // namespace slackline::sched
