package v1alpha1

import (
	"regexp"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

var connectionHost = regexp.MustCompile(`^[^\s@/,][^\s@/]*$`)

func (v *validator) connection(path *field.Path, c DatabaseConnection) {
	v.optional(path.Child("host"), c.Host, 1024, connectionHost)
	if c.Port < 0 || c.Port > 65535 {
		v.invalid(path.Child("port"), c.Port, "must be between 1 and 65535")
	}
	v.optional(path.Child("name"), c.Name, 128, nil)
	v.optional(path.Child("user"), c.User, 128, nil)
}

func (v *validator) replicas(path *field.Path, r *DatabaseReplicas) {
	v.required(path.Child("connectionSecretRef", "name"), r.ConnectionSecretRef.Name, 253, nil)
	v.optional(path.Child("connectionSecretRef", "key"), r.ConnectionSecretRef.Key, 253, nil)
	v.connection(path.Child("connection"), r.Connection)
	if s := r.MaxStaleness; s != nil && (s.Duration < time.Second || s.Duration > time.Hour) {
		v.invalid(path.Child("maxStaleness"), s.Duration.String(), "must be between 1s and 1h")
	}
	within(v, path.Child("pool", "maxConnections"), r.Pool.MaxConnections, 1, 1000)
}

func (v *validator) databaseTLS(path *field.Path, tls *DatabaseTLS) {
	oneOf(v, path.Child("mode"), tls.Mode, "Disable", "Prefer", "Require", "VerifyCA", "VerifyFull")
	v.secretKey(path.Child("caSecretRef"), tls.CASecretRef)
	if ref := tls.ClientCertificateSecretRef; ref != nil {
		v.required(path.Child("clientCertificateSecretRef", "name"), ref.Name, 253, nil)
		if tls.Mode == "Disable" {
			v.invalid(path.Child("clientCertificateSecretRef"), ref.Name, withoutTLS)
		}
	}
}

const withoutTLS = "a client certificate is shown over TLS only; choose another mode than Disable"
