// Where a command puts what it makes: a file, or standard output.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/sink.h"
#include "cli/answer.h"
#include "cli/console.h"

namespace slackline::cli {

/// "-", and nothing, stand for standard output.
bool is_standard_output(const std::optional<std::string>& path);

/// Writes `contents` to the file `path`, whole or not at all. Throws InputError.
void write_output_file(const std::string& path, std::string_view contents);

/// For commands that make one text: where it goes, with nothing said of it.
void deliver(const std::optional<std::string>& path, std::string_view contents, Console& console);
/// The same with an answer about it. People who get the text on standard output get it alone; the
/// document has it as `content` then, and else the `file`.
void deliver(const std::optional<std::string>& path, std::string_view contents, Answer& answer,
             Console& console);

/// A schedule, or a run of it, in a format of another tool; with the schedule's name, the format
/// and the size as the answer about it.
void deliver_as(std::string_view format, const std::optional<std::string>& path,
                std::string_view contents, Subject schedule, bool json, Console& console);
/// The same piece by piece; only for standard output are they put together first.
void deliver_as(std::string_view format, const std::optional<std::string>& path,
                const sched::Pieces& pieces, Subject schedule, bool json, Console& console);

/// What is said of so many files, of so many bytes together, whose names begin with `prefix`, and
/// of the command that another program is run with, and in what it differs, if it is.
void say_written(std::string_view format, const std::string& prefix, std::size_t files,
                 std::size_t bytes, Subject schedule, bool json, Console& console,
                 std::optional<std::string_view> command = {}, std::string_view differs = {});

}  // namespace slackline::cli
