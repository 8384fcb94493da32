// What a rank keeps for each peer, itself included.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "hw/call/line.h"
#include "hw/call/receiver.h"
#include "hw/call/sender.h"
#include "hw/call/types.h"
#include "hw/pages.h"

namespace slackline::hw {

struct CallPeer {
  CallPeer(std::uint32_t its_rank, std::unique_ptr<CallLine> its_line,
           std::unique_ptr<CallSender> its_sender, std::unique_ptr<CallReceiver> its_receiver)
      : rank(its_rank),
        line(std::move(its_line)),
        sender(std::move(its_sender)),
        receiver(std::move(its_receiver)) {}

  const std::uint32_t rank;
  std::unique_ptr<CallLine> line;
  std::unique_ptr<CallSender> sender;
  std::unique_ptr<CallReceiver> receiver;
  CallTarget mark;             // where this rank tells it how many chunks are used up
  std::uint64_t consumed = 0;  // that many
  bool has_replies = false;    // gathered, and to be posted soon

  // The buffer that its next call wants read, and where it goes.
  bool reading = false;
  SyncState read;
  Pages scratch;
  LocalMemory scratch_registered;
};

}  // namespace slackline::hw
