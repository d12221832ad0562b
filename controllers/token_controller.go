package controllers

import (
	"context"
	"errors"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract/excerpt"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// tokenReconciler looks up or issues a token's text, gives its hash to the endpoint's reconciler, and writes the token's
// status.
type tokenReconciler struct {
	client client.Client
	texts  *tokenTexts
	store  *store
	status *statusWriter[*v1alpha1.MCPToken, v1alpha1.MCPTokenStatus]
	now    func() time.Time
}

// Reconcile finds the token's text first, so that the endpoint's reconciler can go on, and then writes the status if
// that one has evaluated this generation with this text, or there is no endpoint. Otherwise it waits: the store wakes it.
func (r *tokenReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	token := &v1alpha1.MCPToken{}
	if err := r.client.Get(ctx, request.NamespacedName, token); client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	} else if err != nil || !token.DeletionTimestamp.IsZero() {
		r.store.forgetToken(request.NamespacedName)
		r.texts.read.forget(request.NamespacedName)
		r.status.forget(request.NamespacedName)
		return ctrl.Result{}, nil
	}
	r.status.refresh(token)
	if ctx = freshLook(ctx, token, token.Status.LastHandledReconcileAt); looksFresh(ctx) {
		r.texts.read.forget(request.NamespacedName)
	}

	endpoint, err := findEndpoint(ctx, r.client, endpointOf(token.Namespace, token.Spec.EndpointRef))
	if err != nil {
		return ctrl.Result{}, err
	}
	if endpoint == nil {
		return result(r.status.write(ctx, token, summariseToken(token, tokenWithoutEndpoint(token), tokenFacts{}, compile.Credential{})))
	}
	credential, lookAgain, err := r.texts.resolve(ctx, token, endpoint)
	if apierrors.IsConflict(err) {
		return result(0, err) // somebody else wrote the Secret; what was read is of no use
	}
	r.store.setCredential(token, credential)

	facts, evaluated := r.store.token(token, credential, r.now())
	if evaluated {
		status := summariseToken(token, tokenFindings(token, facts, credential), facts, credential)
		settles, notWritten := r.status.write(ctx, token, status)
		lookAgain, err = soonest(lookAgain, settles), errors.Join(err, notWritten)
	}
	return result(lookAgain, err)
}

func tokenWithoutEndpoint(t *v1alpha1.MCPToken) findings {
	missing := fails(v1alpha1.ReasonEndpointNotFound, "MCPEndpoint "+quote(t.Spec.EndpointRef.Name)+" does not exist in this namespace")
	return findings{
		v1alpha1.ConditionAccepted:   missing,
		v1alpha1.ConditionIssued:     unknown(missing.reason, missing.message),
		v1alpha1.ConditionProgrammed: missing,
	}
}

// tokenFindings joins what compiling said with what is known of the token's text.
func tokenFindings(t *v1alpha1.MCPToken, facts tokenFacts, credential compile.Credential) findings {
	accepted := fails(facts.Verdict.Reason, facts.Verdict.Message)
	if facts.Verdict.Accepted {
		accepted = holds(facts.Verdict.Reason, facts.Verdict.Message)
	}
	issued := fails(credential.Reason, credential.Message)
	if len(credential.Hashes) > 0 {
		issued = holds(v1alpha1.ReasonIssued, issuedMessage(t))
	}
	// A token that is refused by plan is Ready when the pods refuse it, whether it was ever issued or not.
	issued.aside = refusedByPlan(facts.Verdict.Verdict)
	return findings{
		v1alpha1.ConditionAccepted:   accepted,
		v1alpha1.ConditionIssued:     issued,
		v1alpha1.ConditionProgrammed: facts.Programmed,
	}
}

func issuedMessage(t *v1alpha1.MCPToken) string {
	switch {
	case t.Spec.TokenSecretRef != nil:
		return "the token is that of Secret " + quote(t.Spec.TokenSecretRef.Name)
	case t.Spec.TokenHashSecretRef != nil:
		return "the token's hash is that of Secret " + quote(t.Spec.TokenHashSecretRef.Name)
	}
	return "the token is in Secret " + quote(t.EffectiveSecretName())
}

// refusedByPlan reports whether a token is refused because its spec says so: it is not active, or has expired.
func refusedByPlan(v compile.Verdict) bool {
	return v.Reason == v1alpha1.ReasonInactive || v.Reason == v1alpha1.ReasonExpired
}

// summariseToken returns the token's status.
func summariseToken(t *v1alpha1.MCPToken, found findings, facts tokenFacts, credential compile.Credential) v1alpha1.MCPTokenStatus {
	status := v1alpha1.MCPTokenStatus{
		ObservedGeneration:     t.Generation,
		LastHandledReconcileAt: v1alpha1.ReconcileRequest(t),
		PublicID:               credential.PublicID,
		GroupsDisplay:          excerpt.Of(strings.Join(t.Spec.Groups, ", "), 200),
		ExpirationTime:         t.Spec.Expiry,
		Revision:               facts.Verdict.Revision,
		Notes:                  clipped(facts.Verdict.Notes),
	}
	if t.Spec.Generated() && len(credential.Hashes) > 0 {
		status.Secret.Name = t.EffectiveSecretName()
	}
	ready := holds(v1alpha1.ReasonReady, "the token works")
	if len(status.Notes) > 0 {
		ready.message += "; note: " + status.Notes[0]
	}
	if refusedByPlan(facts.Verdict.Verdict) {
		ready = holds(facts.Verdict.Reason, facts.Verdict.Message+", and every server pod refuses it")
	}
	status.Conditions = tokenConditions.summarise(t, t.Status.Conditions, found, ready)
	return status
}
