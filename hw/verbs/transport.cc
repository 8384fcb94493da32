#include "hw/verbs/transport.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <infiniband/verbs.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <deque>
#include <random>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "hw/multicast/transport.h"
#include "hw/verbs/address.h"
#include "hw/verbs/datagrams.h"
#include "hw/verbs/device.h"
#include "hw/verbs/end.h"
#include "hw/verbs/facts.h"
#include "hw/verbs/port_outage.h"
#include "hw/verbs/queue_depth.h"
#include "hw/verbs/queues.h"

namespace slackline::hw {
namespace {

constexpr std::size_t kBatch = 32;
// A request has failed: how long the device may take to tell more.
constexpr int kPatienceForEventMs = 50;

// Asking for asynchronous events is a system call: not in every poll.
constexpr std::uint32_t kIdlePollsBetweenEvents = 4096;
// And before something is sent, if nobody has asked for as long.
constexpr std::chrono::milliseconds kEventsMatter{5};

void make_non_blocking(int descriptor) {
  fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

class VerbsTransport final : public Transport {
  using Clock = PortOutage::Clock;

 public:
  explicit VerbsTransport(const VerbsOptions& options)
      : device_(options),
        failure_timeout_(options.failure_timeout),
        channel_(ibv_create_comp_channel(device_.context())),
        queues_(device_, channel_.get()),
        first_packets_(std::random_device()()) {
    if (!channel_) device_.throw_failed("creating a channel of completions", errno);
    make_non_blocking(channel_->fd);
    make_non_blocking(device_.context()->async_fd);
  }

  VerbsDevice& device() { return device_; }

  std::string_view name() const override { return "verbs"; }
  std::size_t max_segments() const override { return VerbsEnd::max_segments(device_); }
  bool completes_in_order() const override { return true; }
  bool writes_in_order() const override { return true; }
  bool has_atomics() const override { return device_.has_atomics(); }

  LocalMemory register_memory(std::span<std::byte> memory) override {
    if (memory.empty()) throw InternalError("no memory to register");
    const std::uint32_t region = device_.register_memory(memory);
    return {region, {reinterpret_cast<std::uint64_t>(memory.data()), device_.remote_key(region)}};
  }

  void unregister_memory(const LocalMemory& memory) override {
    device_.unregister_memory(memory.handle);
  }

  int numa_node() const override { return device_.numa_node(); }
  TransportFacts facts() const override { return facts_of(device_); }

  Address open(std::span<const ChannelEnd> ends) override {
    opened_.clear();
    const std::uint32_t segments = VerbsEnd::max_segments(device_);
    const std::uint32_t bound =
        depth_bound(ends.size(), requests_open_ * request_bytes(segments), segments);
    std::vector<VerbsEndAddress> addresses;
    for (std::size_t e = 0; e < ends.size(); ++e) {
      auto made = std::make_unique<VerbsEnd>(ends[e], next_serial_, first_packets_(), bound,
                                             device_, queues_);
      addresses.push_back(made->address());
      if (!side(ends[e].initiates).try_emplace(ends[e].channel, made.get()).second) {
        throw InternalError(fmt::format("channel {} is open already", ends[e].channel));
      }
      opened_.push_back(made.get());
      requests_open_ += made->depth();
      ends_.emplace(next_serial_++, std::move(made));
    }
    return pack_address(device_.address(), addresses);
  }

  void connect(std::span<const Address> peers) override {
    require_matches(peers);
    for (VerbsEnd* const end : opened_) {
      const std::uint32_t peer = end->end().peer;
      if (peer >= peers.size()) throw InternalError(fmt::format("rank {} has no address", peer));
      end->connect(port_of(peers[peer], peer), other_end(peers[peer], end->end()));
    }
    opened_.clear();
  }

  void close(std::span<const ChannelEnd> ends) override {
    // What is in the queues belongs to ends that are still known.
    gather_all();
    for (const ChannelEnd& end : ends) {
      const auto found = side(end.initiates).find(end.channel);
      if (found == side(end.initiates).end()) continue;
      std::erase(failing_, found->second);
      std::erase(hungry_, found->second);
      std::erase(opened_, found->second);
      requests_open_ -= found->second->depth();
      ends_.erase(found->second->serial());
      side(end.initiates).erase(found);
    }
    gather_all();
  }

  std::size_t post(std::span<const WorkRequest> requests) override {
    std::size_t taken = 0;
    while (taken < requests.size()) {
      // A run of one end's goes to the device at once.
      const WorkRequest& first = requests[taken];
      const bool receives = first.kind == RequestKind::kRecv;
      std::size_t run = 1;
      while (taken + run < requests.size() && requests[taken + run].channel == first.channel &&
             (requests[taken + run].kind == RequestKind::kRecv) == receives) {
        ++run;
      }
      VerbsEnd& end = find(first.channel, !receives);
      if (end.failed()) {
        gather_all();
        throw_failure_of(end);
      }
      // What is sent now would only be repeated; Soft-RoCE even gives the queue pair up.
      if (!receives && is_known_down()) break;
      const std::size_t posted = end.post(requests.subspan(taken, run));
      taken += posted;
      if (posted < run) break;
    }
    return taken;
  }

  std::size_t poll(std::span<Completion> completions) override {
    std::size_t filled = take_ready(completions);
    while (filled < completions.size()) {
      if (!gather()) break;
      filled += take_ready(completions.subspan(filled));
    }
    if (filled != 0) {
      idle_polls_ = 0;
      return filled;
    }
    if (outage_.is_down() || ++idle_polls_ % kIdlePollsBetweenEvents == 0) see_events();
    require_port();
    if (failing_.empty()) return 0;
    // The cause may stand behind what it brought about.
    gather_all();
    filled = take_ready(completions);
    if (filled == 0) throw_failing();
    return filled;
  }

  void wait(std::chrono::nanoseconds timeout, int also) override {
    if (!ready_.empty() || !failing_.empty()) return;
    queues_.arm();
    // What came before the queues were armed makes no event.
    if (gather()) return;
    std::array<pollfd, 3> descriptors{
        {{channel_->fd, POLLIN, 0}, {device_.context()->async_fd, POLLIN, 0}, {also, POLLIN, 0}}};
    const auto left = std::max(timeout, std::chrono::nanoseconds(0));
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec time{static_cast<time_t>(seconds.count()),
                        static_cast<long>((left - seconds).count())};
    ppoll(descriptors.data(), also < 0 ? 2 : 3, &time, nullptr);
    if (descriptors[0].revents != 0) queues_.drain();
    if (descriptors[1].revents != 0) see_events();
  }

 private:
  using Side = std::unordered_map<std::uint32_t, VerbsEnd*>;  // by channel

  Side& side(bool initiates) { return initiates ? sources_ : sinks_; }

  VerbsEnd& find(std::uint32_t channel, bool initiates) {
    const auto found = side(initiates).find(channel);
    if (found != side(initiates).end()) return *found->second;
    throw InternalError(
        fmt::format("channel {} does not {} here", channel, initiates ? "start" : "end"));
  }

  std::size_t take_ready(std::span<Completion> completions) {
    const std::size_t count = std::min(completions.size(), ready_.size());
    std::copy_n(ready_.begin(), count, completions.begin());
    ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
  }

  // A batch of completions into ready_; answers whether there were any.
  bool gather() {
    std::array<ibv_wc, kBatch> batch;
    const std::size_t count = queues_.poll(batch);
    for (std::size_t i = 0; i < count; ++i) see(batch[i]);
    std::erase_if(hungry_, [](VerbsEnd* end) {
      if (!end->failed()) end->post_held();
      return true;
    });
    return count != 0;
  }

  void gather_all() {
    while (gather()) {
    }
  }

  void see(const ibv_wc& completion) {
    const auto found = ends_.find(VerbsEnd::serial_of(completion));
    if (found == ends_.end()) return;  // of an end that was closed
    VerbsEnd& end = *found->second;
    if (completion.status != IBV_WC_SUCCESS) {
      if (!end.failed()) failing_.push_back(&end);
      end.fail(completion);
      return;
    }
    end.complete(completion, ready_);
    if (end.holds() && (hungry_.empty() || hungry_.back() != &end)) hungry_.push_back(&end);
  }

  // Throws what has failed first; each failure once, so that the others may go on.
  [[noreturn]] void throw_failing() {
    const VerbsEnd* const end = failing_.front();
    failing_.pop_front();
    throw_failure_of(*end);
  }

  [[noreturn]] void throw_failure_of(const VerbsEnd& end) {
    // A port that goes down takes requests with it, which may be seen a little before its own
    // event.
    pollfd event{device_.context()->async_fd, POLLIN, 0};
    ::poll(&event, 1, kPatienceForEventMs);
    see_events();
    if (!device_.is_active()) outage_.begin(Clock::now());
    if (outage_.is_down()) throw_down(ibv_event_type_str(IBV_EVENT_PORT_ERR));
    end.throw_failure(outage());
  }

  // Of a port that was down lately: a NIC may take four times as long for each of its tries as it
  // was told.
  std::string outage() const {
    const VerbsPath& path = device_.path();
    const std::chrono::duration<double> longest(4 * (path.retries + 1) *
                                                ack_timeout_s(path.ack_timeout));
    return outage_.text(Clock::now(), std::chrono::duration_cast<Clock::duration>(longest));
  }

  [[noreturn]] void throw_down(const char* how) const {
    throw EnvironmentError(fmt::format("verbs: {} went down ({}); `ibv_devinfo` shows its state",
                                       device_.name(), how));
  }

  // Who has nothing under way does not poll, and who is never idle asks for no events.
  bool is_known_down() {
    if (Clock::now() - looked_at_ > kEventsMatter) see_events();
    return outage_.is_down();
  }

  // A port that is down may come back within the failure timeout.
  void require_port() {
    if (!outage_.is_down()) return;
    const Clock::time_point now = Clock::now();
    if (outage_.duration(now) < failure_timeout_) return;
    if (device_.is_active()) return outage_.end(now);
    throw EnvironmentError(
        fmt::format("verbs: {} went down (port error), and has not come back within {:.3g} s "
                    "(--failure-timeout); `ibv_devinfo` shows its state",
                    device_.name(), std::chrono::duration<double>(failure_timeout_).count()));
  }

  void see_events() {
    looked_at_ = Clock::now();
    ibv_async_event event{};
    while (ibv_get_async_event(device_.context(), &event) == 0) {
      const ibv_event_type type = event.event_type;
      const std::uint32_t pair = is_about_queue_pair(type) ? event.element.qp->qp_num : 0;
      const int port = event.element.port_num;
      ibv_ack_async_event(&event);
      if (is_about_queue_pair(type)) {
        fail(pair, type);
      } else if (type == IBV_EVENT_DEVICE_FATAL) {
        throw_down(ibv_event_type_str(type));
      } else if (type == IBV_EVENT_PORT_ERR && port == device_.port()) {
        outage_.begin(Clock::now());
      } else if (type == IBV_EVENT_PORT_ACTIVE && port == device_.port()) {
        outage_.end(Clock::now());
      } else if (type == IBV_EVENT_CQ_ERR) {
        throw InternalError(
            fmt::format("verbs: {}: a completion queue overflowed or broke", device_.name()));
      }
    }
  }

  static bool is_about_queue_pair(ibv_event_type type) {
    return type == IBV_EVENT_QP_FATAL || type == IBV_EVENT_QP_REQ_ERR ||
           type == IBV_EVENT_QP_ACCESS_ERR;
  }

  void fail(std::uint32_t pair, ibv_event_type type) {
    for (const auto& [serial, end] : ends_) {
      if (end->queue_pair() != pair) continue;
      if (!end->failed()) failing_.push_back(end.get());
      end->fail(type);
    }
  }

  // Closed in the reverse of this order.
  VerbsDevice device_;
  std::chrono::milliseconds failure_timeout_;
  PortOutage outage_;
  Clock::time_point looked_at_;  // for events
  Verbs<ibv_comp_channel> channel_;
  VerbsQueues queues_;
  std::minstd_rand first_packets_;
  std::unordered_map<std::uint32_t, std::unique_ptr<VerbsEnd>> ends_;  // by serial
  std::uint32_t next_serial_ = 0;
  Side sources_;
  Side sinks_;
  std::vector<VerbsEnd*> opened_;  // not yet connected
  std::vector<VerbsEnd*> hungry_;  // hold receives back, and have room
  std::deque<VerbsEnd*> failing_;  // not yet told
  std::deque<Completion> ready_;
  std::uint32_t idle_polls_ = 0;
  std::uint64_t requests_open_ = 0;  // that all ends have room for
};

}  // namespace

std::unique_ptr<Transport> make_verbs_transport(const VerbsOptions& options) {
  auto verbs = std::make_unique<VerbsTransport>(options);
  if (!options.multicast) return verbs;
  auto datagrams = make_verbs_datagrams(verbs->device());
  return make_multicast_transport(std::move(verbs), std::move(datagrams));
}

}  // namespace slackline::hw
