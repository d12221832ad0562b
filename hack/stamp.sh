#!/usr/bin/env bash
# stamp.sh writes a version into what is installed: the tags of the images in config/default, and the chart's version and
# images.
#   hack/stamp.sh VERSION [FOLDER]     such as v1.2.3; the project's folder, or a copy of it
set -euo pipefail
version=$1
cd "${2:-.}"
sed -i -E "s/^( *newTag: ).*/\1$version/" config/default/kustomization.yaml
sed -i -E "s/^version: .*/version: ${version#v}/; s/^appVersion: .*/appVersion: $version/; s|(image: ghcr.io/mcp-admin/[a-z-]+):.*|\1:$version|" \
  charts/mcp-admin-operator/Chart.yaml
