// A rank's service thread: it grants chunks and memory to other ranks, whatever the rank's own
// thread does, and keeps the transport moving while that does not (Seriema, sections 3 and 4.4.1).
// Requests for it, and its answers, travel over the mesh.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "hw/call/port.h"
#include "hw/call/service_words.h"
#include "hw/mesh.h"
#include "hw/pages.h"

namespace slackline::hw {

class CallService {
 public:
  /// All references must outlive this. `most_bytes`: what others may have here, all together.
  CallService(Mesh& mesh, CallPort& port, std::uint32_t topic, std::uint64_t most_bytes);
  ~CallService();
  CallService(const CallService&) = delete;
  CallService& operator=(const CallService&) = delete;

  /// From here on requests are answered.
  void start();
  void stop();

  // By the rank's own thread.

  /// Asks a rank's service thread, this rank's included, and waits. Throws EnvironmentError if it
  /// cannot, and as CallRest::rest().
  ServiceAnswer ask(std::uint32_t rank, const ServiceRequest& request);
  /// Tells all others that this rank goes without finish().
  void leave();
  /// What has stopped the service thread, if anything did, is thrown here.
  void require_running();

  /// The id-th chunk that was granted to `source`; empty if there is none yet.
  std::span<std::byte> chunk(std::uint32_t source, std::uint32_t id) const;
  /// Memory that was allocated here; empty if it was freed, or never was.
  std::span<std::byte> memory(std::uint32_t id) const;
  /// The same, which stays for as long as this is held, freed or not; null if there is none.
  std::shared_ptr<const Pages> held(std::uint32_t id) const;

 private:
  struct Granted {
    Pages pages;
    LocalMemory registered;
    std::uint32_t to = 0;
  };

  void run();
  bool hear();
  ServiceAnswer serve(std::uint32_t from, const ServiceRequest& request);
  Granted grant(std::uint32_t to, std::uint64_t bytes);
  void free(std::uint32_t id);

  Mesh& mesh_;
  CallPort& port_;
  const std::uint32_t topic_;  // requests; answers: the next
  const std::uint64_t most_bytes_;
  std::atomic<std::uint64_t> others_bytes_{0};  // granted to others, by the service thread alone

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
