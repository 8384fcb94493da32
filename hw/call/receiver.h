// One direction of calls, at its destination: reads records out of the chunks that were granted to
// the source, in their order, each once.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "hw/call/record.h"

namespace slackline::hw {

class CallReceiver {
 public:
  /// The id-th chunk granted to the source; empty if there is none yet.
  using FindChunk = std::function<std::span<std::byte>(std::uint32_t id)>;
  /// So many chunks are used up, in all.
  using TellConsumed = std::function<void(std::uint64_t chunks)>;

  CallReceiver(RecordStamps stamps, FindChunk find_chunk, TellConsumed tell_consumed);

  /// The next record if all of it is there, else null; it stays in place until pop(). Throws
  /// BadBytes if it names a chunk that is not there.
  std::byte* next();
  /// Of the record that next() answered.
  const RecordHead& head() const { return head_; }
  void pop();

 private:
  RecordStamps stamps_;
  const FindChunk find_chunk_;
  const TellConsumed tell_consumed_;
  std::span<std::byte> chunk_;
  std::size_t at_ = 0;
  std::uint64_t consumed_ = 0;
  RecordHead head_;
};

}  // namespace slackline::hw
