package token

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract/excerpt"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
	"github.com/mcp-admin/mcp-admin-operator/controllers/program"
	"github.com/mcp-admin/mcp-admin-operator/controllers/token/rotation"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Reconciler looks up or issues a token's text, gives its hash to the endpoint's reconciler, and writes the token's
// status.
type Reconciler struct {
	Client     client.Client
	Texts      *Texts
	Namespaces cluster.Namespaces
	Store      *program.Store
	Status     *cluster.StatusWriter[*v1alpha1.MCPToken, v1alpha1.MCPTokenStatus]
	Events     events.EventRecorder
	Now        func() time.Time

	// settled holds what every server pod let in when a token was last found Ready.
	settled cluster.Memo[types.NamespacedName, settledToken]
}

type settledToken struct {
	token      types.UID
	generation int64
	credential *compile.Credential // the store's
}

// Reconcile finds the token's text first, so that the endpoint's reconciler can go on, and then writes the status if
// that one has evaluated this generation with this text, or there is no endpoint. Otherwise it waits: the store wakes it.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	token := &v1alpha1.MCPToken{}
	if err := r.Client.Get(ctx, request.NamespacedName, token); client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	} else if err != nil || !token.DeletionTimestamp.IsZero() {
		r.forget(request.NamespacedName)
		return ctrl.Result{}, nil
	}
	r.Status.Refresh(token)
	if ctx = cluster.FreshLook(ctx, token, token.Status.LastHandledReconcileAt); cluster.LooksFresh(ctx) {
		r.Texts.recalled.Forget(request.NamespacedName)
		r.Texts.read.Forget(request.NamespacedName)
	}

	endpoint, err := r.endpointOf(ctx, token)
	if err != nil {
		return ctrl.Result{}, err
	}
	if endpoint == nil {
		status := r.summarise(token, tokenWithoutEndpoint(token), program.TokenFacts{}, Text{})
		status.Secret = token.Status.Secret // it is still there
		return cluster.Result(r.Status.Write(ctx, token, status))
	}
	text, err := r.Texts.resolve(ctx, token, endpoint)
	if apierrors.IsConflict(err) {
		return cluster.Result(0, err) // somebody else wrote the Secret; what was read is of no use
	}
	if !token.Spec.IssuedElsewhere() {
		r.Store.SetCredential(token, text.credential)
	}

	facts, evaluated := r.Store.Token(token, text.credential, r.Now())
	if evaluated && !r.worksMeanwhile(token, facts, text) {
		status := withRights(token, r.summarise(token, tokenFindings(token, facts, text, r.Now()), facts, text))
		settles, notWritten := r.Status.Write(ctx, token, status)
		if settles == 0 && notWritten == nil {
			r.tell(token, status)
		}
		text.lookAgain, err = cluster.Soonest(text.lookAgain, settles), errors.Join(err, notWritten)
	}
	_, warns := expiresSoon(token, r.Now())
	return cluster.Result(cluster.Soonest(text.lookAgain, warns), err)
}

func (r *Reconciler) forget(token types.NamespacedName) {
	r.Store.ForgetToken(token)
	r.Texts.forget(token)
	r.Status.Forget(token)
	r.settled.Forget(token)
}

// endpointOf returns the token's endpoint, or nil if there is none, or none that admits the token: the two must look
// the same to the token's author.
func (r *Reconciler) endpointOf(ctx context.Context, t *v1alpha1.MCPToken) (*v1alpha1.MCPEndpoint, error) {
	endpoint, err := cluster.FindEndpoint(ctx, r.Client, t.Endpoint())
	if err != nil || endpoint == nil {
		return nil, err
	}
	if admitted, err := r.Namespaces.Admits(ctx, endpoint, t); err != nil || !admitted {
		return nil, err
	}
	return endpoint, nil
}

// worksMeanwhile reports whether the token works while the pods take up a step of its rotation: every pod lets in the text
// in use, which was the same before or took the place of that one, and only another text comes or goes. The status then
// does not change.
func (r *Reconciler) worksMeanwhile(t *v1alpha1.MCPToken, facts program.TokenFacts, text Text) bool {
	credential := r.Store.Credential(t)
	if facts.Verdict.InForce && facts.Programmed.Status == metav1.ConditionTrue {
		r.settled.Set(cluster.KeyOf(t), settledToken{t.UID, t.Generation, credential})
		return false
	}
	last, known := r.settled.Get(cluster.KeyOf(t))
	return known && last.token == t.UID && last.generation == t.Generation && last.credential != nil &&
		facts.Programmed.Reason == v1alpha1.ReasonWaitingForPods && last.credential != credential &&
		slices.ContainsFunc(last.credential.Hashes, func(hash string) bool { return hash == text.state.Hash || hash == text.state.Previous })
}

func tokenWithoutEndpoint(t *v1alpha1.MCPToken) condition.Findings {
	message := "MCPEndpoint " + cluster.Quote(t.Spec.EndpointRef.Name) + " does not exist in this namespace"
	if t.Foreign() {
		message = "MCPEndpoint " + cluster.Quote(t.Endpoint().String()) + " does not exist, or its spec.allowedTokens does not allow this namespace"
	}
	missing := condition.Fails(v1alpha1.ReasonEndpointNotFound, message)
	return condition.Findings{
		v1alpha1.ConditionAccepted:   missing,
		v1alpha1.ConditionIssued:     condition.Unknown(missing.Reason, missing.Message),
		v1alpha1.ConditionProgrammed: missing,
	}
}

// tokenFindings joins what compiling said with what is known of the token's text.
func tokenFindings(t *v1alpha1.MCPToken, facts program.TokenFacts, text Text, now time.Time) condition.Findings {
	accepted := condition.Fails(facts.Verdict.Reason, facts.Verdict.Message)
	if facts.Verdict.Accepted {
		accepted = condition.Holds(facts.Verdict.Reason, facts.Verdict.Message)
	}
	issued := condition.Fails(text.credential.Reason, text.credential.Message)
	switch {
	case t.Spec.IssuedElsewhere():
		issued = condition.Holds(v1alpha1.ReasonNotNeeded, issuedMessage(t))
	case len(text.credential.Hashes) > 0:
		issued = condition.Holds(v1alpha1.ReasonIssued, issuedMessage(t))
	}
	if text.problem != nil {
		issued = *text.problem
	}
	// A token that is refused by plan is Ready when the pods refuse it, whether it was ever issued or not.
	issued.Aside = refusedByPlan(facts.Verdict.Verdict)
	found := condition.Findings{
		v1alpha1.ConditionAccepted:   accepted,
		v1alpha1.ConditionIssued:     issued,
		v1alpha1.ConditionProgrammed: facts.Programmed,
	}
	if soon, _ := expiresSoon(t, now); soon != nil && facts.Verdict.Accepted {
		found[v1alpha1.ConditionExpiresSoon] = *soon
	}
	return found
}

func issuedMessage(t *v1alpha1.MCPToken) string {
	switch {
	case t.Spec.TokenSecretRef != nil:
		return "the token is that of Secret " + cluster.Quote(t.Spec.TokenSecretRef.Name)
	case t.Spec.TokenHashSecretRef != nil:
		return "the token's hash is that of Secret " + cluster.Quote(t.Spec.TokenHashSecretRef.Name)
	case t.Spec.ServiceAccountRef != nil:
		return "ServiceAccount " + t.ServiceAccount().String() + " shows its own token"
	case t.Spec.OIDC != nil:
		return "callers show the tokens that issuer " + cluster.Quote(t.Spec.OIDC.Issuer) + " issued to them"
	}
	return "the token is in Secret " + cluster.Quote(t.EffectiveSecretName())
}

// callerDisplay names those whom a token is for that somebody else issues tokens to; "" for others.
func callerDisplay(t *v1alpha1.MCPToken) string {
	if t.Spec.ServiceAccountRef != nil {
		return "ServiceAccount " + t.ServiceAccount().String()
	}
	oidc := t.Spec.OIDC
	if oidc == nil {
		return ""
	}
	if oidc.Subject != "" {
		return oidc.Issuer + ": " + oidc.Subject
	}
	var claims []string
	for _, name := range slices.Sorted(maps.Keys(oidc.Claims)) {
		claims = append(claims, name+"="+string(oidc.Claims[name]))
	}
	return oidc.Issuer + ": " + strings.Join(claims, ", ")
}

// refusedByPlan reports whether a token is refused because its spec says so: it is not active, or has expired.
func refusedByPlan(v compile.Verdict) bool {
	return v.Reason == v1alpha1.ReasonInactive || v.Reason == v1alpha1.ReasonExpired
}

// summarise returns the token's status.
func (r *Reconciler) summarise(t *v1alpha1.MCPToken, found condition.Findings, facts program.TokenFacts, text Text) v1alpha1.MCPTokenStatus {
	status := v1alpha1.MCPTokenStatus{
		ObservedGeneration:     t.Generation,
		LastHandledReconcileAt: v1alpha1.ReconcileRequest(t),
		PublicID:               text.credential.PublicID,
		GroupsDisplay:          excerpt.Of(strings.Join(t.Spec.Groups, ", "), 200),
		CallerDisplay:          excerpt.Of(callerDisplay(t), 200),
		ExpirationTime:         statusTime(value(t.EffectiveExpiry())),
		LastRotation:           statusTime(text.state.IssuedAt),
		NextRotation:           statusTime(text.nextRotation),
		LastUsedTime:           r.lastUsed(t),
		LastRefusedTime:        r.lastRefused(t),
		Revision:               facts.Verdict.Revision,
		Notes:                  condition.Clipped(facts.Verdict.Notes),
		Rights:                 r.rights(t),
	}
	if t.Spec.Generated() && len(text.credential.Hashes) > 0 {
		status.Secret = v1alpha1.SecretStatus{Name: t.EffectiveSecretName(), Fingerprint: rotation.Fingerprint(text.state.Hash)}
	}
	ready := condition.Holds(v1alpha1.ReasonReady, "the token works")
	if len(status.Notes) > 0 {
		ready.Message += "; note: " + status.Notes[0]
	}
	if refusedByPlan(facts.Verdict.Verdict) {
		ready = condition.Holds(facts.Verdict.Reason, facts.Verdict.Message+", and every server pod refuses it")
	}
	status.Conditions = condition.TokenConditions.Summarise(t, t.Status.Conditions, found, ready)
	return status
}

// lastUsed is the hour in which the token was used last, as its status said before or the pods have told since.
func (r *Reconciler) lastUsed(t *v1alpha1.MCPToken) *metav1.Time {
	told, _ := r.Store.LastUsed.Get(cluster.KeyOf(t))
	if before := t.Status.LastUsedTime; before != nil && !told.After(before.Time) {
		return before
	}
	return statusTime(told)
}

// statusTime is a time as a status has it, in whole seconds; nil for the zero time.
func statusTime(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return new(metav1.NewTime(t.Truncate(time.Second)))
}

func value[T any](p *T) T {
	var zero T
	if p == nil {
		return zero
	}
	return *p
}
