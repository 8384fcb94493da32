// What each link of a platform carried in a run.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/paths.h"
#include "machine/setting.h"
#include "sched/trace.h"

namespace slackline::analysis {

struct LinkLoad {
  std::uint64_t bytes = 0;
  double wire_bytes = 0;       // with what packets and lines add
  std::uint64_t messages = 0;  // with bytes
  double busy_s = 0;           // while at least one message was under way on it
};

/// Of every link, in the wiring's order. Counts what had begun to leave, each attempt of what runs
/// several times, and each bundle as one message; busy_s counts messages of which the trace tells
/// both ends, from leaving to having left: of several attempts the last. With gets or atomics, the
/// reply.
std::vector<LinkLoad> link_load(const machine::Setting& setting, const machine::Paths& paths,
                                const sched::Trace& trace);

/// The same, message by message, for who goes through a run's operations for other figures, too.
class LinkLoads {
 public:
  /// What the setting is of, the paths and the trace must outlive this.
  LinkLoads(const machine::Setting& setting, const machine::Paths& paths,
            const sched::Trace& trace);

  /// The message of an initiator, the first of those whose messages left as one: `bytes` > 0, all
  /// of theirs, began to leave so many times. Messages come in the order of their operations.
  void add(sched::OpId op, std::uint64_t bytes, std::uint64_t times);
  /// What they come to. Nothing may be added after it.
  std::vector<LinkLoad> take();

 private:
  struct UnderWay {
    double begin_s;
    double end_s;
    machine::PathId path;
  };
  // What went over every link of a path.
  struct Carried {
    std::uint64_t bytes = 0;
    std::uint64_t messages = 0;
    double wire_bytes = 0;
  };
  static bool earlier(const UnderWay& a, const UnderWay& b) {
    return a.begin_s != b.begin_s ? a.begin_s < b.begin_s : a.end_s < b.end_s;
  }
  void look_ahead(sched::OpId op);
  void carry(machine::PathId path, std::uint64_t bytes, std::uint64_t times);
  void sort_by_time();
  void add_busy_times();

  const machine::Setting& setting_;
  const machine::Paths& paths_;
  const sched::Trace& trace_;
  const bool whole_bytes_;  // on wires, of every message
  std::vector<LinkLoad> loads_;
  std::vector<Carried> carried_;  // of every path
  std::vector<UnderWay> messages_;
  std::uint32_t looked_at_ = 0;  // operations, by look_ahead()
};

/// When what the operation, an initiator, put on the wire had left; with gets and atomics, the
/// reply. `message_bytes`: of all that left with it. Infinite of what was lost since its way failed
/// before. Infinite as well if the trace does not tell: of large puts and gets that nothing meets,
/// in runs whose messages share, where acknowledgements use ports or completions may have waited to
/// be seen.
double sent_s(const machine::Setting& setting, const machine::Paths& paths,
              const sched::Trace& trace, sched::OpId op, std::uint64_t message_bytes);

/// Whether large messages crowd a link, by machine::CrowdedLinks, where each was given the rate of
/// its own slowest link; each operation is one message. `ports_shared`: as there.
bool shares(const machine::Setting& setting, const machine::Paths& paths, const sched::Trace& trace,
            bool ports_shared);

}  // namespace slackline::analysis
