// What goes wrong with calls: functions that throw, wrong use, ranks that die or leave.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "hw/call.h"
#include "hw/call/code.h"
#include "hw/call/core.h"
#include "hw/call/port.h"
#include "hw/call/service.h"
#include "hw/fabric/transport.h"
#include "tests/hw/call_ranks.h"
#include "tests/hw/loop_transport.h"

namespace slackline {
namespace {

using hw::CallContext;
using hw::CallFailed;
using hw::Calls;
using hw::CallsOptions;
using hw::Synchronizer;
using testing::CallRanks;
using testing::Checks;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MeshRanks;
using testing::SharedNumber;
using testing::thrown_by;

using Say = CallRanks::Say;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class CallFailure : public ::testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() { hw::make_fabric_transport({"shm", ""}); }
};

TEST_P(CallFailure, WhatAFunctionThrowsComesBack) {
  CallRanks all(3, GetParam(), testing::small_chunks(), [](Calls& calls, const Say& say) {
    Checks check(say);
    std::uint64_t ran = 0;
    calls.set_local(ran);
    for (std::uint32_t to = 0; to < 3; ++to) {
      Synchronizer done(calls);
      std::uint64_t result = 5;
      for (int i = 0; i < 10; ++i) {
        calls.call(
            to,
            [i](CallContext& here) {
              ++here.local<std::uint64_t>();
              if (i % 4 == 2) throw std::runtime_error("no key " + std::to_string(i));
            },
            &done);
      }
      calls.call_return(
          to, []() -> std::uint64_t { throw 5; },  // NOLINT: any type may be thrown
          &result, done);
      const std::string text = thrown_by<CallFailed>([&] { done.wait(); });
      check(contains(text, fmt::format("a call at rank {} has thrown: no key 2", to)), text);
      check(result == 5, "the result of what has thrown");
      done.wait();  // told once
      // Nobody waits for it: the next progress tells.
      calls.call(to, [] { throw std::runtime_error("unheard"); });
      const std::string unheard = thrown_by<CallFailed>([&] { calls.settle(); });
      check(contains(unheard, "unheard") || calls.rank() != to, unheard);
      calls.settle();
    }
    // All have gone on.
    check(ran == 30, fmt::format("{} ran", ran));
    calls.finish();
    check.done();
  });
  EXPECT_THAT(all.said(), Each(ElementsAre("right")));
}

TEST_P(CallFailure, ProgressTellsWhatNobodyWaitsFor) {
  CallRanks all(2, GetParam(), testing::small_chunks(), [](Calls& calls, const Say& say) {
    Checks check(say);
    if (calls.rank() == 0) {
      for (int i = 0; i < 3; ++i) calls.call(1, [] { throw std::runtime_error("unheard"); });
      std::string text = "(nothing)";
      while (text == "(nothing)") {
        text = thrown_by<CallFailed>([&] { calls.progress(); });
      }
      check(contains(text, "a call at rank 1 has thrown: unheard"), text);
    }
    thrown_by<CallFailed>([&] { calls.finish(); });
    check.done();
  });
  EXPECT_THAT(all.said(), Each(ElementsAre("right")));
}

TEST_P(CallFailure, ABroadcastsErrorsComeToItsRoot) {
  CallRanks all(5, GetParam(), testing::small_chunks(), [](Calls& calls, const Say& say) {
    Checks check(say);
    Synchronizer done(calls);
    if (calls.rank() == 1) {
      calls.broadcast(
          [](CallContext& here) {
            if (here.calls().rank() == 4) throw std::runtime_error("not here");
          },
          &done);
      const std::string text = thrown_by<CallFailed>([&] { done.wait(); });
      check(text == "a call at rank 4 has thrown: not here", text);
    }
    calls.finish();
    check.done();
  });
  EXPECT_THAT(all.said(), Each(ElementsAre("right")));
}

TEST_P(CallFailure, WrongUseIsRefused) {
  CallRanks all(2, GetParam(), testing::small_chunks(), [](Calls& calls, const Say& say) {
    Checks check(say);
    const auto refuses = [&](const std::string& expected, const std::function<void()>& use) {
      const std::string text = thrown_by<InputError>(use);
      check(contains(text, expected), text + "; expected: " + expected);
    };
    Synchronizer done(calls);
    Synchronizer transmitted(calls, hw::CountWhen::kTransmitted);
    refuses("no rank 2", [&] {
      calls.call(
          2, [] {}, &done);
    });
    refuses("no rank 7", [&] { calls.allocate(7, 8); });
    refuses("captures and buffer take", [&] {
      const std::vector<std::byte> large(5000);
      calls.call_buffer(
          1, [](std::span<std::byte>) {}, large, &done);
    });
    int result = 0;
    refuses("counts transmission", [&] {
      calls.call_return(
          1, [] { return 1; }, &result, transmitted);
    });
    check(done.pending() == 0 && transmitted.pending() == 0, "pending after a refusal");
    const hw::RemoteBuffer memory = calls.allocate(1, 100);
    hw::RegisteredBuffer word = calls.registered(8);
    refuses("8 bytes at 93 of 100", [&] { calls.put(word, memory, 93, done); });
    refuses("memory of rank 1; expected rank 0", [&] {
      calls.call_buffer_write(
          0, [] {}, word, memory);
    });
    if (calls.rank() == 0) refuses("not here", [&] { calls.bytes_of(memory); });
    refuses("0 bytes", [&] { static_cast<void>(calls.registered(0)); });
    check(contains(thrown_by<EnvironmentError>([&] { calls.allocate(1, 0); }), "rank 1 refused"),
          "no bytes");
    // Others are held to a bound; a rank itself, to what the machine has.
    check(contains(thrown_by<EnvironmentError>([&] { calls.allocate(1, 1ull << 45); }),
                   calls.rank() == 1 ? "no memory for" : "most_granted_bytes"),
          "too many bytes");
    check(contains(thrown_by<EnvironmentError>([&] {
                     calls.free({1, 77, {}, 8});
                   }),
                   "no memory 77"),
          "free");
    // A function must not wait, and finds its own kind of local only.
    const auto fails = [&](const std::string& expected, auto function) {
      calls.call(1 - calls.rank(), function, &done);
      const std::string text = thrown_by<CallFailed>([&] { done.wait(); });
      check(contains(text, expected), text);
    };
    fails("holds up the progress", [](CallContext& here) {
      Synchronizer inner(here.calls());
      here.calls().call(
          here.source(), [] {}, &inner);
      inner.wait();
    });
    fails("holds up the progress", [](CallContext& here) { here.calls().settle(); });
    fails("no local", [](CallContext& here) { here.local<std::string>().clear(); });
    calls.finish();
    refuses("after finish()", [&] { calls.call(1, [] {}); });
    check.done();
  });
  EXPECT_THAT(all.said(), Each(ElementsAre("right")));
}

// Rank 2 dies, in a function or while the others are at something.
TEST_P(CallFailure, ARankThatDiesIsNamedAndNobodyHangs) {
  using Deed = std::function<void(Calls&)>;
  const std::vector<std::pair<const char*, Deed>> deeds = {
      {"progress",
       [](Calls& calls) {
         while (true) calls.progress();
       }},
      {"a synchroniser",
       [](Calls& calls) {
         Synchronizer done(calls);
         while (true) {
           calls.call(
               2, [] {}, &done);
           done.wait();
         }
       }},
      {"a full window",
       [](Calls& calls) {
         while (true) calls.call(2, [] {});
       }},
      {"settling", [](Calls& calls) { calls.settle(); }},
      {"finishing", [](Calls& calls) { calls.finish(); }},
      {"memory",
       [](Calls& calls) {
         while (true) calls.free(calls.allocate(2, 64));
       }},
      {"a broadcast",
       [](Calls& calls) {
         Synchronizer done(calls);
         calls.broadcast([] {}, &done);
         done.wait();
       }},
  };
  for (const auto& [name, deed] : deeds) {
    std::array<SharedNumber, 2> ready;  // each may be in settle() when the other has left it
    CallRanks all(3, GetParam(), testing::small_chunks(), [&](Calls& calls, const Say& say) {
      calls.settle();
      if (calls.rank() == 2) {
        for (const SharedNumber& other : ready) other.await(1);
        raise(SIGKILL);
      }
      ready[calls.rank()].set(1);
      try {
        deed(calls);
        say("went on");
      } catch (const hw::PeerLost& lost) {
        say(fmt::format("lost {}: {}", lost.rank(), lost.what()));
      }
    });
    EXPECT_THAT(all.said(0), ElementsAre(HasSubstr("lost 2: rank 2 is lost"))) << name;
    EXPECT_THAT(all.said(1), ElementsAre(HasSubstr("lost 2: rank 2 is lost"))) << name;
  }
}

TEST_P(CallFailure, ARankThatLeavesIsNamed) {
  std::array<SharedNumber, 3> ready;  // each may be in settle() when another has left it
  CallRanks all(3, GetParam(), testing::small_chunks(), [&](Calls& calls, const Say& say) {
    calls.settle();
    ready[calls.rank()].set(1);
    if (calls.rank() == 1) {
      for (const std::size_t other : {0, 2}) ready[other].await(1);
      throw InputError("had enough");
    }
    try {
      calls.settle();
    } catch (const hw::PeerLost& lost) {
      say(fmt::format("lost {}: {}", lost.rank(), lost.what()));
    }
  });
  EXPECT_THAT(all.said(1), ElementsAre("! 2 had enough"));
  // Who sees that may leave before the other does, which then may name either.
  EXPECT_THAT(all.said(0), ElementsAre(::testing::AllOf(HasSubstr("has left"), HasSubstr("lost"))));
  EXPECT_THAT(all.said(2), ElementsAre(::testing::AllOf(HasSubstr("has left"), HasSubstr("lost"))));
}

// One that lives, and does nothing, is waited for only so long.
TEST_P(CallFailure, WaitsEnd) {
  SharedNumber over;
  CallsOptions options = testing::small_chunks();
  options.patience = std::chrono::milliseconds(300);
  CallRanks all(2, GetParam(), options, [&](Calls& calls, const Say& say) {
    if (calls.rank() == 1) {
      over.await(1);
      return;
    }
    Synchronizer done(calls);
    calls.call(
        1, [] {}, &done);
    try {
      done.wait();
    } catch (const Error& error) {
      say(error.what());
    }
    over.set(1);
  });
  EXPECT_THAT(all.said(0), ElementsAre(HasSubstr("nothing happened for 0.3 s")));
}

struct Large {
  std::array<std::byte, 5000> bytes{};
};
Large made() {
  Large large;
  large.bytes.back() = std::byte{7};
  return large;
}

// A result comes back in a record, and the record of a broadcast names its root beside.
TEST_P(CallFailure, WhatDoesNotFitIntoARecordIsRefused) {
  CallRanks all(2, GetParam(), testing::small_chunks(), [](Calls& calls, const Say& say) {
    Checks check(say);
    Synchronizer done(calls);
    const std::uint32_t other = 1 - calls.rank();
    Large large;
    std::string text = thrown_by<InputError>([&] {
      calls.call_return(
          other, [] { return made(); }, &large, done);
    });
    check(contains(text, "a result takes 5032 bytes; expected 4064 at most"), text);
    check(done.pending() == 0, "pending after a refusal");
    calls.call_return(
        calls.rank(), [] { return made(); }, &large, done);
    done.wait();
    check(large.bytes.back() == std::byte{7}, "another result of its own");
    const std::vector<std::byte> whole(4032);
    calls.call_buffer(
        other, [](std::span<std::byte>) {}, whole, &done);
    done.wait();
    text = thrown_by<InputError>(
        [&] { calls.broadcast_buffer([](std::span<std::byte>) {}, whole, &done); });
    check(contains(text, "captures and buffer take 4072 bytes; expected 4064 at most"), text);
    calls.broadcast_buffer([](std::span<std::byte>) {}, std::span(whole).first(4024), &done);
    done.wait();
    calls.finish();
    check.done();
  });
  EXPECT_THAT(all.said(), Each(ElementsAre("right")));
}

TEST_P(CallFailure, AResultThatFitsIntoNoRecordOfItsRankIsAnError) {
  const std::string provider = GetParam();
  MeshRanks ranks;
  ranks.start_all(2, [=](const hw::MeshOptions& mesh_options, const Say& say) {
    hw::Mesh mesh(mesh_options);
    CallsOptions options = testing::small_chunks();
    if (mesh.rank() == 0) options.chunk_bytes = options.record_bytes = 8192;
    Calls calls(mesh, testing::call_transport(provider), options);
    if (mesh.rank() == 0) {
      Synchronizer done(calls);
      Large large;
      say(thrown_by<CallFailed>([&] {
        calls.call_return(
            1, [] { return made(); }, &large, done);
        done.wait();
      }));
    }
    calls.finish();
  });
  EXPECT_EQ(ranks.next(0),
            "a call at rank 1 has thrown: a result takes 5032 bytes; expected 4064 at most");
  for (std::size_t rank = 0; rank < 2; ++rank) EXPECT_EQ(ranks.next(rank), "(end)");
}

// Rank 2 passes it on to rank 3, which it cannot: whoever waits for it is told.
TEST_P(CallFailure, ABroadcastThatARankCannotPassOnIsToldToItsRoot) {
  const std::string provider = GetParam();
  MeshRanks ranks;
  ranks.start_all(4, [=](const hw::MeshOptions& mesh_options, const Say& say) {
    hw::Mesh mesh(mesh_options);
    CallsOptions options = testing::small_chunks();
    if (mesh.rank() == 0) options.chunk_bytes = options.record_bytes = 8192;
    Calls calls(mesh, testing::call_transport(provider), options);
    const std::vector<std::byte> buffer(5000);
    Synchronizer done(calls);
    if (mesh.rank() == 0) {
      calls.broadcast_buffer([](std::span<std::byte>) {}, buffer, &done);
      say(thrown_by<CallFailed>([&] { done.wait(); }));
    }
    calls.finish();
  });
  EXPECT_EQ(ranks.next(0),
            "a call at rank 3 has thrown: calls: a broadcast of rank 0 takes 5040 bytes, and 4064 "
            "is the most at rank 2; expected records of one size at all ranks");
  for (std::size_t rank = 0; rank < 4; ++rank) EXPECT_EQ(ranks.next(rank), "(end)");
}

// As of one whose memory has run out: it ends in order, and has told nobody that it leaves its
// calls.
TEST(CallService, WhoIsGoneWithoutAWordHasLeft) {
  MeshRanks processes;
  processes.start_all(2, [](const hw::MeshOptions& place, const MeshRanks::Say&) {
    hw::Mesh mesh(place);
    if (mesh.rank() == 1) return;
    testing::Loop loop;
    const CallsOptions options;
    hw::CallPort port(mesh, std::make_unique<testing::LoopTransport>(loop), options);
    hw::CallService service(mesh, port, 1, 4, options);
    service.start();
    while (true) {
      port.require_all_here();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  EXPECT_EQ(processes.next(0), "! 1 calls: rank 1 has left; expected finish() first");
}

INSTANTIATE_TEST_SUITE_P(OnEach, CallFailure, ::testing::Values("shm", "net"),
                         [](const auto& test) { return std::string(test.param); });

TEST(CallCode, OptionsOutOfRangeAreRefused) {
  const auto refusal = [](auto change) {
    CallsOptions options;
    change(options);
    hw::Mesh mesh({});
    return thrown_by<InputError>(
        [&] { Calls calls(mesh, testing::call_transport("net"), options); });
  };
  EXPECT_THAT(refusal([](CallsOptions& o) { o.chunk_bytes = 1000; }), HasSubstr("chunk_bytes"));
  EXPECT_THAT(refusal([](CallsOptions& o) { o.chunk_bytes = 4100; }), HasSubstr("chunk_bytes"));
  EXPECT_THAT(refusal([](CallsOptions& o) { o.chunk_limit = 1; }), HasSubstr("chunk_limit"));
  EXPECT_THAT(refusal([](CallsOptions& o) { o.chunks_per_request = 0; }), HasSubstr("chunks_per"));
  EXPECT_THAT(refusal([](CallsOptions& o) { o.bundle_bytes = 1; }), HasSubstr("bundle_bytes"));
  EXPECT_THAT(refusal([](CallsOptions& o) { o.record_bytes = 100; }), HasSubstr("record_bytes"));
  EXPECT_THAT(refusal([](CallsOptions& o) { o.u_max = 0; }), HasSubstr("u_max"));
  EXPECT_THAT(refusal([](CallsOptions& o) { o.region_bytes = 4095; }), HasSubstr("region_bytes"));
  EXPECT_THAT(refusal([](CallsOptions& o) { o.name = 1 << 16; }), HasSubstr("name"));
}

// The beginning of the C++ library's code.
const char* other_object() {
  Dl_info info{};
  dladdr(dlsym(RTLD_DEFAULT, "_ZSt4cout"), &info);
  return static_cast<const char*>(info.dli_fbase);
}

TEST(CallCode, ADigestIsOfOneObject) {
  const sched::Digest own = hw::code_digest(hw::code_anchor());
  EXPECT_EQ(own, hw::code_digest(hw::code_anchor()));
  ASSERT_NE(other_object(), nullptr);
  EXPECT_NE(own, hw::code_digest(other_object()));
  EXPECT_THROW(hw::code_digest(nullptr), EnvironmentError);
}

TEST(CallCode, RanksOfAnotherBuildAreRefused) {
  hw::make_fabric_transport({"shm", ""});
  MeshRanks ranks;
  ranks.start_all(3, [](const hw::MeshOptions& options, const Say& say) {
    hw::Mesh mesh(options);
    // No call is made: it is refused when it joins.
    alignas(Calls) static std::byte never[sizeof(Calls)];
    hw::CallCore core(
        *reinterpret_cast<Calls*>(never), mesh, testing::call_transport("net"), CallsOptions{},
        mesh.rank() == 1 ? hw::CallableObject{other_object(), {}} : hw::callable_object());
    say("joined");
  });
  for (std::size_t r = 0; r < 3; ++r) {
    EXPECT_THAT(ranks.next(r), HasSubstr("! 2 calls: rank 1 runs another program than rank 0"));
  }
}

}  // namespace
}  // namespace slackline
