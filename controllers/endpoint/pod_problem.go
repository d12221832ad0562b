package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/observe"
	"github.com/mcp-admin/mcp-admin-operator/controllers/podproblem"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// podProblem says why the server's pods are missing or do not run, as far as Kubernetes tells. It begins with a colon,
// and is "" if Kubernetes tells nothing. It leaves out what differs between two attempts, so that the text stays the
// same as long as the problem does.
func podProblem(e *v1alpha1.MCPEndpoint, d *appsv1.Deployment, pods []corev1.Pod) string {
	if failure := deploymentCondition(d, appsv1.DeploymentReplicaFailure); failure != nil && failure.Status == corev1.ConditionTrue {
		return ": " + failure.Message
	}
	for i := range pods {
		if observe.IsReady(&pods[i]) {
			continue
		}
		if why := podproblem.Of(&pods[i]); why != "" {
			return ": " + why + fieldOfClaim(e, why)
		}
	}
	return ""
}

// fieldOfClaim names the field with the claim that a text says is missing, in parentheses; "" if it says so of none of the endpoint's.
func fieldOfClaim(e *v1alpha1.MCPEndpoint, text string) string {
	claims := map[string]string{}
	if files := e.Spec.Observability.Audit.Files; files != nil {
		claims["spec.observability.audit.files.claimRef"] = files.ClaimRef.Name
	}
	if sqlite := e.Spec.Database.SQLite; sqlite != nil && sqlite.Claim != nil {
		claims["spec.database.sqlite.claim"] = sqlite.Claim.Name
	}
	if duckdb := e.Spec.Database.DuckDB; duckdb != nil {
		claims["spec.database.duckdb.claim"] = duckdb.Claim.Name
	}
	for field, claim := range claims {
		if strings.Contains(text, fmt.Sprintf("persistentvolumeclaim %q not found", claim)) {
			return " (" + field + ")"
		}
	}
	return ""
}

// refusal says why the API server did not take an object: with its own message if it refuses for good, which a quota, a
// policy or a missing right does. The texts of other errors may differ each time, so only what stays is said of them; the
// error is logged.
func refusal(err error) string {
	var answer apierrors.APIStatus
	var transport *url.Error
	switch {
	case errors.As(err, &answer) && (apierrors.IsForbidden(err) || apierrors.IsBadRequest(err)):
		return ": " + answer.Status().Message
	case errors.As(err, &answer) && answer.Status().Code >= http.StatusInternalServerError:
		status := answer.Status()
		if webhook := failedWebhook.FindString(status.Message); webhook != "" {
			return ": " + webhook
		}
		return fmt.Sprintf(": the API server answers %d %s", status.Code, status.Reason)
	case errors.As(err, &transport), errors.Is(err, context.DeadlineExceeded):
		return ": the API server does not answer"
	}
	return ""
}

// failedWebhook is how the API server begins to tell of an admission webhook that it could not ask.
var failedWebhook = regexp.MustCompile(`failed calling webhook "[^"]*"`)
