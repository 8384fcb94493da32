#include "sched/import/rank_programs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace slackline::sched {

OneWay::OneWay(ScheduleBuilder& builder, RankId rank, std::uint64_t bytes, bool sends)
    : builder_(builder) {
  if (bytes == 0) return;
  buffer_ = builder.add_buffer(rank, bytes);
  if (sends) builder.add_pre({{buffer_, 0, bytes}, ValueId(rank.value), 0});
}

SliceRange OneWay::next(std::uint64_t bytes) {
  if (bytes == 0) return {};
  used_ += bytes;
  return builder_.add_slice({buffer_, used_ - bytes, bytes});
}

Schedule build_of(ScheduleBuilder& builder, std::string_view file) {
  try {
    return builder.build();
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", file, error.what()));
  }
}

std::string cycle_text(std::span<const OpId> cycle, std::size_t shown,
                       const std::function<std::string(OpId)>& called) {
  std::string text;
  for (const OpId id : cycle.first(std::min(cycle.size(), shown))) {
    text += (text.empty() ? "" : ", ") + called(id);
  }
  return text + (cycle.size() > shown ? ", ..." : "");
}

std::string eager_way_out(std::vector<std::uint64_t> sizes,
                          const std::optional<std::uint64_t>& eager_bytes,
                          const std::function<bool(std::uint64_t)>& deadlocks) {
  if (eager_bytes) std::erase_if(sizes, [&](std::uint64_t size) { return size <= *eager_bytes; });
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  const auto enough = std::partition_point(sizes.begin(), sizes.end(), deadlocks);
  if (enough == sizes.end()) return "";
  return fmt::format(", or --eager {}, with which sends of up to so many bytes are buffered",
                     *enough);
}

}  // namespace slackline::sched
