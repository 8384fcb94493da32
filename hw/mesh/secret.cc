#include "hw/mesh/secret.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "base/error.h"
#include "hw/descriptor.h"
#include "hw/random_bytes.h"

namespace slackline::hw {
namespace {

constexpr std::size_t kLeastBytes = 16;
constexpr std::size_t kMostBytes = 4096;
constexpr std::string_view kCure = "give all ranks the same --secret FILE";

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw InputError(fmt::format("the secret {}: {}", path, why));
}

// Looked at through the descriptor, so that what was looked at is what is read.
void require_private(const Descriptor& file, const std::string& path) {
  struct stat about = {};
  if (fstat(file.get(), &about) != 0) refuse(path, std::strerror(errno));
  if (!S_ISREG(about.st_mode)) refuse(path, "is no regular file; expected one");
  if (about.st_uid != geteuid()) {
    refuse(path, fmt::format("belongs to user {}; expected a file of user {}, who runs this",
                             about.st_uid, geteuid()));
  }
  if ((about.st_mode & 077) != 0) {
    refuse(path, fmt::format("has mode {:03o}, so that others may read or write it; expected 600 "
                             "(chmod 600 FILE)",
                             about.st_mode & 0777));
  }
}

std::string read_all(const Descriptor& file, const std::string& path) {
  std::string text(kMostBytes + 1, '\0');
  std::size_t count = 0;
  while (count < text.size()) {
    const ssize_t got = read(file.get(), text.data() + count, text.size() - count);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(path, std::strerror(errno));
    if (got == 0) break;
    count += static_cast<std::size_t>(got);
  }
  text.resize(count);
  return text;
}

// Makes the file with drawn bytes in it, whole or not at all, if nobody else did. Several ranks may
// come at once: the first to give it its name wins.
void make(const std::string& path) {
  namespace fs = std::filesystem;
  const auto fail = [&](const char* what, int error) {
    throw EnvironmentError(
        fmt::format("the user's secret {}: {}: {}; {}", path, what, std::strerror(error), kCure));
  };
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  if (error) fail("its folder cannot be made", error.value());
  std::string aside = path + ".XXXXXX";
  const Descriptor file(mkostemp(aside.data(), O_CLOEXEC));  // of mode 600
  if (!file) fail("cannot be made", errno);
  std::string text = Secret::drawn_text() + '\n';
  const bool written =
      write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int why = errno;
  const bool named = written && (link(aside.c_str(), path.c_str()) == 0 || errno == EEXIST);
  const int why_not_named = errno;
  sodium_memzero(text.data(), text.size());
  unlink(aside.c_str());
  if (!written) fail("cannot be written", why);
  if (!named) fail("cannot be made", why_not_named);
}

}  // namespace

Secret Secret::random() {
  Secret secret;
  draw_bytes(secret.bytes_);
  return secret;
}

std::string Secret::drawn_text() {
  const Secret secret = random();
  std::string text(2 * kBytes + 1, '\0');  // with the zero that libsodium puts there
  sodium_bin2hex(text.data(), text.size(),
                 reinterpret_cast<const unsigned char*>(secret.bytes_.data()), kBytes);
  text.pop_back();
  return text;
}

bool Secret::is_drawn_text(std::string_view text) {
  return text.size() == 2 * kBytes && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

Secret Secret::of_text(std::string_view text) {
  Secret secret;
  crypto_generichash(reinterpret_cast<unsigned char*>(secret.bytes_.data()), kBytes,
                     reinterpret_cast<const unsigned char*>(text.data()), text.size(), nullptr, 0);
  return secret;
}

Secret Secret::of_file(const std::string& path) {
  // Not to wait for the other end of a pipe.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file)
    refuse(path, fmt::format("{}; expected a file with at least 16 bytes that nobody else knows",
                             std::strerror(errno)));
  require_private(file, path);
  std::string text = read_all(file, path);
  if (text.size() < kLeastBytes || text.size() > kMostBytes) {
    refuse(path, fmt::format("has {} bytes{}; expected {} to {}", std::min(text.size(), kMostBytes),
                             text.size() > kMostBytes ? " and more" : "", kLeastBytes, kMostBytes));
  }
  const Secret secret = of_text(text);
  sodium_memzero(text.data(), text.size());
  return secret;
}

Secret Secret::of_user() {
  const std::string path = path_of_users_secret();
  struct stat about = {};
  if (stat(path.c_str(), &about) != 0) make(path);
  return of_file(path);
}

Secret::~Secret() { sodium_memzero(bytes_.data(), kBytes); }

std::string path_of_users_secret() {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  if (config != nullptr && *config == '/') return fmt::format("{}/slackline/secret", config);
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return fmt::format("{}/.config/slackline/secret", home);
  throw EnvironmentError(
      fmt::format("there is no place for the user's secret, as HOME is not set; {}", kCure));
}

}  // namespace slackline::hw
