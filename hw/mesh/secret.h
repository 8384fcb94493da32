// What the ranks of a run know and nobody else does.
//
// Ranks that one process starts inherit a secret that it draws; where a launcher tells ranks what
// rank 0 says, rank 0 draws it. Other ranks read it from a file: the one they are told, or the
// user's own, which hosts with a common home directory share.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace slackline::hw {

class Secret {
 public:
  static constexpr std::size_t kBytes = 32;

  /// Drawn, as draw_bytes() does.
  static Secret random();
  /// 64 hexadecimal digits that stand for one, drawn: for those who tell it to each other.
  static std::string drawn_text();
  /// Whether drawn_text() may have made it.
  static bool is_drawn_text(std::string_view text);
  /// Of such a text: all who have the same text have the same secret.
  static Secret of_text(std::string_view text);
  /// Of a file: whatever bytes it has, of which there must be 16 to 4096. Throws InputError if it
  /// cannot be read, is no regular file, is not this user's, or others than the user may read or
  /// write it.
  static Secret of_file(const std::string& path);
  /// Of the user's own file, `slackline/secret` in $XDG_CONFIG_HOME or else in ~/.config. It is
  /// made when it is asked for first. Throws InputError as of_file() does, and EnvironmentError
  /// where there is no such place or nothing can be written there.
  static Secret of_user();

  Secret(const Secret&) = default;
  Secret& operator=(const Secret&) = default;
  /// Leaves no copy in memory.
  ~Secret();

  std::span<const std::byte, kBytes> bytes() const { return bytes_; }
  friend bool operator==(const Secret&, const Secret&) = default;

 private:
  Secret() = default;
  std::array<std::byte, kBytes> bytes_{};
};

/// Where of_user() looks. Throws EnvironmentError where neither variable is set.
std::string path_of_users_secret();

}  // namespace slackline::hw
