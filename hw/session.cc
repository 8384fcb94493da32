#include "hw/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

#include "hw/conclusion.h"
#include "hw/driver.h"
#include "hw/executor.h"
#include "hw/executor/channels.h"
#include "hw/processor_watch.h"
#include "hw/run_clock.h"
#include "hw/run_pace.h"
#include "hw/run_words.h"
#include "hw/transport_choice.h"
#include "machine/delays.h"
#include "machine/timeline_nics.h"
#include "sched/kept_memory.h"

namespace slackline::hw {
namespace {

using Clock = Executor::Clock;

// Topics of the mesh. Each message is answered or awaited before the next of its topic, so that
// runs do not mix.
enum Topic : std::uint32_t { kStart = 0x5200, kTimes };

// Times of iterations are kept until it is known which is the median: as many as fit in here.
constexpr std::uint64_t kMostKept = std::uint64_t{256} << 20;
// A start is no further ahead.
constexpr std::chrono::minutes kMostAhead{1};

// The cost of one reading.
double clock_read_s() {
  constexpr int kReads = 2000;
  const Clock::time_point begin = Clock::now();
  Clock::time_point end = begin;
  for (int i = 0; i < kReads; ++i) end = Clock::now();
  return std::chrono::duration<double>(end - begin).count() / kReads;
}

void require_options(const sched::Schedule& schedule, const RunOptions& options,
                     std::uint32_t ranks) {
  if (schedule.rank_count() != ranks) {
    throw InputError(
        fmt::format("the schedule is for {} ranks; the run has {}", schedule.rank_count(), ranks));
  }
  require_applicable(options.delays);
}

// One run, of one rank.
class Run {
 public:
  Run(Mesh& mesh, Transport& transport, const sched::Schedule& schedule, const RunOptions& options,
      std::uint32_t first_channel, std::uint32_t first_clock_channel)
      : mesh_(mesh),
        transport_(transport),
        schedule_(schedule),
        options_(options),
        // Who waits for ranks that move has time: how long their messages take is not known.
        conclusion_(mesh, options.stall_timeout / 4) {
    set_up(first_channel, first_clock_channel);
  }

  RunResult run(const RunProgress& progress);
  // What this rank has seen, if it had begun.
  std::optional<sched::Trace> partial();
  // Whether requests may be under way.
  bool has_posted() const { return posted_; }

 private:
  void set_up(std::uint32_t first_channel, std::uint32_t first_clock_channel);
  void connect(const Failed& failed, std::uint32_t first_clock_channel);
  RunStart agree_on_start(std::uint32_t iteration);
  RunStart iterate(std::uint32_t iteration);
  void conclude(double late_s);
  void drive(double late_s);
  void leave(const std::exception& error);
  void keep(RunResult& result);
  void tell_of_iteration(bool counts) const;
  void choose_median(RunResult& result) const;
  void gather_ends(RunResult& result);
  void gather_times(RunResult& result);
  RankRecord record();
  sched::Trace trace_of(std::span<const RankRecord> records) const;

  Mesh& mesh_;
  Transport& transport_;
  const sched::Schedule& schedule_;
  const RunOptions& options_;
  std::optional<RunPace> pace_;
  machine::Delays delays_;
  std::optional<machine::BundleDelays> bundle_delays_;
  std::optional<Executor> executor_;
  std::optional<Driver> driver_;
  Conclusion conclusion_;
  std::optional<sched::KeptMemory> kept_memory_;
  std::optional<RunClock> clock_;
  ProcessorWatch processor_;
  double clock_read_s_ = 0;
  bool posted_ = false;
  bool begun_ = false;
  RunStart last_start_{0, false, false, false};
  std::string breach_;
  std::uint32_t most_kept_ = 1;
  std::vector<RankRecord> kept_;               // of the first iterations that are told of
  std::vector<std::vector<Finish>> finishes_;  // by iteration, by rank
  std::vector<double> finish_here_s_;          // by iteration, on this rank's clock
};

void Run::set_up(std::uint32_t first_channel, std::uint32_t first_clock_channel) {
  Failed failed;
  try {
    pace_.emplace(options_);
    require_options(schedule_, options_, mesh_.ranks());
    delays_ = machine::Delays(options_.delays, schedule_, options_.platform);
    bundle_delays_.emplace(options_.delays, schedule_, options_.platform);
    kept_memory_.emplace(schedule_);
    ExecutorOptions options;
    options.first_channel = first_channel;
    options.order = options_.order;
    options.interleave_bytes = options_.platform.interleave_bytes;
    options.delays = delays_.empty() ? nullptr : &delays_;
    options.bundle_delays = &*bundle_delays_;
    options.seed = options_.delays.seed;
    options.rails = options_.platform.node.rails;
    options.timestamps = options_.timestamps;
    executor_.emplace(schedule_, sched::RankId(mesh_.rank()), transport_, std::move(options));
  } catch (const Error& error) {
    failed = describe_failure(error);
  }
  clock_.emplace(mesh_);
  connect(failed, first_clock_channel);
  driver_.emplace(mesh_, transport_, *executor_, options_,
                  longest_quiet(schedule_, delays_, &*bundle_delays_) + options_.stall_timeout,
                  [this](bool moved) { return conclusion_.listen(moved); });
  clock_read_s_ = options_.timestamps ? clock_read_s() : 0;
  std::vector<std::uint64_t> bytes(mesh_.ranks(), 1);  // of a record
  for (std::uint32_t b = 0; b < schedule_.buffers().size(); ++b) {
    const sched::Buffer& buffer = schedule_.buffers()[b];
    if (kept_memory_->keeps(sched::BufferId(b))) bytes[buffer.rank.value] += buffer.bytes;
  }
  for (std::uint32_t r = 0; r < mesh_.ranks(); ++r) {
    const std::uint64_t ops =
        schedule_.end_op(sched::RankId(r)).value - schedule_.first_op(sched::RankId(r)).value;
    bytes[r] += ops * (sizeof(sched::OpTimes) + sizeof(std::uint64_t));
  }
  const std::uint64_t most = *std::max_element(bytes.begin(), bytes.end());
  most_kept_ = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(kMostKept / most, 1, std::numeric_limits<std::uint32_t>::max()));
}

// Ranks greet each other, or tell why they cannot: then all throw the first one's reason.
void Run::connect(const Failed& failed, std::uint32_t first_clock_channel) {
  RunGreeting own{failed, schedule_.digest(), clock_->is_another(), {}};
  if (executor_) own.greeting = executor_->greeting();
  const std::vector<Bytes> answers = mesh_.all_gather(encode(own));
  std::vector<Greeting> greetings;
  std::vector<std::uint32_t> of_other_clocks;
  for (std::uint32_t r = 0; r < answers.size(); ++r) {
    RunGreeting theirs = read_from(r, "greeting", answers[r], read_run_greeting);
    if (theirs.failed.fault != Failed::Fault::kNone) {
      if (executor_) executor_->close();
      rethrow(theirs.failed);
    }
    if (theirs.schedule != schedule_.digest()) {
      executor_->close();
      throw InputError(fmt::format("rank {} has schedule {}; expected {}, as rank {}", r,
                                   to_string(theirs.schedule), to_string(schedule_.digest()),
                                   mesh_.rank()));
    }
    // It is rank 0's that others may have another than.
    if (theirs.has_another_clock && r != 0) of_other_clocks.push_back(r);
    greetings.push_back(std::move(theirs.greeting));
  }
  executor_->connect(greetings);
  if (of_other_clocks.empty()) return;
  naming_the_lost(mesh_, options_.failure_timeout, [&] {
    clock_->ask_over(transport_, of_other_clocks, first_clock_channel,
                     [this](const Completion& completion) { executor_->take(completion); });
  });
}

RunResult Run::run(const RunProgress& progress) {
  RunResult result;
  bool last = false;
  for (std::uint32_t i = 0; !last; ++i) {
    const RunStart start = iterate(i);
    if (start.counts) keep(result);
    tell_of_iteration(start.counts);
    if (start.asks_clock) naming_the_lost(mesh_, options_.failure_timeout, [&] { clock_->ask(); });
    pace_->tell(progress, i + 1, Clock::now());
    last = start.last;
  }
  posted_ = begun_ = false;
  gather_ends(result);
  choose_median(result);
  gather_times(result);
  mesh_.barrier();
  clock_->close();
  executor_->close();
  return result;
}

// All ranks are ready when rank 0 names the time.
RunStart Run::agree_on_start(std::uint32_t iteration) {
  // Words begin as the contract says, too, and decide what regions do.
  const bool refill = options_.prove || !schedule_.regions().empty();
  if (iteration != 0) executor_->reset(refill);
  posted_ = true;
  naming_the_lost(mesh_, options_.failure_timeout, [&] { executor_->post_ahead(); });
  mesh_.barrier();
  if (mesh_.rank() != 0) {
    last_start_ =
        read_from(0, "start of an iteration", mesh_.receive(0, kStart),
                  [&](ByteReader& reader) { return read_run_start(reader, last_start_); });
    return last_start_;
  }
  const RunStart start = pace_->next(iteration, Clock::now());
  const Bytes bytes = encode(start);
  for (std::uint32_t r = 1; r < mesh_.ranks(); ++r) mesh_.send(r, kStart, bytes);
  return start;
}

RunStart Run::iterate(std::uint32_t iteration) {
  const RunStart agreed = agree_on_start(iteration);
  const Clock::time_point start = clock_->begin(agreed.at_s);
  // It is a millisecond ahead, give or take what clocks differ that were asked just now.
  if (start - Clock::now() > kMostAhead) {
    throw EnvironmentError("rank 0 names a start that is more than a minute ahead");
  }
  sleep_until(start, [this] { processor_.begin(); });
  const double late_s = std::chrono::duration<double>(Clock::now() - start).count();
  begun_ = true;
  conclusion_.begin();
  executor_->begin(start);
  conclude(late_s);
  processor_.end(agreed.counts);
  if (!options_.prove || !breach_.empty()) return agreed;
  if (const auto breach = executor_->first_breach()) {
    breach_ = fmt::format("iteration {}: {}", iteration, *breach);
  }
  return agreed;
}

// Returns when all ranks are through, since they may need this one's progress. Throws what any of
// them comes to, at all of them.
void Run::conclude(double late_s) {
  try {
    return drive(late_s);
  } catch (const std::exception& error) {
    // Of a loss the mesh tells all. Of anything else they would only see that this rank is gone.
    if (!mesh_.any_lost()) leave(error);
    // A rank stalls because something else is amiss: who said first what that is speaks for all.
    const bool stalled = dynamic_cast<const Stalled*>(&error) != nullptr;
    if (stalled && conclusion_.failed() && !mesh_.any_lost()) rethrow(conclusion_.failure());
    throw;
  }
}

void Run::leave(const std::exception& error) {
  try {
    conclusion_.leave(error, options_.failure_timeout);
  } catch (const std::exception&) {
    // Where memory has run out, say. It is the first failure that is thrown.
  }
}

void Run::drive(double late_s) {
  try {
    driver_->until([&] { return executor_->finished() || conclusion_.failed(); });
    if (!conclusion_.failed()) {
      // A rank with nothing to do has finished at the common start, however late it came to look:
      // then its lateness is in no makespan.
      const double finish_s = executor_->finish_s();
      conclusion_.tell(Finish{finish_s, std::min(late_s, finish_s), executor_->clock_reads()});
    }
  } catch (const InputError& error) {
    conclusion_.tell(describe_failure(error));
  }
  if (!executor_->finished()) executor_->abandon();
  driver_->until([&] { return conclusion_.is_over(); });
  if (!conclusion_.failed()) return;
  conclusion_.part(options_.stall_timeout);
  rethrow(conclusion_.failure());
}

void Run::keep(RunResult& result) {
  const std::vector<Finish>& finishes = conclusion_.finishes();
  for (const Finish& finish : finishes) {
    result.late_start_s = std::max(result.late_start_s, finish.late_s);
  }
  finishes_.push_back(finishes);
  clock_->keep();
  if (kept_.size() < most_kept_) {
    kept_.push_back(record());
  }
}

void Run::tell_of_iteration(bool counts) const {
  if (!options_.on_iteration) return;
  IterationEnd end{counts, 0, 0};
  for (const Finish& finish : conclusion_.finishes()) {
    end.makespan_s = std::max(end.makespan_s, finish.finish_s);
    end.late_start_s = std::max(end.late_start_s, finish.late_s);
  }
  options_.on_iteration(end);
}

// Clocks drift while a run goes on. Only now it is known by how much: all times are put right.
void Run::gather_ends(RunResult& result) {
  naming_the_lost(mesh_, options_.failure_timeout, [&] { clock_->end(); });
  double error_s = 0;
  std::vector<double> own;
  for (std::uint32_t i = 0; i < finishes_.size(); ++i) {
    finish_here_s_.push_back(finishes_[i][mesh_.rank()].finish_s);
    own.push_back(clock_->put_right(finish_here_s_[i], i));
    for (const ClockErrors::Span& span : clock_->errors(i, finish_here_s_[i])) {
      error_s = std::max(error_s, span.error_s);
    }
  }
  const std::vector<Bytes> told =
      mesh_.all_gather(encode(RunEnds{error_s, own, breach_, processor_.use()}));
  double largest_s = 0;
  double second_s = 0;
  result.makespans_s.assign(finishes_.size(), 0);
  for (std::uint32_t r = 0; r < told.size(); ++r) {
    const RunEnds ends = read_from(r, "end of a run", told[r], read_run_ends);
    second_s = std::max(second_s, std::min(largest_s, ends.error_s));
    largest_s = std::max(largest_s, ends.error_s);
    result.processor.push_back(ends.processor);
    const std::vector<double>& finishes = ends.finishes_s;
    if (finishes.size() != finishes_.size()) {
      throw EnvironmentError(fmt::format("rank {} tells of {} iterations; expected {}", r,
                                         finishes.size(), finishes_.size()));
    }
    for (std::size_t i = 0; i < finishes.size(); ++i) {
      finishes_[i][r].finish_s = finishes[i];
      result.makespans_s[i] = std::max(result.makespans_s[i], finishes[i]);
    }
    if (!ends.breach.empty() && !result.breach) result.breach = ends.breach;
  }
  result.clock_error_s = largest_s + second_s;
}

// Of those of which the times are kept, the one nearest to the median.
void Run::choose_median(RunResult& result) const {
  const double median_s = result.median_makespan_s();
  std::uint32_t best = 0;
  for (std::uint32_t i = 1; i < kept_.size(); ++i) {
    const auto distance = [&](std::uint32_t k) {
      return std::abs(result.makespans_s[k] - median_s);
    };
    if (distance(i) < distance(best)) best = i;
  }
  result.traced_iteration = best;
  result.clock_read_s = clock_read_s_;
  for (std::uint32_t r = 0; r < mesh_.ranks(); ++r) {
    const Finish& finish = finishes_[best][r];
    result.rank_finish_s.push_back(finish.finish_s);
    result.clock_reads += finish.clock_reads;
    const std::uint32_t ops =
        schedule_.end_op(sched::RankId(r)).value - schedule_.first_op(sched::RankId(r)).value;
    if (ops == 0) continue;
    result.timestamp_overhead_s = std::max(
        result.timestamp_overhead_s, clock_read_s_ * static_cast<double>(finish.clock_reads) / ops);
  }
}

void Run::gather_times(RunResult& result) {
  std::vector<RankRecord> records(mesh_.ranks());
  RankRecord& own = records[mesh_.rank()];
  own = std::move(kept_[result.traced_iteration]);
  // Without timestamps they have no times.
  if (options_.timestamps) clock_->put_right(own.times, result.traced_iteration);
  if (mesh_.rank() == 0) {
    result.clock_errors.emplace_back();
    for (std::uint32_t r = 1; r < mesh_.ranks(); ++r) {
      RunTimes times = read_from(
          r, "record of its operations", mesh_.receive(r, kTimes),
          [&](ByteReader& reader) { return read_run_times(reader, schedule_.op_count()); });
      records[r] = std::move(times.record);
      result.clock_errors.emplace_back(std::move(times.errors));
    }
  } else {
    mesh_.send(0, kTimes,
               encode(RunTimes{own, clock_->errors(result.traced_iteration,
                                                   finish_here_s_[result.traced_iteration])}));
  }
  result.trace = trace_of(records);
}

std::optional<sched::Trace> Run::partial() {
  if (!begun_ || !executor_) return std::nullopt;
  std::vector<RankRecord> records(mesh_.ranks());
  records[mesh_.rank()] = record();
  return trace_of(records);
}

RankRecord Run::record() {
  RankRecord record;
  record.times.assign(executor_->times().begin(), executor_->times().end());
  record.results.assign(executor_->results().begin(), executor_->results().end());
  for (std::uint32_t b = 0; b < schedule_.buffers().size(); ++b) {
    const sched::Buffer& buffer = schedule_.buffers()[b];
    if (buffer.rank.value != mesh_.rank() || !kept_memory_->keeps(sched::BufferId(b))) continue;
    const auto bytes = executor_->memory().at({sched::BufferId(b), 0, buffer.bytes});
    record.memory.insert(record.memory.end(), bytes.begin(), bytes.end());
  }
  return record;
}

sched::Trace Run::trace_of(std::span<const RankRecord> records) const {
  sched::Trace trace = assemble_trace(schedule_, transport_.name(), records);
  trace.engine += machine::rails_of_run(options_.platform.node);
  trace.delays = options_.delays.text();
  trace.seed = options_.delays.seed;
  return trace;
}

}  // namespace

Session::Session(Mesh& mesh, Transport& transport) : mesh_(mesh), transport_(transport) {
  require_reach(transport.name(), mesh);
}

RunResult Session::run(const sched::Schedule& schedule, const RunOptions& options,
                       const RunProgress& progress) {
  if (broken_) throw InternalError("a session that has failed is run again");
  partial_.reset();
  // Each run's channels have numbers of their own: what another left behind is nobody's.
  const ExecutorChannels channels(schedule, next_channel_, TransportClock::kChannels);
  Run run(mesh_, transport_, schedule, options, next_channel_, channels.of_others());
  next_channel_ = channels.end();
  try {
    return run.run(progress);
  } catch (...) {
    partial_ = run.partial();
    broken_ = run.has_posted();
    throw;
  }
}

}  // namespace slackline::hw
