// Writes with immediate that have arrived, and the receives that wait for them: libfabric matches
// messages, and leaves these to us.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>

#include "hw/transport.h"

namespace slackline::hw {

class FabricNotices {
 public:
  /// Of channels that are not open, so many are remembered, all together: the other side may begin
  /// to write before this one has opened. Who writes more is no rank of this run.
  static constexpr std::size_t kMostUnopened = 4096;

  /// `provider` is for errors.
  explicit FabricNotices(std::string provider) : provider_(std::move(provider)) {}

  /// The receiving end is opened: what came before counts. And closed: nothing of it is left.
  void open(std::uint32_t channel);
  void close(std::uint32_t channel) { channels_.erase(channel); }

  /// A receive with this tag waits on an open channel, and is complete if its write is here.
  std::optional<Completion> expect(std::uint32_t channel, std::uint64_t tag);
  /// A write is here; what it completes. Throws EnvironmentError beyond kMostUnopened.
  std::optional<Completion> arrived(std::uint32_t channel, std::uint32_t immediate);

 private:
  struct Channel {
    bool is_open = false;
    std::deque<std::uint64_t> expected;  // tags
    std::deque<std::uint32_t> early;     // immediates
  };
  const std::string provider_;
  std::unordered_map<std::uint32_t, Channel> channels_;  // only ever looked up
  std::size_t unopened_ = 0;                             // immediates of channels that are not open
};

}  // namespace slackline::hw
