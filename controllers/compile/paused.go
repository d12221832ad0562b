package compile

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// pauses tells which additions wait because their object or its endpoint is paused. What the previous Config has in force
// stays so, and its changes are let through, since a change may take rights away (docs/design/controllers.md, "Pausing").
type pauses struct {
	in       Inputs
	previous entries
}

func newPauses(in Inputs) pauses {
	p := pauses{in: in}
	if in.Previous != nil {
		p.previous = indexed(in.Previous)
	}
	return p
}

// token returns the verdict about a token that must not be put in force yet; nil if nothing holds it up.
func (p pauses) token(t *v1alpha1.MCPToken) *Verdict {
	entry := p.previous.tokens[[3]string{t.Namespace, t.Name, string(t.UID)}]
	return p.held("MCPToken", t, len(entry.Hashes) > 0, t.Status.Revision)
}

// exposure returns the verdict about an exposure that must not be added yet; nil if nothing holds it up.
func (p pauses) exposure(e *v1alpha1.MCPModelExposure) *Verdict {
	_, was := p.previous.models[[2]string{e.Name, string(e.UID)}]
	return p.held("MCPModelExposure", e, was, e.Status.Revision)
}

// held is the verdict about a paused object that the previous Config does not have in force. If there is no previous
// Config, the revision in the object's status tells that it was in one.
func (p pauses) held(kind string, obj metav1.Object, was bool, revision int64) *Verdict {
	var paused string
	switch {
	case was, p.in.Previous == nil && revision > 0:
		return nil
	case v1alpha1.IsPaused(p.in.Endpoint):
		paused = "MCPEndpoint " + p.in.Endpoint.Name
	case v1alpha1.IsPaused(obj):
		paused = kind + " " + obj.GetName()
	default:
		return nil
	}
	return &Verdict{
		Reason:  v1alpha1.ReasonPaused,
		Message: fmt.Sprintf("%s is paused, so nothing is added; remove its annotation %s", paused, v1alpha1.PausedAnnotation),
	}
}
