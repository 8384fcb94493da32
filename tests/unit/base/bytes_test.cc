#include "base/bytes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace slackline::base {
namespace {

struct CutShort : std::runtime_error {
  CutShort() : std::runtime_error("cut short") {}
};
using Reader = BasicByteReader<CutShort>;

template <class Bytes>
Bytes written() {
  ByteWriter<Bytes> out;
  out.add(std::uint32_t{7});
  out.add_text("seven");
  const std::vector<double> numbers = {0.5, -1};
  out.add_list(std::span<const double>(numbers));
  return out.take();
}

TEST(Bytes, AreReadAsTheyWereWritten) {
  const auto bytes = written<std::string>();
  Reader in(bytes);
  EXPECT_EQ(in.get<std::uint32_t>(), 7u);
  EXPECT_EQ(in.text(), "seven");
  EXPECT_EQ(in.list<double>(), (std::vector<double>{0.5, -1}));
  EXPECT_TRUE(in.at_end());
}

TEST(Bytes, AreTheSameInAVector) {
  const auto bytes = written<std::vector<std::byte>>();
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  EXPECT_EQ(text, written<std::string>());
}

TEST(Bytes, ThatAreMissingAreNoticed) {
  const auto bytes = written<std::string>();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(
        {
          Reader in(std::string_view(bytes).substr(0, size));
          in.get<std::uint32_t>();
          in.text();
          in.list<double>();
        },
        CutShort)
        << size;
  }
  const std::string many(8, '\xff');  // a number that no memory holds
  EXPECT_THROW(Reader(std::string_view(many)).text(), CutShort);
}

}  // namespace
}  // namespace slackline::base
