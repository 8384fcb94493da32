// Where the marks of an axis stand.
#pragma once

namespace slackline::base {

/// The distance of marks on an axis of this length, above 0: 1, 2 or 5 times a power of ten, so
/// that there are 5 to 12 of them.
double axis_step(double length);

}  // namespace slackline::base
