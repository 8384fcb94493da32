// What the verbs transport says when something is wrong, and how it waits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>

#include "base/error.h"
#include "hw/verbs/transport.h"
#include "tests/guest/ranks.h"

namespace slackline::guest {
namespace {

using hw::RequestKind;
using hw::Segment;
using hw::WorkRequest;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr seconds kLongestWait{60};
constexpr Rank::Channel kForth[] = {{0, 0, 1}};
constexpr Rank::Channel kForthAndBack[] = {{0, 0, 1}, {1, 1, 0}};

WorkRequest request(RequestKind kind, std::span<const Segment> local, std::uint32_t channel = 0) {
  WorkRequest made;
  made.kind = kind;
  made.channel = channel;
  made.local = local;
  return made;
}

double processor_s() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

// What poll() throws of the class Error in the end; "" if nothing in a minute. Completions on the
// way count.
template <class Error>
std::string thrown_by_polling(Rank& rank, int* completions = nullptr) {
  const auto end = Clock::now() + kLongestWait;
  while (Clock::now() < end) {
    hw::Completion completion;
    try {
      const std::size_t count = rank.transport().poll({&completion, 1});
      if (completions != nullptr) *completions += static_cast<int>(count);
      if (count == 0) rank.transport().wait(std::chrono::milliseconds(100), -1);
    } catch (const Error& error) {
      return error.what();
    }
  }
  return "";
}

template <class Error, class Call>
std::string thrown_by(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Waiting, SleepsUntilACompletionComes) {
  run_ranks(2, [](Rank& rank) {
    rank.connect(kForth);
    if (rank.index() == 0) {
      rank.meet();
      std::this_thread::sleep_for(seconds(1));
      rank.post(request(RequestKind::kSend, {}));
      rank.next();
      return;
    }
    rank.post(request(RequestKind::kRecv, {}));
    rank.meet();
    const double before = processor_s();
    const auto start = Clock::now();
    hw::Completion completion;
    int waits = 0;
    while (rank.transport().poll({&completion, 1}) == 0 && Clock::now() - start < kLongestWait) {
      rank.transport().wait(kLongestWait, -1);
      ++waits;
    }
    EXPECT_EQ(completion.kind, RequestKind::kRecv);
    EXPECT_LE(waits, 3);
    EXPECT_LT(processor_s() - before, 0.5) << "it did not sleep";
  });
}

TEST(Waiting, LosesNoWakeUp) {
  run_ranks(2, [](Rank& rank) {
    rank.connect(kForthAndBack);
    const std::uint32_t out = rank.index();
    const std::uint32_t in = 1 - rank.index();
    const auto start = Clock::now();
    for (int round = 0; round < 300; ++round) {
      rank.post(request(RequestKind::kRecv, {}, in));
      // Rank 1 answers.
      if (rank.index() == 0) rank.post(request(RequestKind::kSend, {}, out));
      int left = rank.index() == 0 ? 2 : 1;
      while (left > 0) {
        hw::Completion completion;
        if (rank.transport().poll({&completion, 1}) == 0) {
          rank.transport().wait(kLongestWait, -1);
          continue;
        }
        --left;
        if (rank.index() == 1 && completion.kind == RequestKind::kRecv) {
          rank.post(request(RequestKind::kSend, {}, out));
          ++left;
        }
      }
    }
    // A single one that was lost would have cost as much as this.
    EXPECT_LT(Clock::now() - start, kLongestWait);
  });
}

TEST(Waiting, EndsByTheClockAndByAnotherDescriptor) {
  run_ranks(1, [](Rank& rank) {
    const auto start = Clock::now();
    rank.transport().wait(std::chrono::milliseconds(200), -1);
    EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(190));
    std::array<int, 2> ends;
    ASSERT_EQ(pipe(ends.data()), 0);
    ASSERT_EQ(write(ends[1], "x", 1), 1);
    rank.transport().wait(kLongestWait, ends[0]);
    EXPECT_LT(Clock::now() - start, kLongestWait);
  });
}

TEST(Failures, AKilledPeerIsNamedAndTheOthersGoOn) {
  // Ranks 0 and 1 each lead a channel to rank 2, and one to each other.
  constexpr Rank::Channel kAll[] = {{0, 0, 2}, {1, 1, 2}, {2, 0, 1}, {3, 1, 0}};
  run_ranks(3,
            [&](Rank& rank) {
              rank.connect(kAll);
              if (rank.index() == 2) {
                rank.meet();
                kill(getpid(), SIGKILL);
              }
              rank.meet();
              rank.meet();  // without rank 2
              const Segment local = rank.segment(0, 100'000);
              const std::uint32_t to_dead = rank.index();
              rank.post(request(RequestKind::kSend, {&local, 1}, to_dead));
              // Silent ones fail aloud.
              WorkRequest silent = request(RequestKind::kSend, {&local, 1}, to_dead);
              silent.signalled = false;
              rank.post(silent);
              try {
                const auto end = Clock::now() + kLongestWait;
                hw::Completion completion;
                while (Clock::now() < end) {
                  EXPECT_EQ(rank.transport().poll({&completion, 1}), 0u);
                  rank.transport().wait(seconds(1), -1);
                }
                ADD_FAILURE() << "nobody was lost";
              } catch (const hw::PeerLost& lost) {
                EXPECT_EQ(lost.rank(), 2u);
                EXPECT_THAT(lost.what(),
                            AllOf(HasSubstr("rank 2 does not answer: verbs, rxe0 port 1"),
                                  HasSubstr("transport retry counter exceeded")));
              }
              // It is told once, and whoever goes on sending there is told again.
              hw::Completion completion;
              EXPECT_EQ(rank.transport().poll({&completion, 1}), 0u);
              EXPECT_THROW(rank.transport().post({&silent, 1}), hw::PeerLost);
              rank.post(request(RequestKind::kRecv, {&local, 1}, 3 - rank.index()));
              rank.post(request(RequestKind::kSend, {&local, 1}, 2 + rank.index()));
              rank.next();
              rank.next();
            },
            {2});
}

TEST(Failures, ASilentRequestThatFailsIsTold) {
  run_ranks(2, [](Rank& rank) {
    rank.connect(kForth);
    if (rank.index() == 1) rank.post(request(RequestKind::kRecv, {}));
    rank.meet();
    if (rank.index() == 0) {
      const Segment local = rank.segment(0, 8);
      WorkRequest good = request(RequestKind::kWrite, {&local, 1});
      good.remote = rank.remote(1, 0);
      WorkRequest bad = good;
      bad.signalled = false;
      bad.remote.address += 2 * Rank::kMemory;
      rank.post(good);
      rank.post(bad);
      int completions = 0;
      EXPECT_THAT(thrown_by_polling<Error>(rank, &completions),
                  AllOf(HasSubstr("channel 0 with rank 1"), HasSubstr("remote access error")));
      EXPECT_EQ(completions, 1);
      rank.meet();
      return;
    }
    // The target's queue pair broke with it, and the receive never comes.
    EXPECT_THAT(thrown_by_polling<Error>(rank), HasSubstr("channel 0 with rank 0"));
    rank.meet();
  });
}

TEST(Failures, AReceiveThatIsTooShortIsOurOwnDefect) {
  run_ranks(2, [](Rank& rank) {
    rank.connect(kForth);
    const Segment local = rank.segment(0, rank.index() == 0 ? 5000 : 4999);
    rank.post(request(rank.index() == 0 ? RequestKind::kSend : RequestKind::kRecv, {&local, 1}));
    EXPECT_THAT(thrown_by_polling<Error>(rank), HasSubstr("channel 0 with rank"));
  });
}

TEST(Failures, MessagesLongerThanTheDeviceTakesAreRefused) {
  run_ranks(2, [](Rank& rank) {
    rank.connect(kForth);
    if (rank.index() != 0) return;
    // Not that much is registered, but the size is looked at first.
    const Segment local = rank.segment(0, (8u << 20) + 1);
    const WorkRequest made = request(RequestKind::kSend, {&local, 1});
    EXPECT_EQ(thrown_by<InputError>([&] {
                rank.transport().post({&made, 1});
              }),
              "channel 0 with rank 1: a message of 8388609 bytes; rxe0 port 1 takes 8388608 at "
              "most: choose smaller blocks");
  });
}

TEST(Failures, ChannelsThatAreNotOpenAreRefused) {
  run_ranks(2, [](Rank& rank) {
    rank.connect(kForth);
    const WorkRequest made =
        request(rank.index() == 0 ? RequestKind::kRecv : RequestKind::kSend, {});
    EXPECT_THROW(rank.transport().post({&made, 1}), InternalError);
    const hw::ChannelEnd again{0, 1 - rank.index(), rank.index() == 0};
    EXPECT_THROW(rank.transport().open({&again, 1}), InternalError);
  });
}

TEST(Failures, MemoryThatMustNotBeLockedNamesTheCure) {
  run_ranks(1, [](Rank& rank) {
    // Root may lock what it likes.
    const rlimit limit{64 << 10, 64 << 10};
    ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
    ASSERT_EQ(seteuid(65534), 0);
    EXPECT_THAT(
        thrown_by<EnvironmentError>([&] { rank.transport().register_memory(rank.memory()); }),
        AllOf(HasSubstr("registering 4194304 bytes failed: Cannot allocate memory"),
              HasSubstr("may lock 64 KiB of memory: `ulimit -l unlimited`")));
    ASSERT_EQ(seteuid(0), 0);
  });
}

TEST(Devices, AreFoundByNameAndPort) {
  EXPECT_EQ(hw::make_verbs_transport({"rxe0", ""})->name(), "verbs");
  EXPECT_EQ(hw::make_verbs_transport({"rxe0:1", "10.9.0.1"})->name(), "verbs");
  EXPECT_EQ(thrown_by<EnvironmentError>([] {
              hw::make_verbs_transport({"mlx5_7", ""});
            }),
            "verbs: no RDMA device 'mlx5_7' here; there are: rxe0");
  EXPECT_THAT(thrown_by<EnvironmentError>([] {
                hw::make_verbs_transport({"rxe0:2", ""});
              }),
              HasSubstr("rxe0 port 2 is not active"));
  for (const char* const device : {"rxe0:", "rxe0:x", "rxe0:0", "rxe0:256", ":1", "rxe0:1x"}) {
    EXPECT_THAT(thrown_by<InputError>([&] {
                  hw::make_verbs_transport({device, ""});
                }),
                HasSubstr("expected NAME or NAME:PORT"))
        << device;
  }
}

}  // namespace
}  // namespace slackline::guest
