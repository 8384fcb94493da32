// Chunks out of a rank's regions of superpages: asked for over the transport of calls, granted by
// the service thread, written one-sided, and freed from afar.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/mix.h"
#include "hw/fabric/transport.h"
#include "hw/memory/circular_allocator.h"
#include "hw/numa_nodes.h"
#include "hw/passing_transport.h"
#include "tests/hw/call_ranks.h"
#include "tests/hw/seeded_bytes.h"
#include "tests/hw/shared_number.h"
#include "tests/support/sanitized.h"

namespace slackline {
namespace {

using hw::Calls;
using hw::CallsOptions;
using hw::RegisteredBuffer;
using hw::RemoteChunk;
using hw::Synchronizer;
using testing::CallRanks;
using testing::Checks;
using testing::fill_seeded;
using testing::is_seeded;
using testing::SharedNumber;
using Say = CallRanks::Say;

constexpr std::uint64_t kRegion = 256 << 10;

CallsOptions small_regions() {
  CallsOptions options = testing::small_chunks();
  options.region_bytes = kRegion;
  return options;
}

class CallChunk : public ::testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() { hw::make_fabric_transport({"shm", ""}); }

  static void expect_right(std::uint32_t ranks, const CallsOptions& options,
                           const std::function<void(Calls&, Checks&)>& body) {
    testing::expect_all_right(ranks, GetParam(), options, body);
  }
};

// At every rank, this one included: zeroed, written, read, called on, freed.
TEST_P(CallChunk, IsWrittenReadAndCalledOn) {
  expect_right(3, small_regions(), [](Calls& calls, Checks& check) {
    constexpr std::uint64_t kBytes = 5000;
    Synchronizer done(calls);
    RegisteredBuffer from = calls.registered(kBytes);
    RegisteredBuffer back = calls.registered(kBytes);
    for (std::uint32_t where = 0; where < calls.ranks(); ++where) {
      const std::uint64_t seed = 100 * calls.rank() + where;
      const RemoteChunk chunk = calls.allocate_chunk(where, kBytes);
      check(chunk.buffer.rank == where && chunk.buffer.bytes == kBytes, "what was asked for");
      check(chunk.pages.page_bytes != 0 && chunk.pages.bytes != 0, to_string(chunk.pages));
      fill_seeded(back.bytes(), 1);
      calls.get(back, chunk.buffer, 0, done);
      done.wait();
      check(std::ranges::all_of(back.bytes(), [](std::byte b) { return b == std::byte{0}; }),
            "zeroed");
      fill_seeded(from.bytes(), seed);
      calls.put(from, chunk.buffer, 0, done);
      done.wait();
      calls.get(back, chunk.buffer, 0, done);
      done.wait();
      check(is_seeded(back.bytes(), seed), "written and read");
      if (where == calls.rank()) check(is_seeded(calls.bytes_of(chunk.buffer), seed), "here");
      fill_seeded(from.bytes(), seed + 50);
      std::uint64_t wrong = 0;
      calls.call_buffer_write(
          where,
          [seed](std::span<std::byte> bytes) {
            if (bytes.size() != kBytes || !is_seeded(bytes, seed + 50)) {
              throw std::runtime_error("other bytes");
            }
          },
          from, chunk.buffer, 0, &done);
      try {
        done.wait();
      } catch (const hw::CallFailed&) {
        ++wrong;
      }
      check(wrong == 0, "called on");
      calls.free(chunk.buffer);
    }
  });
}

// The rank's own thread sleeps all the while.
TEST_P(CallChunk, IsGrantedByTheServiceThread) {
  SharedNumber over;
  expect_right(2, small_regions(), [&](Calls& calls, Checks& check) {
    if (calls.rank() == 1) return over.await(1);
    Synchronizer done(calls);
    RegisteredBuffer from = calls.registered(1000);
    RegisteredBuffer back = calls.registered(1000);
    for (std::uint64_t i = 0; i < 20; ++i) {
      const RemoteChunk chunk = calls.allocate_chunk(1, 1000);
      fill_seeded(from.bytes(), i);
      calls.put(from, chunk.buffer, 0, done);
      done.wait();
      calls.get(back, chunk.buffer, 0, done);
      done.wait();
      check(is_seeded(back.bytes(), i), "bytes");
      calls.free(chunk.buffer);
    }
    over.set(1);
  });
}

// Counts messages, which calls themselves never send: they write.
class CountsSends final : public hw::PassingTransport {
 public:
  CountsSends(std::unique_ptr<hw::Transport> under, std::uint64_t& sends)
      : PassingTransport(std::move(under)), sends_(sends) {}
  std::size_t post(std::span<const hw::WorkRequest> requests) override {
    const std::size_t taken = under().post(requests);
    for (std::size_t i = 0; i < taken; ++i) sends_ += requests[i].kind == hw::RequestKind::kSend;
    return taken;
  }

 private:
  std::uint64_t& sends_;
};

// One message for each request, and one for its answer, over the transport.
TEST_P(CallChunk, IsAskedForOverTheTransport) {
  testing::MeshRanks ranks;
  ranks.start_all(2, [](const hw::MeshOptions& mesh_options, const Say& say) {
    std::uint64_t sends = 0;
    hw::Mesh mesh(mesh_options);
    {
      Calls calls(mesh, std::make_unique<CountsSends>(testing::call_transport(GetParam()), sends),
                  small_regions());
      if (mesh.rank() == 0) {
        calls.free(calls.allocate_chunk(1, 100).buffer);
        calls.free(calls.allocate(1, 100));
        calls.nodes_of(1);
      }
      calls.finish();
    }
    say(std::to_string(sends));
  });
  EXPECT_EQ(ranks.next(0), "5");
  EXPECT_EQ(ranks.next(1), "5");
}

TEST_P(CallChunk, IsRefusedInWords) {
  CallsOptions options = small_regions();
  options.most_granted_bytes = 3 * kRegion;
  options.chunk_bytes = 4096;
  expect_right(2, options, [](Calls& calls, Checks& check) {
    if (calls.rank() == 1) return;
    const auto refused = [&](auto&& ask, const std::string& expected) {
      std::string text = "(nothing)";
      try {
        ask();
      } catch (const Error& error) {
        text = error.what();
      }
      check(text.find(expected) != std::string::npos, text);
    };
    std::vector<RemoteChunk> chunks;
    refused([&] { calls.allocate_chunk(1, 64, 1000); }, "there is no NUMA node 1000");
    refused([&] { calls.allocate_chunk(1, 4 * kRegion); }, "CallsOptions::most_granted_bytes");
    for (int i = 0; i < 3; ++i) chunks.push_back(calls.allocate_chunk(1, kRegion));
    refused([&] { calls.allocate_chunk(1, 1); }, "rank 1 refused: ");
    refused([&] { calls.allocate(1, 1); }, "CallsOptions::most_granted_bytes");
    calls.free(chunks[1].buffer);
    chunks[1] = calls.allocate_chunk(1, kRegion);
    refused([&] { calls.allocate_chunk(1, 0); }, "expected 1 byte or more");
    refused([&] { calls.allocate_chunk(1, std::uint64_t{1} << 50); },
            "more bytes than any machine has");
    refused([&] { calls.allocate_chunk(1, 1, -2); }, "a NUMA node that is none");
    refused([&] { calls.allocate_chunk(2, 1); }, "there is no rank 2");
    // Rank 1 goes on as before.
    for (const RemoteChunk& chunk : chunks) calls.free(chunk.buffer);
    refused([&] { calls.free(chunks[0].buffer); }, "there is no memory");
    chunks.clear();
    for (int i = 0; i < 6; ++i) chunks.push_back(calls.allocate_chunk(1, kRegion / 2));
  });
}

TEST_P(CallChunk, StandsOnTheNodeThatIsAskedFor) {
  expect_right(2, small_regions(), [](Calls& calls, Checks& check) {
    const std::uint32_t peer = 1 - calls.rank();
    const std::vector<int> nodes = calls.nodes_of(peer);
    check(nodes == hw::NumaNodes::of_this_machine().numbers(), "the nodes of one machine");
    for (const int node : nodes) {
      const RemoteChunk chunk = calls.allocate_chunk(peer, 100, node);
      check(chunk.pages.node == node, to_string(chunk.pages));
    }
  });
}

// Whoever frees it, and whoever has its place next: what a call is given, it may use to its end.
TEST_P(CallChunk, StaysWhileACallUsesIt) {
  SharedNumber step;
  expect_right(2, small_regions(), [&](Calls& calls, Checks& check) {
    if (calls.rank() == 1) return;
    RegisteredBuffer from = calls.registered(kRegion);
    std::memset(from.bytes().data(), 7, kRegion);
    const RemoteChunk chunk = calls.allocate_chunk(1, kRegion);
    Synchronizer done(calls);
    SharedNumber* const shared = &step;
    const auto use = [shared](std::span<std::byte> bytes) {
      shared->set(1);
      shared->await(2);
      for (const std::byte byte : bytes) {
        if (byte != std::byte{7}) throw std::runtime_error("it has gone");
      }
    };
    calls.call_buffer_write(1, use, from, chunk.buffer, 0, &done);
    calls.flush();
    while (step.get() < 1) calls.progress();
    calls.free(chunk.buffer);
    const RemoteChunk other = calls.allocate_chunk(1, kRegion);
    check(!(other.buffer.memory == chunk.buffer.memory), "another place");
    step.set(2);
    std::string text = "used";
    try {
      done.wait();
    } catch (const hw::CallFailed& failed) {
      text = failed.what();
    }
    check(text == "used", text);
    // Its place can be had again once the call has ended there, soon after its caller heard so.
    bool again = false;
    for (int i = 0; i < 1000 && !again; ++i) {
      const RemoteChunk next = calls.allocate_chunk(1, kRegion);
      again = next.buffer.memory == chunk.buffer.memory;
      calls.free(next.buffer);
    }
    check(again, "its place");
  });
}

// All ranks at all others, at once; each chunk keeps its bytes.
TEST_P(CallChunk, RanksTakeAndFreeAtRandom) {
  expect_right(3, small_regions(), [](Calls& calls, Checks& check) {
    struct Kept {
      RemoteChunk chunk;
      std::uint64_t seed;
    };
    constexpr std::uint64_t kMost = 20'000;
    RegisteredBuffer bytes = calls.registered(kMost);
    std::vector<Kept> kept;
    Synchronizer done(calls);
    for (std::uint64_t step = 0; step < testing::cases(120u); ++step) {
      const auto drawn = [&](std::uint64_t what, std::uint32_t bound) {
        return sched::below(sched::draw(3, {calls.rank(), step, what}), bound);
      };
      if (kept.empty() || drawn(0, 5) < 3) {
        const std::uint64_t size = 1 + drawn(1, kMost);
        const RemoteChunk chunk = calls.allocate_chunk(drawn(2, calls.ranks()), size);
        const std::uint64_t seed = 1000 * step + calls.rank();
        fill_seeded(bytes.bytes({0, size}), seed);
        calls.put(bytes, {0, size}, chunk.buffer, 0, done);
        done.wait();
        kept.push_back({chunk, seed});
      } else {
        const auto chosen = kept.begin() + drawn(3, static_cast<std::uint32_t>(kept.size()));
        const std::uint64_t size = chosen->chunk.buffer.bytes;
        calls.get(bytes, {0, size}, chosen->chunk.buffer, 0, done);
        done.wait();
        check(is_seeded(bytes.bytes({0, size}), chosen->seed), fmt::format("step {}", step));
        calls.free(chosen->chunk.buffer);
        kept.erase(chosen);
      }
      // Others' requests are answered by the service thread, whatever this thread does.
      if (step % 7 == 0) calls.progress();
    }
    calls.settle();
  });
}

// Parts of a rank's own superpages, given out in turns, are what is put and got.
TEST_P(CallChunk, PartsOfRegisteredMemoryArePut) {
  expect_right(2, small_regions(), [](Calls& calls, Checks& check) {
    if (calls.rank() == 1) return;
    constexpr std::uint64_t kPart = 1000;
    RegisteredBuffer own = calls.registered_superpages(10'000);
    check(own.pages().has_value() && own.pages()->page_bytes != 0, "what pages it has");
    check(!calls.registered(10).pages().has_value(), "not known");
    hw::CircularAllocator circle(own.bytes().size());
    const RemoteChunk there = calls.allocate_chunk(1, 64 * kPart);
    struct UnderWay {
      hw::Extent part;
      std::unique_ptr<Synchronizer> done;
    };
    std::vector<UnderWay> under_way;
    for (std::uint64_t i = 0; i < 64; ++i) {
      std::optional<hw::Extent> part;
      while (!(part = circle.allocate(kPart))) {
        under_way.front().done->wait();
        circle.free(under_way.front().part);
        under_way.erase(under_way.begin());
      }
      fill_seeded(own.bytes(*part), i);
      under_way.push_back({*part, std::make_unique<Synchronizer>(calls)});
      calls.put(own, *part, there.buffer, i * kPart, *under_way.back().done);
    }
    for (UnderWay& one : under_way) one.done->wait();
    RegisteredBuffer all = calls.registered(64 * kPart);
    Synchronizer done(calls);
    calls.get(all, there.buffer, 0, done);
    done.wait();
    for (std::uint64_t i = 0; i < 64; ++i) {
      check(is_seeded(all.bytes({i * kPart, kPart}), i), fmt::format("part {}", i));
    }
    for (const hw::Extent& part :
         {hw::Extent{0, 10'001}, hw::Extent{10'000, 1}, hw::Extent{0, 0}}) {
      bool thrown = false;
      try {
        calls.put(own, part, there.buffer, 0, done);
      } catch (const InputError&) {
        thrown = true;
      }
      check(thrown, "a part that is none");
    }
  });
}

INSTANTIATE_TEST_SUITE_P(OnEach, CallChunk, ::testing::Values("shm", "net", "net+ordered"),
                         [](const auto& test) {
                           const std::string name = test.param;
                           return name == "net+ordered" ? std::string("ordered") : name;
                         });

}  // namespace
}  // namespace slackline
