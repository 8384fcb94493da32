// Formats that other tools read, by name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sched/schedule.h"

namespace slackline::sched {

struct ExporterEntry {
  std::string_view name;
  std::string_view summary;  // one line, for `list formats`
  /// The file's contents: the same schedule gives the same bytes. Throws Unsupported, naming the
  /// operation, on what the format cannot say.
  std::string (*write)(const Schedule&);
  /// About how much memory the schedule and writing it take at the most, in bytes an operation.
  std::uint64_t memory_of_op;
  bool binary = false;  // the contents are no text
};

/// Every format, in the order `list formats` shows them.
std::span<const ExporterEntry> exporters();

/// Nothing if there is no such format.
const ExporterEntry* find_exporter(std::string_view name);

}  // namespace slackline::sched
