// Races where slices overlap much: by intervals of segments, and reads from a log.
#include <algorithm>
#include <tuple>

#include "sched/verify/conflicts.h"

namespace slackline::sched {

void ConflictChecker::access_joined(OpId op, SegmentRun run, Access kind) {
  for (std::uint32_t first = run.first; first < run.last;) {
    if (words_ && words_->contains(first)) {
      access_segment({op, first++, kind, true});
      continue;
    }
    const std::uint32_t last = words_ ? std::min(run.last, words_->next(first)) : run.last;
    if (kind == Access::kRead) {
      read_joined(op, {first, last});
    } else {
      write_joined(op, {first, last});
    }
    first = last;
  }
}

void ConflictChecker::read_joined(OpId op, SegmentRun run) {
  intervals_.for_each(run, [&](std::uint32_t first, std::uint32_t, std::uint32_t begin) {
    const Later later{op, first, Access::kRead, true};
    const bool excepted = after_all(cells_[begin].writes, true, later);
    if (excepted) after_all(cells_[begin].prior_writes, true, later);
  });
  if (!log_) log_.emplace(segments_.size());
  log_->add(run, time_of(push(op, kEnd)));
}

void ConflictChecker::write_joined(OpId op, SegmentRun run) {
  cut(run.first);
  cut(run.last);
  const std::uint32_t write = push(op, kEnd);
  read_by_itself_.clear();
  intervals_.for_each(run, [&](std::uint32_t first, std::uint32_t last, std::uint32_t) {
    Cell& cell = cells_[first];
    check_write(op, {first, last}, cell);
    cell.prior_writes = cell.writes;
    cell.writes = write;
  });
  for (std::uint32_t first = run.first;;) {
    const std::uint32_t next = intervals_.end_of(first);
    if (next >= run.last) break;
    if (cells_[next].prior_writes == cells_[first].prior_writes) {
      intervals_.join({first, intervals_.end_of(next)});
    } else {
      first = next;
    }
  }
  // A put within one rank may write what it reads, and is released from the two at different times.
  if (read_by_itself_.empty() || release(op, true) == release(op, false)) return;
  const std::uint32_t time = time_of(push(op, kEnd));
  for (const SegmentRun& part : read_by_itself_) log_->add(part, time);
}

// As access_segment() for each segment of an interval, of which all have this cell.
void ConflictChecker::check_write(OpId op, SegmentRun part, const Cell& cell) {
  find_readers(part, cell);
  steps_.clear();
  // Where to look at the last writes: whoever read came after them, so what comes after the reads
  // comes after them too, but for reads of which after_read() says that they tell nothing.
  std::uint32_t writes = first_unread(part);
  for (const Reader& reader : readers_) {
    const OpId first = nodes_[reader.time - 1].op;
    if (first == op) {
      read_by_itself_.push_back({reader.first, reader.last});
    } else {
      steps_.push_back({reader.first, Stage::kRead, first});
    }
  }
  const bool wrote = cell.writes != kEnd && nodes_[cell.writes].op == op;
  const std::uint32_t own = wrote ? part.first : first_moved(op, part);
  if (own != kEnd) steps_.push_back({own, Stage::kOwnOverlap, OpId::none()});
  const auto earlier = [](const Step& a, const Step& b) {
    return std::tie(a.segment, a.stage) < std::tie(b.segment, b.stage);
  };
  std::stable_sort(steps_.begin(), steps_.end(), earlier);
  const auto check_writes = [&](std::uint32_t before) {
    if (writes >= before) return;
    after_all(cell.writes, true, {op, writes, Access::kWrite, true});
    writes = kEnd;
  };
  for (const Step& step : steps_) {
    check_writes(step.segment);
    const Later later{op, step.segment, Access::kWrite, true};
    if (step.stage == Stage::kOwnOverlap) {
      report_own_overlap(wrote, later);
    } else if (after_read(step.reader, later)) {
      writes = std::min(writes, step.segment);
    }
  }
  check_writes(part.last);
}

void ConflictChecker::find_readers(SegmentRun part, const Cell& cell) {
  readers_.clear();
  if (!log_) return;
  log_->for_each_since(time_of(cell.writes), part, [&](const ReadLog::Read& read) {
    readers_.push_back(
        {std::max(part.first, read.run.first), std::min(part.last, read.run.last), read.time});
  });
  std::sort(readers_.begin(), readers_.end(), [](const Reader& a, const Reader& b) {
    return std::tie(a.first, b.time) < std::tie(b.first, a.time);
  });
}

// The first segment of an interval that no reader read, or kEnd.
std::uint32_t ConflictChecker::first_unread(SegmentRun part) const {
  std::uint32_t at = part.first;
  for (const Reader& reader : readers_) {
    if (reader.first > at) break;
    at = std::max(at, reader.last);
  }
  return at < part.last ? at : kEnd;
}

// The first segment of an interval that an operation reads for another place of its payload than
// the one it writes there, or kEnd. That is the same up to the next place where one of its slices
// begins or ends.
std::uint32_t ConflictChecker::first_moved(OpId op, SegmentRun part) const {
  if (read_by_itself_.empty()) return kEnd;
  std::vector<std::uint32_t> places{part.first};
  const auto add = [&](SegmentRun run) {
    for (const std::uint32_t place : {run.first, run.last}) {
      if (place > part.first && place < part.last) places.push_back(place);
    }
  };
  segments_.for_each_read(schedule_.op(op), add);
  segments_.for_each_write(schedule_.op(op), add);
  std::sort(places.begin(), places.end());
  for (const std::uint32_t place : places) {
    const bool read =
        std::any_of(read_by_itself_.begin(), read_by_itself_.end(),
                    [&](const SegmentRun& run) { return run.first <= place && place < run.last; });
    if (read && !stays_in_place({op, place, Access::kWrite, true})) return place;
  }
  return kEnd;
}

void ConflictChecker::cut(std::uint32_t segment) {
  if (intervals_.starts_at(segment)) return;
  cells_[segment] = cells_[intervals_.begin_of(segment)];
  intervals_.cut(segment);
}

}  // namespace slackline::sched
