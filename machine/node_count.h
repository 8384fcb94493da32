// How many nodes there are to put ranks on.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "machine/platform.h"

namespace slackline::machine {

/// The nodes of the machine that the platform stands for: the hosts of its network, or, of a star
/// with the name of a preset, what the preset's file says. Nothing where nobody said: a star has a
/// host for every rank, and the hosts of a SimGrid file only SimGrid knows.
///
/// A run on a star may take more nodes than this, since a switch of full speed is as easily thought
/// of with more ports; who reports such a run has to say so. Of any other network it may not.
std::optional<std::uint32_t> node_count(const Platform& platform);

/// What the file of the preset of that name says; nothing if there is none.
std::optional<std::uint32_t> nodes_of_preset(std::string_view name);

}  // namespace slackline::machine
