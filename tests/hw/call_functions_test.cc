// What peers may have run: what this program calls somewhere, and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/call.h"
#include "hw/call/core.h"
#include "hw/call/functions.h"
#include "tests/hw/call_ranks.h"

namespace slackline {
namespace {

using hw::CallContext;
using hw::Calls;
using ::testing::HasSubstr;
using testing::MeshRanks;

constexpr auto kCalled = [](CallContext&) {};
constexpr auto kNeverCalled = [](CallContext&, std::span<std::byte>) {};

template <class F>
std::uint32_t offset_of(const F&) {
  return hw::name_of(&hw::invoke<F>).offset;
}

// Never run: it is enough that it stands there.
[[maybe_unused]] void call_it(Calls& calls) { calls.call(0, kCalled); }

TEST(CallFunctions, AreThoseThatAreCalledSomewhere) {
  const hw::CallFunctions functions(hw::callable_object());
  EXPECT_EQ(functions.at(offset_of(kCalled), 0),
            &hw::invoke<std::remove_const_t<decltype(kCalled)>>);
  EXPECT_EQ(functions.at(offset_of(kNeverCalled), 0), nullptr);
  EXPECT_EQ(functions.at(offset_of(kCalled) + 1, 0), nullptr);
  EXPECT_EQ(functions.at(offset_of(kCalled) - 1, 0), nullptr);
  EXPECT_EQ(functions.at(0, 0), nullptr);
  EXPECT_EQ(functions.at(0xffffffffu, 0), nullptr);
}

TEST(CallFunctions, AreFoundInAnyOrder) {
  const hw::CallFunctions functions(
      hw::CallableObject{hw::code_anchor(), {{40, 0}, {8, 0}, {24, 0}}});
  for (const std::uint32_t offset : {8u, 24u, 40u}) {
    EXPECT_EQ(reinterpret_cast<const char*>(functions.at(offset, 0)), hw::code_anchor() + offset);
  }
  for (const std::uint32_t offset : {0u, 7u, 9u, 25u, 41u}) {
    EXPECT_EQ(functions.at(offset, 0), nullptr);
  }
}

// Fewer would have the function read what is none of its own.
TEST(CallFunctions, HaveAllOfTheirCaptures) {
  const hw::CallFunctions functions(
      hw::CallableObject{hw::code_anchor(), {{8, 0}, {16, 12}, {24, 16}}});
  EXPECT_NE(functions.at(16, 16), nullptr);
  EXPECT_NE(functions.at(24, 16), nullptr);
  for (const std::size_t captures : {0u, 8u, 24u}) {
    EXPECT_EQ(functions.at(16, captures), nullptr) << captures;
    EXPECT_EQ(functions.at(24, captures), nullptr) << captures;
  }
  EXPECT_EQ(functions.at(8, 8), nullptr);
}

// A record that came whole, and names what may not be called.
TEST(CallFunctions, NothingElseIsRun) {
  MeshRanks ranks;
  ranks.start_all(2, [](const hw::MeshOptions& options, const MeshRanks::Say&) {
    hw::Mesh mesh(options);
    alignas(Calls) static std::byte never[sizeof(Calls)];
    hw::CallCore core(*reinterpret_cast<Calls*>(never), mesh, testing::call_transport("net"), {},
                      hw::callable_object());
    if (mesh.rank() == 0) {
      hw::CallWish wish;
      wish.destination = 1;
      wish.draft.function = offset_of(kNeverCalled);
      wish.anchor = hw::code_anchor();
      core.submit(wish);
      core.flush();
    }
    for (;;) core.progress();
  });
  EXPECT_THAT(ranks.next(1),
              HasSubstr("! 3 calls: what came from rank 0 names a function that this "
                        "program never calls; "));
}

}  // namespace
}  // namespace slackline
