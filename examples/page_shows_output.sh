#!/usr/bin/env bash
# usage: page_shows_output.sh PAGE PROGRAM: the page's block fenced as `text` that begins with the line
# `$ NAME` of the program is what it prints, and it ends with 0.
set -euo pipefail
printed="$("$2")"
awk -v command="\$ $(basename "$2")" \
  '$0 == command { on = 1; next } on && $0 == "```" { exit } on' "$1" | diff - <(echo "$printed")
