package doctor

import (
	"fmt"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// commands are the commands that help with a reason, by kubectl's words after "kubectl". NAME, NAMESPACE, KIND, WORKLOAD
// and DATABASE (the Secret with the connection) stand for the object's. A reason that is not here, or that needs what the
// object does not have, is described.
var commands = map[string]string{
	v1alpha1.ReasonInvalid:              "edit KIND NAME -n NAMESPACE",
	v1alpha1.ReasonConflicted:           "get KIND -n NAMESPACE",
	v1alpha1.ReasonEndpointNotFound:     "get mcpendpoints -A",
	v1alpha1.ReasonEndpointInvalid:      "get mcpendpoints -n NAMESPACE -o wide",
	v1alpha1.ReasonGroupNotFound:        "edit KIND NAME -n NAMESPACE",
	v1alpha1.ReasonIssuerNotFound:       "edit KIND NAME -n NAMESPACE",
	v1alpha1.ReasonAudienceMissing:      "edit KIND NAME -n NAMESPACE",
	v1alpha1.ReasonSecretNotFound:       "get secrets -n NAMESPACE",
	v1alpha1.ReasonSecretKeyMissing:     "get secrets -n NAMESPACE",
	v1alpha1.ReasonConfigMapNotFound:    "get configmaps -n NAMESPACE",
	v1alpha1.ReasonImageNotAllowed:      "edit KIND NAME -n NAMESPACE",
	v1alpha1.ReasonDuckDBImageMissing:   "edit KIND NAME -n NAMESPACE",
	v1alpha1.ReasonPodTemplateInvalid:   "edit KIND NAME -n NAMESPACE",
	v1alpha1.ReasonWaitingForPods:       "get pods -n NAMESPACE -l mcpadmin.dev/component=server",
	v1alpha1.ReasonWaitingForReport:     "get pods -n NAMESPACE -l mcpadmin.dev/component=server",
	v1alpha1.ReasonRemovalPending:       "get pods -n NAMESPACE -l mcpadmin.dev/component=server",
	v1alpha1.ReasonRollingOut:           "rollout status deployment/WORKLOAD -n NAMESPACE",
	v1alpha1.ReasonUnavailable:          "describe deployment WORKLOAD -n NAMESPACE",
	v1alpha1.ReasonScaledToZero:         "scale mcpendpoint NAME -n NAMESPACE --replicas=1",
	v1alpha1.ReasonConfigRefused:        "logs deployment/WORKLOAD -n NAMESPACE",
	v1alpha1.ReasonPaused:               "annotate KIND NAME -n NAMESPACE " + v1alpha1.PausedAnnotation + "-",
	v1alpha1.ReasonAuditUnavailable:     "logs deployment/WORKLOAD -n NAMESPACE",
	v1alpha1.ReasonAuditLinesFailing:    "logs deployment/WORKLOAD -n NAMESPACE",
	v1alpha1.ReasonRouteNotAccepted:     "describe httproute WORKLOAD -n NAMESPACE",
	v1alpha1.ReasonWaitingForGateway:    "get gateways -A",
	v1alpha1.ReasonWaitingForAddress:    "get ingresses,services -n NAMESPACE",
	contract.ReasonSecretIncomplete:     "edit secret DATABASE -n NAMESPACE",
	contract.ReasonAuthenticationFailed: "edit secret DATABASE -n NAMESPACE",
	contract.ReasonDatabaseNotFound:     "edit secret DATABASE -n NAMESPACE",
	contract.ReasonUnreachable:          "logs deployment/WORKLOAD -n NAMESPACE",
	contract.ReasonTLSFailed:            "logs deployment/WORKLOAD -n NAMESPACE",
	contract.ReasonInitFailed:           "logs deployment/WORKLOAD -n NAMESPACE",
	contract.ReasonDatabaseError:        "logs deployment/WORKLOAD -n NAMESPACE",
	contract.ReasonTableNotFound:        "edit KIND NAME -n NAMESPACE",
	contract.ReasonFieldNotFound:        "edit KIND NAME -n NAMESPACE",
	contract.ReasonFieldNotAllowed:      "edit KIND NAME -n NAMESPACE",
	contract.ReasonSchemaNotFound:       "edit KIND NAME -n NAMESPACE",
}

// command returns the command that helps with a reason of an object.
func command(s subject, reason string) string {
	template, known := commands[reason]
	if !known || s.workload == "" && strings.Contains(template, "WORKLOAD") || s.secret == "" && strings.Contains(template, "DATABASE") {
		return s.describe()
	}
	return "kubectl " + strings.NewReplacer("NAMESPACE", s.object.GetNamespace(), "NAME", s.object.GetName(),
		"KIND", strings.ToLower(s.kind), "WORKLOAD", s.workload, "DATABASE", s.secret).Replace(template)
}

func (s subject) describe() string {
	return fmt.Sprintf("kubectl describe %s %s -n %s", strings.ToLower(s.kind), s.object.GetName(), s.object.GetNamespace())
}
