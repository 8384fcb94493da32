// What every reader of users' text needs: quoting it in an error of one line, and reading a file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace slackline::machine {

/// The most bytes that a platform or delay file may hold.
inline constexpr std::size_t kMaxInputBytes = std::size_t{1} << 24;

/// 'text' as sched::shown() has it, of which no more than 80 characters.
std::string in_quotes(std::string_view text);

/// Throws InputError, naming `where`, if `text` has control characters: what follows may then quote
/// it in an error of one line.
void require_plain(std::string_view text, std::string_view where);

/// A path that an inline spec can hold. Throws InputError, naming `what`, if it is empty, too long
/// or has a comma.
std::string parse_path(std::string_view text, std::string_view what);

/// The file's bytes. Throws InputError, naming `what` ("platform"), the path and what was expected
/// there, if it cannot be read or holds more than `max_bytes`.
std::string read_input_file(const std::string& path, std::string_view what,
                            std::string_view expected = "a TOML file",
                            std::size_t max_bytes = kMaxInputBytes);

}  // namespace slackline::machine
