// Text for terminals that show ASCII alone.
#pragma once

#include <string>
#include <string_view>

namespace slackline::base {

/// Valid UTF-8 with what is beyond ASCII written in it: "…" as "...", "×" as "x", "−" as "-". What
/// has no such form becomes a question mark.
std::string ascii_text(std::string_view text);

/// Whether text of this process is shown as UTF-8, as the environment says: LC_ALL, else LC_CTYPE,
/// else LANG, as "en_US.UTF-8". Without any of them it is not, as POSIX has it.
bool shows_utf8();

}  // namespace slackline::base
