// Preloaded into a program, makes its steady clock that of another host: a second ahead, and from
// its start on fast or slow, by as many parts in a million as SLACKLINE_CLOCK_PPM says. Other
// clocks stay as they are.
#include <dlfcn.h>
#include <time.h>

#include <cstdint>
#include <cstdlib>

namespace {

using Read = int (*)(clockid_t, timespec*);

constexpr std::int64_t kSecond = 1'000'000'000;

Read next_read() {
  static const Read read = reinterpret_cast<Read>(dlsym(RTLD_NEXT, "clock_gettime"));
  return read;
}

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * kSecond + time.tv_nsec; }

// What the clock showed when it was first read.
std::int64_t first_ns() {
  static const std::int64_t first = [] {
    timespec time{};
    next_read()(CLOCK_MONOTONIC, &time);
    return nanoseconds(time);
  }();
  return first;
}

std::int64_t parts_in_a_million() {
  static const std::int64_t ppm = [] {
    const char* const text = std::getenv("SLACKLINE_CLOCK_PPM");
    return text == nullptr ? 0 : std::strtoll(text, nullptr, 10);
  }();
  return ppm;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t clock,
                                                                    timespec* time) noexcept {
  const int answer = next_read()(clock, time);
  if (answer != 0 || clock != CLOCK_MONOTONIC) return answer;
  const std::int64_t first = first_ns();
  const std::int64_t since = nanoseconds(*time) - first;
  const std::int64_t shown = first + kSecond + since + since * parts_in_a_million() / 1'000'000;
  time->tv_sec = shown / kSecond;
  time->tv_nsec = shown % kSecond;
  return answer;
}
