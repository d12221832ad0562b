package token

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
	"github.com/mcp-admin/mcp-admin-operator/controllers/token/rotation"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Texts finds the texts of tokens: texts that users give, and texts that are issued here. It is safe for concurrent
// use.
type Texts struct {
	Client   client.Client
	Live     client.Reader
	Children *cluster.Children
	Events   events.EventRecorder
	Now      func() time.Time
	Secrets  cluster.OptIn
	// Key proves which Secrets were written here.
	Key rotation.Key
	// Programmed reports whether every server pod lets in a token's text.
	Programmed func(*v1alpha1.MCPToken, compile.Credential, time.Time) bool

	// read has the last texts from users' Secrets, by token: a Secret is read again when its metadata changed.
	read  cluster.Memo[types.NamespacedName, readText]
	given givenSecrets
	// next are the texts that are about to replace others, by token. They are nowhere else: until every pod lets such a text
	// in, nobody may see it, and one that is lost with the process is made anew.
	next cluster.Memo[types.NamespacedName, nextText]
	// Left are the Secrets of tokens that are gone.
	Left *LeftSecrets
	// recalled has what was found about each generated token last.
	recalled cluster.Memo[types.NamespacedName, recalled]
}

type nextText struct {
	token types.UID
	text  string
}

// Text holds the known facts about a token's text.
type Text struct {
	credential compile.Credential
	// state is a generated token's state in its Secret; zero for others.
	state rotation.State
	// nextRotation is when the text is replaced; zero if no time is set.
	nextRotation time.Time
	// problem says what is wrong with the Secret though the token works; nil if nothing is.
	problem *condition.Finding
	// lookAgain is how long all that holds; 0 is forever.
	lookAgain time.Duration
}

func (x *Texts) forget(key types.NamespacedName) {
	x.read.Forget(key)
	x.next.Forget(key)
	x.recalled.Forget(key)
}

// resolve returns what is known of a token's text, having issued or rotated it if that is due; nothing of a token that has
// none. With an error it still returns what is known.
func (x *Texts) resolve(ctx context.Context, t *v1alpha1.MCPToken, e *v1alpha1.MCPEndpoint) (Text, error) {
	if t.Spec.IssuedElsewhere() {
		return Text{}, nil
	}
	switch {
	case t.Spec.TokenSecretRef != nil:
		credential, err := x.readGiven(ctx, t, *t.Spec.TokenSecretRef, false)
		return Text{credential: credential}, err
	case t.Spec.TokenHashSecretRef != nil:
		credential, err := x.readGiven(ctx, t, *t.Spec.TokenHashSecretRef, true)
		return Text{credential: credential}, err
	}
	text, err := x.issue(ctx, t, e)
	var foreign cluster.OwnershipConflict
	if errors.As(err, &foreign) {
		text := refusedText(v1alpha1.ReasonOwnershipConflict, foreign.Error())
		text.lookAgain = cluster.ForeignRetry
		return text, nil
	}
	return text, err
}

func refusedText(reason, message string) Text {
	return Text{credential: compile.Credential{Reason: reason, Message: message}}
}

// issue does what the token policy says about a generated token's Secret.
func (x *Texts) issue(ctx context.Context, t *v1alpha1.MCPToken, e *v1alpha1.MCPEndpoint) (Text, error) {
	if name := t.EffectiveSecretName(); v1alpha1.IsConfigSecretName(name) {
		// The schema refuses it, but the object may be older than the rule. Its Secret would keep an endpoint from its Config.
		return refusedText(v1alpha1.ReasonInvalid, fmt.Sprintf("Secret %q would have a name of endpoints' Secrets; "+
			"make a new MCPToken with another spec.secret.name", name)), nil
	}
	if older, err := x.olderClaimant(ctx, t); err != nil {
		return Text{credential: compile.UnsureCredential()}, err
	} else if older != "" {
		return refusedText(v1alpha1.ReasonConflicted, fmt.Sprintf("Secret %q is that of MCPToken %q, which is older; "+
			"make a new MCPToken with another spec.secret.name", t.EffectiveSecretName(), older)), nil
	}
	if found, same := x.recall(ctx, t, e); same {
		return found, nil
	}
	read := x.Children.Find
	isNew := t.Status.Secret.Name == "" && versionOf(x.Children, secretOf(t)) == "" && !cluster.LooksFresh(ctx)
	if isNew {
		// A new token has no Secret yet: to look for it would be a request for nothing. If it has one, the creation fails.
		read = x.Children.FindCached
	}
	held, err := x.find(ctx, t, read)
	decision := x.decide(t, held)
	if err == nil && !held.exists && decision.Action == rotation.Issue && isNew {
		text, err := x.carryOut(ctx, t, e, held, decision)
		if taken := new(cluster.OwnershipConflict); !apierrors.IsAlreadyExists(err) && !errors.As(err, taken) {
			return text, err
		}
		held.exists = true
	}
	if err == nil && held.exists && decision.Action == rotation.Issue {
		// The cache may be late. A token's text is replaced only if the API server itself says so.
		held, err = x.find(ctx, t, x.Children.FindLive)
		decision = x.decide(t, held)
	}
	if err != nil {
		return Text{credential: compile.UnsureCredential()}, err
	}
	return x.carryOut(ctx, t, e, held, decision)
}

// carryOut writes the Secret as decided.
func (x *Texts) carryOut(ctx context.Context, t *v1alpha1.MCPToken, e *v1alpha1.MCPEndpoint, held heldSecret, decision rotation.Decision) (Text, error) {
	defer cluster.TimeStep("MCPToken", cluster.StepIssue)()
	text, state := held.text(), decision.State
	if held.exists && (text != "" || decision.Action != rotation.Nothing) {
		if err := x.own(ctx, t, held); err != nil {
			return x.unwritten(held), err
		}
	}
	next := nextText{t.UID, ""}
	switch decision.Action {
	case rotation.Nothing:
		if text == "" {
			return refusedText(v1alpha1.ReasonWaitingForToken, "nothing is issued: "+decision.Why), nil
		}
		return x.known(held.state, text), nil
	case rotation.Issue:
		text = contract.NewToken()
		state.Hash = contract.HashToken(text)
	case rotation.Prepare:
		next.text = contract.NewToken()
		state.Next = contract.HashToken(next.text)
	case rotation.Rotate:
		text = x.nextOf(t)
	}
	want := x.wantedSecret(t, e, text, state)
	if held.exists && frozen(held.secret, want) {
		return x.immutable(held, decision)
	}
	if err := x.write(ctx, t, held, want); err != nil {
		return x.unwritten(held), err
	}
	if next.text != "" {
		x.next.Set(cluster.KeyOf(t), next)
	} else if state.Next == "" {
		x.next.Forget(cluster.KeyOf(t))
	}
	x.tell(ctx, t, text, decision)
	found := x.known(state, text)
	found.nextRotation = decision.NextRotation
	if !decision.LookAgain.IsZero() {
		found.lookAgain = max(decision.LookAgain.Sub(x.Now()), time.Millisecond)
	}
	x.remember(t, e, found, versionOf(x.Children, held.secret))
	return found, nil
}

// known returns the facts about a generated token whose Secret says enough.
func (x *Texts) known(state rotation.State, text string) Text {
	credential := compile.TextCredential(text)
	credential.Hashes = state.Hashes(x.Now())
	return Text{credential: credential, state: state}
}

// immutable returns the facts about a token whose Secret would have to change and cannot.
func (x *Texts) immutable(held heldSecret, decision rotation.Decision) (Text, error) {
	message := fmt.Sprintf("Secret %q is immutable, or of another type than spec.secret.type, and its content would have to change; "+
		"delete it, and it is made anew with another token", held.secret.Name)
	if decision.Action == rotation.Issue {
		return refusedText(v1alpha1.ReasonSecretImmutable, message), nil
	}
	found := x.known(held.state, held.text())
	found.problem = new(condition.Fails(v1alpha1.ReasonSecretImmutable, message))
	return found, nil
}

// unwritten returns the facts about a token whose Secret could not be written: its text is the one from before.
func (x *Texts) unwritten(held heldSecret) Text {
	if held.text() != "" {
		return x.known(held.state, held.text())
	}
	return refusedText(v1alpha1.ReasonWaitingForToken, "the token's Secret could not be written; it is tried again")
}

// write makes the Secret as wanted.
func (x *Texts) write(ctx context.Context, t *v1alpha1.MCPToken, held heldSecret, want *applycore.SecretApplyConfiguration) error {
	if !held.exists {
		return x.Children.Create(ctx, t, want)
	}
	return x.Children.ApplyAsRead(ctx, held.secret, want)
}

// tell records in the log, the metrics and the events that a text was replaced.
func (x *Texts) tell(ctx context.Context, t *v1alpha1.MCPToken, text string, decision rotation.Decision) {
	log := ctrl.LoggerFrom(ctx).WithValues("token", klog.KObj(t), "publicID", contract.PublicTokenID(text), "why", decision.Why)
	switch decision.Action {
	case rotation.Issue:
		log.Info("A token was issued", "reissued", decision.Reissued)
		cluster.TokensIssued.WithLabelValues(map[bool]string{false: "new", true: "reissued"}[decision.Reissued]).Inc()
		if decision.Reissued {
			x.Events.Eventf(t, nil, corev1.EventTypeWarning, "Reissued", "Issue", "A new token was issued, and the old one is refused: %s", decision.Why)
		}
	case rotation.Rotate:
		log.Info("A token was rotated", "previousUntil", decision.State.PreviousUntil)
		cluster.TokensIssued.WithLabelValues("rotated").Inc()
		x.Events.Eventf(t, nil, corev1.EventTypeNormal, "Rotated", "Rotate", "A new token is in the Secret; the one before works until %s",
			decision.State.PreviousUntil.UTC().Format(time.RFC3339))
	}
}

func (x *Texts) decide(t *v1alpha1.MCPToken, held heldSecret) rotation.Decision {
	situation := rotation.Situation{
		Now: x.Now(), Active: t.Spec.EffectiveActive(), Paused: v1alpha1.IsPaused(t), Expiry: t.EffectiveExpiry(),
		Exists: held.exists, Issued: t.Status.Secret.Name != "",
		State: held.state, Text: held.text(), NextText: x.nextOf(t),
		Every: t.Spec.EffectiveEvery(), Overlap: t.Spec.EffectiveOverlap(), Spread: spread(t.UID),
		Request: t.Annotations[v1alpha1.RotateAnnotation],
		Fixed:   held.exists && held.secret.Immutable != nil && *held.secret.Immutable || t.Spec.EffectiveSecret().Mutability == v1alpha1.SecretImmutable,
	}
	if situation.NextText != "" && contract.HashToken(situation.NextText) != held.state.Next {
		situation.NextText = "" // another manager has prepared another one
	}
	if situation.NextText != "" {
		situation.Programmed = x.Programmed(t, x.known(held.state, situation.Text).credential, situation.Now)
	}
	return rotation.Decide(situation)
}

// nextOf is the text that is about to replace a token's; "" if there is none, or it was another manager's.
func (x *Texts) nextOf(t *v1alpha1.MCPToken) string {
	if next, known := x.next.Get(cluster.KeyOf(t)); known && next.token == t.UID {
		return next.text
	}
	return ""
}

// spread is a number from 0 to 1 that is always the same for a token.
func spread(uid types.UID) float64 {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(uid)) // it never fails
	return float64(hash.Sum32()) / math.MaxUint32
}

// wantedSecret is the Secret of a generated token. The user's labels and annotations are set first, so that ours win.
func (x *Texts) wantedSecret(t *v1alpha1.MCPToken, e *v1alpha1.MCPEndpoint, text string, state rotation.State) *applycore.SecretApplyConfiguration {
	spec := t.Spec.EffectiveSecret()
	labels, annotations := map[string]string{}, map[string]string{}
	for key, value := range spec.Labels {
		labels[key] = string(value)
	}
	for key, value := range spec.Annotations {
		annotations[key] = string(value)
	}
	maps.Copy(labels, cluster.ChildLabels(e, cluster.ComponentToken))
	maps.Copy(annotations, state.Annotations(x.Key, cluster.KeyOf(t)))
	secret := applycore.Secret(t.EffectiveSecretName(), t.Namespace).
		WithLabels(labels).
		WithAnnotations(annotations).
		WithType(corev1.SecretType(spec.Type)).
		WithData(rotation.Content(spec.Keys, e.Name, e.EffectiveURL(), text))
	if spec.Mutability == v1alpha1.SecretImmutable {
		secret.WithImmutable(true)
	}
	if spec.DeletionPolicy == v1alpha1.SecretDelete {
		secret.WithOwnerReferences(cluster.OwnerReference(t, "MCPToken"))
	}
	return secret
}

// frozen reports whether a Secret would have to change in what Kubernetes never changes: its type, and the content and the
// mark of an immutable one.
func frozen(have *corev1.Secret, want *applycore.SecretApplyConfiguration) bool {
	if have.Type != *want.Type {
		return true
	}
	if have.Immutable == nil || !*have.Immutable {
		return false
	}
	same := maps.EqualFunc(have.Data, want.Data, func(a, b []byte) bool { return string(a) == string(b) })
	return want.Immutable == nil || !same
}
