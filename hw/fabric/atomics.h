// Atomics over a provider that has none (`net`): a request is a small message, which its target
// carries out on its own memory when it polls, and answers with the word's old value. One thread
// does all of a rank's, so they are atomic among themselves; the rank's own go the same way.
#pragma once

#include <rdma/fabric.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "hw/fabric/context.h"
#include "hw/transport.h"

namespace slackline::hw {

class FabricEndpoint;

/// Messages without a tag are for these alone. One that does not carry this end's salt is a
/// stranger's, and as if it had not come; so is one that names no channel which ends here, and one
/// that answers no request.
class FabricAtomics {
 public:
  /// The rank that initiates on a channel; nothing if none which ends here is open.
  using SourceOf = std::function<std::optional<FabricPeer>(std::uint32_t channel)>;

  /// The endpoint must outlive this. Throws EnvironmentError if nothing can be received.
  FabricAtomics(FabricEndpoint& endpoint, std::uint64_t salt, SourceOf source_of);
  FabricAtomics(const FabricAtomics&) = delete;
  FabricAtomics& operator=(const FabricAtomics&) = delete;

  /// Peers may act on it under this key.
  void add_memory(std::uint64_t key, std::span<std::byte> memory);
  void remove_memory(std::uint64_t key);

  /// An atomic, of which the completion is told when its answer comes. False if there is no room
  /// now.
  bool post(const WorkRequest& request, const FabricPeer& peer);

  /// Completion of a request whose context is of atomics: a message has come. What it completes, if
  /// it was an answer to a signalled request.
  std::optional<Completion> received(FabricContext* context);

  /// Sends the answers that there was no room for.
  void flush();

 private:
  enum class What : std::uint32_t { kAnswer = 100, kRefusal };  // above all of RequestKind
  struct Message {
    std::uint32_t what = 0;  // a RequestKind, or a What
    std::uint32_t channel = 0;
    std::uint64_t number = 0;   // of the request
    std::uint64_t address = 0;  // from the beginning of the memory
    std::uint64_t key = 0;
    std::uint64_t operand = 0;  // answer: the old value
    std::uint64_t compare = 0;
    std::uint64_t salt = 0;  // of the end that it goes to
  };
  struct Receive : FabricContext {
    Message message;
  };
  struct Answer {
    fi_addr_t place;
    Message message;
  };
  struct Waiting {
    std::uint64_t tag = 0;
    RequestKind kind = RequestKind::kFetchAdd;
    std::byte* result = nullptr;  // null: nobody waits
    bool signalled = true;
  };

  void listen(Receive& receive);
  Message carry_out(const Message& request);
  std::optional<Completion> finish(const Message& answer);

  FabricEndpoint& endpoint_;
  const std::uint64_t salt_;
  SourceOf source_of_;
  std::map<std::uint64_t, std::span<std::byte>> memory_;  // by key
  std::array<Receive, 32> receives_;
  std::shared_ptr<void> region_;  // of them, as registered
  void* descriptor_ = nullptr;
  std::deque<Answer> answers_;   // not yet sent
  std::deque<Waiting> waiting_;  // requests under way, and free places among them
  std::deque<std::uint64_t> free_;
};

}  // namespace slackline::hw
