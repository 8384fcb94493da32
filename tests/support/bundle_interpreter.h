// The semantics of bundles once more: slow, by looking at everything again and again, and sharing
// nothing with the engines but the schedule. It knows fair NICs without a gap on a star whose
// messages all travel between others' packets, so that no port keeps anybody waiting; static
// schedules but for their bundles; one lane per rank; sends, puts, gets and what is local.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "machine/platform.h"
#include "sched/schedule.h"

namespace slackline::testing {

class BundleInterpreter {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  struct Seen {
    double issued_s = kNever;
    double done_s = kNever;
    bool ready = false;
    bool done = false;
  };

  BundleInterpreter(const sched::Schedule& schedule, const machine::Platform& platform)
      : s_(schedule),
        p_(platform),
        ops_(schedule.op_count()),
        lane_busy_(schedule.rank_count(), false),
        gathered_(schedule.channels().size()),
        posted_(schedule.channels().size()) {}

  std::vector<Seen> run() {
    for (;;) {
      while (ends() || begins()) {
      }
      double next_s = kNever;
      for (const Item& item : agenda_) next_s = std::min(next_s, item.at_s);
      for (std::uint32_t c = 0; c < gathered_.size(); ++c) {
        if (!gathered_[c].empty() && !now(due_s(c))) next_s = std::min(next_s, due_s(c));
      }
      if (!std::isfinite(next_s)) return ops_;
      now_s_ = next_s;
    }
  }
  /// How many messages the NICs carried, and the operations in them.
  std::uint64_t messages = 0;
  std::uint64_t carried = 0;

 private:
  using Op = sched::Op;
  using OpKind = sched::OpKind;
  using Message = std::vector<std::uint32_t>;
  struct Item {
    double at_s;
    std::uint32_t op;
    std::function<void()> act;
  };

  bool now(double time_s) const { return time_s < now_s_ + 1e-12; }
  const Op& op(std::uint32_t i) const { return s_.ops()[i]; }
  const sched::Channel& channel(std::uint32_t c) const { return s_.channels()[c]; }
  bool bundled(const Op& o) const {
    return o.kind != OpKind::kRecv && o.channel.valid() &&
           s_.channel(o.channel).bundle != sched::Bundle::kNone;
  }
  void later(double wait_s, std::uint32_t i, std::function<void()> act) {
    agenda_.push_back({now_s_ + wait_s, i, std::move(act)});
  }

  bool ends() {
    std::vector<Item> ended;
    std::vector<Item> left;
    for (Item& item : agenda_) (now(item.at_s) ? ended : left).push_back(std::move(item));
    agenda_ = std::move(left);
    std::stable_sort(ended.begin(), ended.end(),
                     [](const Item& a, const Item& b) { return a.op < b.op; });
    for (Item& item : ended) item.act();
    return !ended.empty();
  }

  bool arcs_hold(std::uint32_t i) const {
    for (const sched::Edge& edge : s_.edges()) {
      if (edge.succ.value != i) continue;
      const Seen& pred = ops_[edge.pred.value];
      if (edge.on == sched::On::kDone ? !pred.done : !std::isfinite(pred.issued_s)) return false;
    }
    if (!sched::has_channel(op(i).kind)) return true;
    for (std::uint32_t b = i; b-- > 0;) {
      if (!sched::has_channel(op(b).kind) || op(b).channel != op(i).channel) continue;
      if ((op(b).kind == OpKind::kRecv) != (op(i).kind == OpKind::kRecv)) continue;
      return std::isfinite(ops_[b].issued_s);
    }
    return true;
  }

  bool begins() {
    bool any = false;
    for (std::uint32_t i = 0; i < ops_.size(); ++i) {
      if (ops_[i].ready || !arcs_hold(i)) continue;
      ops_[i].ready = any = true;
      if (holds_lane(op(i))) {
        waiting_.push_back(i);
      } else {
        later(0, i, [this, i] { issue_free(i); });
      }
    }
    if (any) return true;
    for (std::uint32_t r = 0; r < s_.rank_count(); ++r) {
      if (!lane_busy_[r] && serve(r)) return true;
    }
    std::vector<Message> starting;
    starting.swap(at_nic_);
    for (const Message& message : starting) start(message);
    return !starting.empty();
  }

  bool holds_lane(const Op& o) const {
    return o.kind == OpKind::kFlush
               ? bundled(o)
               : o.kind != OpKind::kDelay && o.kind != OpKind::kJoin && o.kind != OpKind::kPoll;
  }

  double due_s(std::uint32_t c) const {
    const double first_s = ops_[gathered_[c].front()].issued_s;
    if (channel(c).bundle == sched::Bundle::kOverflow && on_way(c) < channel(c).window) return 0;
    if (channel(c).bundle_delay == sched::kForever) return kNever;
    return first_s + sched::seconds(channel(c).bundle_delay);
  }
  std::size_t on_way(std::uint32_t c) const {
    return static_cast<std::size_t>(std::ranges::count_if(posted_[c], [&](const Message& message) {
      return std::ranges::any_of(message, [&](std::uint32_t i) { return !ops_[i].done; });
    }));
  }

  // The lowest operation goes first; a bundle that is due counts as its oldest.
  bool serve(std::uint32_t rank) {
    std::optional<std::uint32_t> turn;
    for (const std::uint32_t i : waiting_) {
      if (op(i).rank.value == rank && (!turn || i < *turn)) turn = i;
    }
    std::optional<std::uint32_t> due;
    for (std::uint32_t c = 0; c < gathered_.size(); ++c) {
      if (channel(c).src.value != rank || gathered_[c].empty() || !now(due_s(c))) continue;
      if (turn && *turn < gathered_[c].front()) continue;
      due = c;
      turn = gathered_[c].front();
    }
    if (due) {
      lane_busy_[rank] = true;
      post(*due, 0, true);
      return true;
    }
    if (!turn) return false;
    std::erase(waiting_, *turn);
    lane_busy_[rank] = true;
    begin(*turn);
    return true;
  }

  // o_post from `wait_s` on.
  void post(std::uint32_t c, double wait_s, bool frees_lane) {
    Message bundle;
    bundle.swap(gathered_[c]);
    later(wait_s + sched::seconds(p_.o_post), bundle.front(), [this, bundle, frees_lane, c] {
      if (frees_lane) lane_busy_[channel(c).src.value] = false;
      depart(bundle);
    });
  }

  void begin(std::uint32_t i) {
    const Op& o = op(i);
    const std::uint32_t rank = o.rank.value;
    const double post_s = sched::seconds(p_.o_post);
    if (!sched::is_initiator(o.kind) && o.kind != OpKind::kRecv && o.kind != OpKind::kFlush) {
      ops_[i].issued_s = now_s_;
      const double hold_s = o.kind == OpKind::kCalc ? sched::seconds(s_.arguments(o).duration)
                                                    : p_.copy_s(s_.payload_bytes(o));
      later(hold_s, i, [this, i, rank] {
        lane_busy_[rank] = false;
        finish(i);
      });
      return;
    }
    if (!bundled(o)) {
      later(post_s, i, [this, i, rank] {
        lane_busy_[rank] = false;
        ops_[i].issued_s = now_s_;
        if (op(i).kind == OpKind::kRecv) {
          receive(i);
        } else {
          depart({i});
        }
      });
      return;
    }
    const std::uint32_t c = o.channel.value;
    if (o.kind == OpKind::kFlush) {
      Message bundle;
      bundle.swap(gathered_[c]);
      later(bundle.empty() ? 0 : post_s, i, [this, i, rank, bundle] {
        lane_busy_[rank] = false;
        ops_[i].issued_s = now_s_;
        if (!bundle.empty()) depart(bundle);
        later(0, i, [this, i] { finish(i); });
      });
      return;
    }
    if (o.kind == OpKind::kGet) {
      double wait_s = 0;
      if (!gathered_[c].empty()) {
        post(c, 0, false);
        wait_s = post_s;
      }
      later(wait_s + post_s, i, [this, i, rank] {
        lane_busy_[rank] = false;
        ops_[i].issued_s = now_s_;
        depart({i});
      });
      return;
    }
    const bool full_window = channel(c).window != 0 && on_way(c) >= channel(c).window;
    if (channel(c).bundle == sched::Bundle::kOverflow && !full_window && gathered_[c].empty()) {
      later(post_s, i, [this, i, rank] {
        lane_busy_[rank] = false;
        ops_[i].issued_s = now_s_;
        depart({i});
      });
      return;
    }
    later(p_.copy_s(s_.payload_bytes(o)), i, [this, i, rank, c] {
      ops_[i].issued_s = now_s_;
      gathered_[c].push_back(i);
      std::uint64_t bytes = 0;
      for (const std::uint32_t m : gathered_[c]) bytes += s_.payload_bytes(op(m));
      if (bytes >= channel(c).bundle_bytes) {
        post(c, 0, true);
      } else {
        lane_busy_[rank] = false;
      }
    });
  }

  void issue_free(std::uint32_t i) {
    ops_[i].issued_s = now_s_;
    if (op(i).kind == OpKind::kPoll) return receive(i);
    const double wait_s =
        op(i).kind == OpKind::kDelay ? sched::seconds(s_.arguments(op(i)).duration) : 0;
    later(wait_s, i, [this, i] { finish(i); });
  }

  void depart(const Message& message) {
    posted_[op(message.front()).channel.value].push_back(message);
    at_nic_.push_back(message);
  }
  void start(const Message& message) {
    ++messages;
    carried += message.size();
    std::uint64_t bytes = 0;
    for (const std::uint32_t i : message) bytes += s_.payload_bytes(op(i));
    const double way_s = sched::seconds(p_.latency);
    const double complete_s = sched::seconds(p_.o_complete);
    const double arrival_s = now_s_ + p_.transfer_s(bytes) + way_s;
    for (const std::uint32_t i : message) {
      const Op& o = op(i);
      if (o.kind == OpKind::kGet) {
        finish_at(now_s_ + way_s + p_.transfer_s(bytes) + way_s + complete_s, i);
        continue;
      }
      if (o.match.valid()) {
        arrivals_.push_back({arrival_s, i});
        meet(i, o.match.value);
      }
      if (!sched::is_fifo_source(o)) finish_at(arrival_s + way_s + complete_s, i);
    }
  }
  void receive(std::uint32_t i) {
    if (op(i).match.valid()) meet(op(i).match.value, i);
  }
  void meet(std::uint32_t source, std::uint32_t receive) {
    if (!std::isfinite(ops_[receive].issued_s)) return;
    for (const auto& [arrival_s, i] : arrivals_) {
      if (i != source) continue;
      const double landed_s = std::max(arrival_s, ops_[receive].issued_s);
      const double complete_s = sched::seconds(p_.o_complete);
      finish_at(landed_s + complete_s, receive);
      if (op(receive).kind == OpKind::kRecv) {
        finish_at(landed_s + sched::seconds(p_.latency) + complete_s, source);
      }
    }
  }
  void finish_at(double time_s, std::uint32_t i) {
    agenda_.push_back({time_s, i, [this, i] { finish(i); }});
  }
  void finish(std::uint32_t i) {
    ops_[i].done = true;
    ops_[i].done_s = now_s_;
  }

  const sched::Schedule& s_;
  const machine::Platform& p_;
  double now_s_ = 0;
  std::vector<Seen> ops_;
  std::vector<bool> lane_busy_;
  std::vector<std::uint32_t> waiting_;        // for their lane
  std::vector<Message> gathered_;             // by channel
  std::vector<std::vector<Message>> posted_;  // by channel
  std::vector<Message> at_nic_;
  std::vector<std::pair<double, std::uint32_t>> arrivals_;
  std::vector<Item> agenda_;
};

}  // namespace slackline::testing
