#include "analysis/fit/standard_measurements.h"

#include <algorithm>
#include <initializer_list>

namespace slackline::analysis {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;

class Round {
 public:
  explicit Round(std::uint64_t memory_bytes) : memory_bytes_(memory_bytes) {}

  void add(PointKind kind, std::initializer_list<std::uint64_t> sizes,
           std::initializer_list<std::uint64_t> messages) {
    for (const std::uint64_t bytes : sizes) {
      for (const std::uint64_t wanted : messages) {
        const std::uint64_t ahead = kind == PointKind::kBehind ? kAheadBytes : 0;
        const std::uint64_t m = std::min(wanted, memory_bytes_ / (bytes + ahead));
        if (m >= 2) all_.push_back({kind, bytes, m});
      }
    }
  }
  const std::vector<Measurement>& all() const { return all_; }

 private:
  std::uint64_t memory_bytes_;
  std::vector<Measurement> all_;
};

}  // namespace

std::vector<Measurement> standard_measurements(std::uint32_t repeats, bool atomics,
                                               std::uint64_t memory_bytes) {
  Round round(memory_bytes);
  round.add(PointKind::kPost, {8}, {16, 48});
  round.add(PointKind::kPingpong, {8, 512, 4 * kKiB, 32 * kKiB, 256 * kKiB, kMiB, 4 * kMiB}, {8});
  round.add(PointKind::kSend, {8, 512, 4 * kKiB, 32 * kKiB, 256 * kKiB, kMiB, 4 * kMiB}, {4});
  round.add(PointKind::kGet, {8, 4 * kKiB, 256 * kKiB, kMiB}, {4});
  if (atomics) round.add(PointKind::kAtomic, {kAtomicBytes}, {4, 16});
  round.add(PointKind::kStream, {8, 512, 4 * kKiB, 32 * kKiB, 256 * kKiB, kMiB}, {16});
  round.add(PointKind::kBurst, {8, 512, 4 * kKiB, 32 * kKiB}, {16});
  round.add(PointKind::kCopy, {4 * kKiB, 64 * kKiB, kMiB, 4 * kMiB}, {4});
  round.add(PointKind::kBehind, {8, 512, 4 * kKiB, 16 * kKiB, 64 * kKiB, 256 * kKiB}, {4});
  std::vector<Measurement> all;
  for (std::uint32_t i = 0; i < repeats; ++i) {
    all.insert(all.end(), round.all().begin(), round.all().end());
  }
  return all;
}

}  // namespace slackline::analysis
