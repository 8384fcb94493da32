// One ssh, or what takes its place: a process that carries a command to another host, with its
// standard input, output and error at this end.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hw/descriptor.h"

namespace slackline::hw {

class RemoteShell {
 public:
  /// Starts `arguments` (the program first, looked for in PATH), away from this terminal and with
  /// signals as they act by themselves. It is ended with this process, and hears the end of its
  /// standard input then. Throws EnvironmentError, ending with `cure`, if it cannot be started.
  explicit RemoteShell(std::vector<std::string> arguments,
                       std::string_view cure =
                           "expected the program of --ssh (Debian: "
                           "openssh-client)");
  /// Ends it if it runs still.
  ~RemoteShell();
  RemoteShell(RemoteShell&&) = default;
  RemoteShell(const RemoteShell&) = delete;
  RemoteShell& operator=(const RemoteShell&) = delete;
  RemoteShell& operator=(RemoteShell&&) = delete;

  /// To its standard input; at most 64 KiB in all. False if nobody hears it any more.
  bool say(std::string_view text);
  /// The end of its standard input.
  void hang_up() { in_.reset(); }

  /// What has come on standard output since; keeps the end of what has come on standard error.
  /// Never waits.
  std::string hear();
  /// To wait for; −1 once it has ended.
  int out() const { return out_.get(); }
  int err() const { return err_.get(); }

  /// Its wait status once it has ended. Never waits.
  std::optional<int> ended();
  /// The last line that it said on standard error.
  std::string last_words() const;

 private:
  Descriptor in_, out_, err_;
  // −1 once it was waited for.
  struct Pid {
    Pid() = default;
    Pid(Pid&& other) noexcept : value(other.value) { other.value = -1; }
    Pid(const Pid&) = delete;
    pid_t value = -1;
  };
  Pid pid_;
  std::optional<int> status_;
  std::string said_;
};

}  // namespace slackline::hw
