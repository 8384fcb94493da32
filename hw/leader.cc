#include "hw/leader.h"

#include <fmt/format.h>

#include <utility>

#include "hw/leader_words.h"
#include "hw/run_pace.h"
#include "sched/text.h"

namespace slackline::hw {
namespace {

constexpr std::uint32_t kOrders = 0x5300;  // the mesh's topic

// What rank 0 tells to do, and what that takes.
struct Order {
  LeaderOrder told;
  std::optional<sched::Schedule> schedule;  // if it is a new one
};

Order read_order(const Bytes& bytes) {
  return read_from(0, "order", bytes, [](ByteReader& reader) {
    Order order;
    try {
      order.told = read_leader_order(reader);
      if (order.told.word == LeaderWord::kRun) {
        order.schedule = sched::read_text(order.told.schedule, "the leader's schedule");
        order.told.schedule.clear();
      }
    } catch (const InputError& error) {
      throw BadBytes(error.what());
    }
    return order;
  });
}

}  // namespace

Leader::Leader(Mesh& mesh, Transport& transport) : mesh_(mesh), session_(mesh, transport) {}

Leader::~Leader() {
  const Bytes bytes = encode_end();
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
  const RunPace sound(options);  // else this rank alone throws, and the others are told nothing
  const bool again = told_ == schedule.digest();
  const Bytes bytes = encode_run(options, again ? "" : sched::write_text(schedule));
  for (std::uint32_t r = 1; r < mesh_.ranks(); ++r) mesh_.send(r, kOrders, bytes);
  told_ = schedule.digest();
  return session_.run(schedule, options, progress);
}

void follow(Mesh& mesh, Transport& transport) {
  Session session(mesh, transport);
  std::optional<sched::Schedule> schedule;
  while (true) {
    Order order = read_order(mesh.receive(0, kOrders));
    if (order.told.word == LeaderWord::kEnd) return;
    if (order.schedule) schedule = std::move(order.schedule);
    RunOptions& options = order.told.options;
    options.order.slack_s = order.told.slack_s;
    if (!schedule) throw EnvironmentError("rank 0 tells to run again what never ran");
    if (options.order.policy == machine::IssuePolicy::kLeastSlack &&
        order.told.slack_s.size() != schedule->op_count()) {
      throw EnvironmentError(fmt::format("rank 0 tells the slack of {} operations; expected {}",
                                         order.told.slack_s.size(), schedule->op_count()));
    }
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
