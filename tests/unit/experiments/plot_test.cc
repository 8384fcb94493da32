#include "experiments/plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <limits>

namespace slackline::experiments {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Figure sample() {
  Figure figure{"sample", "256 MB to n nodes", {"nodes", 2}, {"time, ms", 10}, {}, false};
  figure.series = {{"sequential", {2, 4, 8}, {1.5, 4.5, 10.5}, false},
                   {"pipeline \"one\"", {2, 4, 8}, {1.5, 1.625, 1.75}, true}};
  return figure;
}

TEST(PlotCommands, AreTheseExactly) {
  EXPECT_EQ(plot_commands(sample()),
            R"(set encoding utf8
set terminal svg noenhanced size 800,500 background "white" font "sans-serif,13"
set output
set grid
set key outside right top
set format "%g"
set title "256 MB to n nodes"
set xlabel "nodes"
set logscale x 2
set ylabel "time, ms"
set logscale y 10
$series0 << END
2 1.5
4 4.5
8 10.5
END
$series1 << END
2 1.5
4 1.625
8 1.75
END
plot $series0 with linespoints lw 2 dt 1 lc rgb "#0072b2" pt 5 ps 0.6 title "sequential", \
     $series1 with linespoints lw 2 dt 2 lc rgb "#d55e00" pt 6 ps 0.6 title "pipeline \042one\042"
)");
}

TEST(PlotText, IsNeverACommand) {
  EXPECT_EQ(plot_text("a `b` \"c\" \\d $e @f {g} 'h'"),
            R"("a \140b\140 \042c\042 \134d \044e \100f \173g\175 \047h\047")");
  // A digit behind a number would belong to it.
  EXPECT_EQ(plot_text("`012"), R"("\140\060\061\062")");
  EXPECT_EQ(plot_text("4 KiB × 2…"), "\"4 KiB × 2…\"");
  EXPECT_EQ(plot_text("a\nb\x1b\xff"), R"("a\134x0ab\134x1b\134xff")");
}

TEST(PlotCommands, PointsHaveNoLineBetweenThem) {
  Figure figure = sample();
  figure.series[1].points = true;
  const std::string commands = plot_commands(figure);
  EXPECT_THAT(commands, HasSubstr("$series0 with linespoints"));
  EXPECT_THAT(commands, HasSubstr("$series1 with points"));
}

TEST(PlotCommands, LinearAxesBeginAtZeroAndStepsHaveNoPoints) {
  Figure figure = sample();
  figure.y.log_base = 0;
  figure.steps = true;
  const std::string commands = plot_commands(figure);
  EXPECT_THAT(commands, HasSubstr("set yrange [0:*]\n"));
  EXPECT_THAT(commands, HasSubstr("$series0 with steps lw 2"));
  EXPECT_THAT(commands, Not(HasSubstr(" pt ")));
}

TEST(PlotCommands, LeaveOutWhatAnAxisCannotShow) {
  Figure figure = sample();
  figure.series = {{"a", {0, 2, 4, 8}, {1, -1, 3, std::numeric_limits<double>::infinity()}, false}};
  const std::string commands = plot_commands(figure);
  EXPECT_THAT(commands, HasSubstr("$series0 << END\n4 3\nEND\n"));
  figure.series[0].y = {0, 0, 0, 0};
  EXPECT_THAT(plot_commands(figure), HasSubstr("NaN notitle"));
}

TEST(PlotCommands, GivePanelsTheSameRangesAndCurves) {
  Figure other = sample();
  other.title = "512 MB";
  other.series[0].x.clear();
  other.series[0].y.clear();
  other.series[1].y.back() = 44;
  const Figure both[] = {sample(), other};
  const std::string commands = plot_commands(both);
  EXPECT_THAT(commands, HasSubstr("size 960,380"));
  EXPECT_THAT(commands, HasSubstr("set xrange [2:8]\nset yrange [1.5:44]\n"
                                  "set multiplot layout 1,2\n"));
  EXPECT_THAT(commands, HasSubstr("set title \"512 MB\"\n"));
  // The second curve looks the same where the first is missing.
  EXPECT_THAT(commands,
              HasSubstr("\nplot $series1 with linespoints lw 2 dt 2 lc rgb \"#d55e00\" pt 6"));
  const std::vector<Figure> seven(7, sample());
  EXPECT_THAT(plot_commands(seven), HasSubstr("size 1440,1140"));
}

TEST(PlotCommands, NumbersWithAUnitStandBesideMarks) {
  Figure figure = sample();
  figure.x = {"bytes", 2};
  figure.y = {"median makespan", 10};
  figure.series = {{"a", {1024, 65536, 1048576}, {2e-4, 1e-3, 5e-3}}};
  const std::string commands = plot_commands({&figure, 1}, {AxisUnit::kBytes, AxisUnit::kSeconds});
  EXPECT_THAT(commands, HasSubstr("set xtics (\"1 KiB\" 1024, \"4 KiB\" 4096, \"16 KiB\" 16384, "
                                  "\"64 KiB\" 65536, \"256 KiB\" 262144, \"1 MiB\" 1048576)\n"));
  EXPECT_THAT(commands, HasSubstr("set ytics (\"200 us\" 0.0002, \"500 us\" 0.0005, \"1 ms\" "
                                  "0.001, \"2 ms\" 0.002, \"5 ms\" 0.005)\n"));
  figure.y.log_base = 0;
  EXPECT_THAT(plot_commands({&figure, 1}, {AxisUnit::kNone, AxisUnit::kSeconds}),
              HasSubstr("set ytics (\"0 s\" 0, \"1 ms\" 0.001, \"2 ms\" 0.002, \"3 ms\" 0.003, "
                        "\"4 ms\" 0.004, \"5 ms\" 0.005)\n"));
}

TEST(PlotMarks, AreRoundNumbersAndNotTooMany) {
  EXPECT_EQ(log_marks(1, 1000, 10, 8), (std::vector<double>{1, 10, 100, 1000}));
  EXPECT_EQ(log_marks(3, 60, 10, 8), (std::vector<double>{5, 10, 20, 50}));
  EXPECT_EQ(log_marks(1, 256, 2, 4), (std::vector<double>{1, 4, 16, 64, 256}));
  EXPECT_EQ(marks_text(log_marks(3e-6, 4.5e-6, 10, 8), AxisUnit::kSeconds),
            "(\"3.2 us\" 3.2e-06, \"3.6 us\" 3.6e-06, \"4 us\" 4e-06, \"4.4 us\" 4.4e-06)")
      << "no two of 1, 2 and 5 times a power";
  EXPECT_EQ(linear_marks(0, 7, 10), (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(linear_marks(0, 7, 4), (std::vector<double>{0, 2, 4, 6}));
  EXPECT_EQ(linear_marks(3, 3, 4), (std::vector<double>{3}));
}

TEST(PlotCommands, LongNamesStandBelowTheCurves) {
  Figure figure = sample();
  EXPECT_THAT(plot_commands(figure), HasSubstr("set key outside right top\n"));
  figure.series[0].name = std::string(40, 'a');
  EXPECT_THAT(plot_commands(figure), HasSubstr("set key below samplen 2 height 1 maxcols 2\n"));
  figure.title = std::string(200, 't');
  EXPECT_THAT(plot_commands(figure), HasSubstr("t…\"\nset xlabel")) << "no longer than the picture";
}

bool has_gnuplot() { return std::system("gnuplot --version >/dev/null 2>&1") == 0; }

TEST(DrawSvg, GivesTheSameBytesEveryTime) {
  if (!has_gnuplot()) GTEST_SKIP() << "without gnuplot";
  const std::string svg = draw_svg(sample());
  EXPECT_EQ(svg, draw_svg(sample()));
  for (const char* text :
       {"<svg", "sequential", "time, ms", "nodes", "256 MB to n nodes", "</svg>"}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
  Figure empty = sample();
  empty.series.clear();
  EXPECT_THAT(draw_svg(empty), HasSubstr("</svg>"));
}

TEST(DrawSvg, ShowsWhatLooksLikeACommand) {
  if (!has_gnuplot()) GTEST_SKIP() << "without gnuplot";
  const auto made = std::filesystem::path(::testing::TempDir()) /
                    ("slackline-plot-" + std::to_string(::getpid()));
  const std::string name = "`touch " + made.string() + "`";
  Figure figure = sample();
  figure.title = figure.x.label = figure.y.label = figure.series[0].name = name;
  figure.series[1].name = "`012 <&\"'@{}$%d\\n";
  const std::string svg = draw_svg(figure);
  EXPECT_FALSE(std::filesystem::exists(made));
  EXPECT_THAT(svg, HasSubstr(name));
  EXPECT_THAT(svg, HasSubstr("`012 &lt;&amp;\"'@{}$%d\\n"));
}

}  // namespace
}  // namespace slackline::experiments
