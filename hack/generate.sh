#!/usr/bin/env bash
# generate.sh makes what is generated from the Go types and their markers: deep copies, apply configurations, the CRDs
# and the manager's role; copies the CRDs, the roles, the alerts and the dashboards into the Helm chart, writes the newest version
# of CHANGELOG.md into what is installed, the chart's table of values into its README, the field reference and the list of metrics.
#   hack/generate.sh [FOLDER]     the project's folder, or a copy of it
set -euo pipefail
generator=$PWD/bin/controller-gen
cd "${1:-.}"
"$generator" object paths=./api/...
"$generator" applyconfiguration paths=./api/...
"$generator" crd output:crd:artifacts:config=config/crd/bases paths=./api/...
# The pattern of Kubernetes' quantities lets exponents such as 1e1.5 through, which no Go program can decode: one such object would
# keep the manager from reading any of its kind.
sed -i 's/(\[eE\](\\+|-)?((\[0-9\]+(\\\.\[0-9\]\*)?)|(\\\.\[0-9\]+)))/([eE](\\+|-)?[0-9]+)/' config/crd/bases/*.yaml
rm -f config/rbac/role.yaml
"$generator" rbac:roleName=mcp-admin-manager output:rbac:artifacts:config=config/rbac paths=./controllers/...
[ -f config/rbac/role.yaml ] || {
  echo "generate: no +kubebuilder:rbac markers found; controller-gen sees none inside a function's own comment" >&2
  exit 1
}

chart=charts/mcp-admin-operator/files
mkdir -p $chart/crds
cp config/crd/bases/*.yaml $chart/crds/
cp config/rbac/{role,leader_election_role,editor_role,viewer_role}.yaml $chart/
cp config/admission-policy/policies.yaml $chart/admission_policies.yaml
cp config/approval-policy/policy.yaml $chart/approval_policy.yaml
cp config/approval-policy/reader_role.yaml $chart/approval_policy_reader.yaml
cp config/approval-policy/approver_role.yaml $chart/
mkdir -p $chart/dashboards
cp config/monitoring/rules.yaml $chart/
cp config/monitoring/dashboards/*.json $chart/dashboards/

hack/stamp.sh "$(hack/version.sh newest)"
go run ./hack/values charts/mcp-admin-operator
go run ./hack/reference
go run ./hack/metrics
