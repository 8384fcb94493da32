// Where a command puts what it makes: a file, or standard output.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/console.h"
#include "cli/json_document.h"

namespace slackline::cli {

/// "-", and nothing, stand for standard output.
bool is_standard_output(const std::optional<std::string>& path);

/// Writes `contents` to the file `path`, whole or not at all. Throws InputError.
void write_output_file(const std::string& path, std::string_view contents);

/// For commands that make one text. A file is written at once, then `summary` is printed. On
/// standard output the text stands alone; with --json (`document` given) it is the document's
/// `content`. `document` gets `file` (null on standard output).
void deliver(const std::optional<std::string>& path, std::string_view contents,
             std::string_view summary, JsonDocument* document, Console& console);

}  // namespace slackline::cli
