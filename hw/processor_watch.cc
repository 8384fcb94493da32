#include "hw/processor_watch.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "base/now.h"
#include "base/number.h"
#include "base/split.h"

namespace slackline::hw {

std::optional<double> ProcessorUse::share() const {
  if (!waited_s || !(watched_s > 0)) return std::nullopt;
  return std::clamp(*waited_s / watched_s, 0.0, 1.0);
}

std::optional<std::int64_t> waited_of_schedstat(std::string_view text) {
  // "RAN WAITED TIMES": the first two in nanoseconds.
  text = text.substr(0, text.find('\n'));
  std::array<std::uint64_t, 3> figures{};
  for (std::uint64_t& figure : figures) {
    const auto number = base::whole_number<std::uint64_t>(base::take_item(text, ' '));
    if (!number) return std::nullopt;
    figure = *number;
  }
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (figures[1] > kMost || figures == decltype(figures){}) return std::nullopt;
  return static_cast<std::int64_t>(figures[1]);
}

ProcessorWatch::ProcessorWatch()
    : file_(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}

ProcessorWatch::Reading ProcessorWatch::read() const {
  Reading reading;
  std::array<char, 80> text{};
  if (file_) {
    const ssize_t got = pread(file_.get(), text.data(), text.size(), 0);
    if (got > 0) {
      reading.waited_ns = waited_of_schedstat({text.data(), static_cast<std::size_t>(got)});
    }
  }
  rusage usage = {};
  if (getrusage(RUSAGE_THREAD, &usage) == 0) {
    reading.preemptions = static_cast<std::uint64_t>(usage.ru_nivcsw);
  }
  reading.at_ns = base::now_ns();
  return reading;
}

void ProcessorWatch::begin() { begun_ = read(); }

void ProcessorWatch::end(bool counts) {
  if (!counts) return;
  const Reading now = read();
  const bool first = use_.watched_s == 0;
  use_.watched_s += 1e-9 * static_cast<double>(now.at_ns - begun_.at_ns);
  use_.preemptions += now.preemptions - begun_.preemptions;
  // One time of which it is not known leaves the sum unknown.
  if (!now.waited_ns || !begun_.waited_ns) {
    use_.waited_s.reset();
  } else if (first || use_.waited_s) {
    use_.waited_s =
        use_.waited_s.value_or(0) + 1e-9 * static_cast<double>(*now.waited_ns - *begun_.waited_ns);
  }
}

}  // namespace slackline::hw
