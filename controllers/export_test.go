package controllers

import (
	"time"

	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
	"github.com/mcp-admin/mcp-admin-operator/controllers/program"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func init() { cluster.ForeignRetry = time.Hour }

// GatherTime is how long an addition waits for others at least.
const GatherTime = program.GatherTime

// Tables are the conditions of each kind.
var Tables = map[string]condition.Table{
	"MCPEndpoint": condition.EndpointConditions, "MCPModelExposure": condition.ExposureConditions, "MCPToken": condition.TokenConditions,
}

// OutcomeOf is the outcome of a reason (docs/design/conditions.md, "Reasons and outcomes").
func OutcomeOf(reason string) string {
	return map[condition.Outcome]string{condition.Trouble: "trouble", condition.Interruption: "interruption", condition.Waiting: "waiting", condition.Final: "final"}[condition.Outcomes[reason]]
}

// SummariseFailing are the conditions of an object if one condition is False for a reason, and the others are True.
func SummariseFailing(kind string, obj metav1.Object, failing, reason string) []metav1.Condition {
	found := condition.Findings{}
	for _, conditionType := range Tables[kind] {
		found[conditionType] = condition.Holds("Fine", "")
	}
	if failing != "" {
		found[failing] = condition.Fails(reason, "it fails")
	}
	return Tables[kind].Summarise(obj, nil, found, condition.Holds(reason, ""))
}
