// What goes into a report's document, section by section; each is a source of its own.
#pragma once

#include "report/report.h"
#include "report/ticks.h"

namespace slackline::report {

struct Document;  // report/document.h

/// Adds what it knows of the report; nothing if the report has nothing of it.
using Section = void (*)(const Report& report, const Ticks& ticks, Document& document);

void add_schedule(const Report& report, const Ticks& ticks, Document& document);
void add_runs(const Report& report, const Ticks& ticks, Document& document);
void add_links(const Report& report, const Ticks& ticks, Document& document);
void add_samples(const Report& report, const Ticks& ticks, Document& document);
void add_validation(const Report& report, const Ticks& ticks, Document& document);

}  // namespace slackline::report
