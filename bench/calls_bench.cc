// How many calls a second one rank makes of another, on this host: plain, aggregated (trad) and
// aggregated on overflow (ovfl), for records with 8, 64 and 256 bytes of captures (Seriema, table
// 2).
//
// usage: calls_bench TRANSPORT [CALLS [ROUNDS]]
//
// The time is from the first call until the last has run. Modes take turns, and each row is the
// median of the rounds. A bare loop of writes of a plain call's size, each awaited like a plain
// call's, says what the transport itself gives.
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/local_ranks.h"
#include "hw/call.h"
#include "hw/mesh.h"
#include "hw/transports.h"

namespace {

using namespace slackline;

constexpr std::array<hw::Aggregate, 3> kModes{hw::Aggregate::kNone, hw::Aggregate::kTrad,
                                              hw::Aggregate::kOvfl};

struct Count {
  std::uint64_t calls = 0;
  std::uint64_t sum = 0;
  bool over = false;
};

// Seconds for so many calls.
template <std::size_t kBytes>
double make_calls(hw::Calls& calls, std::uint64_t count) {
  std::array<unsigned char, kBytes> captured{};
  captured[0] = 1;
  const auto function = [captured](hw::CallContext& here) {
    Count& seen = here.local<Count>();
    ++seen.calls;
    seen.sum += captured[0];
  };
  hw::Synchronizer done(calls);
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t i = 1; i < count; ++i) calls.call(1, function);
  calls.call(1, function, &done);
  done.wait();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

class Bench {
 public:
  Bench(hw::Mesh& mesh, const std::string& transport) : mesh_(mesh), transport_(transport) {}

  template <std::size_t kBytes>
  void row(std::uint64_t count, int rounds) {
    std::array<std::vector<double>, kModes.size()> rates;
    std::vector<double> puts;
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t m = 0; m < kModes.size(); ++m) {
        hw::CallsOptions options;
        options.aggregate = kModes[m];
        hw::Calls calls(mesh_, hw::make_transport(transport_, {}), options);
        Count seen;
        calls.set_local(seen);
        if (mesh_.rank() == 0) {
          make_calls<kBytes>(calls, count / 20 + 1);  // warms up, and obtains chunks
          rates[m].push_back(static_cast<double>(count) / make_calls<kBytes>(calls, count));
          if (kModes[m] == hw::Aggregate::kNone) puts.push_back(put_rate<kBytes>(calls, count));
          calls.call(1, [](hw::CallContext& here) { here.local<Count>().over = true; });
          calls.flush();
        }
        // It polls all the time, as a busy rank does.
        while (mesh_.rank() == 1 && !seen.over) {
          if (!calls.progress()) sched_yield();
        }
        calls.finish();
        if (mesh_.rank() == 1 && (seen.calls != seen.sum || seen.calls < count)) std::abort();
      }
    }
    if (mesh_.rank() != 0) return;
    const double plain = median(rates[0]);
    fmt::print("{:>6} {:>12.0f} {:>12.0f} {:>12.0f} {:>12.0f} {:>11.1f} {:>10.2f}\n", kBytes, plain,
               median(rates[1]), median(rates[2]), median(puts), median(rates[1]) / plain,
               plain / median(puts));
    std::fflush(stdout);
  }

 private:
  // Writes of a record's size, a second.
  template <std::size_t kBytes>
  static double put_rate(hw::Calls& calls, std::uint64_t count) {
    const hw::RemoteBuffer target = calls.allocate(1, kBytes + 32);
    hw::RegisteredBuffer from = calls.registered(kBytes + 32);
    hw::Synchronizer done(calls);
    const auto start = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < count; ++i) calls.put(from, target, 0, done);
    done.wait();
    return static_cast<double>(count) /
           std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  hw::Mesh& mesh_;
  const std::string& transport_;
};

void be_rank(const hw::MeshOptions& options, const std::string& transport, std::uint64_t count,
             int rounds) {
  hw::Mesh mesh(options);
  Bench bench(mesh, transport);
  if (mesh.rank() == 0) {
    fmt::print(
        "{}, calls a second, {} calls, median of {}\n{:>6} {:>12} {:>12} {:>12} {:>12} "
        "{:>11} {:>10}\n",
        transport, count, rounds, "bytes", "plain", "trad", "ovfl", "bare writes", "trad/plain",
        "plain/bare");
    std::fflush(stdout);
  }
  bench.row<8>(count, rounds);
  bench.row<64>(count, rounds);
  bench.row<256>(count, rounds);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: calls_bench TRANSPORT [CALLS [ROUNDS]]\n");
    return 2;
  }
  const std::uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 200'000;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 3;
  if (count == 0 || rounds < 1) return 2;
  return bench::run_on_local_ranks(
      2, [&](const hw::MeshOptions& options) { be_rank(options, argv[1], count, rounds); });
}
