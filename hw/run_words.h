// What the ranks of a session tell each other over the mesh, as bytes. Each number is checked where
// it is read: a rank that knows the run's secret may be faulty, or somebody's who means harm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hw/bytes.h"
#include "hw/executor/greeting.h"
#include "hw/failed.h"
#include "hw/run.h"
#include "sched/digest.h"

namespace slackline::hw {

/// Before a run.
struct RunGreeting {
  Failed failed;  // why there will be none; then the rest is not told
  sched::Digest schedule;
  bool has_another_clock = false;  // than rank 0
  Greeting greeting;
};
std::vector<std::byte> encode(const RunGreeting& greeting);
/// These throw BadBytes.
RunGreeting read_run_greeting(ByteReader& reader);

/// What rank 0 tells of an iteration before it begins.
struct RunStart {
  double at_s = 0;     // on rank 0's clock
  bool counts = true;  // it is none of the warm-up
  bool last = false;
  bool asks_clock = false;  // after it, clocks are asked again
};
std::vector<std::byte> encode(const RunStart& start);
/// `before`: of the iteration before; of the first, one that does not count.
RunStart read_run_start(ByteReader& reader, const RunStart& before);

/// What a rank has to say of an iteration.
struct Finish {
  double finish_s = 0;  // infinite if it never came to it
  double late_s = 0;
  std::uint64_t clock_reads = 0;
};
/// …and that it has come to nothing, if so. `ranks`: how many there are.
struct RankFinish {
  Failed failed;
  Finish finish;
};
std::vector<std::byte> encode(const RankFinish& finish);
RankFinish read_rank_finish(ByteReader& reader, std::uint32_t ranks);

/// Of all ranks, of which there are `ranks`.
struct AllFinished {
  Failed failed;
  std::vector<Finish> finishes;
};
std::vector<std::byte> encode(const AllFinished& finished);
AllFinished read_all_finished(ByteReader& reader, std::uint32_t ranks);

/// After a run: when a rank was done, on rank 0's clock, by iteration; how far off that may be; the
/// first byte that is wrong; and whether it had a processor.
struct RunEnds {
  double error_s = 0;
  std::vector<double> finishes_s;
  std::string breach;
  ProcessorUse processor = {};
};
std::vector<std::byte> encode(const RunEnds& ends);
RunEnds read_run_ends(ByteReader& reader);

/// What a rank saw of its operations.
struct RunTimes {
  RankRecord record;
  std::vector<ClockErrors::Span> errors;
};
std::vector<std::byte> encode(const RunTimes& times);
/// `ops`: of the schedule.
RunTimes read_run_times(ByteReader& reader, std::size_t ops);

}  // namespace slackline::hw
