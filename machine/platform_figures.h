// The figures of a platform, as data: how each is called and read in the inline spec and in a file.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "machine/platform.h"

namespace slackline::machine {

struct PlatformFigure {
  std::string_view key;       // in the inline spec
  std::string_view section;   // the table of a file that it stands in…
  std::string_view toml_key;  // …and its key there
  std::string_view expected;  // "a rate such as \"100Gbps\""
  /// Reads the value. Throws InputError, naming `what`.
  void (*set)(Platform&, std::string_view text, std::string_view what);
  std::string (*get)(const Platform&);
};

/// In the order of Platform::spec().
std::span<const PlatformFigure> platform_figures();

std::string_view name(TopologyKind kind);
/// Sets the topology that `text` names. Throws InputError, naming `what`.
void set_topology(Platform& platform, std::string_view text, std::string_view what);

}  // namespace slackline::machine
