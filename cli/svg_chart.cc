#include "cli/svg_chart.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "base/append.h"
#include "base/axis_step.h"
#include "base/shown_text.h"
#include "base/units.h"
#include "base/xml_text.h"

namespace slackline::cli {
namespace {

using sched::append;
using sched::xml_text;

// In SVG's pixels.
constexpr double kTop = 72;
constexpr double kPlot = 640;  // width
constexpr double kHeight = 360;
constexpr double kRight = 40;
constexpr double kBottom = 34;
constexpr double kRow = 20;
constexpr double kBar = 14;
constexpr double kLetter = 6.5;  // width, about
constexpr double kTitleLetter = 9;
constexpr std::size_t kMostPoints = 1'000;  // of a curve

constexpr std::string_view kStyle =
    "<style>\n"
    "text { font: 11px sans-serif; fill: #222 }\n"
    ".title { font-size: 15px; font-weight: bold }\n"
    ".mark { text-anchor: middle }\n"
    ".name { text-anchor: end }\n"
    ".grid { stroke: #ddd; stroke-width: 1 }\n"
    ".curve { fill: none; stroke: #9db4cf; stroke-width: 1 }\n"
    ".first { fill: none; stroke: #1f5fae; stroke-width: 2.5 }\n"
    ".dark { fill: #1f5fae }\n"
    ".light { fill: #9db4cf }\n"
    "</style>\n";

// The times that an axis spans.
struct Span {
  double low_s;
  double high_s;
};

// What a colour is: "dark" and "light" of bars, "first" and "curve" of curves.
struct LegendEntry {
  std::string_view style;
  std::string_view text;
};

class Chart {
 public:
  /// `x_title`: what its times are.
  Chart(std::string_view title, std::string_view x_title, double left, double height, Span span)
      : left_(left), height_(height), span_(span) {
    if (!(span_.high_s > span_.low_s)) {
      span_.high_s = span_.low_s + std::max(std::abs(span_.low_s) * 0.01, 1e-12);
    }
    append(out_,
           "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
           "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" "
           "height=\"{1:g}\">\n{2}<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
           left + kPlot + kRight, kTop + height + kBottom, kStyle);
    const auto most = static_cast<std::size_t>((left + kPlot) / kTitleLetter);
    append(out_, "<text class=\"title\" x=\"12\" y=\"24\">{}</text>\n",
           xml_text(sched::shown(title, most)));
    append(out_, "<text class=\"mark\" x=\"{:g}\" y=\"{:g}\">{}</text>\n", left + kPlot / 2,
           kTop + height + 20, xml_text(x_title));
    const double step_s = base::axis_step(span_.high_s - span_.low_s);
    const double last = std::floor(span_.high_s / step_s * (1 + 1e-12));
    for (double i = std::ceil(span_.low_s / step_s); i <= last; ++i) {
      append(out_,
             "<line class=\"grid\" x1=\"{0:.2f}\" y1=\"{1:g}\" x2=\"{0:.2f}\" y2=\"{2:g}\"/>"
             "<text class=\"mark\" x=\"{0:.2f}\" y=\"{3:g}\">{4}</text>\n",
             x(i * step_s), kTop - 4, kTop + height, kTop - 9, sched::human_seconds(i * step_s));
    }
  }

  double x(double time_s) const {
    return left_ + kPlot * ((time_s - span_.low_s) / (span_.high_s - span_.low_s));
  }
  double y(double share) const { return kTop + height_ * (1 - share); }
  std::string& out() { return out_; }
  /// Under the title.
  void legend(std::initializer_list<LegendEntry> entries) {
    double at = 12;
    for (const auto& [style, text] : entries) {
      if (text.empty()) continue;
      const bool filled = style == "dark" || style == "light";
      if (filled) {
        append(out_, "<rect class=\"{}\" x=\"{:.1f}\" y=\"34\" width=\"14\" height=\"10\"/>", style,
               at);
      } else {
        append(out_, "<line class=\"{}\" x1=\"{:.1f}\" y1=\"39\" x2=\"{:.1f}\" y2=\"39\"/>", style,
               at, at + 14);
      }
      append(out_, "<text x=\"{:.1f}\" y=\"43\">{}</text>\n", at + 18, xml_text(text));
      at += 36 + kLetter * static_cast<double>(text.size());
    }
  }
  std::string take() { return std::move(out_) + "</svg>\n"; }

 private:
  double left_;
  double height_;
  Span span_;
  std::string out_;
};

std::size_t finite_of(const Curve& curve) {
  return static_cast<std::size_t>(std::count_if(curve.times_s.begin(), curve.times_s.end(),
                                                [](double t) { return std::isfinite(t); }));
}

// A step up at each time, of very many at some of them.
void draw(Chart& chart, const Curve& curve, bool first) {
  const std::size_t finite = finite_of(curve);
  if (finite == 0) return;
  const auto all = static_cast<double>(curve.times_s.size());
  append(chart.out(), "<path class=\"{}\" d=\"M{:.2f} {:.2f}", first ? "first" : "curve",
         chart.x(curve.times_s.front()), chart.y(0));
  const std::size_t points = std::min(finite, kMostPoints);
  for (std::size_t i = 1; i <= points; ++i) {
    const std::size_t upto = finite * i / points;
    append(chart.out(), "H{:.2f}V{:.2f}", chart.x(curve.times_s[upto - 1]),
           chart.y(static_cast<double>(upto) / all));
  }
  append(chart.out(), "\"><title>{}</title></path>\n", xml_text(curve.name));
}

}  // namespace

std::string svg_distribution(std::string_view title, std::span<const Curve> curves,
                             std::string_view others) {
  constexpr double kLeft = 60;
  Span span{std::numeric_limits<double>::infinity(), 0};
  for (const Curve& curve : curves) {
    const std::size_t finite = finite_of(curve);
    if (finite == 0) continue;
    span.low_s = std::min(span.low_s, curve.times_s.front());
    span.high_s = std::max(span.high_s, curve.times_s[finite - 1]);
  }
  if (!std::isfinite(span.low_s)) span.low_s = 0;
  Chart chart(title, "time", kLeft, kHeight, span);
  if (!curves.empty()) {
    chart.legend({{"first", curves.front().name}, {"curve", curves.size() > 1 ? others : ""}});
  }
  append(chart.out(),
         "<text class=\"mark\" transform=\"translate(12 {:g}) rotate(-90)\">share of runs</text>\n",
         kTop + kHeight / 2);
  for (const double share : {0.0, 0.25, 0.5, 0.75, 0.95, 1.0}) {
    append(chart.out(),
           "<line class=\"grid\" x1=\"{0:g}\" y1=\"{1:.2f}\" x2=\"{2:g}\" y2=\"{1:.2f}\"/>"
           "<text class=\"name\" x=\"{3:g}\" y=\"{4:.2f}\">{5:g} %</text>\n",
           kLeft, chart.y(share), kLeft + kPlot, kLeft - 6, chart.y(share) + 4, 100 * share);
  }
  // The first on top of the others.
  for (std::size_t i = curves.size(); i-- > 0;) draw(chart, curves[i], i == 0);
  return chart.take();
}

std::string svg_bars(std::string_view title, std::span<const Bar> bars, std::string_view dark,
                     std::string_view light) {
  std::size_t longest = 0;
  double most_s = 0;
  for (const Bar& bar : bars) {
    longest = std::max(longest, bar.name.size());
    if (std::isfinite(bar.time_s)) most_s = std::max(most_s, bar.time_s);
  }
  const double left = 24 + kLetter * static_cast<double>(longest);
  Chart chart(title, "makespan", left, kRow * static_cast<double>(bars.size()), {0, most_s});
  chart.legend({{"dark", dark}, {"light", light}});
  double y = kTop;
  for (const Bar& bar : bars) {
    append(chart.out(), "<text class=\"name\" x=\"{:g}\" y=\"{:g}\">{}</text>\n", left - 8,
           y + kBar - 2, xml_text(bar.name));
    if (std::isfinite(bar.time_s)) {
      append(chart.out(),
             "<rect class=\"{}\" x=\"{:g}\" y=\"{:g}\" width=\"{:.2f}\" height=\"{:g}\">"
             "<title>{}, {}</title></rect>\n",
             bar.checked ? "dark" : "light", left, y, chart.x(bar.time_s) - left, kBar,
             xml_text(bar.name), sched::human_seconds(bar.time_s));
    }
    y += kRow;
  }
  return chart.take();
}

}  // namespace slackline::cli
