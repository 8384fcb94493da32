// The list of engines.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "machine/engine.h"

namespace slackline::engines {

/// Every engine of this build.
std::span<const machine::Engine* const> engines();

/// The names of them, and of those that this build was made without, with `between` them and
/// `last` before the last.
std::string engine_names(std::string_view between, std::string_view last);

/// Null for an unknown name, and for an engine that this build was made without.
const machine::Engine* find_engine(std::string_view name);

/// Throws InputError on an unknown name, EnvironmentError on one that this build was made without;
/// both name the option that it was given to.
const machine::Engine& engine_named(std::string_view name, std::string_view option = "--engine");

}  // namespace slackline::engines
