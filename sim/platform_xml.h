// What can be told from a SimGrid platform file before SimGrid reads it.
#pragma once

#include <string_view>

namespace slackline::sim {

/// Refuses what SimGrid would take, but not as we mean it or not in any useful time: profiles,
/// which change a host or a link as time passes (Unsupported), and more hosts than a network may
/// have (InputError). Refuses, with InputError, what SimGrid's parser does not survive: elements
/// that stand in more than 100 others, and unless it reads_bare_clusters(), these. Errors begin
/// with 'file':line. Anything else, and whether it is XML at all, is SimGrid's to judge.
void check_platform_xml(std::string_view text, std::string_view file);

}  // namespace slackline::sim
