#!/usr/bin/env bash
# version.sh prints what a build of this checkout calls itself. It can be an image's tag, and without its "v" a chart's
# version (Semantic Versioning).
#   hack/version.sh            VERSION if it is set; else the tag, or the tag and what came since ("git describe");
#                              without a tag, or without git, the newest version of CHANGELOG.md with a suffix
#   hack/version.sh newest     the newest version of CHANGELOG.md, which the manifests and the chart name
set -euo pipefail
cd "$(dirname "$0")/.."

newest() {
  local version
  version=$(sed -nE 's/^## \[?v?([0-9]+\.[0-9]+\.[0-9]+[-0-9A-Za-z.]*).*/\1/p' CHANGELOG.md | head -1)
  [ -n "$version" ] || { echo "version: CHANGELOG.md has no heading with a version, such as \"## 0.1.0\"" >&2; return 1; }
  echo "v$version"
}

# describe asks git, unless the files only lie in a folder of another repository.
describe() {
  [ -z "$(git rev-parse --show-prefix)" ] && git describe --dirty "$@"
}

if [ "${1:-}" = newest ]; then
  newest
elif [ -n "${VERSION:-}" ]; then
  echo "$VERSION"
elif described=$(describe --tags --match 'v[0-9]*' 2>/dev/null); then
  echo "$described"
elif commit=$(describe --always --exclude '*' 2>/dev/null); then
  echo "$(newest)-g$commit"
else
  echo "$(newest)-unknown"
fi
