// A rank's service thread: it grants chunks and memory to other ranks, whatever the rank's own
// thread does, and keeps the transport moving while that does not (Seriema, sections 3 and 4.4.1).
// Requests for it, and its answers, are messages over the transport of calls
// (hw/call/service_wire.h). That a rank leaves is said over the mesh, or seen there.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "hw/call/port.h"
#include "hw/call/service_wire.h"
#include "hw/call/service_words.h"
#include "hw/call/types.h"
#include "hw/memory/budget.h"
#include "hw/memory/region_allocator.h"
#include "hw/mesh.h"
#include "hw/pages.h"

namespace slackline::hw {

/// Memory that was allocated here, for as long as this is held.
struct HeldMemory {
  std::shared_ptr<const void> keeps;  // null: there is no such memory
  std::span<std::byte> bytes;
  std::uint32_t handle = 0;  // LocalMemory::handle
};

class CallService {
 public:
  /// All references must outlive this. `first_channel`: of ranks² that are for requests alone.
  CallService(Mesh& mesh, CallPort& port, std::uint32_t topic, std::uint32_t first_channel,
              const CallsOptions& options);
  ~CallService();
  CallService(const CallService&) = delete;
  CallService& operator=(const CallService&) = delete;

  /// Of its channels, which are to be opened and connected before start().
  std::vector<ChannelEnd> ends() const { return wire_.ends(); }
  /// From here on requests are answered, and others may ask.
  void start();
  void stop();

  // By the rank's own thread.

  /// Asks a rank's service thread, this rank's included, and waits. Throws EnvironmentError if it
  /// cannot, and as CallRest::rest().
  ServiceAnswer ask(std::uint32_t rank, const ServiceRequest& request);
  /// Whether no message of this rank's is under way.
  bool is_quiet() const { return wire_.is_quiet(); }
  /// Tells all others that this rank goes without finish().
  void leave();
  /// What has stopped the service thread, if anything did, is thrown here.
  void require_running();

  /// The id-th chunk that was granted to `source`; empty if there is none yet.
  std::span<std::byte> chunk(std::uint32_t source, std::uint32_t id) const;
  /// Memory that was allocated here; empty if it was freed, or never was.
  std::span<std::byte> memory(std::uint32_t id) const;
  /// The same, which stays for as long as this is held, freed or not.
  HeldMemory held(std::uint32_t id) const;

 private:
  struct Granted {
    Pages pages;                               // its own, or
    std::shared_ptr<const RegionBlock> block;  // out of a region
    LocalMemory registered;
    std::uint32_t to = 0;

    std::span<std::byte> bytes() const { return block ? block->bytes : pages.bytes(); }
  };

  void run();
  bool hear();
  bool hear_leaving();
  ServiceAnswer serve(std::uint32_t from, const ServiceRequest& request);
  void grant_chunks(std::uint32_t to, const ServiceRequest& request, ServiceAnswer& answer);
  void grant_memory(std::uint32_t to, const ServiceRequest& request, ServiceAnswer& answer);
  Granted grant(std::uint32_t to, std::uint64_t bytes);
  Granted grant_in_node(std::uint32_t to, std::uint64_t bytes, int node);
  void give_up(const Granted& granted);
  [[noreturn]] void throw_over_budget(std::uint64_t bytes) const;
  void free(std::uint32_t id);

  Mesh& mesh_;
  CallPort& port_;
  const std::uint32_t topic_;
  MemoryBudget budget_;  // for others: windows and memory; and regions
  ServiceWire wire_;
  // Held by whoever has a block of it, too.
  std::shared_ptr<RegionAllocator> regions_;

  mutable std::mutex mutex_;
  std::vector<std::deque<Granted>> chunks_;  // by source
  std::deque<std::shared_ptr<Granted>> memories_;
  std::condition_variable stopped_;
  bool stopping_ = false;
  std::exception_ptr failure_;
  std::atomic<bool> failed_{false};
  std::thread thread_;
};

}  // namespace slackline::hw
