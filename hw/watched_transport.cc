#include "hw/watched_transport.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <thread>
#include <utility>

#include "hw/descriptor.h"
#include "hw/passing_transport.h"

namespace slackline::hw {
namespace {

// Counts where a call begins and where it ends, so that the count is odd while one is under way.
// One thread writes it: no locked instruction is needed.
class Call {
 public:
  explicit Call(std::atomic<std::uint64_t>& count) : count_(count) { step(); }
  ~Call() { step(); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  void step() {
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  std::atomic<std::uint64_t>& count_;
};

class WatchedTransport final : public PassingTransport {
 public:
  WatchedTransport(std::unique_ptr<Transport> under, const Mesh& mesh,
                   std::chrono::milliseconds patience, std::function<void()> stuck)
      : PassingTransport(std::move(under)), over_(eventfd(0, EFD_CLOEXEC)) {
    watcher_ = std::thread([this, lost = mesh.lost_descriptor(), patience,
                            stuck = std::move(stuck)] { watch(lost, patience, stuck); });
  }
  ~WatchedTransport() override {
    {
      const Call call(calls_);
      end_under();
    }
    const std::uint64_t one = 1;
    static_cast<void>(!write(over_.get(), &one, sizeof(one)));
    watcher_.join();
  }

  LocalMemory register_memory(std::span<std::byte> memory) override {
    const Call call(calls_);
    return PassingTransport::register_memory(memory);
  }
  void unregister_memory(const LocalMemory& memory) override {
    const Call call(calls_);
    PassingTransport::unregister_memory(memory);
  }
  Address open(std::span<const ChannelEnd> ends) override {
    const Call call(calls_);
    return PassingTransport::open(ends);
  }
  void connect(std::span<const Address> peers) override {
    const Call call(calls_);
    PassingTransport::connect(peers);
  }
  void close(std::span<const ChannelEnd> ends) override {
    const Call call(calls_);
    PassingTransport::close(ends);
  }
  std::size_t post(std::span<const WorkRequest> requests) override {
    const Call call(calls_);
    return PassingTransport::post(requests);
  }
  std::size_t poll(std::span<Completion> completions) override {
    const Call call(calls_);
    return PassingTransport::poll(completions);
  }
  // wait() ends by itself.

 private:
  // Sleeps until `lost` is readable; answers whether the transport has ended before.
  bool ends_within(int lost, int timeout_ms) const {
    std::array<pollfd, 2> sources{{{over_.get(), POLLIN, 0}, {lost, POLLIN, 0}}};
    while (::poll(sources.data(), lost >= 0 ? 2 : 1, timeout_ms) < 0 && errno == EINTR) {
    }
    return sources[0].revents != 0;
  }

  void watch(int lost, std::chrono::milliseconds patience,
             const std::function<void()>& stuck) const {
    if (ends_within(lost, -1)) return;
    for (;;) {
      const std::uint64_t before = calls_.load(std::memory_order_relaxed);
      if (ends_within(-1, static_cast<int>(patience.count()))) return;
      if (before % 2 == 1 && calls_.load(std::memory_order_relaxed) == before) {
        stuck();
        return;
      }
    }
  }

  Descriptor over_;
  std::atomic<std::uint64_t> calls_{0};
  std::thread watcher_;
};

}  // namespace

std::unique_ptr<Transport> watch_calls(std::unique_ptr<Transport> transport, const Mesh& mesh,
                                       std::chrono::milliseconds patience,
                                       std::function<void()> stuck) {
  return std::make_unique<WatchedTransport>(std::move(transport), mesh, patience, std::move(stuck));
}

}  // namespace slackline::hw
