// How far a test goes under a sanitizer.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLACKLINE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SLACKLINE_SANITIZED 1
#endif
#endif

namespace slackline::testing {

#ifdef SLACKLINE_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// Of so many cases (seeds, trials, numbers of ranks) those that a test tries: all, or a tenth under
// a sanitizer, which is up to forty times slower and looks at memory, not at statistics.
template <class Count>
constexpr Count cases(Count all) {
  return kSanitized ? (all + 9) / 10 : all;
}

}  // namespace slackline::testing
