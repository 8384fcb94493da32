// One end of a channel as a reliable queue pair: its room, what is under way on it, and which of
// its requests are signalled.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "hw/selective_signalling.h"
#include "hw/transport.h"
#include "hw/verbs/address.h"
#include "hw/verbs/device.h"
#include "hw/verbs/queues.h"

struct ibv_qp_attr;
struct ibv_wc;

namespace slackline::hw {

class VerbsEnd {
 public:
  /// `serial` is its own, among all ends that the transport ever had; it has room for `bound`
  /// requests at most. Device and queues must outlive this.
  VerbsEnd(const ChannelEnd& end, std::uint32_t serial, std::uint32_t first_packet,
           std::uint32_t bound, VerbsDevice& device, VerbsQueues& queues);
  ~VerbsEnd();
  VerbsEnd(const VerbsEnd&) = delete;
  VerbsEnd& operator=(const VerbsEnd&) = delete;

  /// The most segments of one request.
  static std::uint32_t max_segments(const VerbsDevice& device);

  const ChannelEnd& end() const { return end_; }
  std::uint32_t serial() const { return serial_; }
  VerbsEndAddress address() const;
  std::uint32_t queue_pair() const;
  /// Requests that may be under way.
  std::uint32_t depth() const { return depth_; }

  /// To a port that is no mismatch() for the own one.
  void connect(const VerbsPort& port, const VerbsEndAddress& other);

  /// Requests of this end's side, in order, as many as there is room for; receives all, those
  /// beyond the room are held back. Answers how many.
  std::size_t post(std::span<const WorkRequest> requests);
  /// Posts receives that were held back, as far as there is room.
  void post_held();
  bool holds() const { return !held_.empty(); }

  /// The serial of the end that a completion is for.
  static std::uint32_t serial_of(const ibv_wc& completion);
  /// Takes a completion that went well; adds to `ready` what somebody wants to know.
  void complete(const ibv_wc& completion, std::deque<Completion>& ready);
  /// Takes one that did not, or that an asynchronous event (enum ibv_event_type) names the queue
  /// pair: it is of no use any more.
  void fail(const ibv_wc& completion);
  void fail(int event);
  bool failed() const { return failure_ != Failure::kNone; }
  /// PeerLost where the other end does not answer, EnvironmentError where the machine failed. What
  /// the other end refuses is our own defect (an Error with its exit code, 70), unless that rank is
  /// just ending, which is for others to know; what this end refuses is InternalError. If this
  /// rank's port was down (`outage`, as PortOutage::text()), that is said, and taken for the cause
  /// where the peer is not.
  [[noreturn]] void throw_failure(const std::string& outage) const;

 private:
  // The worst wins: what is flushed tells only that something else has failed.
  enum class Failure { kNone, kFlushed, kMachine, kRules, kRefused, kPeer };
  // A request under way.
  struct Slot {
    std::uint64_t tag = 0;
    std::uint64_t flush = 0;
    RequestKind kind = RequestKind::kSend;
    bool wanted = false;  // somebody waits for its completion
  };
  struct Held {
    WorkRequest request;
    std::vector<Segment> segments;
  };

  void create();
  void become_reachable(const VerbsPort& port, const VerbsEndAddress& other);
  void become_able_to_send(const VerbsPort& port);
  void modify(ibv_qp_attr& attributes, int mask, const std::string& to);
  std::size_t room() const { return slots_.size() - static_cast<std::size_t>(next_ - first_); }
  Slot& slot(std::uint64_t request) { return slots_[request % slots_.size()]; }
  std::uint64_t work_id(std::uint64_t request) const;
  void post_sends(std::span<const WorkRequest> requests);
  void post_receives(std::span<const WorkRequest> requests);
  void require_sound(const WorkRequest& request, std::uint64_t bytes) const;
  void fail(Failure failure, std::string how);

  ChannelEnd end_;
  std::uint32_t serial_;
  std::uint32_t first_packet_;
  VerbsDevice& device_;
  VerbsQueues& queues_;
  std::uint32_t depth_;
  ibv_cq* queue_;  // with as many completions reserved
  Verbs<ibv_qp> pair_;
  std::uint32_t max_inline_ = 0;  // bytes
  std::uint32_t max_segments_ = 0;
  SelectiveSignalling signalling_;
  std::vector<Slot> slots_;
  // Requests are numbered from 0; those from first_ on, before next_, are not known to be complete.
  std::uint64_t first_ = 0;
  std::uint64_t next_ = 0;
  std::deque<Held> held_;
  Failure failure_ = Failure::kNone;
  std::string how_;
};

}  // namespace slackline::hw
