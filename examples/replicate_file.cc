// Replicates a file to several receivers. When one of them is lost, a new group of the survivors is
// made and the file sent again, as the authors of RDMC propose (section 4.6).
//
//   replicate_file FILE --output FOLDER --receivers 4             all on this host
//   replicate_file FILE --output FOLDER --receivers 4 --kill 2    …and receiver 2 dies half-way
//   replicate_file FILE --output FOLDER --rank R --ranks N --root HOST:PORT    one of several
//   hosts;
//       rank 0 has FILE and listens at HOST:PORT, the others write FOLDER/receiver-R
//
// The root leads: it tells the survivors who they are, all make the group, and each tells the root
// afterwards whether it has the file. Ends with 0 if all survivors have it, 1 if the root was lost,
// 2 for wrong arguments or files, 3 if this machine lacks something.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/end_with_parent.h"
#include "base/error.h"
#include "base/units.h"
#include "hw/bytes.h"
#include "hw/descriptor.h"
#include "hw/group.h"
#include "hw/local_port.h"
#include "hw/mesh.h"
#include "hw/transports.h"
#include "sched/digest.h"

namespace slackline {
namespace {

// Topics of the mesh: the root says who is in the next attempt, or that all is over; a receiver
// says whether it has the file.
constexpr std::uint32_t kAttempt = 1;
constexpr std::uint32_t kOutcome = 2;

constexpr const char* kUsage =
    "usage: replicate_file FILE --output FOLDER [--receivers N] [--kill R] [--transport NAME]\n"
    "                      [--chunk BYTES] [--rank R --ranks N --root HOST:PORT]";

struct Arguments {
  std::string file;
  std::string output;
  std::string transport = "shm";
  std::uint32_t receivers = 3;
  std::optional<std::uint32_t> kill;
  std::uint64_t chunk = 4 << 20;
  std::optional<std::uint32_t> rank;
  std::uint32_t ranks = 0;
  std::string root;
};

Arguments parse(const std::vector<std::string>& words) {
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!word.starts_with("--")) {
      if (!arguments.file.empty()) throw InputError(kUsage);
      arguments.file = word;
      continue;
    }
    if (i + 1 == words.size()) throw InputError(kUsage);
    const std::string& value = words[++i];
    const auto count = [&](std::uint64_t low, std::uint64_t high) {
      return static_cast<std::uint32_t>(sched::parse_count(value, word, low, high));
    };
    if (word == "--output") {
      arguments.output = value;
    } else if (word == "--transport") {
      arguments.transport = value;
    } else if (word == "--root") {
      arguments.root = value;
    } else if (word == "--receivers") {
      arguments.receivers = count(1, 63);
    } else if (word == "--kill") {
      arguments.kill = count(1, 63);
    } else if (word == "--chunk") {
      arguments.chunk = sched::parse_count(value, word, 1, 0xffffffffu);
    } else if (word == "--rank") {
      arguments.rank = count(0, 63);
    } else if (word == "--ranks") {
      arguments.ranks = count(2, 64);
    } else {
      throw InputError(kUsage);
    }
  }
  if (arguments.file.empty() || arguments.output.empty()) throw InputError(kUsage);
  if (arguments.rank && (arguments.root.empty() || *arguments.rank >= arguments.ranks)) {
    throw InputError("--rank: expected --root and --ranks beside it, and a rank below --ranks");
  }
  if (!arguments.rank && arguments.kill && *arguments.kill > arguments.receivers) {
    throw InputError(fmt::format("--kill: no receiver {}", *arguments.kill));
  }
  return arguments;
}

/// A file in memory.
class MappedFile {
 public:
  /// To be read; what is written is nobody else's.
  explicit MappedFile(const std::string& path) {
    const hw::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!file || fstat(file.get(), &status) != 0) fail(path);
    map(path, file.get(), static_cast<std::size_t>(status.st_size), MAP_PRIVATE);
  }
  /// To be written, of so many bytes.
  MappedFile(const std::string& path, std::size_t bytes) {
    const hw::Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!file || ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) fail(path);
    map(path, file.get(), bytes, MAP_SHARED);
  }
  ~MappedFile() {
    if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  [[noreturn]] static void fail(const std::string& path) {
    throw InputError(fmt::format("{}: {}", path, std::strerror(errno)));
  }
  void map(const std::string& path, int file, std::size_t bytes, int flags) {
    if (bytes == 0) return;
    void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
    if (pages == MAP_FAILED) fail(path);
    bytes_ = {static_cast<std::byte*>(pages), bytes};
  }
  std::span<std::byte> bytes_;
};

sched::Digest digest_of(std::span<const std::byte> bytes) {
  constexpr std::size_t kPiece = 1 << 15;
  sched::DigestWriter writer;
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(kPiece, bytes.size()))) {
    writer.add_bytes(bytes.data(), std::min(kPiece, bytes.size()));
  }
  return writer.finish();
}

/// The first message of every attempt.
struct Header {
  std::uint64_t bytes = 0;
  sched::Digest digest;
};

void say(std::uint32_t rank, const std::string& line) {
  const std::string whole =
      rank == 0 ? fmt::format("root: {}\n", line) : fmt::format("receiver {}: {}\n", rank, line);
  static_cast<void>(!write(STDOUT_FILENO, whole.data(), whole.size()));
}

class Replication {
 public:
  Replication(const Arguments& arguments, hw::Mesh& mesh)
      : arguments_(arguments),
        mesh_(mesh),
        groups_(mesh, [&arguments] { return hw::make_transport(arguments.transport, {}); }) {}

  int run() { return mesh_.rank() == 0 ? lead() : follow(); }

 private:
  int lead() {
    MappedFile file(arguments_.file);
    Header header{file.bytes().size(), digest_of(file.bytes())};
    for (std::uint32_t attempt = 1;; ++attempt) {
      const std::vector<std::uint32_t> members = survivors();
      if (members.size() == 1) {
        say(0, "no receiver is left");
        return 1;
      }
      tell_attempt(members);
      say(0, fmt::format("attempt {}: {} bytes to receivers {}", attempt, header.bytes,
                         fmt::join(members.begin() + 1, members.end(), " ")));
      send_all(attempt, members, header, file.bytes());
      if (all_have_it(members)) {
        tell_attempt({});
        say(0, fmt::format("{} of {} receivers have {} (digest {}) after {} attempt{}",
                           members.size() - 1, mesh_.ranks() - 1, arguments_.file,
                           to_string(header.digest), attempt, attempt == 1 ? "" : "s"));
        return 0;
      }
    }
  }

  std::vector<std::uint32_t> survivors() const {
    std::set<std::uint32_t> lost;
    for (const hw::Loss& loss : mesh_.lost()) lost.insert(loss.rank);
    std::vector<std::uint32_t> members;
    for (std::uint32_t r = 0; r < mesh_.ranks(); ++r) {
      if (!lost.contains(r)) members.push_back(r);
    }
    return members;
  }

  void tell_attempt(const std::vector<std::uint32_t>& members) {
    hw::ByteWriter writer;
    writer.add_list(std::span<const std::uint32_t>(members));
    const hw::Bytes bytes = writer.take();
    for (std::uint32_t r = 1; r < mesh_.ranks(); ++r) mesh_.send(r, kAttempt, bytes);
  }

  void send_all(std::uint32_t id, const std::vector<std::uint32_t>& members, Header& header,
                std::span<std::byte> file) {
    try {
      groups_.create_group(id, members, {});
      try {
        groups_.send(id, std::as_writable_bytes(std::span(&header, 1)));
        for (std::size_t at = 0; at < file.size(); at += arguments_.chunk) {
          groups_.send(id, file.subspan(at, std::min(arguments_.chunk, file.size() - at)));
        }
      } catch (const hw::PeerLost&) {
        // destroy_group() tells.
      }
      const hw::GroupClosing closing = groups_.destroy_group(id);
      if (!closing.delivered) say(0, closing.why);
    } catch (const hw::PeerLost& lost) {
      say(0, lost.what());
    }
  }

  // Of the members that are still there; at least one.
  bool all_have_it(const std::vector<std::uint32_t>& members) {
    bool all = true;
    bool any = false;
    for (const std::uint32_t rank : members) {
      if (rank == 0) continue;
      const auto outcome = mesh_.receive_within(std::chrono::seconds(60), rank, kOutcome);
      if (!outcome) continue;  // lost
      all = all && hw::ByteReader(*outcome).flag();
      any = true;
    }
    return all && any && survivors() == members;
  }

  int follow() {
    for (std::uint32_t attempt = 1;; ++attempt) {
      const auto told = mesh_.receive_within(std::chrono::seconds(600), 0, kAttempt);
      if (!told) {
        say(mesh_.rank(), "the root was lost");
        return 1;
      }
      const auto members = hw::ByteReader(*told).list<std::uint32_t>();
      if (members.empty()) return 0;
      const bool has_it = receive_all(attempt, members);
      hw::ByteWriter writer;
      writer.add(has_it);
      mesh_.send(0, kOutcome, writer.take());
    }
  }

  bool receive_all(std::uint32_t id, const std::vector<std::uint32_t>& members) {
    const std::string path = fmt::format("{}/receiver-{}", arguments_.output, mesh_.rank());
    Header header;
    std::optional<MappedFile> file;
    std::uint64_t coming = 0;
    std::uint64_t come = 0;
    bool has_header = false;
    hw::GroupCallbacks callbacks;
    callbacks.incoming = [&](std::size_t bytes) {
      if (!has_header) return std::as_writable_bytes(std::span(&header, 1));
      const std::uint64_t at = std::exchange(coming, coming + bytes);
      return at + bytes > header.bytes ? std::span<std::byte>() : file->bytes().subspan(at, bytes);
    };
    callbacks.completion = [&](std::span<std::byte> message) {
      if (!std::exchange(has_header, true)) {
        file.emplace(path, header.bytes);
        return;
      }
      come += message.size();
      if (arguments_.kill == mesh_.rank() && come >= header.bytes / 2) raise(SIGKILL);
    };
    try {
      groups_.create_group(id, members, callbacks);
      const hw::GroupClosing closing = groups_.destroy_group(id);
      if (!closing.delivered) say(mesh_.rank(), closing.why);
    } catch (const hw::PeerLost& lost) {
      say(mesh_.rank(), lost.what());
      return false;
    }
    if (!has_header || come != header.bytes) return false;
    const sched::Digest digest = digest_of(file->bytes());
    const bool right = digest == header.digest;
    say(mesh_.rank(), fmt::format("{}: {} bytes, digest {}, {}", path, header.bytes,
                                  to_string(digest), right ? "right" : "WRONG"));
    return right;
  }

  const Arguments& arguments_;
  hw::Mesh& mesh_;
  hw::Groups groups_;
};

int be_rank(const Arguments& arguments, const hw::MeshOptions& options) {
  try {
    hw::Mesh mesh(options);
    return Replication(arguments, mesh).run();
  } catch (const Error& error) {
    say(options.rank, error.what());
    return error.exit_code();
  } catch (const std::exception& error) {
    say(options.rank, error.what());
    return 70;
  }
}

// Receivers are processes of their own; this one is the root.
int run_here(const Arguments& arguments) {
  const hw::LocalPort port;
  hw::MeshOptions options;
  options.ranks = arguments.receivers + 1;
  options.root = port.address();
  options.root_socket = port.socket();
  options.secret = hw::Secret::random();
  std::vector<pid_t> receivers;
  for (options.rank = 1; options.rank < options.ranks; ++options.rank) {
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0) throw EnvironmentError(fmt::format("fork: {}", std::strerror(errno)));
    if (pid == 0) {
      sched::end_with_parent(parent);
      _exit(be_rank(arguments, options));
    }
    receivers.push_back(pid);
  }
  options.rank = 0;
  const int status = be_rank(arguments, options);
  for (const pid_t receiver : receivers) waitpid(receiver, nullptr, 0);
  return status;
}

int run(const Arguments& arguments) {
  if (!std::filesystem::is_directory(arguments.output)) {
    throw InputError(fmt::format("--output: {} is no folder", arguments.output));
  }
  if (!arguments.rank) return run_here(arguments);
  hw::MeshOptions options;
  options.rank = *arguments.rank;
  options.ranks = arguments.ranks;
  options.root = arguments.root;
  options.secret = hw::Secret::of_user();
  return be_rank(arguments, options);
}

}  // namespace
}  // namespace slackline

int main(int argc, char** argv) {
  try {
    return slackline::run(slackline::parse({argv + 1, argv + argc}));
  } catch (const slackline::Error& error) {
    fmt::print(stderr, "replicate_file: {}\n", error.what());
    return error.exit_code();
  }
}
