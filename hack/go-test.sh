#!/usr/bin/env bash
# Runs a package's tests, and prints what they say of themselves in the end: hack/go-test.sh PACKAGE ARGUMENT…
# Where they fail, everything is printed.
set -euo pipefail
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! go test -count=1 -v "$@" > "$log" 2>&1; then
  grep -vE '^ *(=== |--- PASS|--- SKIP)' "$log" || true
  exit 1
fi
grep -E '^(agents|attacks|documents|engines|faults|fewer tools|five minutes|not run|oracle|permissions|schemas|times|twins)[:,]' "$log" || tail -1 "$log"
