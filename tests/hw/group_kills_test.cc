// Real processes are a group, and one of them is killed: how the group ends at those that are left
// is one of the ends that a simulated group may come to.
//
// How fast what goes on is nobody's to say where processes share cores. So the simulation is run
// with kills after everything that the member may have done, with delays, and with members whose
// threads are early or late. Where it takes the member to have sent more than the real one
// has, its end does not count.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "analysis/group/failure_run.h"
#include "hw/fabric/transport.h"
#include "hw/passing_transport.h"
#include "machine/platform.h"
#include "tests/hw/group_ranks.h"
#include "tests/hw/group_requests.h"
#include "tests/hw/shared_number.h"

namespace slackline {
namespace {

using analysis::GroupRun;
using analysis::GroupScenario;
using testing::MeshRanks;

using Say = MeshRanks::Say;

std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

// What a process tells the test though it may be killed at any moment.
struct Trail {
  static constexpr std::uint32_t kMostLines = 256;
  std::atomic<std::uint64_t> sends[kMostLines];  // by line
  std::atomic<std::int64_t> last_call_ns;        // of its transport, while the group was open
  std::atomic<std::int64_t> closed_ns;
  std::atomic<bool> has_begun;  // from here on the process may be killed
  std::atomic<bool> dies;       // at the next call
};

// One for each rank.
class Trails {
 public:
  explicit Trails(std::uint32_t count) : bytes_(count * sizeof(Trail)) {
    void* const pages =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) std::abort();
    trails_ = new (pages) Trail[count]{};
  }
  ~Trails() { munmap(trails_, bytes_); }
  Trails(const Trails&) = delete;
  Trails& operator=(const Trails&) = delete;
  Trail& operator[](std::uint32_t rank) const { return trails_[rank]; }

 private:
  std::size_t bytes_;
  Trail* trails_;
};

// When a process kills itself: at the so-manieth call of its transport after that many requests and
// completions.
struct Doom {
  std::uint64_t things = ~std::uint64_t{0};
  std::uint64_t calls = 0;
};

class DoomedTransport final : public hw::PassingTransport {
 public:
  DoomedTransport(std::unique_ptr<hw::Transport> under, Trail& trail, Doom doom)
      : PassingTransport(std::move(under)), trail_(trail), doom_(doom) {}
  ~DoomedTransport() override { trail_.closed_ns = now_ns(); }

  std::size_t post(std::span<const hw::WorkRequest> requests) override {
    called();
    // Noted first: a kill from outside may come in between.
    for (const hw::WorkRequest& request : requests) {
      if (request.kind == hw::RequestKind::kSend) ++trail_.sends[request.channel];
    }
    const std::size_t count = PassingTransport::post(requests);
    for (const hw::WorkRequest& request : requests.subspan(count)) {
      if (request.kind == hw::RequestKind::kSend) --trail_.sends[request.channel];
    }
    things_ += trail_.has_begun ? count : 0;
    return count;
  }
  std::size_t poll(std::span<hw::Completion> completions) override {
    called();
    const std::size_t count = PassingTransport::poll(completions);
    things_ += trail_.has_begun ? count : 0;
    return count;
  }

 private:
  void called() {
    trail_.last_call_ns = now_ns();
    if (!trail_.has_begun) return;
    if (trail_.dies || (things_ >= doom_.things && doom_.calls-- == 0)) raise(SIGKILL);
  }

  Trail& trail_;
  Doom doom_;
  std::uint64_t things_ = 0;
};

struct Kill {
  std::string provider;
  GroupScenario scenario;  // without the kill
  std::uint32_t victim = 0;
  Doom doom;
  // Instead: the test kills it so long after the beginning.
  std::optional<std::chrono::microseconds> after;
};

Kill kill_of(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto pick = [&](std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(random);
  };
  Kill kill;
  kill.provider = seed % 2 == 0 ? "shm" : "net";
  machine::GroupShape& shape = kill.scenario.shape;
  const auto patterns = machine::group_patterns();
  shape.pattern = patterns[pick(0, patterns.size() - 1)];
  shape.members = static_cast<std::uint32_t>(pick(3, 5));
  shape.block_bytes = std::uint64_t{512} << pick(0, 5);
  shape.in_flight = static_cast<std::uint32_t>(pick(0, 2));
  shape.window = static_cast<std::uint32_t>(pick(1, 2));
  if (seed % 3 != 0) kill.scenario.small = {300, static_cast<std::uint32_t>(pick(1, 4))};
  for (std::uint64_t left = pick(1, 4); left != 0; --left) {
    const bool small = kill.scenario.small.bytes != 0 && pick(0, 1) == 0;
    kill.scenario.messages.push_back(small ? pick(0, 300) : pick(301, 5 * shape.block_bytes));
  }
  kill.scenario.atomic_delivery = seed / 2 % 2 == 0;
  kill.victim = static_cast<std::uint32_t>(pick(0, shape.members - 1));
  if (pick(0, 3) == 0) {
    kill.after = std::chrono::microseconds(pick(0, 2000));
    return kill;
  }
  constexpr std::uint64_t kCalls[] = {0, 0, 1, 3, 30, 300};
  machine::GroupPlan plan(shape);
  std::uint64_t requests = 0;
  for (const auto& [which, count] : testing::requests_of(
           plan, kill.scenario,
           analysis::run_group(kill.scenario, machine::parse_platform_spec("star")), kill.victim)) {
    requests += count;
  }
  kill.doom = {pick(0, 2 * requests), kCalls[pick(0, std::size(kCalls) - 1)]};
  return kill;
}

std::string text_of(const Kill& kill) {
  const GroupScenario& scenario = kill.scenario;
  return fmt::format(
      "{} of {} members on {}, blocks of {}, window {}, in flight {}, sizes {}, small up to {} in "
      "{} slots{}, rank {} killed {}",
      scenario.shape.pattern, scenario.shape.members, kill.provider, scenario.shape.block_bytes,
      scenario.shape.window, scenario.shape.in_flight, fmt::join(scenario.messages, " "),
      scenario.small.bytes, scenario.small.slots, scenario.atomic_delivery ? ", atomic" : "",
      kill.victim,
      kill.after ? fmt::format("after {} us", kill.after->count())
                 : fmt::format("{} calls after {} things", kill.doom.calls, kill.doom.things));
}

std::string end_text(bool delivered, std::uint64_t messages, std::optional<std::uint32_t> rank) {
  if (delivered) return fmt::format("delivered {}", messages);
  return fmt::format("failed {} by {}", messages, *rank);
}

// How many messages were complete there, of what end_text() says.
std::uint64_t messages_of(const std::string& end) {
  return std::stoull(end.substr(end.find(' ') + 1));
}

// "failed 2 by 1", and what was wrong.
void be_member(const Kill& kill, const hw::MeshOptions& mesh_options, Trail& trail,
               const testing::SharedNumber& go, const Say& say) {
  const GroupScenario& scenario = kill.scenario;
  const bool is_victim = mesh_options.rank == kill.victim;
  hw::Mesh mesh(mesh_options);
  // Only the mesh says who is lost, however busy this machine is.
  hw::GroupsOptions groups_options = testing::quick_groups();
  groups_options.failure_timeout = mesh_options.failure_timeout;
  groups_options.timeout = std::chrono::minutes(2);
  hw::Groups groups(
      mesh,
      [&]() -> std::unique_ptr<hw::Transport> {
        hw::TransportOptions options;
        if (kill.provider != "shm") options.host = "127.0.0.1";
        return std::make_unique<DoomedTransport>(hw::make_transport(kill.provider, options), trail,
                                                 is_victim ? kill.doom : Doom{});
      },
      groups_options);
  testing::Receiver receiver(0);
  std::vector<std::uint32_t> members(scenario.shape.members);
  std::iota(members.begin(), members.end(), 0);
  groups.create_group(1, members, receiver.callbacks(),
                      {.pattern = scenario.shape.pattern,
                       .block_bytes = scenario.shape.block_bytes,
                       .in_flight = scenario.shape.in_flight,
                       .ready = scenario.shape.ready,
                       .window = scenario.shape.window,
                       .atomic_delivery = scenario.atomic_delivery,
                       .small_bytes = scenario.small.bytes,
                       .small_slots = scenario.small.slots});
  say("created");
  // Whoever is killed while others still create the group would fail that.
  go.await(1);
  trail.has_begun = true;
  std::deque<std::vector<std::byte>> messages;
  try {
    for (std::size_t k = 0; mesh.rank() == 0 && k < scenario.messages.size(); ++k) {
      messages.push_back(testing::make_message(k, scenario.messages[k]));
      groups.send(1, messages.back());
    }
  } catch (const hw::PeerLost&) {
    // The group has failed meanwhile.
  }
  const hw::GroupClosing closing = groups.destroy_group(1);
  std::string text = end_text(closing.delivered, closing.messages, closing.rank);
  if (!receiver.all_right() || receiver.messages() != closing.messages) {
    text += fmt::format(", {} came: {}", receiver.messages(), receiver.text());
  }
  std::vector<std::uint32_t> told;
  if (closing.rank) told.push_back(*closing.rank);
  if (receiver.failures() != told) {
    text += fmt::format(", told of {}", fmt::join(receiver.failures(), " "));
  }
  say(text);
}

// By rank; "killed".
using Ends = std::vector<std::string>;

class Simulations {
 public:
  explicit Simulations(const Kill& kill) : kill_(kill), plan_(kill.scenario.shape) {
    const GroupRun whole = run(kill_.scenario, {}, 0);
    const analysis::GroupMemberRun& member = whole.members[kill.victim];
    things_ = member.issued.size() + member.issued_ahead.size();
    // Writes of small messages and counts of them, rows, and words.
    const std::uint64_t members = kill.scenario.shape.members;
    things_ += kill.scenario.messages.size() * 2 * members + 2 * members;
  }

  // Whether a simulated group may end so where the member has sent no more than that.
  bool may_end_as(const Ends& ends, const Trail& trail, std::uint64_t tries) {
    for (std::uint64_t t = 0; t < tries; ++t) {
      const GroupRun drawn = draw(t);
      if (ends_of(drawn) == ends && has_sent_no_more(drawn, trail)) return true;
    }
    return false;
  }

 private:
  GroupRun draw(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto pick = [&](std::uint64_t low, std::uint64_t high) {
      return std::uniform_int_distribution<std::uint64_t>(low, high)(random);
    };
    // Nothing, so long that all else is over, or something in between.
    const auto some_time = [&] {
      const std::uint64_t kind = pick(0, 5);
      if (kind < 2) return sched::Time(0);
      return sched::Time(kind == 2 ? 1'000'000'000'000 : std::int64_t(pick(1, 999)) << pick(7, 16));
    };
    GroupScenario scenario = kill_.scenario;
    analysis::GroupKill kill;
    kill.member = kill_.victim;
    // Before it has done anything; or after so many things, and perhaps never.
    if (const std::uint64_t things = pick(0, things_); things != 0) {
      kill.after = things;
    } else {
      kill.at = sched::Time(0);
    }
    kill.detection = some_time();
    std::vector<std::uint32_t> others;
    for (std::uint32_t m = 0; m < scenario.shape.members; ++m) {
      scenario.lateness.push_back({some_time(), some_time()});
      if (m != kill.member) others.push_back(m);
    }
    if (pick(0, 1) == 0) kill.seen_by = {others[pick(0, others.size() - 1)]};
    scenario.kill = kill;
    machine::DelayPlan delays;
    delays.seed = seed;
    for (std::uint32_t m = 0; m < scenario.shape.members; ++m) {
      machine::Noise noise;
      noise.ranks = {sched::RankId(m)};
      noise.of.kind = machine::Distribution::Kind::kExponential;
      noise.of.mean = some_time();
      if (noise.of.mean.count() != 0) delays.noise.push_back(noise);
    }
    return run(scenario, delays, seed % 2);
  }

  static GroupRun run(const GroupScenario& scenario, const machine::DelayPlan& delays,
                      std::size_t platform) {
    static const machine::Platform platforms[] = {
        machine::parse_platform_spec("star:rate=8Gbps,latency=1us,o_post=100ns,o_complete=50ns"),
        machine::parse_platform_spec("star:rate=100Gbps,latency=5us,o_post=1us")};
    return analysis::run_group(scenario, platforms[platform], delays);
  }

  static Ends ends_of(const GroupRun& run) {
    Ends ends;
    for (const analysis::GroupMemberRun& member : run.members) {
      ends.push_back(member.outcome ? end_text(member.outcome->delivered, member.outcome->messages,
                                               member.outcome->member)
                                    : "killed");
    }
    return ends;
  }

  bool has_sent_no_more(const GroupRun& run, const Trail& trail) {
    const auto requests = testing::requests_of(plan_, kill_.scenario, run, kill_.victim);
    return std::ranges::all_of(requests, [&](const auto& each) {
      const auto& [line, kind] = each.first;
      return kind != hw::RequestKind::kSend || each.second <= trail.sends[line];
    });
  }

  const Kill& kill_;
  machine::GroupPlan plan_;
  std::uint64_t things_ = 0;
};

// Mostly some ten are enough.
constexpr std::uint64_t kMostTries = 100'000;

// What was seen.
struct Tally {
  std::set<std::string> ends;
  std::uint64_t killed = 0;
};

void have(const Kill& kill, Tally& tally) {
  const std::uint32_t count = kill.scenario.shape.members;
  Trails trails(count);
  ASSERT_LE(machine::GroupPlan(kill.scenario.shape).lines().size(), Trail::kMostLines);
  testing::SharedNumber go;
  MeshRanks ranks;
  ranks.start_all(count, [&](const hw::MeshOptions& options, const Say& say) {
    be_member(kill, options, trails[options.rank], go, say);
  });
  for (std::uint32_t r = 0; r < count; ++r) ASSERT_EQ(ranks.next(r), "created") << "rank " << r;
  go.set(1);
  if (kill.after) {
    std::this_thread::sleep_for(*kill.after);
    // One that is killed with a lock of shm's would stop its peers.
    if (kill.provider == "shm") trails[kill.victim].dies = true;
    if (kill.provider != "shm") ranks.signal(kill.victim, SIGKILL);
  }
  Ends ends;
  for (std::uint32_t r = 0; r < count; ++r) {
    ends.push_back(ranks.next(r));
    if (ends.back() == "(end)") ends.back() = "killed";
  }
  SCOPED_TRACE(fmt::format("{}: {}", text_of(kill), fmt::join(ends, "; ")));
  for (std::uint32_t r = 0; r < count; ++r) {
    EXPECT_TRUE(r == kill.victim || ends[r] != "killed") << "rank " << r;
  }
  Simulations simulations(kill);
  EXPECT_TRUE(simulations.may_end_as(ends, trails[kill.victim], kMostTries));
  // What a group promises, whatever a simulation says.
  const std::uint64_t all = kill.scenario.messages.size();
  const bool is_delivered = std::ranges::any_of(
      ends, [](const std::string& end) { return end.starts_with("delivered"); });
  for (std::uint32_t r = 0; r < count; ++r) {
    if (ends[r] == "killed") continue;
    const std::uint64_t survivors_have = messages_of(ends[kill.victim == 0 ? 1 : 0]);
    if (kill.scenario.atomic_delivery) {
      EXPECT_EQ(messages_of(ends[r]), survivors_have) << "rank " << r;
    }
    if (is_delivered) {
      EXPECT_EQ(messages_of(ends[r]), all) << "rank " << r;
    }
  }
  // Nobody closes before all that fail have stopped to post.
  for (std::uint32_t a = 0; a < count; ++a) {
    for (std::uint32_t b = 0; b < count; ++b) {
      if (!ends[a].starts_with("failed") || !ends[b].starts_with("failed")) continue;
      EXPECT_GE(trails[a].closed_ns, trails[b].last_call_ns) << "ranks " << a << " and " << b;
    }
  }
  tally.ends.insert(fmt::format("{}", fmt::join(ends, "; ")));
  tally.killed += ends[kill.victim] == "killed" ? 1 : 0;
}

// SLACKLINE_GROUP_KILLS says how many.
std::uint64_t kills() {
  const char* const said = std::getenv("SLACKLINE_GROUP_KILLS");
  return said == nullptr ? 30 : std::strtoull(said, nullptr, 10);
}

TEST(GroupKills, EndAsASimulationMay) {
  hw::make_fabric_transport({"shm", ""});
  Tally tally;
  for (std::uint64_t seed = 0; seed < kills(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    have(kill_of(seed), tally);
    if (::testing::Test::HasFailure()) return;
  }
  // Most were killed, and their groups came to many ends.
  if (kills() < 30) return;
  EXPECT_GE(tally.killed, kills() / 2);
  EXPECT_GE(tally.ends.size(), 8u);
}

}  // namespace
}  // namespace slackline
