// Runs sessions, groups and calls for as long as one likes, under random delays, kills and stops,
// and looks whether memory, descriptors, processes and /dev/shm stay as they were.
//
// One mesh lives from beginning to end and nothing is done to it: the most that its ranks hold in
// the first quarter of the time is held against the least in the last one. Beside it short lives
// follow each other, in most of which a rank is killed or stopped at a random moment: the others
// must name it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "hw/watched_transport.h"
#include "machine/delay_plan.h"
#include "tests/hw/call_ranks.h"
#include "tests/hw/group_ranks.h"
#include "tests/hw/session_ranks.h"
#include "tests/support/holdings.h"

namespace slackline::testing {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kFailureTimeout = 5s;
// What an allocator may keep; and in a round what libfabric 1.17 loses of each connection of net
// and tcp;ofi_rxm (what fi_dupinfo gave, about 600 bytes).
constexpr std::uint64_t kGrowthBytes = 4 << 20;
constexpr std::uint64_t kGrowthBytesOfRound = 4 << 10;
constexpr std::array kProviders = {"shm", "net", "tcp;ofi_rxm"};
constexpr std::array kSpecs = {
    "chain:bytes=1000,block=100",
    "binomial-pipeline:bytes=40000,block=4000,lower=put",
    "circulant:bytes=20000,block=3000,ready=write",
    "scatter-allgather:bytes=40000,block=5000",
    "ring-buffer:bytes=64,messages=20,slots=4",
    "table-multicast:bytes=64,messages=20,slots=4,delivery=stable",
    "allreduce:bytes=3000,block=1000,ready=none,slots=8",
    "barrier:messages=3",
    "call:bytes=24,messages=12,chunk=256,chunk-limit=3",
    "call-return:bytes=20,messages=20,aggregation=trad,via=send",
    "broadcast:bytes=8,messages=12,via=send,slots=4",
    "random-access:accesses=20,tasks=4,words=6,access=fetch-add,aggregation=destination,flush=256,"
    "age=10us",
    "tree-search:depth=3,tasks=2",
    "one-sided:operations=20,op=compare-swap",
};

// How many sockets libfabric 1.17 may lose of a rank in so many rounds: they stay open
// (CLOSE_WAIT). Where two ranks connect to each other at one moment, tcp;ofi_rxm drops one of the
// two connections, and its accepted socket is lost (seen in one round of 100). So is that of a
// connection whose request an endpoint of net has not read when it is closed. The endpoint hears
// its peers before (hw/fabric/endpoint.cc), which cannot be wholly enough.
std::uint64_t sockets_lost(std::string_view provider, std::uint64_t rounds) {
  if (provider == "shm") return 0;
  return rounds / (provider == "net" ? 1000 : 25) + 2;
}

std::uint32_t below(std::mt19937& random, std::uint32_t bound) {
  return static_cast<std::uint32_t>(random() % bound);
}

// What a rank does, round after round; the same draws at all ranks.
class Work {
 public:
  /// `say`: to the test.
  Work(hw::Mesh& mesh, const std::string& provider, std::uint32_t seed, MeshRanks::Say say)
      : mesh_(mesh),
        provider_(provider),
        say_(std::move(say)),
        random_(seed),
        own_random_(seed + mesh.rank() + 1),
        transport_(transport()),
        session_(mesh, *transport_),
        groups_(
            mesh, [this] { return transport(); }, quick_groups()) {}

  /// Everything once: connections and buffers that are made when they are first needed are there
  /// from here on. Says "on" after each step. What was wrong; empty if nothing.
  std::string warm_up() {
    std::string wrong;
    // Large and small messages may take connections of their own.
    for (const char* const bytes : {"bytes=40000,block=5000", "bytes=400,block=50"}) {
      for (std::uint32_t root = 0; root < mesh_.ranks() && wrong.empty(); ++root) {
        wrong = run(fmt::format("sequential:{},ready=none,root={}", bytes, root));
        say_("on");
      }
    }
    for (const char* const spec : kSpecs) {
      if (wrong.empty()) wrong = run(spec);
      say_("on");
    }
    if (wrong.empty()) wrong = send_to_group();
    return wrong.empty() ? make_calls() : wrong;
  }

  /// What was wrong; empty if nothing.
  std::string round() {
    ++rounds_;
    std::this_thread::sleep_for(std::chrono::microseconds(below(own_random_, 3000)));
    switch (below(random_, 3)) {
      case 0:
        return run_schedule();
      case 1:
        return send_to_group();
      default:
        return make_calls();
    }
  }

 private:
  // A rank that is killed or stopped may have held a lock that ranks of shm share. Who takes it
  // never comes back, and says so in the way that a program does: from another thread.
  std::unique_ptr<hw::Transport> transport() const {
    constexpr auto kPatience = 10s;
    return hw::watch_calls(call_transport(provider_), mesh_, kPatience, [this] {
      say_(fmt::format("lost {}", mesh_.lost().front().rank));
      _exit(1);
    });
  }

  std::string run_schedule() { return run(kSpecs[below(random_, kSpecs.size())]); }

  std::string run(std::string_view pattern) {
    const std::string spec = fmt::format("{},ranks={}", pattern, mesh_.ranks());
    const sched::Schedule schedule = compiled(spec);
    hw::RunOptions options;
    options.iterations = 1 + below(random_, 3);
    options.waiting = below(random_, 2) == 0 ? hw::Waiting::kPolling : hw::Waiting::kHybrid;
    options.poll_for = 1ms;
    if (below(random_, 2) == 0) {
      options.delays.stragglers.push_back({sched::RankId{below(random_, mesh_.ranks())}, 3.0});
    }
    const hw::RunResult result = session_.run(schedule, options);
    if (mesh_.rank() != 0) return result.breach.value_or("");
    const std::string fault = first_fault(schedule, options, result);
    return fault.empty() ? "" : fmt::format("{}: {}", spec, fault);
  }

  std::string send_to_group() {
    const std::uint32_t ranks = mesh_.ranks();
    std::vector<std::uint32_t> members(ranks);
    std::iota(members.begin(), members.end(), 0u);
    std::shuffle(members.begin(), members.end(), random_);
    const std::uint64_t messages = below(random_, 6);
    const std::size_t bytes = random_() % 60'000;
    hw::GroupOptions options;
    options.block_bytes = 8192;
    options.atomic_delivery = below(random_, 2) == 0;
    Receiver receiver(rounds_);
    const auto id = static_cast<std::uint32_t>(rounds_ % (1u << 24));
    std::vector<std::vector<std::byte>> sent;
    groups_.create_group(id, members, receiver.callbacks(), options);
    for (std::uint64_t i = 0; mesh_.rank() == members[0] && i < messages; ++i) {
      sent.push_back(make_message(rounds_ + i, bytes));
    }
    for (auto& message : sent) groups_.send(id, message);
    const hw::GroupClosing closing = groups_.destroy_group(id);
    if (!closing.delivered) {
      throw hw::PeerLost(closing.rank.value_or(0), closing.why);
    }
    const bool right = receiver.all_right() && closing.messages == messages;
    return right ? "" : fmt::format("a group's {}, of {}", receiver.text(), messages);
  }

  std::string make_calls() {
    hw::CallsOptions options = small_chunks();
    hw::Calls calls(mesh_, transport(), options);
    std::uint64_t sum = 0;
    calls.set_local(sum);
    const std::uint32_t count = 1 + below(random_, 60);
    hw::Synchronizer done(calls);
    for (std::uint32_t i = 0; i < count; ++i) {
      calls.call((mesh_.rank() + i) % mesh_.ranks(),
                 [i](hw::CallContext& here) { here.local<std::uint64_t>() += i; }, &done);
    }
    done.wait();
    calls.finish();
    std::uint64_t expected = 0;
    for (std::uint32_t i = 0; i < count; ++i) expected += i;
    std::uint64_t all = 0;
    for (const hw::Bytes& bytes : mesh_.all_gather(std::as_bytes(std::span(&sum, 1)))) {
      std::uint64_t one = 0;
      std::memcpy(&one, bytes.data(), sizeof one);
      all += one;
    }
    return all == expected * mesh_.ranks() ? "" : "calls came to a wrong sum";
  }

  hw::Mesh& mesh_;
  const std::string provider_;
  const MeshRanks::Say say_;
  std::mt19937 random_;
  std::mt19937 own_random_;
  std::unique_ptr<hw::Transport> transport_;
  hw::Session session_;
  hw::Groups groups_;
  std::uint64_t rounds_ = 0;
};

// "warm" once everything was done once, and at last "right ROUNDS BYTES_MORE DESCRIPTORS_MORE" of
// an undisturbed life, and the sockets that are new.
void live_long(const hw::MeshOptions& options, const MeshRanks::Say& say,
               const std::string& provider, std::uint32_t seed, Clock::duration time) {
  constexpr std::uint32_t kGoOn = 7;
  hw::Mesh mesh(options);
  Work work(mesh, provider, seed, say);
  if (const std::string wrong = work.warm_up(); !wrong.empty()) return say("WRONG: " + wrong);
  say("warm");
  const auto begin = Clock::now();
  // What a rank holds goes up and down by a connection's 17 MiB: a group may leave one that goes
  // with a later group (tcp;ofi_rxm). Only what never comes down again is lost.
  Holdings early;
  std::uint64_t most_early = 0;
  std::uint64_t least_late = std::numeric_limits<std::uint64_t>::max();
  for (std::uint64_t rounds = 1;; ++rounds) {
    const std::string wrong = work.round();
    if (!wrong.empty()) return say("WRONG: " + wrong);
    const auto gone = Clock::now() - begin;
    const Holdings held = holdings();
    if (rounds == 1 || gone < time / 4) {
      early = held;
      most_early = std::max(most_early, held.bytes);
    }
    if (gone > 3 * time / 4) least_late = std::min(least_late, held.bytes);
    // Rank 0's clock decides for all.
    const std::byte goes_on{Clock::now() - begin < time};
    for (std::uint32_t r = 1; mesh.rank() == 0 && r < mesh.ranks(); ++r) {
      mesh.send(r, kGoOn, std::span(&goes_on, 1));
    }
    const hw::Bytes told = mesh.rank() == 0 ? hw::Bytes{goes_on} : mesh.receive(0, kGoOn);
    if (told[0] == std::byte{1}) continue;
    const Holdings late = holdings();
    const auto more = [](std::uint64_t now, std::uint64_t before) {
      return static_cast<std::int64_t>(now) - static_cast<std::int64_t>(before);
    };
    least_late = std::min(least_late, late.bytes);
    return say(fmt::format("right {} {} {}{}", rounds, more(least_late, most_early),
                           more(late.descriptors, early.descriptors), sockets_beyond(early, late)));
  }
}

// "joined", "on" after each round, and at last "right ROUNDS"; or "lost RANK".
void live_shortly(const hw::MeshOptions& options, const MeshRanks::Say& say,
                  const std::string& provider, std::uint32_t seed, std::uint32_t rounds) {
  try {
    hw::Mesh mesh(options);
    Work work(mesh, provider, seed, say);
    say("joined");
    for (std::uint32_t i = 0; i < rounds; ++i) {
      const std::string wrong = work.round();
      if (!wrong.empty()) return say("WRONG: " + wrong);
      say("on");
    }
    mesh.barrier();
    say(fmt::format("right {}", rounds));
  } catch (const hw::PeerLost& error) {
    say(fmt::format("lost {}", error.rank()));
  }
}

// What the rank comes to. Each step may take as long as next() waits, so that a machine with much
// else to do is not taken for one that stands still.
std::string end_of(MeshRanks& ranks, std::size_t rank) {
  std::string line = ranks.next(rank);
  while (line == "on") line = ranks.next(rank);
  return line;
}

// What short lives came to.
struct Tally {
  std::uint64_t lives = 0, killed = 0, stopped = 0, rounds = 0;
  std::vector<pid_t> processes;
  std::vector<std::string> wrong;
};

void one_short_life(std::mt19937& random, Tally& tally) {
  const std::uint32_t seed = below(random, 1u << 31);
  const std::uint32_t ranks = 2 + below(random, 3);
  const std::string provider = kProviders[below(random, kProviders.size())];
  const std::uint32_t rounds = 1 + below(random, 40);
  const std::uint32_t fault = below(random, 4);  // 0: none
  const std::uint32_t victim = below(random, ranks);
  const auto when = std::chrono::milliseconds(below(random, 1500));
  const std::string name = fmt::format("life {} ({} ranks over {}, seed {}, fault {} at {})",
                                       tally.lives, ranks, provider, seed, fault, victim);
  MeshRanks processes;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    hw::MeshOptions options = processes.options(r, ranks);
    options.failure_timeout = kFailureTimeout;
    processes.start(options, [=](const hw::MeshOptions& own, const MeshRanks::Say& say) {
      live_shortly(own, say, provider, seed, rounds);
    });
  }
  ++tally.lives;
  for (std::uint32_t r = 0; r < ranks; ++r) tally.processes.push_back(processes.pid(r));
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const std::string line = processes.next(r);
    if (line != "joined") tally.wrong.push_back(fmt::format("{}: rank {}: {}", name, r, line));
  }
  if (fault != 0) {
    std::this_thread::sleep_for(when);
    processes.signal(victim, fault == 1 ? SIGSTOP : SIGKILL);
    ++(fault == 1 ? tally.stopped : tally.killed);
  }
  const std::string lost = fmt::format("lost {}", victim);
  const std::string right = fmt::format("right {}", rounds);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    if (fault != 0 && r == victim) continue;
    const std::string line = end_of(processes, r);
    const bool as_expected = line == right || (fault != 0 && line == lost);
    if (!as_expected) tally.wrong.push_back(fmt::format("{}: rank {}: {}", name, r, line));
    if (line == right) tally.rounds += rounds;
  }
}

// Of these processes, which are gone.
std::uint64_t segments_of(const std::vector<pid_t>& processes) {
  std::uint64_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    const std::string name = entry.path().filename().string();
    count += std::any_of(processes.begin(), processes.end(), [&](pid_t process) {
      return name.starts_with(fmt::format("{}:slackline", process));
    });
  }
  return count;
}

int soak(std::chrono::seconds time, std::uint32_t seed) {
  constexpr std::uint32_t kRanks = 4;
  std::mt19937 random(seed);
  Tally tally;
  // libfabric looks at all its providers when it is first used: here once, for all children.
  call_transport("shm");
  const std::string provider = kProviders[seed % kProviders.size()];
  MeshRanks old;
  for (std::uint32_t r = 0; r < kRanks; ++r) {
    old.start(old.options(r, kRanks), [=](const hw::MeshOptions& own, const MeshRanks::Say& say) {
      live_long(own, say, provider, seed, time);
    });
  }
  for (std::uint32_t r = 0; r < kRanks; ++r) {
    const std::string line = end_of(old, r);
    if (line != "warm") tally.wrong.push_back(fmt::format("rank {} at first: {}", r, line));
  }
  const auto begin = Clock::now();
  auto told = begin;
  std::optional<Holdings> early;
  while (Clock::now() - begin < time && tally.wrong.empty()) {
    one_short_life(random, tally);
    if (!early && Clock::now() - begin > time / 4) early = holdings();
    if (Clock::now() - told < 30s) continue;
    told = Clock::now();
    fmt::print("{:5.0f} s: {} short lives, {} with a rank killed, {} with one stopped\n",
               std::chrono::duration<double>(told - begin).count(), tally.lives, tally.killed,
               tally.stopped);
    std::fflush(stdout);
  }
  const Holdings late = holdings();
  std::int64_t most_bytes = 0;
  std::int64_t most_descriptors = 0;
  std::uint64_t long_rounds = 0;
  // Once something is wrong, nobody waits for the end of the time.
  for (std::uint32_t r = 0; r < kRanks && tally.wrong.empty(); ++r) {
    const std::string line = end_of(old, r);
    std::int64_t bytes = 0, descriptors = 0;
    const int read =
        std::sscanf(line.c_str(), "right %lu %ld %ld", &long_rounds, &bytes, &descriptors);
    const std::uint64_t bearable =
        kGrowthBytes + (provider == "shm" ? 0 : kGrowthBytesOfRound * long_rounds);
    const auto lost_sockets = static_cast<std::int64_t>(sockets_lost(provider, long_rounds));
    if (read != 3 || descriptors > lost_sockets || bytes > static_cast<std::int64_t>(bearable)) {
      tally.wrong.push_back(fmt::format("the long life over {}: rank {}: {}", provider, r, line));
    }
    most_bytes = std::max(most_bytes, bytes);
    most_descriptors = std::max(most_descriptors, descriptors);
  }
  for (std::uint32_t r = 0; r < kRanks; ++r) tally.processes.push_back(old.pid(r));
  old.end();
  if (early &&
      (late.descriptors != early->descriptors || late.bytes > early->bytes + kGrowthBytes)) {
    tally.wrong.push_back(
        fmt::format("whoever started them holds {} descriptors and {} bytes, of "
                    "{} and {}",
                    late.descriptors, late.bytes, early->descriptors, early->bytes));
  }
  const std::uint64_t segments = segments_of(tally.processes);
  if (segments != 0) tally.wrong.push_back(fmt::format("{} segments in /dev/shm", segments));
  fmt::print(
      "seed {}: a long life over {} of {} rounds: at most {:.2f} MiB more in a rank in its last "
      "quarter than in its first, at most {} descriptors more; {} short lives, {} with a rank "
      "killed, {} with "
      "one stopped, {} rounds; {} things wrong\n",
      seed, provider, long_rounds, static_cast<double>(most_bytes) / (1 << 20), most_descriptors,
      tally.lives, tally.killed, tally.stopped, tally.rounds, tally.wrong.size());
  for (const std::string& line : tally.wrong) fmt::print("  {}\n", line);
  return tally.wrong.empty() ? 0 : 1;
}

std::optional<std::uint32_t> whole_number(const char* text) {
  std::uint32_t value = 0;
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace
}  // namespace slackline::testing

int main(int count, char** arguments) {
  constexpr const char* kUsage = "usage: soak [SECONDS [SEED]]   (default: 1200 1)\n";
  std::uint32_t numbers[] = {1200, 1};
  for (int i = 1; i < count; ++i) {
    const auto value = i <= 2 ? slackline::testing::whole_number(arguments[i]) : std::nullopt;
    if (!value || (i == 1 && *value == 0)) {
      std::fputs(kUsage, stderr);
      return 2;
    }
    numbers[i - 1] = *value;
  }
  return slackline::testing::soak(std::chrono::seconds(numbers[0]), numbers[1]);
}
