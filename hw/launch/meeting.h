// Where the ranks that a launcher started meet, and what they know each other by: rank 0 chooses a
// free port and draws a secret for this run, and the launcher's exchange of keys tells the others.
#pragma once

#include <optional>
#include <string>

#include "hw/launch/key_exchange.h"
#include "hw/local_port.h"
#include "hw/mesh.h"

namespace slackline::hw {

/// What rank 0 tells the others.
struct MeetingPoint {
  std::string root;         // "address:port"
  std::string secret_text;  // Secret::drawn_text(); empty: all were given a file with one
};

/// As one word, and back. meeting_point_of() throws EnvironmentError, which repeats nothing of it,
/// for what is no such word.
std::string word_of(const MeetingPoint& point);
MeetingPoint meeting_point_of(const std::string& word);

struct Meeting {
  std::optional<LocalPort> port;  // rank 0's, with the socket that its mesh listens with
  std::string why_none;           // SharedWord::why_none
};

/// Gives `options` its root, at rank 0 with its socket, and its secret (of a file, if there is one
/// already). Where the launcher has no exchange after all, `options` stays as it is.
/// `all_on_one_host`: they meet on loopback. Throws EnvironmentError as share_word() does, and
/// where rank 0 has no address that others reach; InputError if some ranks were given a secret and
/// others were not.
Meeting meet_by_launcher(const LauncherKeys& exchange, bool all_on_one_host, MeshOptions& options);

}  // namespace slackline::hw
