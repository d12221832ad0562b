package v1alpha1

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Validate checks an object of this package by the rules of its schema, for whoever bypassed the API server: an object
// from a file, or one stored before a rule was there. Rules about a change (immutable fields) are not checked. An
// object of another package is forbidden.
func Validate(obj runtime.Object) field.ErrorList {
	switch o := obj.(type) {
	case *MCPEndpoint:
		return ValidateMCPEndpoint(o)
	case *MCPModelExposure:
		return ValidateMCPModelExposure(o)
	case *MCPToken:
		return ValidateMCPToken(o)
	}
	return field.ErrorList{field.Forbidden(nil, fmt.Sprintf("%T is no kind of %s", obj, GroupVersion))}
}

var (
	endpointName  = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
	groupName     = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	permittedName = regexp.MustCompile(`^(\*|[a-z][a-z0-9_]*)$`)
	attributeName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*$`)
	basePath      = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)
	origin        = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://(\*\.[a-z0-9_-]+(\.[a-z0-9_-]+)+|[a-z0-9_-]+(\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(:[0-9]{1,5})?$`)
)

// ValidateMCPEndpoint is Validate for an MCPEndpoint.
func ValidateMCPEndpoint(e *MCPEndpoint) field.ErrorList {
	var v validator
	if len(e.Name) > 40 || !endpointName.MatchString(e.Name) {
		v.invalid(field.NewPath("metadata", "name"), e.Name, "must be a DNS-1035 label of at most 40 characters: its children are named after it")
	}
	spec := field.NewPath("spec")
	v.database(spec.Child("database"), &e.Spec.Database)
	v.groups(spec.Child("groups"), e.Spec.Groups)
	v.allowedTokens(spec.Child("allowedTokens"), e.Spec.AllowedTokens)
	v.server(spec.Child("server"), &e.Spec.Server)
	if external := e.Spec.Network.ExternalURL; external != "" {
		path := spec.Child("network", "externalURL")
		v.text(path, external, 8, 1024, nil)
		if !isExternalURL(external) {
			v.invalid(path, external, "must be an http or https URL with a host, without user, query or fragment")
		}
	}
	v.cors(spec.Child("network", "cors"), e.Spec.Network.CORS)
	v.catalogue(spec.Child("catalogue"), e.Spec.Catalogue)
	if e.Spec.Audit != nil {
		v.table(spec.Child("audit", "table"), e.Spec.Audit.Table)
	}
	return v.errs
}

func isExternalURL(s string) bool {
	u, err := url.ParseRequestURI(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && !strings.ContainsAny(s, "?#@")
}

func (v *validator) catalogue(path *field.Path, c CatalogueSpec) {
	oneOf(v, path.Child("style"), c.Style, "", CataloguePerModel, CatalogueGeneric, CatalogueAuto)
	within(v, path.Child("maxTools"), c.MaxTools, 1, 100000)
	oneOf(v, path.Child("structuredContent"), c.StructuredContent, "", StructuredContentEnabled, StructuredContentDisabled)
}

func (v *validator) cors(path *field.Path, c *CORSSpec) {
	if c == nil {
		return
	}
	at := path.Child("allowedOrigins")
	if len(c.AllowedOrigins) == 0 {
		v.add(field.Required(at, "name the origins that may call the endpoint, or leave out cors"))
	}
	v.atMost(at, len(c.AllowedOrigins), 50)
	for i, o := range c.AllowedOrigins {
		v.text(at.Index(i), string(o), 4, 300, nil)
		if slices.Contains(c.AllowedOrigins[:i], o) {
			v.add(field.Duplicate(at.Index(i), o))
		}
		if !origin.MatchString(string(o)) {
			v.invalid(at.Index(i), o, "must be an origin as browsers write it: scheme://host or scheme://host:port in lower case, without a path; the host may begin with *. before at least two labels")
		}
	}
}

func (v *validator) database(path *field.Path, d *DatabaseSpec) {
	if (d.ConnectionSecretRef != nil) == (d.SQLite != nil) {
		v.invalid(path, "", "exactly one of connectionSecretRef and sqlite must be given")
	}
	if d.SQLite != nil && (d.TLS != nil || d.Engine != "" || len(d.Schemas) > 0) {
		v.invalid(path, "", "engine, tls and schemas belong to connectionSecretRef, not to sqlite")
	}
	if ref := d.ConnectionSecretRef; ref != nil {
		at := path.Child("connectionSecretRef")
		v.required(at.Child("name"), ref.Name, 253, nil)
		v.optional(at.Child("key"), ref.Key, 253, nil)
	}
	if sqlite := d.SQLite; sqlite != nil {
		at := path.Child("sqlite")
		if (sqlite.EmptyDir != nil) == (sqlite.Claim != nil) {
			v.invalid(at, "", "exactly one of emptyDir and claim must be given")
		}
		if sqlite.Claim != nil {
			v.required(at.Child("claim", "name"), sqlite.Claim.Name, 253, nil)
		}
		if sqlite.InitConfigMapRef != nil {
			v.required(at.Child("initConfigMapRef", "name"), sqlite.InitConfigMapRef.Name, 253, nil)
		}
	}
	oneOf(v, path.Child("engine"), d.Engine, "", EnginePostgreSQL, EngineMySQL)
	if tls := d.TLS; tls != nil {
		at := path.Child("tls")
		oneOf(v, at.Child("mode"), tls.Mode, "Disable", "Prefer", "Require", "VerifyCA", "VerifyFull")
		v.secretKey(at.Child("caSecretRef"), tls.CASecretRef)
	}
	within(v, path.Child("pool", "maxConnections"), d.Pool.MaxConnections, 1, 1000)
	if t := d.StatementTimeout; t != nil && (t.Duration < time.Millisecond || t.Duration > time.Hour) {
		v.invalid(path.Child("statementTimeout"), t.Duration.String(), "must be between 1ms and 1h")
	}
	oneOf(v, path.Child("access"), d.Access, "", DatabaseReadWrite, DatabaseReadOnly)
	v.texts(path.Child("schemas"), d.Schemas, 50, 64, nil)
}

func (v *validator) groups(path *field.Path, groups []Group) {
	v.atMost(path, len(groups), 100)
	seen := map[string]bool{}
	for i, g := range groups {
		at := path.Index(i)
		v.required(at.Child("name"), g.Name, 63, groupName)
		if seen[g.Name] {
			v.add(field.Duplicate(at, g.Name))
		}
		seen[g.Name] = true
		v.permissions(at.Child("permissions"), g.Permissions)
	}
}

func (v *validator) permissions(path *field.Path, rules []PermissionRule) {
	v.atMost(path, len(rules), 100)
	for i, r := range rules {
		at := path.Index(i)
		v.set(at.Child("modules"), r.Modules, 100, 64, nil)
		if len(r.Models) == 0 {
			v.add(field.Required(at.Child("models"), "a rule grants nothing on models that it does not name"))
		}
		v.set(at.Child("models"), r.Models, 200, 40, permittedName)
		oneOfEach(v, at.Child("verbs"), r.Verbs, VerbView, VerbAdd, VerbChange, VerbDelete, VerbAll)
		v.set(at.Child("actions"), r.Actions, 100, 40, permittedName)
	}
}

func (v *validator) server(path *field.Path, s *ServerSpec) {
	if s.Replicas != nil && (*s.Replicas < 0 || *s.Replicas > 100) {
		v.invalid(path.Child("replicas"), *s.Replicas, "must be between 0 and 100")
	}
	v.optional(path.Child("image"), s.Image, 512, nil)
	at := path.Child("imagePullSecrets")
	v.atMost(at, len(s.ImagePullSecrets), 10)
	distinct(v, at, s.ImagePullSecrets, func(r SecretReference) string { return r.Name })
	for i, ref := range s.ImagePullSecrets {
		v.required(at.Index(i).Child("name"), ref.Name, 253, nil)
	}
	if s.BasePath != "" {
		v.text(path.Child("basePath"), s.BasePath, 2, 200, basePath)
	}
	if s.TLS != nil {
		v.required(path.Child("tls", "certificateSecretRef", "name"), s.TLS.CertificateSecretRef.Name, 253, nil)
	}
	within(v, path.Child("limits", "maxBodyBytes"), s.Limits.MaxBodyBytes, 1024, 64<<20)
	within(v, path.Child("limits", "maxConcurrentRequests"), s.Limits.MaxConcurrentRequests, 1, 100000)
	within(v, path.Child("limits", "maxResultBytes"), s.Limits.MaxResultBytes, 16<<10, 64<<20)
	within(v, path.Child("limits", "requestsPerSecondPerToken"), s.Limits.RequestsPerSecondPerToken, 1, 100000)
}
