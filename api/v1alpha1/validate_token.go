package v1alpha1

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	// endpointsSecret is the name of a Secret that belongs to an endpoint: its Config, or a part of it.
	endpointsSecret = regexp.MustCompile(configSuffix + `(-v[0-9]+)?(-tokens-[0-9]+)?$`)
	secretType      = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9./_-]*$`)
	secretKey       = regexp.MustCompile(`^[-._a-zA-Z0-9]+$`)
)

// The most characters that the names and values of one token have together: ten thousand tokens must fit into the memory
// of a pod.
const (
	maxGroupCharacters      = 1024
	maxPermissionCharacters = 4096
	maxAttributeCharacters  = 3072
)

// ValidateMCPToken is Validate for an MCPToken.
func ValidateMCPToken(t *MCPToken) field.ErrorList {
	var v validator
	spec := field.NewPath("spec")
	v.required(spec.Child("endpointRef", "name"), t.Spec.EndpointRef.Name, 40, nil)
	v.optional(spec.Child("endpointRef", "namespace"), t.Spec.EndpointRef.Namespace, 63, nil)
	ofClaims := t.Spec.OIDC != nil && len(t.Spec.OIDC.Attributes) > 0
	if t.Spec.EndpointRef.Namespace != "" && (len(t.Spec.Permissions) > 0 || len(t.Spec.Attributes) > 0 || ofClaims) {
		v.invalid(spec, "", "a token of an endpoint in another namespace has no permissions and no attributes of its own, nor oidc.attributes; leave them out, or leave out endpointRef.namespace")
	}
	v.set(spec.Child("groups"), t.Spec.Groups, 100, 63, nil)
	v.together(spec.Child("groups"), characters(t.Spec.Groups), maxGroupCharacters)
	v.permissions(spec.Child("permissions"), t.Spec.Permissions)
	v.together(spec.Child("permissions"), permissionCharacters(t.Spec.Permissions), maxPermissionCharacters)
	v.attributes(spec.Child("attributes"), t.Spec.Attributes)
	v.lifetime(spec, &t.Spec)
	v.credential(spec, &t.Spec)
	if t.Spec.Generated() && endpointsSecret.MatchString(t.EffectiveSecretName()) {
		v.invalid(spec.Child("secret", "name"), t.EffectiveSecretName(), "names that end in "+configSuffix+", with or without a version or part, are those of endpoints' Secrets; give the token's Secret another name in spec.secret.name")
	}
	v.tokenSecret(spec.Child("secret"), t.Spec.Secret)
	return v.errs
}

func (v *validator) attributes(path *field.Path, attributes map[string]AttributeValue) {
	v.atMost(path, len(attributes), 50)
	total := 0
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		v.text(path.Key(name), name, 1, 63, attributeName)
		v.text(path.Key(name), string(attributes[name]), 0, 1000, nil)
		total += utf8.RuneCountInString(name) + utf8.RuneCountInString(string(attributes[name]))
	}
	v.together(path, total, maxAttributeCharacters)
}

// lifetime checks until when a token is valid, and how often its text is replaced.
func (v *validator) lifetime(spec *field.Path, s *MCPTokenSpec) {
	if s.Expiry != nil && s.TTL != nil {
		v.invalid(spec, "", "at most one of expiry and ttl may be given")
	}
	const tenYears = 87600 * time.Hour
	v.duration(spec.Child("ttl"), s.TTL, time.Minute, tenYears)
	if s.Rotation == nil {
		return
	}
	at := spec.Child("rotation")
	v.duration(at.Child("every"), s.Rotation.Every, 10*time.Minute, tenYears)
	v.duration(at.Child("overlap"), s.Rotation.Overlap, 0, 720*time.Hour)
	if s.Rotation.Every != nil && s.EffectiveOverlap() >= s.Rotation.Every.Duration {
		v.invalid(at, "", "overlap (1h when absent) must be shorter than every")
	}
	if !s.Generated() {
		v.invalid(at, "", "rotation is for a generated token; leave it out: a text of your own is changed in its Secret, and other issuers replace their tokens themselves")
	}
	if s.Secret != nil && s.Secret.Mutability == SecretImmutable {
		v.invalid(at, "", "a token in an immutable Secret cannot be rotated; leave out rotation, or secret.mutability")
	}
}

// credential checks where a token's text comes from, or that it has none.
func (v *validator) credential(spec *field.Path, s *MCPTokenSpec) {
	given := 0
	for _, is := range []bool{s.TokenSecretRef != nil, s.TokenHashSecretRef != nil, s.ServiceAccountRef != nil, s.OIDC != nil, s.Secret != nil} {
		if is {
			given++
		}
	}
	if given > 1 {
		v.invalid(spec, "", "at most one of tokenSecretRef, tokenHashSecretRef, serviceAccountRef, oidc and secret may be given: secret is for a generated token")
	}
	v.secretKey(spec.Child("tokenSecretRef"), s.TokenSecretRef)
	v.secretKey(spec.Child("tokenHashSecretRef"), s.TokenHashSecretRef)
	v.callers(spec, s)
}

func (v *validator) tokenSecret(path *field.Path, s *TokenSecretSpec) {
	if s == nil {
		return
	}
	v.optional(path.Child("name"), s.Name, 253, nil)
	v.metadata(path, s.Labels, s.Annotations)
	v.optional(path.Child("type"), s.Type, 253, secretType)
	if strings.HasPrefix(s.Type, "kubernetes.io/") || strings.HasPrefix(s.Type, "bootstrap.kubernetes.io/") {
		v.invalid(path.Child("type"), s.Type, "types of Kubernetes itself demand other keys; name a type of your own")
	}
	oneOf(v, path.Child("mutability"), s.Mutability, "", SecretMutable, SecretImmutable)
	oneOf(v, path.Child("deletionPolicy"), s.DeletionPolicy, "", SecretDelete, SecretRetain)
	v.tokenKeys(path.Child("keys"), s.Keys)
}

func (v *validator) tokenKeys(path *field.Path, keys []TokenSecretKey) {
	notEmpty(v, path, keys)
	v.atMost(path, len(keys), 20)
	distinct(v, path, keys, func(k TokenSecretKey) string { return k.Key })
	for i, k := range keys {
		at := path.Index(i)
		v.required(at.Child("key"), k.Key, 253, secretKey)
		if k.Key == "." || strings.HasPrefix(k.Key, "..") {
			v.invalid(at.Child("key"), k.Key, "must not be '.', nor begin with '..'")
		}
		oneOf(v, at.Child("format"), k.Format, FormatToken, FormatURL, FormatMCPServers, FormatVSCode, FormatCodex, FormatGeminiCLI, FormatDotEnv)
	}
	if len(keys) > 0 && !slices.ContainsFunc(keys, func(k TokenSecretKey) bool { return k.Format == FormatToken }) {
		v.invalid(path, "", "one key must have the format Token: the controllers read the text there")
	}
}

func (v *validator) allowedTokens(path *field.Path, a *AllowedTokens) {
	if a == nil {
		return
	}
	v.set(path.Child("groups"), a.Groups, 100, 63, nil)
	at := path.Child("namespaces")
	oneOf(v, at.Child("from"), a.Namespaces.From, NamespacesSame, NamespacesSelector, NamespacesAll)
	selector := a.Namespaces.Selector
	if (a.Namespaces.From == NamespacesSelector) != (selector != nil) {
		v.invalid(at, "", "selector must be given if from is Selector, and only then")
	}
	if selector == nil {
		return
	}
	at = at.Child("selector")
	if len(selector.MatchLabels) == 0 && len(selector.MatchExpressions) == 0 {
		v.invalid(at, "", "give matchLabels or matchExpressions; from: All is for every namespace")
	}
	v.atMost(at.Child("matchLabels"), len(selector.MatchLabels), 20)
	v.atMost(at.Child("matchExpressions"), len(selector.MatchExpressions), 20)
	for i, r := range selector.MatchExpressions {
		v.atMost(at.Child("matchExpressions").Index(i).Child("values"), len(r.Values), 50)
	}
	if _, err := metav1.LabelSelectorAsSelector(selector.LabelSelector()); err != nil {
		v.invalid(at, "", err.Error())
	}
}

// duration is an optional duration between two bounds.
func (v *validator) duration(path *field.Path, d *metav1.Duration, minimum, maximum time.Duration) {
	if d != nil && (d.Duration < minimum || d.Duration > maximum) {
		v.invalid(path, d.Duration.String(), "must be between "+minimum.String()+" and "+maximum.String())
	}
}

// together is how many characters several texts have.
func (v *validator) together(path *field.Path, total, maximum int) {
	if total > maximum {
		v.add(field.TooLong(path, "", maximum))
	}
}

func characters[T ~string](texts []T) int {
	total := 0
	for _, text := range texts {
		total += utf8.RuneCountInString(string(text))
	}
	return total
}

func permissionCharacters(rules []PermissionRule) int {
	total := 0
	for _, r := range rules {
		total += characters(r.Modules) + characters(r.Models) + characters(r.Actions)
	}
	return total
}
