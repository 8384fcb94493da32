// Formats that other tools read, by name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sched/schedule.h"

namespace slackline::sched {

struct ExporterEntry {
  std::string_view name;
  std::string_view summary;  // one line, for `list formats`
  /// The file's contents: the same schedule gives the same bytes. Throws Unsupported, naming the
  /// operation, on what the format cannot say.
  std::string (*write)(const Schedule&);  // null where write_ranks is not
  /// About how much memory the schedule and writing it take at the most, in bytes an operation.
  std::uint64_t memory_of_op;
  bool binary = false;  // the contents are no text
  /// Of a format with a file of each rank: their contents, by rank.
  std::vector<std::string> (*write_ranks)(const Schedule&) = nullptr;
  std::string_view ending{};  // of rank r's file: PREFIX.r and this
  /// Of a format whose messages may name a NIC: the contents for hosts of so many (1 to 256), of
  /// which a channel takes one by its number (sched/channel_numbers.h).
  std::string (*write_on_nics)(const Schedule&, std::uint32_t nics) = nullptr;
};

/// What write() gives. Throws Unsupported for a format with a file of each rank.
std::string written_whole(const ExporterEntry& exporter, const Schedule& schedule);

/// Every format, in the order `list formats` shows them.
std::span<const ExporterEntry> exporters();

/// Nothing if there is no such format.
const ExporterEntry* find_exporter(std::string_view name);

}  // namespace slackline::sched
