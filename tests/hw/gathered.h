// Schedules of one channel that gathers messages of every kind.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/draft.h"

namespace slackline::testing {

/// Rank 0 gathers for rank 1: `kinds` of messages of so many bytes, each to a place of its own,
/// `apart` bytes from the next.
struct Gathered {
  Draft draft;
  ChannelId channel;

  Gathered(Bundle bundle, const std::string& kinds, std::uint64_t apart, bool flushes = false,
           std::uint64_t bytes = 24) {
    draft.ranks = 2;
    channel = draft.channel(0, 1);
    draft.channels[0].bundle = bundle;
    draft.channels[0].bundle_bytes = 100;
    draft.channels[0].window = 2;
    const std::uint64_t all = kinds.size() * (bytes + apart);
    const BufferId from = draft.buffer(0, all);
    const BufferId to = draft.buffer(1, all);
    std::vector<OpId> flags;
    for (std::uint32_t i = 0; i < kinds.size(); ++i) {
      const Slice source{from, i * bytes, bytes};
      const Slice target{to, i * (bytes + apart), bytes};
      if (kinds[i] == 'e') {  // a message of no bytes
        draft.send(channel, {});
        continue;
      }
      draft.pre.push_back({source, ValueId(i), 0});
      draft.post.push_back({target, ValueId(i), 0});
      switch (kinds[i]) {
        case 's':
          draft.send(channel, {source});
          break;
        case 'i':
          draft.put(channel, source, target, Notify::kImm);
          break;
        case 'f':
          flags.push_back(draft.put(channel, source, target, Notify::kFlag));
          break;
        default:
          draft.put(channel, source, target);
      }
    }
    if (flushes) draft.add(OpKind::kFlush, 0, channel);
    for (std::uint32_t i = 0; i < kinds.size(); ++i) {
      const Slice target{to, i * (bytes + apart), bytes};
      if (kinds[i] == 's') draft.recv(channel, {target});
      if (kinds[i] == 'i' || kinds[i] == 'e') draft.recv(channel);
      if (kinds[i] == 'f') draft.flag(flags[draft.flags.size()], draft.poll(1, {target}));
    }
  }
};

}  // namespace slackline::testing
