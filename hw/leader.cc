#include "hw/leader.h"

#include <utility>

#include "hw/bytes.h"
#include "sched/text.h"

namespace slackline::hw {
namespace {

constexpr std::uint32_t kOrders = 0x5300;  // the mesh's topic

enum class Word : std::uint8_t { kEnd, kRun, kRunAgain };

// What the followers need of the platform.
void write_platform(const machine::Platform& platform, ByteWriter& writer) {
  writer.add(platform.o_post);
  writer.add(platform.copy_rate);
  writer.add(platform.interleave_bytes);
}

machine::Platform read_platform(ByteReader& reader) {
  machine::Platform platform;
  platform.o_post = reader.get<machine::Time>();
  platform.copy_rate = reader.get<machine::Rate>();
  platform.interleave_bytes = reader.get<std::uint64_t>();
  return platform;
}

void write_options(const RunOptions& options, ByteWriter& writer) {
  writer.add(options.iterations);
  writer.add(options.warm_up);
  writer.add(options.prove);
  writer.add(options.waiting);
  writer.add(options.poll_for);
  writer.add(options.order.policy);
  writer.add(options.order.sends_in_flight);
  writer.add_list(options.order.slack_s);
  writer.add_text(options.delays.text());
  writer.add(options.delays.seed);
  write_platform(options.platform, writer);
  writer.add(options.timestamps);
  writer.add(options.stall_timeout);
  writer.add(options.failure_timeout);
  writer.add(options.duration);
}

// The slack is kept in `slack_s`, to which the options refer.
RunOptions read_options(ByteReader& reader, std::vector<double>& slack_s) {
  RunOptions options;
  options.iterations = reader.get<std::uint32_t>();
  options.warm_up = reader.get<std::uint32_t>();
  options.prove = reader.get<bool>();
  options.waiting = reader.get<Waiting>();
  options.poll_for = reader.get<std::chrono::milliseconds>();
  options.order.policy = reader.get<machine::IssuePolicy>();
  options.order.sends_in_flight = reader.get<std::uint32_t>();
  slack_s = reader.list<double>();
  options.order.slack_s = slack_s;
  const std::string delays = reader.text();
  if (!delays.empty()) options.delays = machine::delay_plan_from_toml(delays, "delays");
  options.delays.seed = reader.get<std::uint64_t>();
  options.platform = read_platform(reader);
  options.timestamps = reader.get<bool>();
  options.stall_timeout = reader.get<std::chrono::milliseconds>();
  options.failure_timeout = reader.get<std::chrono::milliseconds>();
  options.duration = reader.get<std::chrono::milliseconds>();
  return options;
}

}  // namespace

Leader::Leader(Mesh& mesh, Transport& transport) : mesh_(mesh), session_(mesh, transport) {}

Leader::~Leader() {
  ByteWriter writer;
  writer.add(Word::kEnd);
  const Bytes bytes = writer.take();
  for (std::uint32_t r = 1; r < mesh_.ranks(); ++r) {
    try {
      mesh_.send(r, kOrders, bytes);
    } catch (const Error&) {
      // Lost: it needs no word any more.
    }
  }
}

RunResult Leader::run(const sched::Schedule& schedule, const RunOptions& options,
                      const RunProgress& progress) {
  const bool again = told_ == schedule.digest();
  ByteWriter writer;
  writer.add(again ? Word::kRunAgain : Word::kRun);
  write_options(options, writer);
  if (!again) writer.add_text(sched::write_text(schedule));
  const Bytes bytes = writer.take();
  for (std::uint32_t r = 1; r < mesh_.ranks(); ++r) mesh_.send(r, kOrders, bytes);
  told_ = schedule.digest();
  return session_.run(schedule, options, progress);
}

void follow(Mesh& mesh, Transport& transport) {
  Session session(mesh, transport);
  std::optional<sched::Schedule> schedule;
  while (true) {
    const Bytes bytes = mesh.receive(0, kOrders);
    ByteReader reader(bytes);
    const auto word = reader.get<Word>();
    if (word == Word::kEnd) return;
    std::vector<double> slack_s;
    const RunOptions options = read_options(reader, slack_s);
    if (word == Word::kRun) schedule = sched::read_text(reader.text(), "the leader's schedule");
    if (!schedule) throw InternalError("told to run again what never ran");
    try {
      session.run(*schedule, options);
    } catch (const InputError&) {
      // Rank 0 throws the same, and tells its caller.
      if (session.is_broken()) throw;
    } catch (const Unsupported&) {
    }
  }
}

}  // namespace slackline::hw
