// Where a schedule's memory lies in an execution plan of MSCCL++, and what collective the plan is
// of.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sched/schedule.h"

namespace slackline::sched {

/// Chunks of a GPU's input ('i'), output ('o') or scratch memory ('s').
struct MscclppPlace {
  char buffer = 's';
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// Immutable. What a rank's contract speaks of is its input and its output; they are one memory
/// where the facts before and after speak of the same bytes of any rank. All else is scratch.
class MscclppLayout {
 public:
  /// `touched` is every piece of memory that the plan's operations read or write; buffers of
  /// `control` hold nothing but credits. Throws Unsupported as write_mscclpp() says.
  MscclppLayout(const Schedule& schedule, std::span<const Slice> touched,
                const std::vector<bool>& control);

  std::uint64_t chunk_bytes() const { return chunk_; }
  bool in_place() const { return in_place_; }
  /// allreduce, allgather, reducescatter, alltoall or broadcast; custom if it is none of them.
  std::string_view collective() const { return collective_; }
  std::uint64_t input_chunks() const { return input_; }
  std::uint64_t output_chunks() const { return output_; }
  std::uint64_t scratch_chunks(RankId rank) const { return scratch_[rank.value]; }

  /// The slice, in as many places as the plan has its bytes at.
  std::vector<MscclppPlace> places(const Slice& slice) const;

 private:
  // What facts say of a rank's memory, in bytes.
  struct Hull {
    BufferId buffer;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  // What a chunk holds; of 0 terms nothing is said.
  struct Content {
    ValueId value;
    std::uint64_t from = 0;
    std::uint32_t terms = 0;
    friend bool operator==(const Content&, const Content&) = default;
  };
  using Contents = std::vector<std::vector<Content>>;  // by rank, then chunk
  struct Region {
    std::uint64_t begin = 0;  // chunks of the schedule's buffer
    std::uint64_t end = 0;
    MscclppPlace to;  // its `count` is not used
  };

  std::uint64_t chunks(std::uint64_t bytes) const;
  bool speaks(const Fact& fact) const;
  void choose_chunk(std::span<const Slice> touched);
  std::vector<Hull> hulls(const std::vector<Fact>& facts, std::string_view when) const;
  void choose_memory();
  Contents contents(const std::vector<Fact>& facts, const std::vector<Hull>& where,
                    std::uint64_t count) const;
  std::string_view name_collective(const Contents& before, const Contents& after) const;
  std::span<const Content> own_part(const Contents& all, std::uint32_t rank,
                                    std::uint64_t count) const;
  bool sums(const Contents& before, const Content& sum, std::uint64_t chunk) const;
  bool is_allreduce(const Contents& before, const Contents& after) const;
  bool is_reducescatter(const Contents& before, const Contents& after) const;
  bool is_allgather(const Contents& before, const Contents& after) const;
  bool is_alltoall(const Contents& before, const Contents& after) const;
  bool is_broadcast(const Contents& before, const Contents& after) const;
  void lay_out();

  const Schedule& schedule_;
  const std::uint32_t ranks_;
  std::vector<bool> used_;  // by buffer
  std::uint64_t chunk_ = 0;
  std::vector<Hull> before_;  // by rank
  std::vector<Hull> after_;
  bool in_place_ = false;
  std::string_view collective_;
  std::uint64_t input_ = 0;
  std::uint64_t output_ = 0;
  std::vector<std::vector<Region>> regions_;  // by buffer, in order and without gaps
  std::vector<std::uint64_t> scratch_;        // by rank
};

}  // namespace slackline::sched
