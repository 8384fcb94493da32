// Which number, or other small value, a key has: a table that looks up in one place of memory,
// mostly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace slackline::base {

/// Numbers by key, found by open addressing. `Key` is compared by ==; `Hash` gives it 64 bits, all
/// of which are good. Nothing is ever taken out, and nobody can go through it.
template <class Key, class Hash, class Number = std::uint32_t>
class FlatIndex {
 public:
  std::size_t size() const { return size_; }

  /// The number of the key, for the caller to set where it is `fresh`: then it is Number(). It is
  /// there until another key is asked for.
  struct Found {
    Number& number;
    bool fresh;
  };
  /// Brings the place of a key that is asked for soon into the cache.
  void look_ahead(const Key& key) const {
    if (entries_.empty()) return;
    __builtin_prefetch(&entries_[static_cast<std::size_t>(Hash{}(key)) & (entries_.size() - 1)]);
  }
  Found find_or_add(const Key& key) {
    if (2 * (size_ + 1) > entries_.size()) grow();
    Entry& entry = entries_[place_of(key)];
    const bool fresh = !entry.used;
    if (fresh) {
      entry.key = key;
      entry.used = true;
      ++size_;
    }
    return {entry.number, fresh};
  }

 private:
  struct Entry {
    Key key{};
    Number number{};
    bool used = false;
  };

  // Where it stands, or would.
  std::size_t place_of(const Key& key) const {
    const std::size_t mask = entries_.size() - 1;
    std::size_t place = static_cast<std::size_t>(Hash{}(key)) & mask;
    while (entries_[place].used && !(entries_[place].key == key)) place = (place + 1) & mask;
    return place;
  }
  void grow() {
    std::vector<Entry> old(entries_.empty() ? 16 : 2 * entries_.size());
    old.swap(entries_);
    for (const Entry& entry : old) {
      if (entry.used) entries_[place_of(entry.key)] = entry;
    }
  }

  std::vector<Entry> entries_;  // a power of two of them, at most half of which are used
  std::size_t size_ = 0;
};

}  // namespace slackline::base
