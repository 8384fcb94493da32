#include "hw/selective_signalling.h"

namespace slackline::hw {
namespace {

// Tries again only if somebody else raised it meanwhile, which happens `to` times at most.
void raise(std::atomic<std::uint64_t>& number, std::uint64_t to) {
  std::uint64_t seen = number.load(std::memory_order_relaxed);
  while (seen < to && !number.compare_exchange_strong(seen, to, std::memory_order_acq_rel,
                                                      std::memory_order_relaxed)) {
  }
}

}  // namespace

SelectiveSignalling::Decision SelectiveSignalling::begin(Want want) {
  // Skipping u_max numbers takes a request into the next period, as if it had been its turn.
  const std::uint64_t step = want == Want::kFlush ? u_max_ : 1;
  const std::uint64_t flush =
      (requests_.fetch_add(step, std::memory_order_acq_rel) + step) / u_max_;
  const bool turn = flush > flushed_.load(std::memory_order_acquire);
  // Before it is posted: who reads a tag below `flush` has posted before this request.
  if (turn) raise(opened_, flush);
  return {turn || want != Want::kNothing, flush};
}

void SelectiveSignalling::completed(std::uint64_t flush) { raise(flushed_, flush); }

}  // namespace slackline::hw
