#include "analysis/engines/fluid_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/slots.h"
#include "base/units.h"
#include "machine/event_queue.h"

namespace slackline::analysis {

using machine::LinkId;
using machine::PathId;

FluidNetwork::FluidNetwork(const machine::Setting& setting, const machine::Paths& paths)
    : congestion_(setting.platform.congestion),
      paths_(paths),
      wiring_(setting.wiring),
      packet_bytes_(machine::packet_bytes(setting.platform)),
      xoff_bytes_(static_cast<double>(congestion_.pfc_xoff_bytes)),
      xon_bytes_(machine::xon_bytes(setting.platform)),
      longest_step_s_(sched::seconds(congestion_.step)),
      dcqcn_(congestion_, packet_bytes_),
      place_of_(setting.wiring.links().size(), kNone),
      sender_of_(2 * setting.schedule.channels().size(), kNone) {
  for (std::uint32_t p = 0; p < paths.size(); ++p) {
    for (const LinkId id : paths.links(PathId(p))) {
      if (place_of_[id.value] != kNone) continue;
      const machine::Link& link = wiring_.links()[id.value];
      machine::check_congestion_step(setting.platform, link.rate, link.name, "congestion");
      place_of_[id.value] = static_cast<std::uint32_t>(links_.size());
      links_.push_back({id, link.rate.bytes_per_second(), {}, {}, 0, 0, false, {}});
    }
  }
  find_order();
}

// Of ways that go in a circle, which tori and dragonflies have, some link comes too early: what
// reaches it is carried in the next step.
void FluidNetwork::find_order() {
  std::vector<std::set<std::uint32_t>> behind(links_.size());
  std::vector<std::uint32_t> before(links_.size(), 0);
  for (std::uint32_t p = 0; p < paths_.size(); ++p) {
    const auto way = paths_.links(PathId(p));
    for (std::size_t hop = 0; hop + 1 < way.size(); ++hop) {
      const std::uint32_t to = place_of_[way[hop + 1].value];
      if (behind[place_of_[way[hop].value]].insert(to).second) ++before[to];
    }
  }
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> next;
  std::vector<char> taken(links_.size(), 0);
  for (std::uint32_t l = 0; l < links_.size(); ++l) {
    if (before[l] == 0) next.push(l);
  }
  std::uint32_t first_left = 0;
  while (order_.size() < links_.size()) {
    if (next.empty()) {
      while (taken[first_left] != 0) ++first_left;
      next.push(first_left);
    }
    const std::uint32_t link = next.top();
    next.pop();
    if (taken[link] != 0) continue;
    taken[link] = 1;
    order_.push_back(link);
    for (const std::uint32_t to : behind[link]) {
      if (--before[to] == 0) next.push(to);
    }
  }
}

void FluidNetwork::skip_to(double time_s) {
  look_at_queues();
  while (!awake_.empty() && now_s_ < time_s) {
    const double step_s = std::min(longest_step_s_, time_s - now_s_);
    for (const std::uint32_t s : awake_) senders_[s].packets_per_s = 0;
    hear(step_s);
    now_s_ += step_s;
  }
  now_s_ = std::max(now_s_, time_s);
}

void FluidNetwork::start(std::uint32_t pair, std::uint64_t bytes, sched::OpId op) {
  const sched::ChannelId channel(pair / 2);
  const bool reply = pair % 2 != 0;
  const PathId path = paths_.of(channel, reply);
  const auto way = paths_.links(path);
  if (way.size() < 2) throw InternalError("a message over the network that passes no switch");
  std::uint32_t& sender = sender_of_[pair];
  if (sender == kNone) {
    sender = static_cast<std::uint32_t>(senders_.size());
    const std::uint32_t nic = place(path, 0);
    const double both_ways_s =
        paths_[path].latency_s + paths_[paths_.of(channel, !reply)].latency_s;
    senders_.push_back({pair,
                        path,
                        nic,
                        DcqcnRate(dcqcn_, links_[nic].bytes_per_s / packet_bytes_),
                        congestion_.feedback ? sched::seconds(*congestion_.feedback) : both_ways_s,
                        {},
                        {}});
    senders_.back().asleep_since_s = now_s_;
  }
  Message message{op, path, paths_.wire_bytes(path, bytes),
                  static_cast<std::uint32_t>(way.size() - 1)};
  senders_[sender].messages.push_back(new_message(message));
  if (!senders_[sender].awake) wake(sender);
}

std::uint32_t FluidNetwork::new_message(const Message& message) {
  ++under_way_;
  const std::uint32_t slot = base::take_slot(messages_, free_messages_);
  messages_[slot] = message;
  return slot;
}

void FluidNetwork::wake(std::uint32_t sender) {
  Sender& s = senders_[sender];
  s.awake = true;
  s.past.clear();
  s.last_sent_s = now_s_;
  if (congestion_.dcqcn) s.rate.rest(now_s_ - s.asleep_since_s);
  const auto key = [&](std::uint32_t i) { return std::pair(senders_[i].nic, i); };
  awake_.insert(std::lower_bound(awake_.begin(), awake_.end(), sender,
                                 [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); }),
                sender);
}

void FluidNetwork::set_rate(LinkId link, double bytes_per_s) {
  const std::uint32_t at = place_of_[link.value];
  if (at != kNone) links_[at].bytes_per_s = bytes_per_s;
}

void FluidNetwork::step(double until_s, std::vector<sched::OpId>& sent) {
  changed_ = false;
  look_at_queues();
  share_nics();
  const double by_s = next_step_s(until_s);
  send(by_s);
  for (const std::uint32_t link : order_) carry(link, by_s);
  note_endings();
  pause_links(by_s);
  if (series_ != nullptr) tell_of(by_s);
  hear(by_s);
  now_s_ = by_s == until_s - now_s_ ? until_s : now_s_ + by_s;
  finish(sent);
  if (changed_) return;
  const auto stopped = std::ranges::find_if(links_, [](const Link& l) { return l.paused; });
  throw InputError(fmt::format(
      "congestion: at {} PFC has stopped all that is under way for ever, {} among the links: full "
      "switches wait for each other in a circle; expected ways without circles, or "
      "congestion=dcqcn",
      sched::human_seconds(now_s_),
      stopped == links_.end() ? "none" : wiring_.links()[stopped->id.value].name));
}

// The chances hold for the step that follows.
void FluidNetwork::look_at_queues() {
  if (!congestion_.dcqcn) return;
  for (Link& link : links_) link.chance = marking_chance(congestion_, link.queue.bytes());
}

void FluidNetwork::share_nics() {
  for (std::size_t first = 0; first < awake_.size();) {
    const std::uint32_t nic = senders_[awake_[first]].nic;
    std::size_t past = first;
    while (past < awake_.size() && senders_[awake_[past]].nic == nic) ++past;
    share_nic(std::span(awake_).subspan(first, past - first));
    first = past;
  }
}

// A NIC takes packets of its queue pairs by turns, so what one may not send goes to the others.
void FluidNetwork::share_nic(std::span<const std::uint32_t> senders) {
  wanting_.clear();
  for (const std::uint32_t s : senders) {
    senders_[s].bytes_per_s = 0;
    if (!senders_[s].messages.empty()) wanting_.push_back(s);
  }
  if (wanting_.empty()) return;
  const Link& nic = links_[senders_[wanting_.front()].nic];
  if (nic.paused) return;
  const auto allowed = [&](std::uint32_t s) {
    return congestion_.dcqcn ? senders_[s].rate.current() * packet_bytes_ : nic.bytes_per_s;
  };
  std::stable_sort(wanting_.begin(), wanting_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return allowed(a) < allowed(b); });
  double free = nic.bytes_per_s;
  for (std::size_t i = 0; i < wanting_.size(); ++i) {
    const double share = free / static_cast<double>(wanting_.size() - i);
    senders_[wanting_[i]].bytes_per_s = std::min(share, allowed(wanting_[i]));
    free -= senders_[wanting_[i]].bytes_per_s;
  }
}

double FluidNetwork::next_step_s(double until_s) {
  double most_s = longest_step_s_;
  for (const std::uint32_t s : awake_) {
    const Sender& sender = senders_[s];
    if (sender.bytes_per_s <= 0) continue;
    most_s = std::min(most_s, messages_[sender.messages.front()].unsent / sender.bytes_per_s);
  }
  for (const Ending& ending : endings_) {
    const Link& link = links_[ending.link];
    const double left = ending.left_bytes - link.queue.left();
    if (left > kCrumbBytes) most_s = std::min(most_s, left / link.bytes_per_s);
  }
  // Rounding must not stop the clock.
  most_s = std::max(most_s, machine::kInstant_s / 2);
  return std::min(most_s, until_s - now_s_);
}

void FluidNetwork::send(double step_s) {
  ++passage_;
  for (const std::uint32_t s : awake_) {
    Sender& sender = senders_[s];
    sender.packets_per_s = 0;
    if (sender.bytes_per_s <= 0) continue;
    const std::uint32_t slot = sender.messages.front();
    double& unsent = messages_[slot].unsent;
    double bytes = sender.bytes_per_s * step_s;
    if (unsent - bytes <= kCrumbBytes) bytes = unsent;
    unsent -= bytes;
    sender.packets_per_s = bytes / step_s / packet_bytes_;
    sender.last_sent_s = now_s_ + step_s;
    links_[sender.nic].figures.bytes += bytes;
    links_[sender.nic].held_bytes += bytes;
    arrive(slot, 1, bytes);
    changed_ = true;
    if (unsent > 0) continue;
    sender.messages.pop_front();
    may_end_.push_back(slot);
  }
}

void FluidNetwork::arrive(std::uint32_t message, std::uint32_t hop, double bytes) {
  Message& m = messages_[message];
  std::vector<FluidPart>& arriving = links_[place(m.path, hop)].arriving;
  if (m.arrival_of == passage_ && m.arrival_hop == hop) {
    arriving[m.arriving].bytes += bytes;
    return;
  }
  m.arrival_of = passage_;
  m.arrival_hop = hop;
  m.arriving = static_cast<std::uint32_t>(arriving.size());
  arriving.push_back({message, hop, bytes});
  ++m.parts;
  if (hop != m.last_hop) ++m.on_way;
}

void FluidNetwork::carry(std::uint32_t index, double step_s) {
  Link& link = links_[index];
  if (!link.arriving.empty()) {
    link.queue.push(link.arriving);
    link.arriving.clear();
    changed_ = true;
  }
  if (link.queue.empty()) return;
  if (!link.paused) {
    ++passage_;
    const double taken =
        link.queue.take(link.bytes_per_s * step_s,
                        [&](const FluidPart& part, bool is_whole) { pass(index, part, is_whole); });
    link.figures.bytes += taken;
    link.figures.marked_packets += taken / packet_bytes_ * link.chance;
    changed_ = true;
  }
  link.figures.largest_queue_bytes = std::max(link.figures.largest_queue_bytes, link.queue.bytes());
  link.figures.queue_byte_s += link.queue.bytes() * step_s;
}

// A part goes over the link, to the switch behind it or to its receiver.
void FluidNetwork::pass(std::uint32_t link, const FluidPart& part, bool is_whole) {
  Message& m = messages_[part.message];
  links_[place(m.path, part.hop - 1)].held_bytes -= part.bytes;
  const bool is_last = part.hop == m.last_hop;
  if (is_whole) {
    --m.parts;
    if (!is_last && --m.on_way == 0) may_end_.push_back(part.message);
  }
  if (!is_last) {
    links_[link].held_bytes += part.bytes;
    arrive(part.message, part.hop + 1, part.bytes);
  } else if (has_arrived(part.message)) {
    finished_.push_back(part.message);
  }
}

void FluidNetwork::note_endings() {
  for (const std::uint32_t slot : may_end_) {
    const Message& m = messages_[slot];
    if (m.unsent > 0 || m.on_way != 0 || m.parts == 0) continue;
    const std::uint32_t last = place(m.path, m.last_hop);
    endings_.push_back({slot, last, links_[last].queue.entered()});
  }
  may_end_.clear();
}

void FluidNetwork::pause_links(double step_s) {
  if (!congestion_.pfc) return;
  for (Link& link : links_) {
    if (link.paused) link.figures.paused_s += step_s;
    if (!link.paused && link.held_bytes > xoff_bytes_) {
      link.paused = changed_ = true;
      ++link.figures.pauses;
    } else if (link.paused && link.held_bytes < xon_bytes_) {
      link.paused = false;
      changed_ = true;
    }
  }
}

// Of the step that began at now_s_; queues as they are at its end, as in figures().
void FluidNetwork::tell_of(double step_s) {
  for (const Link& link : links_) series_->queue(link.id, now_s_, step_s, link.queue.bytes());
  for (const std::uint32_t s : awake_) {
    const Sender& sender = senders_[s];
    if (sender.packets_per_s <= 0 && sender.messages.empty()) continue;
    series_->sent(sender.pair, now_s_, step_s, sender.packets_per_s * packet_bytes_ * step_s,
                  allowed_bytes_per_s(sender.pair));
  }
}

// What came of the step that began at now_s_, and what senders hear in it of the time before. One
// that has had nothing to send for so long that there is nothing to hear any more falls asleep.
void FluidNetwork::hear(double step_s) {
  for (const std::uint32_t s : awake_) {
    Sender& sender = senders_[s];
    const bool has_work = !sender.messages.empty();
    if (congestion_.dcqcn) {
      double unmarked = 1;
      const auto way = paths_.links(sender.path);
      for (std::size_t hop = 1; hop < way.size(); ++hop) {
        unmarked *= 1 - links_[place_of_[way[hop].value]].chance;
      }
      sender.past.push_back({now_s_, {1 - unmarked, sender.packets_per_s}});
      // Steps that add up to the delay count as the delay, for all that their sum rounds to.
      const double then_s = now_s_ - sender.feedback_s + machine::kInstant_s;
      while (sender.past.size() > 1 && sender.past[1].begin_s <= then_s) sender.past.pop_front();
      const Moment& heard = sender.past.front();
      sender.rate.advance(step_s, heard.begin_s <= then_s ? heard.feedback : DcqcnFeedback{});
    }
    const double end_s = now_s_ + step_s;
    const double tail_s = congestion_.dcqcn ? sender.feedback_s + longest_step_s_ : 0;
    if (has_work || end_s - sender.last_sent_s < tail_s) continue;
    sender.awake = false;
    sender.asleep_since_s = end_s;
  }
  std::erase_if(awake_, [&](std::uint32_t s) { return !senders_[s].awake; });
}

void FluidNetwork::finish(std::vector<sched::OpId>& sent) {
  if (finished_.empty()) return;
  std::erase_if(endings_, [&](const Ending& ending) { return has_arrived(ending.message); });
  std::sort(finished_.begin(), finished_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return messages_[a].op < messages_[b].op; });
  for (const std::uint32_t slot : finished_) {
    sent.push_back(messages_[slot].op);
    free_messages_.push_back(slot);
    --under_way_;
  }
  finished_.clear();
}

double FluidNetwork::queue_bytes(LinkId link) const {
  const std::uint32_t at = place_of_[link.value];
  return at == kNone ? 0 : links_[at].queue.bytes();
}

double FluidNetwork::allowed_bytes_per_s(std::uint32_t pair) const {
  const std::uint32_t sender = sender_of_[pair];
  if (!congestion_.dcqcn || sender == kNone) return std::numeric_limits<double>::infinity();
  return senders_[sender].rate.current() * packet_bytes_;
}

std::vector<LinkCongestion> FluidNetwork::figures() const {
  std::vector<LinkCongestion> figures(place_of_.size());
  for (const Link& link : links_) figures[link.id.value] = link.figures;
  return figures;
}

}  // namespace slackline::analysis
