package v1alpha1

import (
	"crypto/x509"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/mcp-admin/mcp-admin-operator/contract/confirmtext"
	"github.com/mcp-admin/mcp-admin-operator/contract/sqlscan"
)

// Validate says what is wrong with an object of this package that its schema cannot say: SQL, templates and certificates. All
// else the API server checks by the schema, and package admission for objects that come from files. An object of another
// package is forbidden.
func Validate(obj runtime.Object) field.ErrorList {
	switch o := obj.(type) {
	case *MCPEndpoint:
		return ValidateMCPEndpoint(o)
	case *MCPModelExposure:
		return ValidateMCPModelExposure(o)
	case *MCPToken, *MCPApproval:
		return nil
	}
	return field.ErrorList{field.Forbidden(nil, fmt.Sprintf("%T is no kind of %s", obj, GroupVersion))}
}

// ValidateMCPEndpoint is Validate for an MCPEndpoint.
func ValidateMCPEndpoint(e *MCPEndpoint) field.ErrorList {
	var errs field.ErrorList
	issuers := field.NewPath("spec", "authentication", "oidc")
	for i := range e.Spec.Authentication.OIDC {
		authority := e.Spec.Authentication.OIDC[i].CertificateAuthority
		if authority == "" {
			continue
		}
		// The text is not shown: a private key may stand in it.
		if !x509.NewCertPool().AppendCertsFromPEM([]byte(authority)) || strings.Contains(authority, "PRIVATE KEY") {
			errs = append(errs, field.Invalid(issuers.Index(i).Child("certificateAuthority"), field.OmitValueType{}, "must be certificates in PEM, and no private key"))
		}
	}
	return errs
}

// ValidateMCPModelExposure is Validate for an MCPModelExposure.
func ValidateMCPModelExposure(e *MCPModelExposure) field.ErrorList {
	var errs field.ErrorList
	for i := range e.Spec.Actions {
		errs = append(errs, validateAction(field.NewPath("spec", "actions").Index(i), &e.Spec.Actions[i])...)
	}
	return errs
}

func validateAction(path *field.Path, a *ActionSpec) field.ErrorList {
	var errs field.ErrorList
	if a.Confirm != nil {
		if err := confirmtext.Check(a.Confirm.Message); err != nil {
			errs = append(errs, field.Invalid(path.Child("confirm", "message"), a.Confirm.Message, "must be a Go template of text, values, if and with: "+err.Error()))
		}
	}
	var parameters []string
	for _, p := range a.Parameters {
		parameters = append(parameters, p.Name)
	}
	if a.SQL != nil {
		if _, i, err := sqlscan.ScanAll(a.SQL.All(), parameters); err != nil {
			at := path.Child("sql", "statement")
			if a.SQL.Statement == "" {
				at = path.Child("sql", "statements").Index(i)
			}
			errs = append(errs, field.Invalid(at, field.OmitValueType{}, err.Error()))
		}
	}
	if a.Report != nil {
		if _, err := sqlscan.ScanQuery(a.Report.Statement, parameters); err != nil {
			errs = append(errs, field.Invalid(path.Child("report", "statement"), field.OmitValueType{}, err.Error()))
		}
	}
	return errs
}
