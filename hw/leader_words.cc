#include "hw/leader_words.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace slackline::hw {
namespace {

// What the followers need of the platform: which rails there are, what a large message is, and how
// long a straggler's lane is held.
void write_platform(const machine::Platform& platform, ByteWriter& writer) {
  writer.add(platform.o_post.count());
  writer.add(platform.post_of_receive().count());
  writer.add_text(machine::format_switches(platform.switches));
  writer.add(platform.copy_rate.bits_per_second);
  writer.add(platform.interleave_bytes);
  writer.add(platform.node.rails.count);
  writer.add(platform.node.rails.rule);
}

machine::Platform read_platform(ByteReader& reader) {
  machine::Platform platform;
  platform.o_post = sched::Time(reader.get<sched::Time::rep>());
  platform.o_post_recv = sched::Time(reader.get<sched::Time::rep>());
  ByteReader::require(platform.o_post.count() >= 0 && platform.o_post_recv->count() >= 0,
                      "a time that is none");
  if (const std::string switches = reader.text(); !switches.empty()) {
    platform.switches = machine::parse_switches(switches, "switches");
  }
  platform.copy_rate.bits_per_second = reader.get<std::uint64_t>();
  ByteReader::require(platform.copy_rate.bits_per_second != 0, "a rate of nothing");
  platform.interleave_bytes = reader.get<std::uint64_t>();
  platform.node.rails.count = reader.get<std::uint32_t>();
  ByteReader::require(platform.node.rails.count != 0, "no rails");
  platform.node.rails.rule = reader.choice(machine::RailRule::kPair);
  return platform;
}

void write_options(const RunOptions& options, ByteWriter& writer) {
  writer.add(options.iterations);
  writer.add(options.warm_up);
  writer.add(options.prove);
  writer.add(options.waiting);
  writer.add(std::int64_t{options.poll_for.count()});
  writer.add(options.order.policy);
  writer.add(options.order.sends_in_flight);
  writer.add_list(options.order.slack_s);
  writer.add_text(options.delays.text());
  writer.add(options.delays.seed);
  write_platform(options.platform, writer);
  writer.add(options.timestamps);
  writer.add(std::int64_t{options.stall_timeout.count()});
  writer.add(std::int64_t{options.failure_timeout.count()});
  writer.add(std::int64_t{options.duration.count()});
}

RunOptions read_options(ByteReader& reader, std::vector<double>& slack_s) {
  RunOptions options;
  options.iterations = reader.get<std::uint32_t>();
  options.warm_up = reader.get<std::uint32_t>();
  ByteReader::require(options.iterations != 0, "no iterations");
  options.prove = reader.flag();
  options.waiting = reader.choice(Waiting::kHybrid);
  options.poll_for = reader.time();
  options.order.policy = reader.choice(machine::IssuePolicy::kLeastSlack);
  options.order.sends_in_flight = reader.get<std::uint32_t>();
  slack_s = reader.list<double>();
  ByteReader::require(std::ranges::none_of(slack_s, [](double slack) { return std::isnan(slack); }),
                      "a time that is none");
  const std::string delays = reader.text();
  if (!delays.empty()) options.delays = machine::delay_plan_from_toml(delays, "delays");
  options.delays.seed = reader.get<std::uint64_t>();
  options.platform = read_platform(reader);
  options.timestamps = reader.flag();
  options.stall_timeout = reader.time();
  options.failure_timeout = reader.time();
  options.duration = reader.time(kLongestDuration);
  return options;
}

}  // namespace

std::vector<std::byte> encode_end() {
  ByteWriter writer;
  writer.add(LeaderWord::kEnd);
  return writer.take();
}

std::vector<std::byte> encode_run(const RunOptions& options, std::string_view schedule) {
  ByteWriter writer;
  writer.add(schedule.empty() ? LeaderWord::kRunAgain : LeaderWord::kRun);
  write_options(options, writer);
  if (!schedule.empty()) writer.add_text(schedule);
  return writer.take();
}

LeaderOrder read_leader_order(ByteReader& reader) {
  LeaderOrder order;
  order.word = reader.choice(LeaderWord::kRunAgain);
  if (order.word == LeaderWord::kEnd) return order;
  order.options = read_options(reader, order.slack_s);
  if (order.word == LeaderWord::kRun) order.schedule = reader.text();
  return order;
}

}  // namespace slackline::hw
