#include "sched/verify/values.h"

#include <fmt/format.h>

#include <algorithm>

namespace slackline::sched {

void append(Pieces& pieces, Piece piece) {
  if (!pieces.empty()) {
    Piece& last = pieces.back();
    if (last.value.origin == piece.value.origin && last.value.id == piece.value.id &&
        last.value.offset + last.bytes == piece.value.offset) {
      last.bytes += piece.bytes;
      return;
    }
  }
  pieces.push_back(piece);
}

template <class Visit>
void ValueMap::for_each_piece(std::uint32_t first, std::uint32_t last, std::uint32_t begin,
                              Visit&& visit) const {
  if (values_[begin].origin != SymbolicValue::Origin::kMixed) {
    visit(Piece{value_at(first, begin), segments_.bytes({first, last})});
    return;
  }
  const Mix& mix = mixes_[values_[begin].id];
  for (std::size_t i = mix.first; i < mix.first + mix.count; ++i) visit(mixed_[i]);
}

bool ValueMap::same(const SymbolicValue& a, const SymbolicValue& b) const {
  if (a.origin != SymbolicValue::Origin::kMixed || b.origin != SymbolicValue::Origin::kMixed)
    return a == b;
  const Mix& left = mixes_[a.id];
  const Mix& right = mixes_[b.id];
  return left.count == right.count &&
         std::equal(mixed_.begin() + static_cast<std::ptrdiff_t>(left.first),
                    mixed_.begin() + static_cast<std::ptrdiff_t>(left.first + left.count),
                    mixed_.begin() + static_cast<std::ptrdiff_t>(right.first),
                    [](const Piece& x, const Piece& y) {
                      return x.value == y.value && x.bytes == y.bytes;
                    });
}

std::optional<ValueMap::Found> ValueMap::gather(SegmentRun run, OpId reader, Pieces& pieces) const {
  std::optional<Found> missing;
  intervals_.for_each(run, [&](std::uint32_t first, std::uint32_t last, std::uint32_t begin) {
    const SymbolicValue& value = values_[begin];
    if (value.origin != SymbolicValue::Origin::kNothing &&
        value.origin != SymbolicValue::Origin::kLowered) {
      for_each_piece(first, last, begin, [&](const Piece& piece) { append(pieces, piece); });
      return;
    }
    const std::uint64_t at = segments_.begin(first);
    const std::uint64_t bytes = segments_.bytes({first, last});
    append(pieces, {{at, reader.value, SymbolicValue::Origin::kUnknown}, bytes});
    if (!missing) {
      missing = Found{segments_.slice(first), value};
      missing->slice.bytes = bytes;
    } else if (missing->value.origin == value.origin &&
               missing->slice.offset + missing->slice.bytes == at) {
      missing->slice.bytes += bytes;
    }
  });
  return missing;
}

// The next bytes of the payload, as one value.
SymbolicValue ValueMap::Scatter::take(std::uint64_t bytes) {
  const auto advance = [&](std::uint64_t by) {
    used_ += by;
    if (used_ == pieces_[piece_].bytes) {
      ++piece_;
      used_ = 0;
    }
  };
  const auto here = [&] {
    SymbolicValue value = pieces_[piece_].value;
    value.offset += used_;
    return value;
  };
  if (piece_ == pieces_.size()) return {};  // both sides are equally long
  if (pieces_[piece_].bytes - used_ >= bytes) {
    const SymbolicValue value = here();
    advance(bytes);
    return value;
  }
  const std::size_t first = map_.mixed_.size();
  while (bytes > 0 && piece_ < pieces_.size()) {
    const std::uint64_t part = std::min(bytes, pieces_[piece_].bytes - used_);
    map_.mixed_.push_back({here(), part});
    advance(part);
    bytes -= part;
  }
  map_.mixes_.push_back({first, map_.mixed_.size() - first});
  return {0, static_cast<std::uint32_t>(map_.mixes_.size() - 1), SymbolicValue::Origin::kMixed};
}

// The end of the segments from `segment` on that the piece under way fills whole: that one at
// least, which may take several pieces.
std::uint32_t ValueMap::Scatter::reach(std::uint32_t segment, std::uint32_t last) const {
  if (!map_.intervals_.joins() || piece_ == pieces_.size()) return segment + 1;
  const std::uint64_t end = map_.segments_.begin(segment) + pieces_[piece_].bytes - used_;
  return std::max(segment + 1, map_.segments_.last_until(end, segment, last));
}

void ValueMap::Scatter::place(SegmentRun run, const SymbolicValue& value) {
  map_.intervals_.for_each(run, [&](std::uint32_t first, std::uint32_t last, std::uint32_t begin) {
    SymbolicValue here = value;
    if (first != run.first) {
      here.offset += map_.segments_.begin(first) - map_.segments_.begin(run.first);
    }
    if (!map_.same(here, map_.value_at(first, begin))) return;
    if (unchanged_ == 0) first_unchanged_ = first;
    unchanged_ += map_.segments_.bytes({first, last});
  });
  map_.intervals_.join(run);
  map_.values_[run.first] = value;
}

void ValueMap::Scatter::into(SegmentRun run) {
  if (run.first == run.last) return;
  map_.cut(run.first);
  map_.cut(run.last);
  for (std::uint32_t first = run.first; first < run.last;) {
    const std::uint32_t last = reach(first, run.last);
    map_.cut(last);
    place({first, last}, take(map_.segments_.bytes({first, last})));
    first = last;
  }
}

void ValueMap::cut(std::uint32_t segment) {
  if (intervals_.starts_at(segment)) return;
  values_[segment] = value_at(segment, intervals_.begin_of(segment));
  intervals_.cut(segment);
}

void ValueMap::set(SegmentRun run, SymbolicValue value) {
  if (run.first == run.last) return;
  if (intervals_.joins()) {
    cut(run.first);
    cut(run.last);
    intervals_.join(run);
    values_[run.first] = value;
    return;
  }
  for (std::uint32_t segment = run.first; segment < run.last; ++segment) {
    values_[segment] = value;
    value.offset += segments_.bytes(segment);
  }
}

std::optional<ValueMap::Found> ValueMap::other_than(
    SegmentRun run, std::span<const SymbolicValue::Origin> origins) const {
  std::optional<Found> other;
  intervals_.for_each(run, [&](std::uint32_t first, std::uint32_t last, std::uint32_t begin) {
    if (other) return;
    for_each_piece(first, last, begin, [&](const Piece& piece) {
      const bool fits =
          std::find(origins.begin(), origins.end(), piece.value.origin) != origins.end();
      if (!fits && !other) other = Found{segments_.slice(first), piece.value};
    });
  });
  return other;
}

std::optional<ValueMap::Mismatch> ValueMap::mismatch(const Slice& slice,
                                                     const SymbolicValue& value) const {
  std::optional<Mismatch> wrong;
  const SegmentRun run = segments_.run(slice);
  intervals_.for_each(run, [&](std::uint32_t first, std::uint32_t last, std::uint32_t begin) {
    std::uint64_t at = segments_.begin(first);
    for_each_piece(first, last, begin, [&](const Piece& piece) {
      SymbolicValue expected = value;
      expected.offset += at - slice.offset;
      if (piece.value != expected) {
        if (!wrong) {
          wrong = Mismatch{{slice.buffer, at, piece.bytes}, expected, piece.value};
        } else if (wrong->slice.offset + wrong->slice.bytes == at) {
          wrong->slice.bytes += piece.bytes;
        }
      }
      at += piece.bytes;
    });
  });
  return wrong;
}

std::string describe(const Schedule& schedule, const SymbolicValue& value) {
  switch (value.origin) {
    case SymbolicValue::Origin::kNothing:
      return "nothing";
    case SymbolicValue::Origin::kContract:
      return fmt::format("value {} from byte {}", value.id, value.offset);
    case SymbolicValue::Origin::kSum:
      return fmt::format("a sum of values, from byte {}", value.offset);
    case SymbolicValue::Origin::kReduced:
      return fmt::format("what {} wrote, from byte {}", describe(schedule, OpId(value.id)),
                         value.offset);
    case SymbolicValue::Origin::kWord:
      return fmt::format("the word that {} left, from byte {}", describe(schedule, OpId(value.id)),
                         value.offset);
    case SymbolicValue::Origin::kFetched:
      return fmt::format("what {} fetched, from byte {}", describe(schedule, OpId(value.id)),
                         value.offset);
    case SymbolicValue::Origin::kLowered:
      return fmt::format("zeros that {} left of its flag", describe(schedule, OpId(value.id)));
    case SymbolicValue::Origin::kUnknown:
      return fmt::format("bytes that nothing wrote before {} read them",
                         describe(schedule, OpId(value.id)));
    case SymbolicValue::Origin::kMixed:
      return "bytes of several values";
  }
  return "nothing";
}

}  // namespace slackline::sched
