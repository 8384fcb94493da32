// Numbers without rounding.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>

namespace slackline::testing {

using Rational = boost::multiprecision::cpp_rational;

}  // namespace slackline::testing
