package cluster

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	approvalpolicy "github.com/mcp-admin/mcp-admin-operator/config/approval-policy"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const (
	// policyRest is how long what was seen of the admission policy holds.
	policyRest = 10 * time.Second
	// policyGrace is how long it holds if the API server does not answer, and policyPatience how long an answer may take: what takes access
	// away may wait for it.
	policyGrace, policyPatience = time.Minute, 3 * time.Second
	// policyLag is how long after it was made every API server has the policy in force.
	policyLag = 5 * time.Second
)

// ApprovalPolicy tells whether the API server checks who decides about approvals: whether the admission policy and its binding are there as
// they are shipped. It is safe for concurrent use.
type ApprovalPolicy struct {
	// Live reads from the API server.
	Live client.Client
	Now  func() time.Time
	// Rest is how long what was seen holds; 0 is 10 seconds.
	Rest time.Duration

	mu   sync.Mutex
	user string
	seen compile.PolicyForce
	at   time.Time
	// versions are those of the policy and its binding as they were seen last, by kind.
	versions map[string]seenVersion
}

// seenVersion is a version of an object's spec, and when it was seen first.
type seenVersion struct {
	uid        types.UID
	generation int64
	at         time.Time
}

// Force tells whether decisions are checked, as it was at most 10 seconds ago, or a minute if the API server does not tell. If one of the
// approvals has a decision that its status does not tell of yet, it is as it is now: the policy may have been weakened just before.
func (p *ApprovalPolicy) Force(ctx context.Context, approvals ...*v1alpha1.MCPApproval) compile.PolicyForce {
	p.mu.Lock()
	defer p.mu.Unlock()
	isNew := slices.ContainsFunc(approvals, hasNewDecision)
	rest := p.Rest
	if rest == 0 {
		rest = policyRest
	}
	if !isNew && !p.at.IsZero() && p.Now().Sub(p.at) < rest {
		return p.seen
	}
	ctx, cancel := context.WithTimeout(ctx, policyPatience)
	defer cancel()
	force, err := p.look(ctx)
	switch {
	case err == nil:
		p.seen, p.at = force, p.Now()
	case isNew || p.at.IsZero() || p.Now().Sub(p.at) >= policyGrace:
		return compile.PolicyForce{Problem: "whether the admission policy is installed is not known: " + err.Error()}
	}
	return p.seen
}

func hasNewDecision(a *v1alpha1.MCPApproval) bool {
	return slices.ContainsFunc(a.Spec.Decisions, func(d v1alpha1.ApprovalDecision) bool {
		return !slices.ContainsFunc(a.Status.Decisions, func(seen v1alpha1.ApprovalDecisionStatus) bool { return seen.DecidedBy == d.DecidedBy })
	})
}

// look asks the API server.
func (p *ApprovalPolicy) look(ctx context.Context) (compile.PolicyForce, error) {
	if p.user == "" {
		review := &authenticationv1.SelfSubjectReview{}
		if err := p.Live.Create(ctx, review); err != nil {
			return compile.PolicyForce{}, fmt.Errorf("asking who the manager is: %w", err)
		}
		p.user = review.Status.UserInfo.Username
	}
	policy, binding, err := shippedPolicy(p.user)
	if err != nil {
		return compile.PolicyForce{}, err
	}
	foundPolicy, foundBinding := &admissionv1.ValidatingAdmissionPolicy{}, &admissionv1.ValidatingAdmissionPolicyBinding{}
	problem := ""
	for _, of := range []struct {
		kind string
		into client.Object
	}{{"ValidatingAdmissionPolicy", foundPolicy}, {"ValidatingAdmissionPolicyBinding", foundBinding}} {
		said := ""
		switch err := p.Live.Get(ctx, types.NamespacedName{Name: approvalpolicy.Name}, of.into); {
		case apierrors.IsNotFound(err):
			said = fmt.Sprintf("the %s %s is not installed, so that nobody checks who decides; install config/approval-policy, or set the chart's approvals.policy", of.kind, approvalpolicy.Name)
		case apierrors.IsForbidden(err):
			said = fmt.Sprintf("the manager may not read the %s %s; install config/approval-policy, or set the chart's approvals.policy", of.kind, approvalpolicy.Name)
		case err != nil:
			return compile.PolicyForce{}, err
		case !of.into.GetDeletionTimestamp().IsZero():
			said = fmt.Sprintf("the %s %s is being deleted", of.kind, approvalpolicy.Name)
		}
		problem = cmp.Or(problem, said)
	}
	if problem != "" {
		return compile.PolicyForce{Problem: problem}, nil
	}
	if !equality.Semantic.DeepEqual(policy.Spec, foundPolicy.Spec) || !equality.Semantic.DeepEqual(binding.Spec, foundBinding.Spec) {
		return compile.PolicyForce{Problem: fmt.Sprintf("the ValidatingAdmissionPolicy %s or its binding is not the one of this release for the user %s; install that one", approvalpolicy.Name, p.user)}, nil
	}
	since := p.unchangedSince("policy", foundPolicy)
	if of := p.unchangedSince("binding", foundBinding); of.After(since) {
		since = of
	}
	return compile.PolicyForce{Since: since.Add(policyLag)}, nil
}

// unchangedSince is the moment from which an object's spec surely was what it is now. Its generation tells whether the spec was ever another
// one, and its managed fields when somebody wrote it last. Those can be removed: then it is when this version was seen first.
func (p *ApprovalPolicy) unchangedSince(kind string, o client.Object) time.Time {
	since := o.GetCreationTimestamp().Time
	before, seen := p.versions[kind]
	now := seenVersion{o.GetUID(), o.GetGeneration(), p.Now()}
	if seen && before.uid == now.uid && before.generation == now.generation {
		now.at = before.at
	}
	if p.versions == nil {
		p.versions = map[string]seenVersion{}
	}
	p.versions[kind] = now
	if now.generation <= 1 {
		return since
	}
	written := time.Time{}
	for _, by := range o.GetManagedFields() {
		if by.Subresource == "" && by.Time != nil && by.Time.After(written) {
			written = by.Time.Time
		}
	}
	if written.IsZero() || seen && before.uid == now.uid && before.generation < now.generation && now.at.After(written) {
		written = now.at
	}
	if written.After(since) {
		return written
	}
	return since
}

// shippedPolicy is the policy and its binding as they are shipped, for a manager with that user name.
func shippedPolicy(user string) (*admissionv1.ValidatingAdmissionPolicy, *admissionv1.ValidatingAdmissionPolicyBinding, error) {
	policy, binding := &admissionv1.ValidatingAdmissionPolicy{}, &admissionv1.ValidatingAdmissionPolicyBinding{}
	text := bytes.ReplaceAll(approvalpolicy.Policy, []byte(approvalpolicy.Manager), []byte(user))
	first, second, both := bytes.Cut(text, []byte("\n---\n"))
	if !both {
		return nil, nil, fmt.Errorf("the policy %s that the manager was built with has no binding", approvalpolicy.Name)
	}
	if err := yaml.UnmarshalStrict(first, policy); err != nil {
		return nil, nil, err
	}
	return policy, binding, yaml.UnmarshalStrict(second, binding)
}
