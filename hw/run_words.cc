#include "hw/run_words.h"

#include <algorithm>
#include <string_view>

namespace slackline::hw {
namespace {

constexpr std::size_t kMostBreach = 64 << 10;

void write_finish(const Finish& finish, ByteWriter& writer) {
  writer.add(finish.finish_s);
  writer.add(finish.late_s);
  writer.add(finish.clock_reads);
}

Finish read_finish(ByteReader& reader) {
  Finish finish;
  finish.finish_s = reader.seconds_or_never();
  finish.late_s = reader.seconds();
  finish.clock_reads = reader.get<std::uint64_t>();
  return finish;
}

void write_processor(const ProcessorUse& use, ByteWriter& writer) {
  writer.add(use.watched_s);
  writer.add(use.waited_s.has_value());
  writer.add(use.waited_s.value_or(0));
  writer.add(use.preemptions);
}

ProcessorUse read_processor(ByteReader& reader) {
  ProcessorUse use;
  use.watched_s = reader.seconds();
  const bool is_known = reader.flag();
  const double waited_s = reader.seconds();
  if (is_known) use.waited_s = waited_s;
  use.preemptions = reader.get<std::uint64_t>();
  return use;
}

Failed read_failure(ByteReader& reader, std::uint32_t ranks) {
  Failed failed = read_failed(reader);
  ByteReader::require(failed.rank < ranks, "the loss of a rank that is none");
  return failed;
}

}  // namespace

std::vector<std::byte> encode(const RunGreeting& greeting) {
  ByteWriter writer;
  write_failed(greeting.failed, writer);
  if (greeting.failed.fault != Failed::Fault::kNone) return writer.take();
  writer.add(greeting.schedule);
  writer.add(greeting.has_another_clock);
  writer.add_all(std::span<const std::byte>(pack(greeting.greeting)));
  return writer.take();
}

RunGreeting read_run_greeting(ByteReader& reader) {
  RunGreeting greeting;
  greeting.failed = read_failed(reader);
  if (greeting.failed.fault != Failed::Fault::kNone) return greeting;
  greeting.schedule = reader.get<sched::Digest>();
  greeting.has_another_clock = reader.flag();
  greeting.greeting = read_greeting(reader);
  return greeting;
}

std::vector<std::byte> encode(const RunStart& start) {
  ByteWriter writer;
  writer.add(start.at_s);
  writer.add(start.counts);
  writer.add(start.last);
  writer.add(start.asks_clock);
  return writer.take();
}

RunStart read_run_start(ByteReader& reader, const RunStart& before) {
  RunStart start;
  start.at_s = reader.seconds();
  start.counts = reader.flag();
  start.last = reader.flag();
  start.asks_clock = reader.flag();
  // What is told at the end is told of an iteration that counts.
  ByteReader::require(start.counts || !start.last, "a last one that does not count");
  ByteReader::require(start.counts || !before.counts, "a warm-up after what counts");
  ByteReader::require(!start.asks_clock || !start.last, "a question after the last");
  return start;
}

std::vector<std::byte> encode(const RankFinish& finish) {
  ByteWriter writer;
  write_failed(finish.failed, writer);
  write_finish(finish.finish, writer);
  return writer.take();
}

RankFinish read_rank_finish(ByteReader& reader, std::uint32_t ranks) {
  RankFinish finish;
  finish.failed = read_failure(reader, ranks);
  finish.finish = read_finish(reader);
  return finish;
}

std::vector<std::byte> encode(const AllFinished& finished) {
  ByteWriter writer;
  write_failed(finished.failed, writer);
  for (const Finish& finish : finished.finishes) write_finish(finish, writer);
  return writer.take();
}

AllFinished read_all_finished(ByteReader& reader, std::uint32_t ranks) {
  AllFinished finished;
  finished.failed = read_failure(reader, ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) finished.finishes.push_back(read_finish(reader));
  return finished;
}

std::vector<std::byte> encode(const RunEnds& ends) {
  ByteWriter writer;
  writer.add(ends.error_s);
  writer.add_list(std::span<const double>(ends.finishes_s));
  writer.add_text(std::string_view(ends.breach).substr(0, kMostBreach));
  write_processor(ends.processor, writer);
  return writer.take();
}

RunEnds read_run_ends(ByteReader& reader) {
  RunEnds ends;
  ends.error_s = reader.seconds();
  ends.finishes_s = reader.list<double>();
  ByteReader::require(std::ranges::all_of(ends.finishes_s, ByteReader::is_time),
                      "a time that is none");
  ends.breach = reader.text(kMostBreach);
  ends.processor = read_processor(reader);
  return ends;
}

std::vector<std::byte> encode(const RunTimes& times) {
  ByteWriter writer;
  writer.add_list(std::span<const sched::OpTimes>(times.record.times));
  writer.add_list(std::span<const std::uint64_t>(times.record.results));
  writer.add_list(std::span<const std::byte>(times.record.memory));
  writer.add_list(std::span<const ClockErrors::Span>(times.errors));
  return writer.take();
}

RunTimes read_run_times(ByteReader& reader, std::size_t ops) {
  RunTimes times;
  times.record.times = reader.list<sched::OpTimes>(ops);
  for (const sched::OpTimes& t : times.record.times) {
    for (const double time_s : {t.ready_s, t.issued_s, t.wire_s, t.done_s}) {
      ByteReader::require(ByteReader::is_time(time_s), "a time that is none");
    }
    ByteReader::require(!t.cause.valid() || t.cause.value < ops, "an operation that is none");
  }
  times.record.results = reader.list<std::uint64_t>(ops);
  times.record.memory = reader.list<std::byte>();
  times.errors = reader.list<ClockErrors::Span>();
  for (std::size_t i = 0; i < times.errors.size(); ++i) {
    const ClockErrors::Span& span = times.errors[i];
    ByteReader::require(ByteReader::is_time(span.until_s) && ByteReader::is_time(span.error_s) &&
                            (i == 0 || times.errors[i - 1].until_s <= span.until_s),
                        "a time that is none");
  }
  return times;
}

}  // namespace slackline::hw
