package controllers

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func init() { foreignRetry = time.Hour }

// GatherTime is how long an addition waits for others at least.
const GatherTime = gatherTime

// Tables are the conditions of each kind.
var Tables = map[string]conditionTable{
	"MCPEndpoint": endpointConditions, "MCPModelExposure": exposureConditions, "MCPToken": tokenConditions,
}

// OutcomeOf is the outcome of a reason (docs/design/controllers.md, "Conditions").
func OutcomeOf(reason string) string {
	return map[outcome]string{trouble: "trouble", interruption: "interruption", waiting: "waiting", final: "final"}[outcomes[reason]]
}

// SummariseFailing are the conditions of an object if one condition is False for a reason, and the others are True.
func SummariseFailing(kind string, obj metav1.Object, failing, reason string) []metav1.Condition {
	found := findings{}
	for _, conditionType := range Tables[kind] {
		found[conditionType] = holds("Fine", "")
	}
	if failing != "" {
		found[failing] = fails(reason, "it fails")
	}
	return Tables[kind].summarise(obj, nil, found, holds(reason, ""))
}
