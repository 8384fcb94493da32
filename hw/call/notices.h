// Who waits for which reply: tokens that travel with calls and come back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hw/call/types.h"

namespace slackline::hw {

class CallNotices {
 public:
  /// For so many replies. `result`: where the bytes of a reply go.
  std::uint32_t open(SyncState* state, std::span<std::byte> result, std::uint32_t replies);
  /// The call was not taken after all.
  void withdraw(std::uint32_t token);

  /// A reply has come. These throw BadBytes if nobody waits for it, or it has another size.
  void replied(std::uint32_t token, std::span<const std::byte> result);
  /// …of a call that has thrown. Without a token, or a synchroniser, it is kept for the caller.
  void failed(std::uint32_t token, std::uint32_t rank, const std::string& text);

  /// One of the replies will not come: it failed as `text` says, at `rank`, before it was a call.
  static void fail(SyncState& state, std::uint32_t rank, const std::string& text);

  void forget(const SyncState* state);

  /// Throws the first failure that was kept, saying how many more there were; forgets them.
  void throw_kept();

 private:
  struct Notice {
    SyncState* state = nullptr;
    std::span<std::byte> result;
    std::uint32_t left = 0;
  };
  Notice& at(std::uint32_t token);
  void one_less(std::uint32_t token);
  void keep(std::uint32_t rank, const std::string& text);

  std::vector<Notice> notices_;  // by token
  std::vector<std::uint32_t> free_;
  std::uint64_t kept_ = 0;
  std::uint32_t kept_rank_ = 0;  // of the first
  std::string kept_text_;
};

}  // namespace slackline::hw
