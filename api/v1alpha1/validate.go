package v1alpha1

import (
	"fmt"
	"regexp"
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
	v.authentication(spec.Child("authentication"), &e.Spec.Authentication)
	v.server(spec.Child("server"), &e.Spec.Server)
	if e.Spec.Database.SQLite != nil && e.Spec.Server.Autoscaling != nil {
		v.invalid(spec, "", "a SQLite file is served by one pod: remove server.autoscaling")
	}
	v.network(spec.Child("network"), &e.Spec.Network)
	v.observability(spec.Child("observability"), &e.Spec)
	v.catalogue(spec.Child("catalogue"), e.Spec.Catalogue)
	if e.Spec.Audit != nil {
		v.table(spec.Child("audit", "table"), e.Spec.Audit.Table)
	}
	if e.Spec.Idempotency != nil {
		v.table(spec.Child("idempotency", "table"), e.Spec.Idempotency.Table)
		if e.Spec.Audit != nil && e.Spec.Audit.Table == e.Spec.Idempotency.Table {
			v.invalid(spec.Child("idempotency", "table"), e.Spec.Idempotency.Table.Name, "this is the audit table; name another one")
		}
	}
	return v.errs
}

func (v *validator) catalogue(path *field.Path, c CatalogueSpec) {
	oneOf(v, path.Child("style"), c.Style, "", CataloguePerModel, CatalogueGeneric, CatalogueAuto)
	within(v, path.Child("maxTools"), c.MaxTools, 1, 100000)
	oneOf(v, path.Child("structuredContent"), c.StructuredContent, "", StructuredContentEnabled, StructuredContentDisabled)
}

func (v *validator) database(path *field.Path, d *DatabaseSpec) {
	if (d.ConnectionSecretRef != nil) == (d.SQLite != nil) {
		v.invalid(path, "", "exactly one of connectionSecretRef and sqlite must be given")
	}
	if d.SQLite != nil && (d.TLS != nil || d.Engine != "" || len(d.Schemas) > 0 || d.Name != "" || d.Replicas != nil) {
		v.invalid(path, "", "engine, name, tls, schemas and replicas belong to connectionSecretRef, not to sqlite")
	}
	v.sessionSettings(path, d)
	v.optional(path.Child("name"), d.Name, 128, nil)
	if d.Replicas != nil {
		v.replicas(path.Child("replicas"), d.Replicas)
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
	if d.TLS != nil {
		v.databaseTLS(path.Child("tls"), d.TLS)
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
	v.workload(path, &s.WorkloadSpec)
	v.optional(path.Child("image"), s.Image, 512, nil)
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
