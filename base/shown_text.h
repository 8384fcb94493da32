// Text of users where people read it: on a terminal, in an error, in a figure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace slackline::sched {

/// No limit to what shown() keeps.
inline constexpr std::size_t kWhole = ~std::size_t{0};

/// `text` on one line, as valid UTF-8 that commands no terminal. A control character and a byte
/// that is no UTF-8 are written as \xNN; control characters beyond ASCII and those that turn the
/// direction of writing, as \uNNNN. Of a text of more than `most` characters the first `most` are
/// kept, and "…" stands for the rest.
std::string shown(std::string_view text, std::size_t most = kWhole);

/// The same of text that has lines: line feeds and tabulators stay.
std::string shown_lines(std::string_view text);

/// shown() for a message whose end tells as much as its beginning: of more than `most` characters
/// the first three quarters and the last quarter are kept, with " … " between them.
std::string shown_ends(std::string_view text, std::size_t most);

}  // namespace slackline::sched
