#include "analysis/group/small_run.h"

#include <algorithm>
#include <utility>

#include "sched/program_writer.h"

namespace slackline::analysis {
namespace {

using machine::kSmallTrailerBytes;
using sched::BufferId;
using sched::ChannelId;
using sched::Notify;
using sched::OpId;
using sched::OpPlace;
using sched::RankId;
using sched::Slice;
using sched::ValueId;

constexpr std::uint64_t kWordBytes = 8;  // of a count, and of the mark that ends a slot
constexpr RankId kRoot(0);

class RunWriter {
 public:
  RunWriter(std::uint32_t members, const machine::SmallShape& shape,
            std::span<const std::uint64_t> bytes, const SmallPlace& place)
      : shape_(shape),
        bytes_(bytes),
        place_(place),
        members_(members),
        capacity_(bytes.empty() ? 0 : *std::ranges::max_element(bytes)),
        slots_(std::min<std::uint64_t>(shape.slots, bytes.size())),
        words_(std::max<std::uint64_t>(1, shape.slots / shape.messages_per_count())),
        ends_(members),
        out_(members) {
    run_.taken.resize(members);
    run_.counts.resize(members);
    run_.seen.resize(members);
    run_.first_count = place.first / shape.messages_per_count();
    end_of_counts_ = (place.first + bytes.size()) / shape.messages_per_count();
  }

  SmallRun run() {
    add_tables();
    add_root();
    for (std::uint32_t m = 1; m < members_; ++m) add_member(m);
    for (std::uint32_t m = 1; m < members_; ++m) add_matches(m);
    run_.schedule = out_.build();
    return std::move(run_);
  }

 private:
  // What the root and another member have for each other.
  struct End {
    ChannelId data;
    ChannelId counts;
    BufferId ring;
    BufferId place;     // where the member keeps what it has taken
    BufferId count;     // the word that it writes from
    BufferId words;     // at the root: where it lands, if a message waits for it
    BufferId unwaited;  // …and if none does: a word for each
    std::vector<OpId> writes;
    std::vector<OpId> polls;
  };

  void add_tables() {
    std::uint64_t all = 0;
    for (const std::uint64_t bytes : bytes_) {
      offsets_.push_back(all);
      all += bytes;
    }
    out_.set_title("small messages of a group");
    out_.set_message_bytes(all);
    source_ = out_.add_buffer(kRoot, all);
    root_ring_ = out_.add_buffer(kRoot, slots_ * capacity_);
    trailer_ = out_.add_buffer(kRoot, kSmallTrailerBytes);
    const auto values = static_cast<std::uint32_t>(bytes_.size());
    for (std::uint32_t i = 0; i < values; ++i) {
      if (bytes_[i] != 0) out_.add_pre({{source_, offsets_[i], bytes_[i]}, ValueId(i), 0});
    }
    out_.add_pre({{trailer_, 0, kSmallTrailerBytes}, ValueId(values), 0});
    for (std::uint32_t m = 1; m < members_; ++m) {
      End& end = ends_[m];
      end.data = out_.connect(kRoot, RankId(m));
      end.counts = out_.connect(RankId(m), kRoot);
      end.ring = out_.add_buffer(RankId(m), slots_ * (capacity_ + kSmallTrailerBytes));
      end.place = out_.add_buffer(RankId(m), all);
      end.count = out_.add_buffer(RankId(m), kWordBytes);
      end.words = out_.add_buffer(kRoot, words_ * kWordBytes);
      end.unwaited = out_.add_buffer(kRoot, (end_of_counts_ - run_.first_count) * kWordBytes);
      out_.add_pre({{end.count, 0, kWordBytes}, ValueId(values + 1), 0});
      for (std::uint32_t i = 0; i < values; ++i) {
        if (bytes_[i] != 0) out_.add_post({{end.place, offsets_[i], bytes_[i]}, ValueId(i), 0});
      }
    }
  }

  // A message stands at the end of its slot, before the trailer.
  std::uint64_t offset_in_ring(std::size_t i, std::uint64_t slot_bytes) const {
    return i % slots_ * slot_bytes + capacity_ - bytes_[i];
  }
  Slice in_root_ring(std::size_t i) const {
    return {root_ring_, offset_in_ring(i, capacity_), bytes_[i]};
  }
  Slice in_ring(const End& end, std::size_t i, std::uint64_t bytes) const {
    return {end.ring, offset_in_ring(i, capacity_ + kSmallTrailerBytes), bytes};
  }

  bool is_waited_for(std::uint64_t count) const {
    return place_.total > shape_.slots && count <= count_before(shape_, place_.total - 1);
  }
  Slice word(const End& end, std::uint64_t count) const {
    if (!is_waited_for(count)) {
      return {end.unwaited, (count - run_.first_count) * kWordBytes, kWordBytes};
    }
    return {end.words, count % words_ * kWordBytes, kWordBytes};
  }

  // One thread, which begins with a message when it has posted the one before.
  void add_root() {
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      const std::uint64_t number = place_.first + i;
      if (number >= shape_.slots) see_counts_up_to(count_before(shape_, number) + 1);
      const OpPlace at{kRoot, static_cast<std::uint32_t>(i)};
      const OpId into =
          bytes_[i] == 0 ? out_.join(at)
                         : out_.copy(at, Slice{source_, offsets_[i], bytes_[i]}, in_root_ring(i));
      if (i != 0) {
        const bool alone = members_ == 1;
        out_.after(alone ? run_.into_slot.back() : ends_.back().writes.back(), into,
                   alone ? sched::On::kDone : sched::On::kIssued);
      }
      wait_for_slot(i, into);
      run_.into_slot.push_back(into);
      for (std::uint32_t m = 1; m < members_; ++m) ends_[m].writes.push_back(write(m, i, into));
    }
    see_counts_up_to(end_of_counts_);
  }

  void wait_for_slot(std::size_t i, OpId into) {
    const std::uint64_t number = place_.first + i;
    if (number < shape_.slots) return;
    const std::uint64_t count = count_before(shape_, number);
    for (std::uint32_t m = 1; m < members_; ++m) {
      if (i >= shape_.slots) out_.after(ends_[m].writes[i - shape_.slots], into);
      if (count >= run_.first_count) out_.after(run_.seen[m][count - run_.first_count], into);
    }
  }

  // The polls of those counts that members write in this run.
  void see_counts_up_to(std::uint64_t end) {
    for (std::uint32_t m = 1; m < members_; ++m) {
      std::vector<OpId>& seen = run_.seen[m];
      while (run_.first_count + seen.size() < std::min(end, end_of_counts_)) {
        const std::uint64_t count = run_.first_count + seen.size();
        if (!is_waited_for(count)) {
          seen.push_back(OpId::none());
          continue;
        }
        const OpId last = seen.empty() ? OpId::none() : seen.back();
        seen.push_back(out_.poll({kRoot}, word(ends_[m], count), {last}));
      }
    }
  }

  OpId write(std::uint32_t m, std::size_t i, OpId into) {
    const End& end = ends_[m];
    const OpPlace at{kRoot, static_cast<std::uint32_t>(i)};
    const Slice trailer{trailer_, 0, kSmallTrailerBytes};
    const Slice to = in_ring(end, i, bytes_[i] + kSmallTrailerBytes);
    if (bytes_[i] == 0) return out_.put(at, end.data, trailer, to, Notify::kFlag, {into});
    return out_.put(at, end.data, {in_root_ring(i), trailer}, to, Notify::kFlag, {into});
  }

  void add_member(std::uint32_t m) {
    End& end = ends_[m];
    std::vector<OpId>& taken = run_.taken[m];
    std::vector<OpId>& counts = run_.counts[m];
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      const OpPlace at{RankId(m), static_cast<std::uint32_t>(i)};
      const OpId last = taken.empty() ? OpId::none() : taken.back();
      const Slice slot = in_ring(end, i, bytes_[i] + kSmallTrailerBytes);
      end.polls.push_back(out_.poll(at, sched::end_of(slot, kWordBytes), {last}));
      taken.push_back(bytes_[i] == 0 ? out_.join(at, {end.polls.back()})
                                     : out_.copy(at, in_ring(end, i, bytes_[i]),
                                                 Slice{end.place, offsets_[i], bytes_[i]},
                                                 {end.polls.back()}));
      if ((place_.first + i + 1) % shape_.messages_per_count() != 0) continue;
      const std::uint64_t count = run_.first_count + counts.size();
      const OpId before = counts.empty() ? OpId::none() : counts.back();
      counts.push_back(out_.put(at, end.counts, Slice{end.count, 0, kWordBytes}, word(end, count),
                                is_waited_for(count) ? Notify::kFlag : Notify::kNone,
                                {taken.back(), before}));
    }
  }

  void add_matches(std::uint32_t m) {
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      out_.add_flag_match(ends_[m].writes[i], ends_[m].polls[i]);
    }
    for (std::size_t r = 0; r < run_.counts[m].size(); ++r) {
      if (run_.seen[m][r].valid()) out_.add_flag_match(run_.counts[m][r], run_.seen[m][r]);
    }
  }

  const machine::SmallShape& shape_;
  const std::span<const std::uint64_t> bytes_;
  const SmallPlace& place_;
  const std::uint32_t members_;
  const std::uint64_t capacity_;  // of a slot, for bytes of a message
  const std::uint64_t slots_;     // that the run uses
  const std::uint64_t words_;     // that counts land in by turns
  std::uint64_t end_of_counts_ = 0;
  std::vector<std::uint64_t> offsets_;  // by message, in the source and where it is kept
  BufferId source_, root_ring_, trailer_;
  std::vector<End> ends_;  // by member
  sched::ProgramWriter out_;
  SmallRun run_{sched::ScheduleBuilder(members_).build(), {}, {}, {}, {}, 0};
};

}  // namespace

SmallRun small_run(std::uint32_t members, const machine::SmallShape& shape,
                   std::span<const std::uint64_t> bytes, const SmallPlace& place) {
  return RunWriter(members, shape, bytes, place).run();
}

}  // namespace slackline::analysis
