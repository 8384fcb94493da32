// The figures of a platform, as data: how each is called and read in the inline spec and in a file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/platform.h"

namespace slackline::machine {

/// What a file may write a figure as, beside a text.
enum class FigureForm : std::uint8_t { kText, kWhole, kDecimal, kList };

struct PlatformFigure {
  std::string_view key;       // in the inline spec
  std::string_view section;   // the table of a file that it stands in…
  std::string_view toml_key;  // …and its key there
  std::string_view expected;  // "a rate such as \"100Gbps\""
  /// Reads the value. Throws InputError, naming `what`.
  void (*set)(Platform&, std::string_view text, std::string_view what);
  /// Empty: spec() leaves it out.
  std::string (*get)(const Platform&);
  FigureForm form = FigureForm::kText;
  std::span<const std::string_view> excludes = {};  // keys that cannot stand beside it
  std::string_view meaning = {};                    // "CPU time to post an operation"; never empty
};
/// The figure, with its meaning in a line of `slackline list figures`.
constexpr PlatformFigure meaning(std::string_view text, PlatformFigure figure) {
  figure.meaning = text;
  return figure;
}

/// Those that platforms have whatever their topology, in the order of Platform::spec().
std::span<const PlatformFigure> platform_figures();
/// The topology's own, then those of every platform that belong to it.
std::vector<const PlatformFigure*> figures_of(const Topology& topology);

/// Whether a figure that other platforms have, as "rate", does not belong to this topology.
bool is_without(const Topology& topology, std::string_view key);

/// Sets the topology that `text` names, without figures. Throws InputError, naming `what`.
void set_topology(Platform& platform, std::string_view text, std::string_view what);

/// Throws InputError, naming `where`, if a figure of `given` excludes another one.
void check_exclusions(std::span<const PlatformFigure* const> given, std::string_view where);

/// Throws InputError, naming `where`: no figure of the platform's has that key.
[[noreturn]] void refuse_key(const Platform& platform, std::string_view key,
                             std::string_view where);
/// Whether some other topology has a figure of that key.
bool is_key_of_another_topology(const Platform& platform, std::string_view key);

}  // namespace slackline::machine
