#include "cli/distribution_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/append.h"
#include "cli/output_file.h"
#include "cli/svg_chart.h"

namespace slackline::cli {
namespace {

// The makespan, then each rank.
std::vector<Curve> curves_of(const machine::Samples& samples) {
  std::vector<Curve> curves{{"makespan", samples.makespan_s}};
  for (std::uint32_t r = 0; r < samples.ranks; ++r) {
    curves.push_back({fmt::format("rank {}", r), {}});
    for (std::uint32_t i = 0; i < samples.makespan_s.size(); ++i) {
      curves.back().times_s.push_back(samples.finish_s(i)[r]);
    }
  }
  for (Curve& curve : curves) std::sort(curve.times_s.begin(), curve.times_s.end());
  return curves;
}

}  // namespace

std::string distribution_csv(const machine::Samples& samples) {
  const std::vector<Curve> curves = curves_of(samples);
  std::string out = "share,makespan_s";
  for (std::uint32_t r = 0; r < samples.ranks; ++r) sched::append(out, ",rank_{}_s", r);
  const std::size_t count = samples.makespan_s.size();
  for (std::size_t i = 0; i < count; ++i) {
    sched::append(out, "\n{}", static_cast<double>(i + 1) / static_cast<double>(count));
    for (const Curve& curve : curves) sched::append(out, ",{}", curve.times_s[i]);
  }
  return out + '\n';
}

void DistributionFiles::declare(Arguments& arguments) {
  arguments.file("--csv", csv_, "with --samples: write there how their times are distributed");
  arguments.drawing("--plot", plot_, "with --samples: draw the same there (SVG)");
}

std::string_view DistributionFiles::given() const { return csv_ ? "--csv" : plot_ ? "--plot" : ""; }

void DistributionFiles::write(std::string_view title, const machine::Samples& samples,
                              Console& console) const {
  if (given().empty()) return;
  console.phase("writing");
  if (csv_) write_output_file(*csv_, distribution_csv(samples));
  if (plot_) {
    write_output_file(*plot_,
                      svg_distribution(fmt::format("{}: {} runs", title, samples.makespan_s.size()),
                                       curves_of(samples), "each rank's end"));
  }
}

}  // namespace slackline::cli
