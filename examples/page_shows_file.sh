#!/usr/bin/env bash
# usage: page_shows_file.sh PAGE FILE: the page's block fenced as `cpp file=NAME` is the file.
set -euo pipefail
awk -v fence="\`\`\`cpp file=$(basename "$2")" \
  '$0 == fence { on = 1; next } on && $0 == "```" { exit } on' "$1" | diff - "$2"
