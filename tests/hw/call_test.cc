// Every primitive of Calls, on each transport: what arrives, where, and that it was done.
#include "hw/call.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "base/mix.h"
#include "hw/fabric/transport.h"
#include "tests/hw/call_ranks.h"

namespace slackline {
namespace {

using hw::CallContext;
using hw::Calls;
using hw::CallsOptions;
using hw::Synchronizer;
using testing::CallRanks;
using testing::Checks;

using Say = CallRanks::Say;

struct Seen {
  std::vector<std::uint64_t> numbers;
  std::vector<std::uint32_t> sources;
  std::vector<std::vector<std::byte>> buffers;
};

std::vector<std::byte> pattern(std::uint64_t seed, std::size_t bytes) {
  std::vector<std::byte> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    made[i] = static_cast<std::byte>(sched::finalized(seed + i) >> 9);
  return made;
}

struct Variant {
  const char* provider;
  hw::Aggregate aggregate;
};

class Call : public ::testing::TestWithParam<Variant> {
 protected:
  // libfabric's shm wants to be loaded before processes fork.
  static void SetUpTestSuite() { hw::make_fabric_transport({"shm", ""}); }

  static CallsOptions options() {
    CallsOptions options = testing::small_chunks();
    options.aggregate = GetParam().aggregate;
    options.bundle_bytes = 600;
    return options;
  }
  // All ranks do the same, and find nothing wrong.
  static void expect_right(std::uint32_t ranks, const std::function<void(Calls&, Checks&)>& body) {
    testing::expect_all_right(ranks, GetParam().provider, options(), body);
  }
};

TEST_P(Call, RunsAtTheOtherRankWithItsCaptures) {
  expect_right(3, [](Calls& calls, Checks& check) {
    Seen seen;
    calls.set_local(seen);
    Synchronizer done(calls);
    for (std::uint32_t to = 0; to < calls.ranks(); ++to) {
      for (std::uint64_t i = 0; i < 10; ++i) {
        const std::uint64_t number = 1000 * calls.rank() + i;
        check(calls.call(
                  to,
                  [number](CallContext& here) {
                    here.local<Seen>().numbers.push_back(number);
                    here.local<Seen>().sources.push_back(here.source());
                  },
                  &done),
              "not taken");
      }
    }
    check(done.pending() == 30, "pending");
    done.wait();
    check(done.pending() == 0, "pending after wait");
    calls.settle();
    check(seen.numbers.size() == 30, "how many");
    std::vector<std::uint64_t> next(3, 0);
    for (std::size_t i = 0; i < seen.numbers.size(); ++i) {
      const std::uint32_t from = seen.sources[i];
      check(seen.numbers[i] == 1000 * from + next[from]++, "number or order");
    }
  });
}

TEST_P(Call, CapturesOfEverySize) {
  expect_right(2, [](Calls& calls, Checks& check) {
    Seen seen;
    calls.set_local(seen);
    Synchronizer done(calls);
    const auto call_with = [&]<std::size_t kBytes>(std::integral_constant<std::size_t, kBytes>) {
      std::array<unsigned char, kBytes> captured;
      for (std::size_t i = 0; i < kBytes; ++i) captured[i] = static_cast<unsigned char>(3 * i + 1);
      calls.call(
          1 - calls.rank(),
          [captured](CallContext& here) {
            std::uint64_t wrong = 0;
            for (std::size_t i = 0; i < kBytes; ++i) wrong += captured[i] != (3 * i + 1) % 256;
            here.local<Seen>().numbers.push_back(wrong);
          },
          &done);
    };
    [&]<std::size_t... kSizes>(std::index_sequence<kSizes...>) {
      (call_with(std::integral_constant<std::size_t, kSizes + 1>{}), ...);
    }
    (std::make_index_sequence<40>{});
    call_with(std::integral_constant<std::size_t, 2000>{});
    // More alignment than records have.
    struct alignas(64) Wide {
      std::uint64_t value;
    };
    const Wide wide{77};
    calls.call(
        1 - calls.rank(),
        [wide](CallContext& here) {
          const bool aligned = reinterpret_cast<std::uintptr_t>(&wide) % 64 == 0;
          here.local<Seen>().numbers.push_back(aligned && wide.value == 77 ? 0 : 1);
        },
        &done);
    done.wait();
    calls.settle();
    check(seen.numbers == std::vector<std::uint64_t>(42, 0), "captures");
  });
}

TEST_P(Call, BuffersInTheRecord) {
  expect_right(2, [](Calls& calls, Checks& check) {
    Seen seen;
    calls.set_local(seen);
    const std::uint32_t to = 1 - calls.rank();
    for (std::size_t bytes = 0; bytes < 3000; bytes = 2 * bytes + 1) {
      std::vector<std::byte> buffer = pattern(bytes, bytes);
      calls.call_buffer(
          to,
          [bytes](CallContext& here, std::span<std::byte> got) {
            here.local<Seen>().buffers.emplace_back(got.begin(), got.end());
            here.local<Seen>().numbers.push_back(bytes);
          },
          buffer);
      std::ranges::fill(buffer, std::byte{0});  // may be used again at once
    }
    calls.settle();
    check(seen.buffers.size() == 12, "how many");
    for (std::size_t i = 0; i < seen.buffers.size(); ++i) {
      check(seen.buffers[i] == pattern(seen.numbers[i], seen.numbers[i]), "buffer's bytes");
    }
  });
}

TEST_P(Call, BuffersWrittenAndRead) {
  expect_right(3, [](Calls& calls, Checks& check) {
    Seen seen;
    calls.set_local(seen);
    constexpr std::size_t kBytes = 100'000;  // more than a chunk
    for (std::uint32_t to = 0; to < 3; ++to) {
      const hw::RemoteBuffer target = calls.allocate(to, 2 * kBytes);
      hw::RegisteredBuffer buffer = calls.registered(kBytes);
      std::ranges::copy(pattern(10 * calls.rank() + to, kBytes), buffer.bytes().begin());
      Synchronizer transmitted(calls, hw::CountWhen::kTransmitted);
      const auto keep = [](CallContext& here, std::span<std::byte> got) {
        here.local<Seen>().buffers.emplace_back(got.begin(), got.end());
        here.local<Seen>().sources.push_back(here.source());
      };
      calls.call_buffer_write(to, keep, buffer, target, 64, &transmitted);
      transmitted.wait();
      std::ranges::fill(buffer.bytes(), std::byte{0});
      std::ranges::copy(pattern(10 * calls.rank() + to, kBytes), buffer.bytes().begin());
      Synchronizer consumed(calls);
      calls.call_buffer_read(to, keep, buffer, &consumed);
      calls.call(to, [](CallContext& here) {
        here.local<Seen>().numbers.push_back(here.local<Seen>().buffers.size());
      });
      consumed.wait();
      calls.settle();
      calls.free(target);
    }
    check(seen.buffers.size() == 6, "how many");
    for (std::size_t i = 0; i < seen.buffers.size(); ++i) {
      check(seen.buffers[i] == pattern(10 * seen.sources[i] + calls.rank(), kBytes), "bytes");
    }
    check(seen.numbers.size() == 3 && seen.numbers.back() == 6, "what came behind");
  });
}

TEST_P(Call, Returns) {
  expect_right(3, [](Calls& calls, Checks& check) {
    struct Local {
      std::uint64_t base;
    } local{100 * calls.rank()};
    calls.set_local(local);
    struct Answer {
      std::uint64_t sum;
      std::uint32_t rank;
    };
    std::vector<Answer> answers(300);
    Synchronizer done(calls);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      calls.call_return(
          static_cast<std::uint32_t>(i % 3),
          [i](CallContext& here) {
            return Answer{here.local<Local>().base + i, here.calls().rank()};
          },
          &answers[i], done);
    }
    done.wait();
    for (std::size_t i = 0; i < answers.size(); ++i) {
      check(answers[i].rank == i % 3 && answers[i].sum == 100 * (i % 3) + i, "answer");
    }
  });
}

TEST_P(Call, BroadcastsReachAllOnce) {
  for (const std::uint32_t ranks : {1u, 2u, 5u}) {
    expect_right(ranks, [](Calls& calls, Checks& check) {
      Seen seen;
      calls.set_local(seen);
      const std::vector<std::byte> buffer = pattern(calls.rank(), 500);
      Synchronizer done(calls);
      Synchronizer transmitted(calls, hw::CountWhen::kTransmitted);
      const std::uint64_t root = calls.rank();
      calls.broadcast([root](CallContext& here) { here.local<Seen>().numbers.push_back(root); },
                      &done);
      calls.broadcast_buffer(
          [root](CallContext& here, std::span<std::byte> got) {
            const bool right = here.source() == root && std::ranges::equal(got, pattern(root, 500));
            here.local<Seen>().numbers.push_back(right ? root + 100 : 999);
          },
          buffer, &done);
      calls.broadcast([] {}, &transmitted);
      check(done.pending() == 2 * calls.ranks(), "pending");
      done.wait();
      transmitted.wait();
      calls.settle();
      std::ranges::sort(seen.numbers);
      std::vector<std::uint64_t> expected;
      for (std::uint64_t r = 0; r < calls.ranks(); ++r) expected.push_back(r);
      for (std::uint64_t r = 0; r < calls.ranks(); ++r) expected.push_back(r + 100);
      check(seen.numbers == expected, "who ran what");
    });
  }
}

TEST_P(Call, FunctionsMayCall) {
  expect_right(3, [](Calls& calls, Checks& check) {
    Seen seen;
    calls.set_local(seen);
    // Each passes it on to the next, until it has gone round 20 times.
    struct Hop {
      static void go(CallContext& here, std::uint64_t left) {
        here.local<Seen>().numbers.push_back(left);
        if (left == 0) return;
        const std::uint32_t next = (here.calls().rank() + 1) % here.calls().ranks();
        here.calls().call(next, [left](CallContext& there) { go(there, left - 1); });
      }
    };
    calls.call(calls.rank(), [](CallContext& here) { Hop::go(here, 60); });
    calls.settle();
    check(seen.numbers.size() == 61, fmt::format("{} hops", seen.numbers.size()));
  });
}

TEST_P(Call, OneRankAlone) {
  expect_right(1, [](Calls& calls, Checks& check) {
    Seen seen;
    calls.set_local(seen);
    for (std::uint64_t i = 0; i < 1000; ++i) {
      calls.call(0, [i](CallContext& here) {
        here.local<Seen>().numbers.push_back(i);
        if (i % 2 == 0) here.calls().call(0, [] {});
      });
    }
    calls.settle();
    check(seen.numbers.size() == 1000, "settle without others");
  });
}

TEST_P(Call, MemoryOneSided) {
  expect_right(3, [](Calls& calls, Checks& check) {
    // All add to a word of rank 0, and put a word of their own behind it.
    std::array<hw::RemoteBuffer, 1> shared{};
    calls.set_local(shared);
    Synchronizer done(calls);
    if (calls.rank() == 0) {
      shared[0] = calls.allocate(0, 1024);
      const hw::RemoteBuffer made = shared[0];
      calls.broadcast(
          [made](CallContext& here) { here.local<std::array<hw::RemoteBuffer, 1>>()[0] = made; },
          &done);
    }
    done.wait();
    calls.settle();
    hw::RegisteredBuffer word = calls.registered(8);
    std::uint64_t& value = word.as<std::uint64_t>()[0];
    if (calls.has_atomics()) {
      for (int i = 0; i < 50; ++i) {
        calls.fetch_add(shared[0], 0, calls.rank() + 1, word, done);
        done.wait();
      }
      // Once only does the word go from 0 to a rank's number.
      calls.compare_swap(shared[0], 8, 0, calls.rank() + 1, word, done);
      done.wait();
      check(value <= 3, "what compare_swap fetched");
    }
    value = 500 + calls.rank();
    calls.put(word, shared[0], 64 + 8 * calls.rank(), done);
    done.wait();
    calls.settle();
    hw::RegisteredBuffer all = calls.registered(1024);
    calls.get(all, shared[0], 0, done);
    done.wait();
    const auto words = all.as<std::uint64_t>();
    if (calls.has_atomics()) check(words[0] == 300 && words[1] >= 1 && words[1] <= 3, "atomics");
    check(words[8] == 500 && words[9] == 501 && words[10] == 502, "puts");
    if (calls.rank() == 0) {
      check(std::memcmp(calls.bytes_of(shared[0]).data(), words.data(), 1024) == 0, "bytes_of");
    }
    calls.settle();
    if (calls.rank() == 0) calls.free(shared[0]);
  });
}

std::string name_of_variant(const ::testing::TestParamInfo<Variant>& info) {
  const std::string provider = info.param.provider;
  constexpr const char* kNames[] = {"Plain", "Trad", "Ovfl"};
  if (provider == "net+ordered") return "ordered";
  return (provider == "tcp;ofi_rxm" ? "rxm" : provider) +
         kNames[static_cast<int>(info.param.aggregate)];
}

INSTANTIATE_TEST_SUITE_P(OnEach, Call,
                         ::testing::Values(Variant{"shm", hw::Aggregate::kNone},
                                           Variant{"shm", hw::Aggregate::kTrad},
                                           Variant{"net", hw::Aggregate::kNone},
                                           Variant{"net", hw::Aggregate::kTrad},
                                           Variant{"net", hw::Aggregate::kOvfl},
                                           Variant{"tcp;ofi_rxm", hw::Aggregate::kNone},
                                           Variant{"net+ordered", hw::Aggregate::kNone}),
                         name_of_variant);

}  // namespace
}  // namespace slackline
