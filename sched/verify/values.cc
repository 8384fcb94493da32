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
void ValueMap::for_each_piece(std::uint32_t segment, Visit&& visit) const {
  const Value& value = values_[segment];
  if (value.origin != Value::Origin::kMixed) {
    visit(Piece{value, segments_.bytes(segment)});
    return;
  }
  const Mix& mix = mixes_[value.id];
  for (std::size_t i = mix.first; i < mix.first + mix.count; ++i) visit(mixed_[i]);
}

bool ValueMap::same(const Value& a, const Value& b) const {
  if (a.origin != Value::Origin::kMixed || b.origin != Value::Origin::kMixed) return a == b;
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

std::optional<ValueMap::Found> ValueMap::gather(Run run, OpId reader, Pieces& pieces) const {
  std::optional<Found> missing;
  for (std::uint32_t segment = run.first; segment < run.last; ++segment) {
    const Value& value = values_[segment];
    if (value.origin != Value::Origin::kNothing && value.origin != Value::Origin::kLowered) {
      for_each_piece(segment, [&](const Piece& piece) { append(pieces, piece); });
      continue;
    }
    const std::uint64_t at = segments_.begin(segment);
    const std::uint64_t bytes = segments_.bytes(segment);
    append(pieces, {{at, reader.value, Value::Origin::kUnknown}, bytes});
    if (!missing) {
      missing = Found{segments_.slice(segment), value};
    } else if (missing->value.origin == value.origin &&
               missing->slice.offset + missing->slice.bytes == at) {
      missing->slice.bytes += bytes;
    }
  }
  return missing;
}

// The next bytes of the payload, as one value.
Value ValueMap::Scatter::take(std::uint64_t bytes) {
  const auto advance = [&](std::uint64_t by) {
    used_ += by;
    if (used_ == pieces_[piece_].bytes) {
      ++piece_;
      used_ = 0;
    }
  };
  const auto here = [&] {
    Value value = pieces_[piece_].value;
    value.offset += used_;
    return value;
  };
  if (piece_ == pieces_.size()) return {};  // both sides are equally long
  if (pieces_[piece_].bytes - used_ >= bytes) {
    const Value value = here();
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
  return {0, static_cast<std::uint32_t>(map_.mixes_.size() - 1), Value::Origin::kMixed};
}

void ValueMap::Scatter::into(Run run) {
  for (std::uint32_t segment = run.first; segment < run.last; ++segment) {
    const Value value = take(map_.segments_.bytes(segment));
    if (map_.same(value, map_.values_[segment])) {
      if (unchanged_ == 0) first_unchanged_ = segment;
      unchanged_ += map_.segments_.bytes(segment);
    }
    map_.values_[segment] = value;
  }
}

void ValueMap::set(Run run, Value value) {
  for (std::uint32_t segment = run.first; segment < run.last; ++segment) {
    values_[segment] = value;
    value.offset += segments_.bytes(segment);
  }
}

std::optional<ValueMap::Found> ValueMap::other_than(Run run,
                                                    std::span<const Value::Origin> origins) const {
  std::optional<Found> other;
  for (std::uint32_t segment = run.first; segment < run.last && !other; ++segment) {
    for_each_piece(segment, [&](const Piece& piece) {
      const bool fits =
          std::find(origins.begin(), origins.end(), piece.value.origin) != origins.end();
      if (!fits && !other) other = Found{segments_.slice(segment), piece.value};
    });
  }
  return other;
}

std::optional<ValueMap::Mismatch> ValueMap::mismatch(const Slice& slice, const Value& value) const {
  std::optional<Mismatch> first;
  const Run run = segments_.run(slice);
  for (std::uint32_t segment = run.first; segment < run.last; ++segment) {
    std::uint64_t at = segments_.begin(segment);
    for_each_piece(segment, [&](const Piece& piece) {
      Value expected = value;
      expected.offset += at - slice.offset;
      if (piece.value != expected) {
        if (!first) {
          first = Mismatch{{slice.buffer, at, piece.bytes}, expected, piece.value};
        } else if (first->slice.offset + first->slice.bytes == at) {
          first->slice.bytes += piece.bytes;
        }
      }
      at += piece.bytes;
    });
  }
  return first;
}

std::string describe(const Schedule& schedule, const Value& value) {
  switch (value.origin) {
    case Value::Origin::kNothing:
      return "nothing";
    case Value::Origin::kContract:
      return fmt::format("value {} from byte {}", value.id, value.offset);
    case Value::Origin::kSum:
      return fmt::format("a sum of values, from byte {}", value.offset);
    case Value::Origin::kReduced:
      return fmt::format("what {} wrote, from byte {}", describe(schedule, OpId(value.id)),
                         value.offset);
    case Value::Origin::kWord:
      return fmt::format("the word that {} left, from byte {}", describe(schedule, OpId(value.id)),
                         value.offset);
    case Value::Origin::kFetched:
      return fmt::format("what {} fetched, from byte {}", describe(schedule, OpId(value.id)),
                         value.offset);
    case Value::Origin::kLowered:
      return fmt::format("zeros that {} left of its flag", describe(schedule, OpId(value.id)));
    case Value::Origin::kUnknown:
      return fmt::format("bytes that nothing wrote before {} read them",
                         describe(schedule, OpId(value.id)));
    case Value::Origin::kMixed:
      return "bytes of several values";
  }
  return "nothing";
}

}  // namespace slackline::sched
