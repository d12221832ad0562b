package controllers

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	"github.com/mcp-admin/mcp-admin-operator/controllers/token"
)

// tokenTexts finds the texts of tokens: those that users give, and those that are issued here. It is safe for
// concurrent use.
type tokenTexts struct {
	client   client.Client
	live     client.Reader
	children *children
	events   events.EventRecorder
	now      func() time.Time
	secrets  optIn

	// read is what users' Secrets said last, by token: a Secret is read again when its metadata changed.
	read memo[types.NamespacedName, readText]
}

type readText struct {
	ref             v1alpha1.SecretKeyReference
	secret          types.UID
	resourceVersion string
	hashed          bool
	credential      compile.Credential
}

// resolve returns what is known of a token's text, having issued one if that is due, and how long that holds; 0 is
// forever. With an error it still returns what is known.
func (x *tokenTexts) resolve(ctx context.Context, t *v1alpha1.MCPToken, e *v1alpha1.MCPEndpoint) (compile.Credential, time.Duration, error) {
	if len(v1alpha1.ValidateMCPToken(t)) > 0 {
		return compile.Credential{Reason: v1alpha1.ReasonInvalid, Message: "nothing is issued for a token that is not valid"}, 0, nil
	}
	switch {
	case t.Spec.TokenSecretRef != nil:
		return x.readGiven(ctx, t, *t.Spec.TokenSecretRef, false)
	case t.Spec.TokenHashSecretRef != nil:
		return x.readGiven(ctx, t, *t.Spec.TokenHashSecretRef, true)
	}
	return x.issue(ctx, t, e)
}

// readGiven reads a user's Secret from the API server if its metadata says that it changed or is missing.
func (x *tokenTexts) readGiven(ctx context.Context, t *v1alpha1.MCPToken, ref v1alpha1.SecretKeyReference, hashed bool) (compile.Credential, time.Duration, error) {
	key := client.ObjectKey{Namespace: t.Namespace, Name: ref.Name}
	seen := metadataOf("Secret")
	if err := x.client.Get(ctx, key, seen); client.IgnoreNotFound(err) != nil {
		return compile.UnsureCredential(), 0, err
	}
	last, known := x.read.get(keyOf(t))
	if known && last.ref == ref && last.hashed == hashed && last.secret == seen.UID && last.resourceVersion == seen.ResourceVersion && seen.UID != "" {
		return last.credential, 0, nil
	}

	secret := &corev1.Secret{}
	err := x.live.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) {
		x.read.forget(keyOf(t))
		return compile.NoCredential(ref, hashed), 0, nil
	}
	if err != nil {
		return compile.UnsureCredential(), 0, err
	}
	read := readText{ref: ref, hashed: hashed, secret: secret.UID, resourceVersion: secret.ResourceVersion}
	text := string(secret.Data[ref.Key])
	if read.credential = compile.TextCredential(text); hashed {
		read.credential = compile.HashCredential(text)
	}
	if len(read.credential.Hashes) == 0 {
		read.credential = compile.NoCredential(ref, hashed)
	}
	if !x.secrets.allows(secret, t.Spec.EndpointRef.Name) {
		refused := x.secrets.refusal(ref.Name, t.Spec.EndpointRef.Name)
		read.credential = compile.Credential{Reason: refused.reason, Message: refused.message}
	}
	x.read.set(keyOf(t), read)
	return read.credential, 0, nil
}

// issue does what the token policy says about a generated token's Secret.
func (x *tokenTexts) issue(ctx context.Context, t *v1alpha1.MCPToken, e *v1alpha1.MCPEndpoint) (compile.Credential, time.Duration, error) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: t.Namespace, Name: t.EffectiveSecretName()}}
	exists, err := x.children.find(ctx, t, secret)
	decision := x.decide(t, secret, exists)
	if err == nil && exists && decision.Action == token.Issue {
		// The cache may be late. A token's text is replaced only if the API server itself says so.
		exists, err = x.children.findLive(ctx, t, secret)
		decision = x.decide(t, secret, exists)
	}
	var foreign ownershipConflict
	if errors.As(err, &foreign) {
		return compile.Credential{Reason: v1alpha1.ReasonOwnershipConflict, Message: foreign.Error()}, foreignRetry, nil
	}
	if err != nil {
		return compile.UnsureCredential(), 0, err
	}

	text := string(secret.Data[token.KeyToken])
	switch decision.Action {
	case token.Nothing:
		if exists && contract.HashToken(text) == secret.Annotations[token.HashAnnotation] {
			return compile.TextCredential(text), 0, nil
		}
		return compile.Credential{Reason: v1alpha1.ReasonWaitingForToken, Message: "nothing is issued: " + decision.Why}, 0, nil
	case token.Issue:
		text = contract.NewToken()
	}
	want := tokenSecret(t, e, text)
	if exists {
		err = x.children.applyAsRead(ctx, secret, want)
	} else {
		err = x.children.create(ctx, t, want)
	}
	switch {
	case errors.As(err, &foreign):
		return compile.Credential{Reason: v1alpha1.ReasonOwnershipConflict, Message: foreign.Error()}, foreignRetry, nil
	case err != nil && decision.Action == token.Keep:
		return compile.TextCredential(text), 0, err // what could not be written is not the text
	case err != nil:
		return compile.Credential{Reason: v1alpha1.ReasonWaitingForToken, Message: "the token's Secret could not be written; it is tried again"}, 0, err
	}
	if decision.Action == token.Issue {
		ctrl.LoggerFrom(ctx).Info("A token was issued", "token", klog.KObj(t), "publicID", contract.PublicTokenID(text), "reissued", decision.Reissued, "why", decision.Why)
		tokensIssued.WithLabelValues(map[bool]string{false: "new", true: "reissued"}[decision.Reissued]).Inc()
	}
	if decision.Action == token.Issue && decision.Reissued {
		x.events.Eventf(t, nil, corev1.EventTypeWarning, "Reissued", "Issue", "A new token was issued, and the old one is refused: %s", decision.Why)
	}
	lookAgain := time.Duration(0)
	if !decision.LookAgain.IsZero() {
		lookAgain = max(decision.LookAgain.Sub(x.now()), time.Millisecond)
	}
	return compile.TextCredential(text), lookAgain, nil
}

func (x *tokenTexts) decide(t *v1alpha1.MCPToken, secret *corev1.Secret, exists bool) token.Decision {
	situation := token.Situation{
		Now: x.now(), Active: t.Spec.EffectiveActive(), Paused: v1alpha1.IsPaused(t), Exists: exists,
		Issued: t.Status.Secret.Name != "",
		Text:   string(secret.Data[token.KeyToken]), Hash: secret.Annotations[token.HashAnnotation],
	}
	if t.Spec.Expiry != nil {
		situation.Expiry = &t.Spec.Expiry.Time
	}
	return token.Decide(situation)
}

// tokenSecret is the Secret of a generated token. The user's labels and annotations are set first, so that ours win.
func tokenSecret(t *v1alpha1.MCPToken, e *v1alpha1.MCPEndpoint, text string) *applycore.SecretApplyConfiguration {
	labels, annotations := map[string]string{}, map[string]string{}
	if t.Spec.Secret != nil {
		for key, value := range t.Spec.Secret.Labels {
			labels[key] = string(value)
		}
		for key, value := range t.Spec.Secret.Annotations {
			annotations[key] = string(value)
		}
	}
	for key, value := range childLabels(e, componentToken) {
		labels[key] = value
	}
	annotations[token.HashAnnotation] = contract.HashToken(text)
	return applycore.Secret(t.EffectiveSecretName(), t.Namespace).
		WithLabels(labels).
		WithAnnotations(annotations).
		WithOwnerReferences(ownerReference(t, "MCPToken")).
		WithData(map[string][]byte{
			token.KeyToken:               []byte(text),
			token.KeyURL:                 []byte(e.EffectiveURL()),
			token.KeyClientConfiguration: contract.ClientConfiguration(e.Name, e.EffectiveURL(), text),
		})
}
