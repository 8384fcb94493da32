// How long what a get or an atomic asks for takes at its target.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "machine/draw.h"
#include "machine/paths.h"
#include "machine/platform.h"
#include "sched/schedule.h"

namespace slackline::machine {

/// From a request's arrival until the target's NIC has what it asks for; nothing waits for it. 0
/// for a local one.
double read_s(const Platform& platform, bool local);

/// An atomic's service on its word by a NIC or, if it is local, by a CPU, where nobody else uses
/// the word.
double service_s(const Platform& platform, bool local);

/// Whether the service depends on who came before: then an atomic has no time of its own.
bool service_depends_on_others(const Platform& platform);

/// The atomics of one run. A NIC serves one that had to wait for its word for
/// `atomic_service_shared` longer; a CPU for `cpu_atomic_sharer` longer per other rank of the
/// machine that had used the word's cache line in the run. On a switch it takes no time, as sums
/// do.
class AtomicService {
 public:
  /// References must outlive this.
  AtomicService(const sched::Schedule& schedule, const Platform& platform, const Paths& paths);

  void arrived(sched::OpId op, double now_s) {
    if (!arrived_s_.empty()) arrived_s_[op.value] = now_s;
  }
  /// It is the atomic's turn at its word, which stands at `offset` of `buffer`; how long it takes.
  double serve_s(sched::OpId op, sched::BufferId buffer, std::uint64_t offset, double now_s);

  /// As in another run of the same.
  void resume(const AtomicService& other) {
    arrived_s_ = other.arrived_s_;
    users_ = other.users_;
  }
  /// Whether atomics that arrive from now on would be served alike in both runs, if none waits.
  bool goes_on_as(const AtomicService& second) const { return users_ == second.users_; }

 private:
  double sharers_s(sched::RankId rank, sched::BufferId buffer, std::uint64_t offset);

  const sched::Schedule& schedule_;
  const Paths& paths_;
  const double by_nic_s_;
  const double by_cpu_s_;
  const double waited_s_;
  const double sharer_s_;
  std::vector<double> arrived_s_;  // of every operation, if it matters
  struct Line {
    std::uint64_t number;
    std::uint32_t buffer;
    friend bool operator==(const Line&, const Line&) = default;
  };
  struct LineHash {
    std::size_t operator()(const Line& line) const {
      return static_cast<std::size_t>(mix_bits(line.number << 24 ^ line.buffer));
    }
  };
  std::unordered_map<Line, std::vector<sched::RankId>, LineHash> users_;  // only ever looked up
};

}  // namespace slackline::machine
