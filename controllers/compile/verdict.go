package compile

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// Verdicts are the results for each object that belongs to the endpoint.
type Verdicts struct {
	Endpoint  Verdict
	Exposures map[types.NamespacedName]Verdict
	Tokens    map[types.NamespacedName]TokenVerdict
	// LookAgain is the earliest moment at which Compile would answer differently for its clock alone; zero is never.
	LookAgain time.Time
}

// Verdict is the result for one object.
type Verdict struct {
	// Accepted reports whether the object is as it may be. For a token it does not say that it can be used: see InForce.
	Accepted bool
	// Reason is one of v1alpha1.Reason…; Message says more, and names no secret.
	Reason, Message string
	// Lack names what the object waits for though it is accepted; everything that does not need it is served. The zero Lack
	// is nothing.
	Lack Lack
	// Notes say which rights reach nothing, though the object is accepted.
	Notes []string
	// Revision is the first revision of the Config that held the object's present entry; 0 if it has none.
	Revision int64
}

// Lack says what is missing of an object that is accepted.
type Lack struct {
	// Reason is one of v1alpha1.Reason…; Message names what is missing, and tells no secret.
	Reason, Message string
}

// TokenVerdict is the result for a token.
type TokenVerdict struct {
	Verdict
	// InForce reports whether the Config lets the token's holder in.
	InForce bool
}

func accepted() Verdict { return Verdict{Accepted: true, Reason: v1alpha1.ReasonAccepted} }

func invalid(err error) Verdict { return Verdict{Reason: v1alpha1.ReasonInvalid, Message: err.Error()} }

func conflicted(message string) Verdict {
	return Verdict{Reason: v1alpha1.ReasonConflicted, Message: message}
}

// waitsFor is the verdict on what refers to an endpoint that cannot be served.
func waitsFor(e *v1alpha1.MCPEndpoint, verdict Verdict) Verdict {
	return Verdict{
		Reason:  v1alpha1.ReasonEndpointInvalid,
		Message: "MCPEndpoint " + e.Name + " is not valid: " + verdict.Message,
	}
}
