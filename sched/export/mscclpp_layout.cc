#include "sched/export/mscclpp_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace slackline::sched {
namespace {

// Of a GPU's input or output, and of all GPUs together.
constexpr std::uint64_t kMostLaidOut = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostOfAll = std::uint64_t{1} << 22;

}  // namespace

MscclppLayout::MscclppLayout(const Schedule& schedule, std::span<const Slice> touched,
                             const std::vector<bool>& control)
    : schedule_(schedule),
      ranks_(schedule.rank_count()),
      used_(schedule.buffers().size(), false),
      scratch_(ranks_, 0) {
  for (const Slice& slice : touched) used_[slice.buffer.value] = true;
  for (const std::vector<Fact>* facts : {&schedule.contract().pre, &schedule.contract().post}) {
    for (const Fact& fact : *facts) {
      const std::uint32_t buffer = fact.slice.buffer.value;
      if (!control[buffer]) used_[buffer] = true;
    }
  }
  choose_chunk(touched);
  before_ = hulls(schedule.contract().pre, "before");
  after_ = hulls(schedule.contract().post, "after");
  choose_memory();
  const Contents before = contents(schedule.contract().pre, before_, input_);
  const Contents after = contents(schedule.contract().post, after_, output_);
  collective_ = name_collective(before, after);
  lay_out();
  if (in_place_ && collective_ == "allgather") input_ /= ranks_;
  if (in_place_ && collective_ == "reducescatter") output_ /= ranks_;
}

std::uint64_t MscclppLayout::chunks(std::uint64_t bytes) const {
  return bytes / chunk_ + (bytes % chunk_ != 0 ? 1 : 0);
}

bool MscclppLayout::speaks(const Fact& fact) const {
  return used_[fact.slice.buffer.value] && fact.slice.bytes != 0;
}

// The largest that divides every offset, and every size but those up to a buffer's end.
void MscclppLayout::choose_chunk(std::span<const Slice> touched) {
  std::uint64_t largest = 0;
  const auto take = [&](const Slice& slice) {
    largest = std::max(largest, slice.bytes);
    chunk_ = std::gcd(chunk_, slice.offset);
    const std::uint64_t end = schedule_.buffers()[slice.buffer.value].bytes;
    if (slice.offset + slice.bytes != end) chunk_ = std::gcd(chunk_, slice.bytes);
  };
  for (const Slice& slice : touched) take(slice);
  if (largest == 0) {
    throw Unsupported("mscclpp-json: the schedule moves no bytes; expected some");
  }
  for (const std::vector<Fact>* facts : {&schedule_.contract().pre, &schedule_.contract().post}) {
    for (const Fact& fact : *facts) {
      if (speaks(fact)) take(fact.slice);
    }
  }
  if (chunk_ == 0) chunk_ = largest;
}

std::vector<MscclppLayout::Hull> MscclppLayout::hulls(const std::vector<Fact>& facts,
                                                      std::string_view when) const {
  std::vector<Hull> out(ranks_);
  for (const Fact& fact : facts) {
    if (!speaks(fact)) continue;
    const RankId rank = schedule_.buffers()[fact.slice.buffer.value].rank;
    Hull& hull = out[rank.value];
    const std::uint64_t end = fact.slice.offset + fact.slice.bytes;
    if (!hull.buffer.valid()) {
      hull = {fact.slice.buffer, fact.slice.offset, end};
    } else if (hull.buffer == fact.slice.buffer) {
      hull.begin = std::min(hull.begin, fact.slice.offset);
      hull.end = std::max(hull.end, end);
    } else {
      throw Unsupported(
          fmt::format("mscclpp-json: the contract speaks of buffers {} and {} of rank {} {}; a "
                      "plan has one input and one output",
                      hull.buffer.value, fact.slice.buffer.value, rank.value, when));
    }
  }
  return out;
}

// In place, what is before and what is after are both the same first part of a buffer.
void MscclppLayout::choose_memory() {
  bool any = false;
  for (std::uint32_t r = 0; r < ranks_; ++r) {
    const Hull& a = before_[r];
    const Hull& b = after_[r];
    any = any || a.buffer.valid() || b.buffer.valid();
    if (a.buffer.valid() && a.buffer == b.buffer && a.begin < b.end && b.begin < a.end) {
      in_place_ = true;
    }
  }
  if (!any) {
    // Nothing is said: a rank's first buffer is its output.
    in_place_ = true;
    for (std::uint32_t b = 0; b < schedule_.buffers().size(); ++b) {
      const Buffer& buffer = schedule_.buffers()[b];
      Hull& hull = after_[buffer.rank.value];
      if (used_[b] && !hull.buffer.valid()) hull = {BufferId(b), 0, buffer.bytes};
    }
  }
  if (in_place_) {
    std::uint64_t whole = 0;
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      Hull& a = before_[r];
      Hull& b = after_[r];
      if (a.buffer.valid() && b.buffer.valid() && a.buffer != b.buffer) {
        throw Unsupported(
            fmt::format("mscclpp-json: the contract speaks of buffer {} of rank {} before, and of "
                        "buffer {} after, but other ranks' are in place; a plan is in place or "
                        "not",
                        a.buffer.value, r, b.buffer.value));
      }
      whole = std::max({whole, a.end, b.end});
      a.begin = b.begin = 0;
    }
    input_ = output_ = chunks(whole);
  } else {
    for (const Hull& a : before_) input_ = std::max(input_, chunks(a.end - a.begin));
    for (const Hull& b : after_) output_ = std::max(output_, chunks(b.end - b.begin));
    // The runtime divides by both.
    input_ = std::max<std::uint64_t>(input_, 1);
    output_ = std::max<std::uint64_t>(output_, 1);
  }
  const std::uint64_t most = std::max(input_, output_);
  if (most > kMostLaidOut || most > kMostOfAll / ranks_) {
    throw Unsupported(
        fmt::format("mscclpp-json: {} chunks of {} bytes, the largest that divides every piece; "
                    "expected at most {}",
                    most, chunk_, std::min(kMostLaidOut, kMostOfAll / ranks_)));
  }
}

MscclppLayout::Contents MscclppLayout::contents(const std::vector<Fact>& facts,
                                                const std::vector<Hull>& where,
                                                std::uint64_t count) const {
  Contents out(ranks_, std::vector<Content>(count));
  for (const Fact& fact : facts) {
    if (!speaks(fact)) continue;
    const std::uint32_t r = schedule_.buffers()[fact.slice.buffer.value].rank.value;
    const std::uint64_t first = (fact.slice.offset - where[r].begin) / chunk_;
    for (std::uint64_t k = 0; k < chunks(fact.slice.bytes); ++k) {
      out[r][first + k] = {fact.value, fact.value_offset + k * chunk_, fact.terms};
    }
  }
  return out;
}

std::string_view MscclppLayout::name_collective(const Contents& before,
                                                const Contents& after) const {
  if (is_broadcast(before, after)) return "broadcast";
  if (is_allreduce(before, after)) return "allreduce";
  if (is_reducescatter(before, after)) return "reducescatter";
  if (is_allgather(before, after)) return "allgather";
  if (is_alltoall(before, after)) return "alltoall";
  return "custom";
}

// What is said of `count` chunks that are the rank's own; nothing if less is said, or more.
std::span<const MscclppLayout::Content> MscclppLayout::own_part(const Contents& all,
                                                                std::uint32_t rank,
                                                                std::uint64_t count) const {
  const std::span<const Content> whole(all[rank]);
  const std::uint64_t first = in_place_ ? rank * count : 0;
  if (count == 0 || whole.size() < first + count) return {};
  for (std::uint64_t c = 0; c < whole.size(); ++c) {
    const bool own = c >= first && c < first + count;
    if ((whole[c].terms != 0) != own) return {};
  }
  return whole.subspan(first, count);
}

// Whether it is the sum of what all ranks have at that chunk, each once.
bool MscclppLayout::sums(const Contents& before, const Content& sum, std::uint64_t chunk) const {
  if (sum.terms != ranks_) return false;
  std::vector<bool> seen(ranks_, false);
  for (const std::vector<Content>& mine : before) {
    const Content& term = mine[chunk];
    if (term.terms != 1 || term.from != sum.from || term.value < sum.value) return false;
    const std::uint32_t which = term.value.value - sum.value.value;
    if (which >= ranks_ || seen[which]) return false;
    seen[which] = true;
  }
  return true;
}

bool MscclppLayout::is_allreduce(const Contents& before, const Contents& after) const {
  if (input_ != output_) return false;
  for (std::uint64_t c = 0; c < output_; ++c) {
    if (!sums(before, after[0][c], c)) return false;
  }
  return std::all_of(after.begin(), after.end(), [&](const auto& a) { return a == after[0]; });
}

bool MscclppLayout::is_reducescatter(const Contents& before, const Contents& after) const {
  if (input_ % ranks_ != 0) return false;
  const std::uint64_t part = input_ / ranks_;
  if (!in_place_ && output_ != part) return false;
  for (std::uint32_t r = 0; r < ranks_; ++r) {
    const std::span<const Content> own = own_part(after, r, part);
    if (own.empty()) return false;
    for (std::uint64_t k = 0; k < part; ++k) {
      if (!sums(before, own[k], r * part + k)) return false;
    }
  }
  return true;
}

bool MscclppLayout::is_allgather(const Contents& before, const Contents& after) const {
  if (output_ % ranks_ != 0) return false;
  const std::uint64_t part = output_ / ranks_;
  if (!in_place_ && input_ != part) return false;
  for (std::uint32_t r = 0; r < ranks_; ++r) {
    const std::span<const Content> own = own_part(before, r, part);
    if (own.empty()) return false;
    for (const std::vector<Content>& mine : after) {
      if (!std::equal(own.begin(), own.end(), mine.begin() + std::int64_t(r * part))) return false;
    }
  }
  return true;
}

bool MscclppLayout::is_alltoall(const Contents& before, const Contents& after) const {
  if (input_ != output_ || input_ % ranks_ != 0) return false;
  const std::uint64_t part = input_ / ranks_;
  for (std::uint32_t r = 0; r < ranks_; ++r) {
    for (std::uint32_t from = 0; from < ranks_; ++from) {
      for (std::uint64_t k = 0; k < part; ++k) {
        const Content& sent = before[from][r * part + k];
        if (sent.terms != 1 || after[r][from * part + k] != sent) return false;
      }
    }
  }
  return true;
}

bool MscclppLayout::is_broadcast(const Contents& before, const Contents& after) const {
  const auto says = [](const std::vector<Content>& mine) {
    return std::any_of(mine.begin(), mine.end(), [](const Content& c) { return c.terms != 0; });
  };
  const auto root = std::find_if(before.begin(), before.end(), says);
  if (root == before.end() || std::any_of(root + 1, before.end(), says)) return false;
  const bool all =
      std::all_of(root->begin(), root->end(), [](const Content& c) { return c.terms == 1; });
  return all && std::all_of(after.begin(), after.end(), [&](const auto& a) { return a == *root; });
}

void MscclppLayout::lay_out() {
  regions_.resize(schedule_.buffers().size());
  // Named parts of the buffers; of one buffer they do not overlap.
  const auto name = [&](const Hull& hull, char buffer, std::uint64_t count) {
    if (!hull.buffer.valid()) return;
    const std::uint64_t begin = hull.begin / chunk_;
    const std::uint64_t end = chunks(schedule_.buffers()[hull.buffer.value].bytes);
    regions_[hull.buffer.value].push_back({begin, std::min(begin + count, end), {buffer, 0, 0}});
  };
  for (std::uint32_t r = 0; r < ranks_; ++r) {
    if (in_place_) {
      name(after_[r].buffer.valid() ? after_[r] : before_[r],
           collective_ == "reducescatter" ? 'i' : 'o', output_);
    } else {
      name(before_[r], 'i', chunks(before_[r].end - before_[r].begin));
      name(after_[r], 'o', chunks(after_[r].end - after_[r].begin));
    }
  }
  for (std::uint32_t b = 0; b < regions_.size(); ++b) {
    if (!used_[b]) continue;
    const Buffer& buffer = schedule_.buffers()[b];
    std::uint64_t& scratch = scratch_[buffer.rank.value];
    std::vector<Region> named;
    named.swap(regions_[b]);
    std::sort(named.begin(), named.end(),
              [](const Region& x, const Region& y) { return x.begin < y.begin; });
    std::uint64_t at = 0;
    const auto fill = [&](std::uint64_t end) {
      if (end <= at) return;
      regions_[b].push_back({at, end, {'s', scratch, 0}});
      scratch += end - at;
    };
    for (const Region& region : named) {
      fill(region.begin);
      regions_[b].push_back(region);
      at = region.end;
    }
    fill(chunks(buffer.bytes));
  }
}

std::vector<MscclppPlace> MscclppLayout::places(const Slice& slice) const {
  std::vector<MscclppPlace> out;
  std::uint64_t at = slice.offset / chunk_;
  const std::uint64_t end = at + chunks(slice.bytes);
  for (const Region& region : regions_[slice.buffer.value]) {
    if (region.end <= at) continue;
    if (at >= end) break;
    const std::uint64_t until = std::min(end, region.end);
    out.push_back({region.to.buffer, region.to.first + (at - region.begin), until - at});
    at = until;
  }
  return out;
}

}  // namespace slackline::sched
