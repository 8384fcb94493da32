// When a send over libfabric is complete: once its bytes have come to the receiver, and not before,
// whatever the provider calls complete.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/hw/channel_end.h"

namespace slackline::testing {
namespace {

using hw::RequestKind;
using End = ChannelEndHere;

// About every size at which a provider changes its ways.
constexpr std::array<std::size_t, 14> kSizes = {0,    1,    64,    128,   129,    192,    193,
                                                4096, 4097, 16384, 16385, 131072, 131073, 1048576};

class FabricSends : public ::testing::TestWithParam<const char*> {
 protected:
  FabricSends()
      : sender_(GetParam(), true, kSizes.back()), target_(GetParam(), false, kSizes.back()) {
    sender_.transport->connect(std::vector<hw::Address>{target_.address});
    target_.transport->connect(std::vector<hw::Address>{{}, sender_.address});
  }

  // Calls test(message) for a message of each size, in one segment and in two.
  template <class Test>
  void for_each_message(Test&& test) {
    for (const std::size_t bytes : kSizes) {
      for (std::size_t segments = bytes == 0 ? 0 : 1; segments <= (bytes < 2 ? bytes : 2);
           ++segments) {
        SCOPED_TRACE(fmt::format("{} bytes in {} segments", bytes, segments));
        for (std::size_t i = 0; i < bytes; ++i) {
          sender_.memory[i] = static_cast<std::byte>(i * 7 + bytes + segments);
        }
        sent_ = received_ = 0;
        const auto all = std::span(sender_.memory).first(bytes);
        std::vector<std::span<std::byte>> parts;
        if (segments == 1) parts = {all};
        if (segments == 2) parts = {all.first(bytes / 3), all.subspan(bytes / 3)};
        test(parts, bytes);
        if (HasFatalFailure()) return;
      }
    }
  }

  // Both poll until `done` or for 20 s; whether it came to that.
  template <class Done>
  bool poll_until(Done&& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < deadline) {
      sent_ += sender_.poll();
      if (done()) return true;
      received_ += target_.poll();
    }
    return false;
  }

  bool send(std::span<const std::span<std::byte>> parts) {
    return poll_until([&] { return sender_.post(RequestKind::kSend, parts); });
  }
  bool receive(std::size_t bytes) {
    return target_.post(RequestKind::kRecv, std::span(target_.memory).first(bytes));
  }
  bool has_come(std::size_t bytes) const {
    return std::equal(sender_.memory.begin(),
                      sender_.memory.begin() + static_cast<std::ptrdiff_t>(bytes),
                      target_.memory.begin());
  }

  End sender_;
  End target_;
  std::size_t sent_ = 0;
  std::size_t received_ = 0;
};

TEST_P(FabricSends, AreCompleteOnceTheyHaveCome) {
  for_each_message([&](const auto& parts, std::size_t bytes) {
    ASSERT_TRUE(receive(bytes));
    ASSERT_TRUE(send(parts));
    if (sent_ == 0 && received_ == 0) {
      // A receiver that does not poll has not taken it in.
      for (int i = 0; i < 1000; ++i) ASSERT_EQ(sender_.poll(), 0u) << i;
    }
    ASSERT_TRUE(poll_until([&] { return sent_ == 1; }));
    EXPECT_TRUE(has_come(bytes));
    ASSERT_TRUE(poll_until([&] { return received_ == 1; }));
  });
}

TEST_P(FabricSends, WaitForTheirReceive) {
  for_each_message([&](const auto& parts, std::size_t bytes) {
    ASSERT_TRUE(send(parts));
    for (int i = 0; i < 1000; ++i) {
      sent_ += sender_.poll();
      ASSERT_EQ(target_.poll(), 0u);
    }
    EXPECT_EQ(sent_, 0u);
    ASSERT_TRUE(receive(bytes));
    ASSERT_TRUE(poll_until([&] { return sent_ == 1; }));
    EXPECT_TRUE(has_come(bytes));
    ASSERT_TRUE(poll_until([&] { return received_ == 1; }));
    EXPECT_TRUE(has_come(bytes));
  });
}

INSTANTIATE_TEST_SUITE_P(Providers, FabricSends, ::testing::Values("shm", "net", "tcp;ofi_rxm"),
                         [](const auto& tested) { return std::string(tested.param).substr(0, 3); });

// Ends on which only writes come take no room for receives. A refusal leaves all as it was.
TEST(FabricSendsOfManyChannels, AreRefusedWhereShmHasNoRoomForReceives) {
  std::vector<hw::ChannelEnd> ends;
  const auto add = [&](bool initiates, bool only_writes, int count) {
    for (int i = 0; i < count; ++i) {
      hw::ChannelEnd end;
      end.channel = static_cast<std::uint32_t>(ends.size());
      end.initiates = initiates;
      end.only_writes = only_writes;
      ends.push_back(end);
    }
  };
  add(true, false, 1500);
  add(false, true, 1500);
  add(false, false, 993);
  for (const char* provider : {"net", "shm"}) {
    const auto transport = hw::make_fabric_transport({provider, "127.0.0.1"});
    if (transport->name() == "shm") {
      EXPECT_THROW(transport->open(ends), Unsupported);
      transport->open(std::span(ends).first(ends.size() - 1));
      EXPECT_THROW(transport->open(std::span(ends).last(1)), Unsupported);
    } else {
      transport->open(ends);
    }
    transport->close(ends);
  }
}

// Many at once: as many completions as sends, and none before its message has come.
TEST(FabricSendsAtOnce, AreEachComplete) {
  constexpr std::size_t kMessages = 3000;  // more than any provider has room for
  for (const char* provider : {"shm", "net", "tcp;ofi_rxm"}) {
    SCOPED_TRACE(provider);
    End sender(provider, true);
    End target(provider, false);
    sender.transport->connect(std::vector<hw::Address>{target.address});
    target.transport->connect(std::vector<hw::Address>{{}, sender.address});
    std::size_t posted = 0, expected = 0, sent = 0, received = 0;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while ((sent < kMessages || received < kMessages) &&
           std::chrono::steady_clock::now() < deadline) {
      // The receives are now ahead by some hundreds, now behind.
      while (expected < kMessages && (expected < posted || expected % 512 != 0) &&
             target.post(RequestKind::kRecv, std::span(target.memory).first(8))) {
        ++expected;
      }
      while (posted < kMessages && posted < expected + 700 &&
             sender.post(RequestKind::kSend, std::span(sender.memory).first(8))) {
        ++posted;
      }
      sent += sender.poll();
      received += target.poll();
      ASSERT_LE(sent, expected);
    }
    EXPECT_EQ(sent, kMessages);
    EXPECT_EQ(received, kMessages);
  }
}

}  // namespace
}  // namespace slackline::testing
