package v1alpha1

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// DefaultOverlap is how long a rotated text works on if the MCPToken does not say.
const DefaultOverlap = time.Hour

// RotateAnnotation on an MCPToken asks for another text: each new value is one rotation.
const RotateAnnotation = "mcpadmin.dev/rotate"

// EffectiveActive says whether the token may be used at all.
func (s *MCPTokenSpec) EffectiveActive() bool { return s.Active == nil || *s.Active }

// EffectiveExpiry is the moment from which the token is refused; nil is never. The ttl of an object that no API server
// created, as from a file, has not begun.
func (t *MCPToken) EffectiveExpiry() *time.Time {
	if t.Spec.Expiry != nil {
		return &t.Spec.Expiry.Time
	}
	if t.Spec.TTL == nil || t.CreationTimestamp.IsZero() {
		return nil
	}
	expiry := t.CreationTimestamp.Add(t.Spec.TTL.Duration)
	return &expiry
}

// Expired says whether the token is refused at that moment for its expiry.
func (t *MCPToken) Expired(now time.Time) bool {
	expiry := t.EffectiveExpiry()
	return expiry != nil && !now.Before(*expiry)
}

// CredentialSecretName is the one Secret that the token's text or hash is in; "" if it has none.
func (t *MCPToken) CredentialSecretName() string {
	switch {
	case t.Spec.TokenSecretRef != nil:
		return t.Spec.TokenSecretRef.Name
	case t.Spec.TokenHashSecretRef != nil:
		return t.Spec.TokenHashSecretRef.Name
	case t.Spec.Generated():
		return t.EffectiveSecretName()
	}
	return ""
}

// The warning of a token that lives longer than LongLife, if the MCPToken does not say.
const (
	DefaultExpiryWarning = 7 * 24 * time.Hour
	LongLife             = 30 * 24 * time.Hour
)

// ShortLived says whether the token lives for LongLife at most: such tokens are made anew all the time, and nobody is warned that they
// expire. One that never expires is none.
func (t *MCPToken) ShortLived() bool {
	expiry := t.EffectiveExpiry()
	return expiry != nil && expiry.Sub(t.CreationTimestamp.Time) <= LongLife
}

// WarnsAt is the moment from which it is said that the token expires soon; nil is never.
func (t *MCPToken) WarnsAt() *time.Time {
	expiry := t.EffectiveExpiry()
	if expiry == nil {
		return nil
	}
	var warning time.Duration
	switch {
	case t.Spec.ExpiryWarning != nil:
		warning = t.Spec.ExpiryWarning.Duration
	case !t.CreationTimestamp.IsZero() && expiry.Sub(t.CreationTimestamp.Time) > LongLife:
		warning = DefaultExpiryWarning
	}
	if warning <= 0 {
		return nil
	}
	at := expiry.Add(-warning)
	return &at
}

// Endpoint is the key of the token's endpoint.
func (t *MCPToken) Endpoint() types.NamespacedName {
	key := types.NamespacedName{Namespace: t.Namespace, Name: t.Spec.EndpointRef.Name}
	if t.Spec.EndpointRef.Namespace != "" {
		key.Namespace = t.Spec.EndpointRef.Namespace
	}
	return key
}

// Foreign says whether the token's endpoint is in another namespace.
func (t *MCPToken) Foreign() bool { return t.Endpoint().Namespace != t.Namespace }

// Generated says whether the token's text is made by the controllers, which write it to a Secret.
func (s *MCPTokenSpec) Generated() bool {
	return s.TokenSecretRef == nil && s.TokenHashSecretRef == nil && !s.IssuedElsewhere()
}

// IssuedElsewhere reports whether the token has no text: its callers show tokens that the cluster or an identity provider
// issued to them.
func (s *MCPTokenSpec) IssuedElsewhere() bool { return s.ServiceAccountRef != nil || s.OIDC != nil }

// NamedGroups are the groups that a caller of the token has or can have.
func (s *MCPTokenSpec) NamedGroups() []string {
	if s.OIDC == nil || s.OIDC.Groups == nil {
		return s.Groups
	}
	return slices.Concat(s.Groups, s.OIDC.Groups.Among)
}

// ServiceAccount is the ServiceAccount that the token is for, which must have a serviceAccountRef.
func (t *MCPToken) ServiceAccount() types.NamespacedName {
	ref := t.Spec.ServiceAccountRef
	if ref.Namespace == "" {
		return types.NamespacedName{Namespace: t.Namespace, Name: ref.Name}
	}
	return types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
}

// EffectiveSecretName is the Secret that a generated token is written to.
func (t *MCPToken) EffectiveSecretName() string {
	if t.Spec.Secret != nil && t.Spec.Secret.Name != "" {
		return t.Spec.Secret.Name
	}
	return t.Name
}

// EffectiveSecret is how the Secret of a generated token is made.
func (s *MCPTokenSpec) EffectiveSecret() TokenSecretSpec {
	var secret TokenSecretSpec
	if s.Secret != nil {
		secret = *s.Secret
	}
	if secret.Type == "" {
		secret.Type = "Opaque"
	}
	if secret.Mutability == "" {
		secret.Mutability = SecretMutable
	}
	if secret.DeletionPolicy == "" {
		secret.DeletionPolicy = SecretDelete
	}
	if len(secret.Keys) == 0 {
		secret.Keys = []TokenSecretKey{{"token", FormatToken}, {"url", FormatURL}, {"mcp.json", FormatMCPServers}}
	}
	return secret
}

// EffectiveEvery is the longest time that a text is in use; 0 is without end.
func (s *MCPTokenSpec) EffectiveEvery() time.Duration {
	if s.Rotation == nil || s.Rotation.Every == nil {
		return 0
	}
	return s.Rotation.Every.Duration
}

// EffectiveOverlap is how long a text works on after another one was written to the Secret.
func (s *MCPTokenSpec) EffectiveOverlap() time.Duration {
	if s.Rotation == nil || s.Rotation.Overlap == nil {
		return DefaultOverlap
	}
	return s.Rotation.Overlap.Duration
}

// EffectiveFrom says how the namespaces are chosen whose tokens may use the endpoint.
func (s *MCPEndpointSpec) EffectiveFrom() FromNamespaces {
	if s.AllowedTokens == nil {
		return NamespacesSame
	}
	return s.AllowedTokens.Namespaces.From
}
