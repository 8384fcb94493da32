// Names as fields of CSV files.
#pragma once

#include <string>

namespace slackline::sched {

/// A name as a field of a CSV file: quoted where it has to be, on one line, and with an apostrophe
/// in front where a spreadsheet would take it for a formula.
std::string csv_field(const std::string& name);

}  // namespace slackline::sched
