#!/usr/bin/env bash
# go-build.sh builds one program from a Go module of its own, and shows how far it is.
#   hack/go-build.sh MODULE_FOLDER OUTPUT PACKAGE [LDFLAGS [TAGS]]
# OUTPUT is relative to where it is called; it is replaced at once, so that a program that runs may be built anew.
set -euo pipefail
folder=$1 output=$PWD/$2 package=$3 ldflags="-s -w ${4:-}" tags=${5:-}
mkdir -p "$(dirname "$output")"
cd "$folder"
packages=$(go list -deps -tags "$tags" "$package" | wc -l)
# With -v, go names each package that it compiles on a line of its own; anything else is an error's text.
CGO_ENABLED=0 go build -v -buildvcs=false -tags "$tags" -ldflags "$ldflags" -o "$output.new" "$package" 2>&1 |
  awk -v all="$packages" '/^[^ :#]+$/ { if (++n % 200 == 0) { print "  " n " of " all " packages"; fflush() } next } { print }'
mv "$output.new" "$output"
