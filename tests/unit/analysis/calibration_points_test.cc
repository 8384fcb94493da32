#include "analysis/fit/calibration_points.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/error_of.h"

namespace slackline::analysis {
namespace {

constexpr const char* kHead = "kind,bytes,messages,seconds\n";

std::string error_of(const std::string& text) {
  return testing::error_of([&] { read_points(text, "points.csv"); });
}

TEST(CalibrationPoints, AreReadWithTheirLines) {
  const auto points = read_points(
      "# of two hosts\n\nkind,bytes,messages,seconds\r\npingpong,8,2,2.5e-6\n"
      "# larger\npost,0,64,0.0000128\ncopy,1048576,1,1e-4",
      "points.csv");
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[0].kind, PointKind::kPingpong);
  EXPECT_EQ(points[0].bytes, 8u);
  EXPECT_EQ(points[0].messages, 2u);
  EXPECT_EQ(points[0].seconds, 2.5e-6);
  EXPECT_EQ(points[0].line, 4u);
  EXPECT_EQ(points[1].line, 6u);
  EXPECT_EQ(points[2].kind, PointKind::kCopy);
}

TEST(CalibrationPoints, AreReadAsTheyWereWritten) {
  std::vector<MeasuredPoint> points;
  for (int k = 0; k < kPointKinds; ++k) {
    points.push_back({static_cast<PointKind>(k), 8, std::uint64_t{1} << k, 1.0 / (3 + k), 0});
  }
  const auto again = read_points(write_points(points), "points.csv");
  ASSERT_EQ(again.size(), points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(again[i].kind, points[i].kind);
    EXPECT_EQ(again[i].bytes, points[i].bytes);
    EXPECT_EQ(again[i].messages, points[i].messages);
    EXPECT_EQ(again[i].seconds, points[i].seconds);
    EXPECT_EQ(point_kind_named(name(points[i].kind)), points[i].kind);
  }
}

TEST(CalibrationPoints, MistakesAreNamedByLine) {
  struct Case {
    std::string text;
    std::string part;
  };
  const std::string head = kHead;
  for (const Case& c : std::vector<Case>{
           {"", "points.csv:1: no points"},
           {head, "points.csv:1: no points"},
           {"pingpong,8,2,1e-6\n", "points.csv:1: 'pingpong,8,2,1e-6'; expected the head kind,"},
           {"kind;bytes;messages;seconds\n", "expected the head"},
           {head + "pingpnog,8,2,1e-6\n",
            "points.csv:2: unknown kind of measurement 'pingpnog': "
            "did you mean 'pingpong'?"},
           {head + "pingpong,8,2\n", "points.csv:2: 'pingpong,8,2' has not 4 fields"},
           {head + "pingpong,8,2,1e-6,x\n", "has not 4 fields"},
           {head + "pingpong,8,2,1e-6\n\n# fine\nsend,8 ,1,1e-6\n", "points.csv:5: bytes"},
           {head + "send,-8,1,1e-6\n", "points.csv:2: bytes"},
           {head + "send,8KiB,1,1e-6\n", "points.csv:2: bytes"},
           {head + "send,1125899906842625,1,1e-6\n", "points.csv:2: bytes"},
           {head + "send,8,0,1e-6\n", "points.csv:2: messages"},
           {head + "send,8,4294967297,1e-6\n", "points.csv:2: messages"},
           {head + "send,8,1,0\n", "points.csv:2: seconds: '0' is no time"},
           {head + "send,8,1,-1\n", "seconds: '-1' is no time"},
           {head + "send,8,1,nan\n", "seconds: 'nan' is no time"},
           {head + "send,8,1,inf\n", "seconds: 'inf' is no time"},
           {head + "send,8,1,1e-400\n", "seconds"},
           {head + "send,8,1,2us\n", "seconds: '2us' is no time"},
           {head + "send,8,1,\n", "seconds: '' is no time"},
           {head + "send,8,1,1e7\n", "seconds"},
           {head + "atomic,16,1,1e-6\n", "points.csv:2: bytes: an atomic carries 16; expected 8"},
           {head + "copy,0,1,1e-6\n", "points.csv:2: bytes: a copy of nothing"},
           {head + "send,8,1,\x1b[31m\n", "control character"},
           {head + std::string("send,8,1,1\0", 11), "control character"},
       }) {
    const std::string error = error_of(c.text);
    EXPECT_NE(error.find(c.part), std::string::npos) << c.text << ": " << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

// To the last value that fits, and the first that does not.
TEST(CalibrationPoints, HaveTheirRanges) {
  const std::string head = kHead;
  for (const char* line :
       {"send,1125899906842624,1,1e-6", "send,0,1,1e-6", "send,8,4294967296,1e-6", "send,8,1,1e-12",
        "send,8,1,1e6", "copy,1,1,1e-6", "atomic,8,1,1e-6"}) {
    EXPECT_EQ(error_of(head + line + "\n"), "") << line;
  }
  const auto seconds = [&](const std::string& text) {
    EXPECT_EQ(error_of(head + "send,8,1," + text + "\n"),
              "points.csv:2: seconds: '" + text +
                  "' is no time; expected seconds from 1e-12 to 1e+06, such as 1.52e-6");
  };
  seconds("9.9e-13");
  seconds("1000001");
  seconds("1e-6 ");
  EXPECT_EQ(error_of(head + "atomic,7,1,1e-6\n"),
            "points.csv:2: bytes: an atomic carries 7; expected 8");
  EXPECT_EQ(error_of(head + "copy,0,1,1e-6\n"),
            "points.csv:2: bytes: a copy of nothing; expected 1 or more");
  EXPECT_EQ(error_of(head + "send,8,1\n"),
            "points.csv:2: 'send,8,1' has not 4 fields; expected kind,bytes,messages,seconds");
  EXPECT_EQ(error_of(""),
            "points.csv:1: no points; expected the head kind,bytes,messages,seconds, and then a "
            "point a line");
  EXPECT_EQ(error_of(head), "points.csv:1: no points; expected that head, and then a point a line");
  EXPECT_EQ(point_kind_named("sends"), std::nullopt);
  // A line of CRLF alone, and blanks at its ends.
  EXPECT_EQ(error_of(head + "\r\nsend,8,1,1e-6\r\n"), "");
}

}  // namespace
}  // namespace slackline::analysis
