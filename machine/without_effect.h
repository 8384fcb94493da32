// Which entries of a delay plan change nothing. "This straggler costs nothing" is a wrong answer
// where it was never slow: so whoever is told a time is told of these, too.
#pragma once

#include <vector>

#include "machine/delays.h"
#include "machine/paths.h"
#include "machine/setting.h"

namespace slackline::machine {

/// Those entries of the setting's delays that change nothing of a run that ends at `end_s`;
/// infinity: the run does not end. No entry is named that might change something; one that changes
/// nothing by chance, as a rate that no message needs just then, is not named either. `paths` are
/// the setting's.
std::vector<IdleEntry> without_effect(const Setting& setting, const Paths& paths, double end_s);
/// The same, finding the paths if there are delays.
std::vector<IdleEntry> without_effect(const Setting& setting, double end_s);

}  // namespace slackline::machine
