// Gives back memory of tables: of values that nobody looks at any more, and of room for values that
// never came.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace slackline::base {

/// Gives back the whole pages between two places of memory that nothing is written to but by the
/// caller; what stands there from now on is not said.
inline void forget(const void* from, const void* to) {
  constexpr std::uintptr_t kPage = 4096;
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(from) + kPage - 1) / kPage * kPage;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(to) / kPage * kPage;
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
