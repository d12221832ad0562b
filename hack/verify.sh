#!/usr/bin/env bash
# verify.sh is silent where the generated files are those that the sources give; else it shows the difference and fails.
set -euo pipefail
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
tar -c --exclude=node_modules --exclude=./bin --exclude=./.git --exclude=./.local --exclude=./dist . | tar -x -C "$copy"

# What is no longer generated must not be there either.
chart=charts/mcp-admin-operator/files
rm -rf "$copy"/api/v1alpha1/{applyconfiguration,zz_generated.deepcopy.go} "$copy"/config/{crd/bases,rbac/role.yaml} "$copy"/$chart \
  "$copy"/docs/{reference.md,metrics.md,schemas}
mkdir "$copy"/$chart
hack/generate.sh "$copy"

for part in api config charts docs/reference.md docs/metrics.md docs/schemas; do
  if ! diff -ruN "$part" "$copy/$part"; then
    echo "verify: $part is not what the sources give; run \"make generate\"" >&2
    failed=yes
  fi
done
[ -z "${failed:-}" ]
