#include "sched/pattern/collective_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "sched/pattern/pattern.h"

namespace slackline::sched {

std::vector<std::uint32_t> CollectivePlan::senders(std::uint32_t count,
                                                   std::uint32_t to_first) const {
  if (first_alone) return {0, to_first};
  std::vector<std::uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

void CollectivePlan::each_has_all() {
  for (std::uint32_t r = 0; r < ranks && message_bytes != 0 && !first_alone; ++r) {
    pre.push_back({{BufferId(r), 0, message_bytes}, ValueId(r), 0});
  }
}

void CollectivePlan::each_has_its_part() {
  const std::uint64_t part = bytes() / ranks;
  for (std::uint32_t r = 0; r < ranks && part != 0 && !first_alone; ++r) {
    pre.push_back({{BufferId(r), r * part, part}, ValueId(r), 0});
  }
}

void CollectivePlan::sum_at(RankId rank, std::uint64_t from, std::uint64_t count) {
  if (count == 0 || first_alone) return;
  post.push_back({{BufferId(rank.value), from, count}, ValueId(0), from, ranks});
}

void CollectivePlan::parts_at(RankId rank) {
  const std::uint64_t part = bytes() / ranks;
  for (std::uint32_t s = 0; s < ranks && part != 0 && !first_alone; ++s) {
    post.push_back({{BufferId(rank.value), s * part, part}, ValueId(s), 0});
  }
}

void CollectivePlan::promise_allreduce() {
  each_has_all();
  for (std::uint32_t r = 0; r < ranks; ++r) sum_at(RankId(r), 0, message_bytes);
}

void CollectivePlan::promise_allgather() {
  each_has_its_part();
  for (std::uint32_t r = 0; r < ranks; ++r) parts_at(RankId(r));
}

std::uint64_t bytes_of_all(std::uint64_t bytes, std::uint32_t shares) {
  if (bytes <= (1ull << 62) / shares) return bytes * shares;
  throw InputError(
      fmt::format("bytes: {}, of which a rank's buffer has room for {}; expected at most 2^62 "
                  "together",
                  bytes, shares));
}

ShareWriter::ShareWriter(const MulticastOptions& options, std::uint64_t bytes, std::uint32_t shares)
    : block_bytes_(options.block_bytes),
      share_bytes_(bytes / shares),
      longer_shares_(bytes % shares) {
  const std::uint64_t longest = share_bytes_ + (longer_shares_ != 0 ? 1 : 0);
  const std::uint64_t units = longest == 0 ? 1 : (longest - 1) / block_bytes_ + 1;
  if (units > kMaxTransfers / shares) {
    throw InputError(fmt::format(
        "block: {} shares of {} bytes in blocks of {}; expected at most {} blocks together; use "
        "larger blocks",
        shares, longest, block_bytes_, kMaxTransfers));
  }
  units_of_a_share_ = static_cast<std::uint32_t>(units);
  plan_.ranks = options.ranks;
  plan_.first_alone = options.own.get<PlanPart>().first_alone;
  plan_.message_bytes = bytes;
  plan_.begin.reserve(shares * units + 1);
  for (std::uint32_t s = 0; s < shares; ++s) {
    for (std::uint32_t u = 0; u < units_of_a_share_; ++u) {
      plan_.begin.push_back(std::min(begin(s) + u * block_bytes_, begin(s + 1)));
    }
  }
  plan_.begin.push_back(bytes);
}

std::uint64_t ShareWriter::begin(std::uint32_t share) const {
  return share * share_bytes_ + std::min<std::uint64_t>(share, longer_shares_);
}

void ShareWriter::add(std::uint32_t step, RankId src, RankId dst, Run run, bool late) {
  CollectivePlan::Message message{step, src, dst};
  message.combines = true;
  message.late = late;
  send(message, {run});
}

void ShareWriter::copy(std::uint32_t step, RankId rank, const std::vector<Run>& runs, bool late) {
  CollectivePlan::Message message{step, rank, rank};
  message.late = late;
  send(message, runs);
}

void ShareWriter::send(CollectivePlan::Message message, const std::vector<Run>& runs) {
  if (plan_.first_alone && message.src != RankId(0) && message.dst != RankId(0)) return;
  const bool is_copy = message.src == message.dst && !message.combines;
  const std::uint32_t most_pieces = message.combines ? 1 : is_copy ? ~0u : kMostPieces;
  std::uint64_t bytes = 0;
  message.pieces = 0;
  for (const Run& run : runs) {
    bool follows = false;  // the unit before, in this run
    for (std::uint32_t i = 0; i < run.count * units_of_a_share_; ++i) {
      const std::uint32_t unit = run.first * units_of_a_share_ + i;
      const std::uint64_t more = plan_.begin[unit + 1] - plan_.begin[unit];
      const bool fits = message.pieces != 0 && (is_copy || bytes + more <= block_bytes_);
      if (fits && follows) {
        ++plan_.pieces.back().count;
      } else {
        if (!fits || message.pieces == most_pieces) {
          if (message.pieces != 0) plan_.messages.push_back(message);
          message.first_piece = static_cast<std::uint32_t>(plan_.pieces.size());
          message.pieces = 0;
          bytes = 0;
        }
        plan_.pieces.push_back({unit, 1, run.to * units_of_a_share_ + i});
        ++message.pieces;
      }
      bytes += more;
      follows = true;
    }
  }
  if (message.pieces != 0) plan_.messages.push_back(message);
}

void ShareWriter::promise_reduce_scatter() {
  plan_.each_has_all();
  for (std::uint32_t r = 0; r < plan_.ranks; ++r) plan_.sum_at(RankId(r), begin(r), bytes_of(r));
}

CollectivePlan ShareWriter::finish(std::uint32_t steps) {
  plan_.steps = steps;
  return std::move(plan_);
}

}  // namespace slackline::sched
