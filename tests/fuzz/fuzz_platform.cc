// Any text, read as a platform: an inline spec, a preset's overrides and a file. Only our own
// errors may come out, of one line each; what is read must survive its canonical text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "machine/platform.h"
#include "sched/error.h"

namespace {

using slackline::machine::Platform;

template <class Read>
void read(Read&& reader) {
  try {
    const Platform platform = reader();
    const std::string spec = platform.spec();
    if (slackline::machine::parse_platform_spec(spec).spec() != spec) std::abort();
  } catch (const slackline::Error& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
    if (error.exit_code() != 2) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read([&] { return slackline::machine::parse_platform_spec(text); });
  // A preset before the colon, so that no text is taken for a file's path.
  read([&] { return slackline::machine::load_platform("fractus:" + text); });
  read([&] { return slackline::machine::platform_from_toml(text, "fuzz.toml"); });
  return 0;
}
