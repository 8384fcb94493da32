// Where the calls of one channel land at their target (Seriema, section 4.4.1).
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/error.h"
#include "sched/workloads/calls/call.h"

namespace slackline::sched {

/// Records of equal size fill one chunk after the other. Chunks are obtained as they are needed, up
/// to the limit; then they are used in turn. A use is the filling of one chunk.
class CallChunks {
 public:
  /// `stride`: the bytes of a record. Throws InputError if a chunk holds none.
  CallChunks(const Spec& spec, std::uint64_t stride)
      : stride_(stride), messages_(spec.messages), at_once_(spec.own<CallOptions>().chunks) {
    const CallOptions& options = spec.own<CallOptions>();
    const std::uint64_t fit = options.chunk_bytes / stride;
    if (fit == 0) {
      throw InputError(fmt::format("chunk: {} bytes; expected at least the {} of a record",
                                   options.chunk_bytes, stride));
    }
    records_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(fit, messages_));
    uses_ = (messages_ - 1) / records_ + 1;
    chunks_ = std::min(options.chunk_limit, uses_);
  }

  /// Of all chunks, as far as they are used.
  std::uint64_t bytes() const {
    return std::min<std::uint64_t>(messages_, std::uint64_t{chunks_} * records_) * stride_;
  }
  std::uint64_t offset(std::uint32_t m) const {
    return (std::uint64_t{m / records_ % chunks_} * records_ + m % records_) * stride_;
  }
  /// Records that all chunks have room for.
  std::uint64_t places() const { return std::uint64_t{chunks_} * records_; }
  bool is_first(std::uint32_t m) const { return m % records_ == 0; }
  bool is_last(std::uint32_t m) const { return m % records_ == records_ - 1; }
  /// The use that call m belongs to.
  std::uint32_t use(std::uint32_t m) const { return m / records_; }
  /// Whether the caller obtains chunks for this use.
  bool obtains(std::uint32_t use) const { return use < chunks_ && use % at_once_ == 0; }
  std::uint32_t service(std::uint32_t use) const { return use / at_once_; }
  std::uint32_t services() const { return (chunks_ - 1) / at_once_ + 1; }
  std::uint32_t chunks() const { return chunks_; }
  /// The consumed offsets that are awaited: use u waits for the end of use u − chunks().
  std::uint32_t pushes() const { return uses_ - chunks_; }

 private:
  std::uint64_t stride_;
  std::uint32_t messages_;
  std::uint32_t at_once_;
  std::uint32_t records_;  // of each chunk
  std::uint32_t uses_;
  std::uint32_t chunks_;
};

}  // namespace slackline::sched
