// Gives back memory of tables: of values that nobody looks at any more, and of room for values that
// never came.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace slackline::base {

/// Of a page of memory: 4 KiB, or on some machines 16 or 64 KiB. The system rounds what it is told
/// to give back up to whole ones, so less than a page would take its neighbours along.
inline std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

struct WholePages {
  std::uintptr_t begin;
  std::uintptr_t end;  // not after `begin`: there is none
};
/// Those of so many bytes each that lie between two addresses.
constexpr WholePages whole_pages(std::uintptr_t from, std::uintptr_t to, std::size_t page) {
  return {(from + page - 1) / page * page, to / page * page};
}

/// Gives back the whole pages between two places of memory that nothing is written to but by the
/// caller; what stands there from now on is not said.
inline void forget(const void* from, const void* to) {
  const auto [begin, end] = whole_pages(reinterpret_cast<std::uintptr_t>(from),
                                        reinterpret_cast<std::uintptr_t>(to), page_bytes());
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

/// The first `count` values of the table, which stays as long as it is.
template <class Value>
void forget_front(std::vector<Value>& table, std::size_t count) {
  static_assert(std::is_trivially_destructible_v<Value>);
  forget(table.data(), table.data() + count);
}

/// The room behind the values of the table.
template <class Value>
void forget_unused(std::vector<Value>& table) {
  forget(table.data() + table.size(), table.data() + table.capacity());
}

}  // namespace slackline::base
