#include "experiments/heat_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

namespace slackline::experiments {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

HeatMap sample() {
  HeatMap map;
  map.title = "slack";
  map.x = "step";
  map.y = "rank";
  map.colour = "least total float";
  map.unit = AxisUnit::kSeconds;
  map.zero = "no float";
  map.columns = 3;
  map.rows = 2;
  map.values = {0, 1e-6, kNone, 2e-3, 5e-7, 0};
  return map;
}

TEST(HeatMapCommands, HaveEveryCellOnce) {
  const std::string commands = heat_map_commands(sample());
  EXPECT_THAT(commands, HasSubstr("$cells << END\n1 0 1e-06\n0 1 0.002\n1 1 5e-07\nEND\n"));
  EXPECT_THAT(commands, HasSubstr("$zeros << END\n0 0 0\n2 1 0\nEND\n"));
  EXPECT_THAT(commands, HasSubstr("set xrange [-0.5:2.5]\nset yrange [1.5:-0.5]\n"));
  EXPECT_THAT(commands, HasSubstr("set logscale cb\nset cbrange [5e-07:0.002]\n"));
  EXPECT_THAT(commands, HasSubstr("set cblabel \"least total float\"\n"
                                  "set cbtics (\"1 us\" 1e-06, \"10 us\" 1e-05, \"100 us\" 0.0001, "
                                  "\"1 ms\" 0.001)\n"));
  EXPECT_THAT(commands, HasSubstr("title \"no float\""));
}

// Of grey, from 0 to 255 (ITU-R BT.709).
double lightness(const std::string& colour) {
  const auto part = [&](std::size_t at) { return std::stoi(colour.substr(at, 2), nullptr, 16); };
  return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
}

TEST(HeatMapCommands, TheColoursGrowLighterSoThatTheyHoldInGrey) {
  const std::string commands = heat_map_commands(sample());
  std::string_view rest = std::string_view(commands).substr(commands.find("set palette"));
  rest = rest.substr(0, rest.find('\n'));
  double last = 20;  // well above black, which is no float
  int colours = 0;
  for (std::size_t at = 0; (at = rest.find('#', at)) != std::string_view::npos; ++at) {
    const double now = lightness(std::string(rest.substr(at, 7)));
    EXPECT_GT(now, last + 10) << rest.substr(at, 7);
    last = now;
    ++colours;
  }
  EXPECT_GE(colours, 2);
  EXPECT_LT(last, 235) << "white is where nothing happens";
}

TEST(HeatMapCommands, CellsCanStandForSeveral) {
  HeatMap map = sample();
  map.column_width = 10;
  map.row_height = 4;
  const std::string commands = heat_map_commands(map);
  EXPECT_THAT(commands, HasSubstr("set xrange [-0.5:29.5]\nset yrange [7.5:-0.5]\n"));
  EXPECT_THAT(commands, HasSubstr("14.5 1.5 1e-06\n4.5 5.5 0.002\n"));
  EXPECT_THAT(commands, HasSubstr("1:2:(5):(2):3"));
}

TEST(HeatMapCommands, TheScaleIsNeverEmptyNorEndless) {
  HeatMap map = sample();
  map.values = {kNone, 4e-6, kNone, 4e-6, kNone, kNone};
  EXPECT_THAT(heat_map_commands(map), HasSubstr("set cbrange [2e-06:8e-06]\n"));
  EXPECT_THAT(heat_map_commands(map), Not(HasSubstr("no float")));
  map.values = {1e-18, 4e-6, kNone, 4e-6, kNone, kNone};
  EXPECT_THAT(heat_map_commands(map), HasSubstr("set cbrange [4e-12:4e-06]\n"));
  map.values = {0, 0, kNone, kNone, kNone, kNone};
  EXPECT_THAT(heat_map_commands(map), Not(HasSubstr("cbrange")));
  map.values.assign(6, kNone);
  EXPECT_THAT(heat_map_commands(map), HasSubstr("plot NaN notitle\n"));
}

TEST(HeatMap, GivesTheSameBytesEveryTime) {
  if (std::system("gnuplot --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "without gnuplot";
  const std::string svg = draw_svg(sample());
  EXPECT_EQ(svg, draw_svg(sample()));
  for (const char* text :
       {"<svg", "slack", "step", "rank", "least total float", "no float", "</svg>"}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
  HeatMap nothing = sample();
  nothing.columns = nothing.rows = 0;
  nothing.values.clear();
  EXPECT_THAT(draw_svg(nothing), HasSubstr("</svg>"));
  HeatMap zeros = sample();
  zeros.values.assign(6, 0);
  EXPECT_THAT(draw_svg(zeros), HasSubstr("no float"));
}

}  // namespace
}  // namespace slackline::experiments
