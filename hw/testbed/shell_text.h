// Parts of the shell scripts that build a testbed, and of those that its hosts run.
#pragma once

#include <string>
#include <string_view>

namespace slackline::hw {

/// Where a tool fails, the script ends, and the last line that is said is the one with its error.
inline constexpr std::string_view kToolsMustWork =
    "set -e\n"
    "tool() {\n"
    "words=$(\"$@\" 2>&1) && return\n"
    "echo \"$1: $(echo \"$words\" | grep -m 1 -i error || echo \"$words\" | head -n 1)\" >&2\n"
    "exit 1\n"
    "}\n";

/// No packets that nobody sent.
inline constexpr std::string_view kQuietNetwork =
    "if [ -e /proc/sys/net/ipv6 ]; then\n"
    "echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6\n"
    "echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6\n"
    "fi\n";

/// TCP that neither probes for bandwidth nor holds back after a pause.
inline constexpr std::string_view kPlainTcp =
    "echo reno > /proc/sys/net/ipv4/tcp_congestion_control\n"
    "echo 0 > /proc/sys/net/ipv4/tcp_slow_start_after_idle\n"
    "echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save\n";

/// `ip` does these lines.
std::string with_ip(std::string_view lines);

/// `ip`'s lines for a host's port eth0, whose address and largest segment are these; the shell may
/// know them by a name. The whole window of TCP is open from its first packet on.
std::string own_port(std::string_view address, std::string_view segment_bytes);

}  // namespace slackline::hw
