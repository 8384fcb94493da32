// What is said where verbs cannot be had. Where they can, tests/guest holds them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "hw/transports.h"

namespace slackline::hw {
namespace {

TEST(Verbs, WhatIsMissingIsNamedWithItsCure) {
  std::string message;
  try {
    EXPECT_EQ(make_transport("verbs", {})->name(), "verbs");
    GTEST_SKIP() << "this machine has an RDMA device";
  } catch (const EnvironmentError& error) {
    message = error.what();
  }
  EXPECT_THAT(message, ::testing::StartsWith("verbs: "));
  EXPECT_THAT(message, ::testing::AnyOf(::testing::HasSubstr("(Debian: libibverbs-dev)"),
                                        ::testing::HasSubstr("rdma link add"),
                                        ::testing::HasSubstr("ibv_devinfo")));
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace slackline::hw
