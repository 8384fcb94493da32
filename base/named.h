// Tables of what has a name: the entries themselves, or pointers to them.
#pragma once

#include <string_view>
#include <vector>

namespace slackline::base {

template <class Entry>
constexpr const Entry* entry_at(const Entry& place) {
  return &place;
}
template <class Entry>
constexpr const Entry* entry_at(const Entry* const& place) {
  return place;
}

/// The first entry of that name; null if there is none.
template <class Table>
auto find_named(const Table& table, std::string_view name) {
  for (const auto& place : table) {
    if (const auto* const entry = entry_at(place); entry->name == name) return entry;
  }
  return decltype(entry_at(*table.begin())){nullptr};
}

/// The names, in the table's order.
template <class Table>
std::vector<std::string_view> names_of(const Table& table) {
  std::vector<std::string_view> names;
  for (const auto& place : table) names.push_back(entry_at(place)->name);
  return names;
}

}  // namespace slackline::base
