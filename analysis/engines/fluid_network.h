// Large messages in a network whose switches have queues: the fluid model of docs/congestion.md.
// Queue pairs send, at DCQCN's rate where there is DCQCN; switches queue, mark, and stop the links
// that feed them, where there is PFC.
//
// Time goes in steps. None is longer than the platform's congestion_step, and none goes past the
// moment at which a message has left its sender or, all of it being in its last queue, the network.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <vector>

#include "analysis/engines/dcqcn.h"
#include "analysis/engines/fluid_queue.h"
#include "analysis/engines/fluid_series.h"
#include "analysis/engines/link_congestion.h"
#include "machine/paths.h"
#include "machine/setting.h"

namespace slackline::analysis {

/// A channel's queue pair, one way: what sends the channel's messages, or with `reply` the answers
/// to its gets.
constexpr std::uint32_t queue_pair(sched::ChannelId channel, bool reply) {
  return 2 * channel.value + (reply ? 1 : 0);
}

class FluidNetwork {
 public:
  /// `paths` are those of the setting, whose congestion is on. Both must outlive this. Throws
  /// InputError if the platform's step is too long for the rate of a link.
  FluidNetwork(const machine::Setting& setting, const machine::Paths& paths);

  FluidNetwork(const FluidNetwork&) = delete;
  FluidNetwork& operator=(const FluidNetwork&) = delete;

  /// From now on each step is told to `series`, which must outlive this; null: to nobody.
  void tell(FluidSeries* series) { series_ = series; }

  double now_s() const { return now_s_; }
  /// No message is under way.
  bool is_idle() const { return under_way_ == 0; }
  /// To a later time, while it is idle.
  void skip_to(double time_s);
  /// A message of `bytes` > 0 begins to leave now, after those of the same queue pair.
  void start(std::uint32_t pair, std::uint64_t bytes, sched::OpId op);
  /// From now on.
  void set_rate(machine::LinkId link, double bytes_per_s);
  /// Goes on by one step that ends at `until_s` > now_s() at the latest. Appends what has left the
  /// network then. Throws InputError if PFC has stopped all that is under way for ever.
  void step(double until_s, std::vector<sched::OpId>& sent);

  /// What waits for the link.
  double queue_bytes(machine::LinkId link) const;
  /// What the queue pair may send (DCQCN's R_C); infinity where nothing bounds it.
  double allowed_bytes_per_s(std::uint32_t pair) const;
  /// Of every link of the wiring.
  std::vector<LinkCongestion> figures() const;

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  struct Link {
    machine::LinkId id;
    double bytes_per_s;
    FluidQueue queue;
    std::vector<FluidPart> arriving;  // in this step
    double held_bytes = 0;            // that came over this link and wait in the switch behind it
    double chance = 0;                // that what passes is marked
    bool paused = false;
    LinkCongestion figures;
  };
  struct Message {
    sched::OpId op;
    machine::PathId path;
    double unsent;                  // bytes
    std::uint32_t last_hop;         // the place of the last link on its way
    std::uint32_t parts = 0;        // that wait somewhere, and…
    std::uint32_t on_way = 0;       // …those of them that do not wait for the last link
    std::uint32_t arriving = 0;     // of the parts that arrive at its next link, its own, if…
    std::uint64_t arrival_of = 0;   // …it came in this passage, to…
    std::uint32_t arrival_hop = 0;  // …the link of that place on its way
  };
  struct Moment {
    double begin_s;
    DcqcnFeedback feedback;
  };
  struct Sender {
    std::uint32_t pair;
    machine::PathId path;
    std::uint32_t nic;  // its first link
    DcqcnRate rate;
    double feedback_s;                   // tau*
    std::deque<std::uint32_t> messages;  // of which the first is being sent
    std::deque<Moment> past;             // as far as it is still to be heard of
    double bytes_per_s = 0;              // that it sends in this step
    double packets_per_s = 0;            // that it has sent in this step
    double last_sent_s = 0;
    double asleep_since_s = 0;
    bool awake = false;
  };
  // A message is all in the last queue of its way, and gone when so much has left that.
  struct Ending {
    std::uint32_t message;
    std::uint32_t link;
    double left_bytes;
  };

  void find_order();
  std::uint32_t place(machine::PathId path, std::uint32_t hop) const {
    return place_of_[paths_.links(path)[hop].value];
  }
  void wake(std::uint32_t sender);
  std::uint32_t new_message(const Message& message);

  void look_at_queues();
  void share_nics();
  void share_nic(std::span<const std::uint32_t> senders);
  double next_step_s(double until_s);
  void send(double step_s);
  void arrive(std::uint32_t message, std::uint32_t hop, double bytes);
  void carry(std::uint32_t link, double step_s);
  void pass(std::uint32_t link, const FluidPart& part, bool is_whole);
  void note_endings();
  void pause_links(double step_s);
  void hear(double step_s);
  void tell_of(double step_s);
  bool has_arrived(std::uint32_t message) const {
    return messages_[message].unsent <= 0 && messages_[message].parts == 0;
  }
  void finish(std::vector<sched::OpId>& sent);

  const machine::Congestion& congestion_;
  const machine::Paths& paths_;
  const machine::Wiring& wiring_;
  const double packet_bytes_;
  const double xoff_bytes_;
  const double xon_bytes_;
  const double longest_step_s_;
  const DcqcnFigures dcqcn_;

  std::vector<std::uint32_t> place_of_;   // of each link of the wiring, in…
  std::vector<Link> links_;               // …those that any way has
  std::vector<std::uint32_t> order_;      // of links_: a way's, one after the other
  std::vector<std::uint32_t> sender_of_;  // of each queue pair that has sent
  std::vector<Sender> senders_;
  std::vector<std::uint32_t> awake_;  // of senders_: by their NICs
  std::vector<Message> messages_;
  std::vector<std::uint32_t> free_messages_;
  std::uint32_t under_way_ = 0;
  std::vector<Ending> endings_;
  FluidSeries* series_ = nullptr;
  double now_s_ = 0;

  // Of one step.
  std::uint64_t passage_ = 0;  // counts what hands parts on to other links
  bool changed_ = false;       // anything
  std::vector<std::uint32_t> wanting_;
  std::vector<std::uint32_t> may_end_;
  std::vector<std::uint32_t> finished_;
};

}  // namespace slackline::analysis
