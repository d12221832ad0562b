package packaging

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// naming are the ways in which an object can name a Secret, by kind and path, each with a function that makes such an object.
// A test holds them against the schemas.
var naming = map[string]func(secret string) client.Object{
	"MCPEndpoint.spec.database.connectionSecretRef.name": func(secret string) client.Object { return endpointOver("new", secret) },
	"MCPEndpoint.spec.database.replicas.connectionSecretRef.name": endpointWith(func(e *v1alpha1.MCPEndpoint, secret string) {
		e.Spec.Database = endpointOver("new", "books-db").Spec.Database
		e.Spec.Database.Replicas = &v1alpha1.DatabaseReplicas{ConnectionSecretRef: v1alpha1.ConnectionSecretReference{Name: secret}}
	}),
	"MCPEndpoint.spec.database.tls.caSecretRef.name": endpointWith(func(e *v1alpha1.MCPEndpoint, secret string) {
		e.Spec.Database = endpointOver("new", "books-db").Spec.Database
		e.Spec.Database.TLS = &v1alpha1.DatabaseTLS{Mode: "VerifyFull", CASecretRef: &v1alpha1.SecretKeyReference{Name: secret, Key: "ca.crt"}}
	}),
	"MCPEndpoint.spec.database.tls.clientCertificateSecretRef.name": endpointWith(func(e *v1alpha1.MCPEndpoint, secret string) {
		e.Spec.Database = endpointOver("new", "books-db").Spec.Database
		e.Spec.Database.TLS = &v1alpha1.DatabaseTLS{Mode: "VerifyFull", ClientCertificateSecretRef: &v1alpha1.SecretReference{Name: secret}}
	}),
	"MCPEndpoint.spec.network.ingress.tls.secretRef.name": endpointWith(func(e *v1alpha1.MCPEndpoint, secret string) {
		e.Spec.Network.Ingress = &v1alpha1.IngressSpec{
			Host: "books.example.com", TLS: &v1alpha1.IngressTLS{SecretRef: &v1alpha1.SecretReference{Name: secret}},
		}
	}),
	"MCPEndpoint.spec.server.tls.certificateSecretRef.name": endpointWith(func(e *v1alpha1.MCPEndpoint, secret string) {
		e.Spec.Server.TLS = &v1alpha1.ServerTLS{CertificateSecretRef: v1alpha1.SecretReference{Name: secret}}
	}),
	"MCPEndpoint.spec.observability.tracing.headersSecretRef.name": endpointWith(func(e *v1alpha1.MCPEndpoint, secret string) {
		e.Spec.Observability.Tracing = &v1alpha1.TracingSpec{CollectorSpec: collectorWith(secret)}
	}),
	"MCPEndpoint.spec.observability.audit.otlp.headersSecretRef.name": endpointWith(func(e *v1alpha1.MCPEndpoint, secret string) {
		e.Spec.Observability.Audit.OTLP = new(collectorWith(secret))
	}),
	"MCPEndpoint.spec.approvals[].notify.headersSecretRef.name": endpointWith(func(e *v1alpha1.MCPEndpoint, secret string) {
		e.Spec.Idempotency = &v1alpha1.IdempotencySpec{Table: v1alpha1.TableReference{Name: "answers"}}
		e.Spec.Approvals = []v1alpha1.ApprovalPolicy{{Name: "all", Notify: &v1alpha1.ApprovalNotify{
			WebhookSpec: v1alpha1.WebhookSpec{URL: "https://chat.example.com/", HeadersSecretRef: &v1alpha1.SecretReference{Name: secret}},
		}}}
	}),
	"MCPEndpoint.spec.server.imagePullSecrets[].name": endpointWith(func(e *v1alpha1.MCPEndpoint, secret string) {
		e.Spec.Server.ImagePullSecrets = []v1alpha1.SecretReference{{Name: secret}}
	}),
	"MCPEndpoint.spec.server.env[].valueFrom.secretKeyRef.name": endpointWith(func(e *v1alpha1.MCPEndpoint, secret string) {
		key := &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: "host"}
		for _, name := range []string{"A", "B", "C"} {
			e.Spec.Server.Env = append(e.Spec.Server.Env, corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: key}})
		}
	}),
	"MCPEndpoint.spec.server.volumes[].secret.secretName": endpointWithVolume(func(v *v1alpha1.Volume, secret string) {
		v.Secret = &corev1.SecretVolumeSource{SecretName: secret}
	}),
	"MCPEndpoint.spec.server.volumes[].csi.nodePublishSecretRef.name": endpointWithVolume(func(v *v1alpha1.Volume, secret string) {
		v.CSI = &corev1.CSIVolumeSource{Driver: "secrets-store.csi.k8s.io", NodePublishSecretRef: &corev1.LocalObjectReference{Name: secret}}
	}),
	"MCPEndpoint.spec.server.volumes[].projected.sources[].secret.name": endpointWithVolume(func(v *v1alpha1.Volume, secret string) {
		v.Projected = &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "books-db"}}},
			{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: secret}}},
		}}
	}),
	"MCPEndpoint.spec.server.podTemplate": endpointWith(func(e *v1alpha1.MCPEndpoint, secret string) {
		e.Spec.Server.PodTemplate = &runtime.RawExtension{Raw: []byte(
			`{"spec":{"containers":[{"name":"mine","image":"mine","envFrom":[{"secretRef":{"name":"` + secret + `"}}]}]}}`)}
	}),
	"MCPModelExposure.spec.actions[].webhook.headersSecretRef.name": func(secret string) client.Object { return exposureOf("books", secret) },
	"MCPToken.spec.tokenSecretRef.name": func(secret string) client.Object {
		token := tokenOf("books")
		token.Spec.TokenSecretRef = &v1alpha1.SecretKeyReference{Name: secret, Key: "password"}
		return token
	},
	"MCPToken.spec.tokenHashSecretRef.name": func(secret string) client.Object {
		token := tokenOf("books")
		token.Spec.TokenHashSecretRef = &v1alpha1.SecretKeyReference{Name: secret, Key: "password"}
		return token
	},
}

// notRead are names of Secrets that nobody is given the content of.
var notRead = []string{
	"MCPToken.spec.secret.name",                    // the manager writes it, and takes over nobody's
	"MCPApproval.spec.request.tokenSecretRef.name", // the manager writes it, and nothing reads that Secret for it
	// Pieces of calls, in which nobody looks for a Secret.
	"MCPEndpoint.spec.approvals[].match.when.before", "MCPEndpoint.spec.approvals[].match.when.after",
	"MCPModelExposure.spec.measures[].measure", "MCPModelExposure.spec.segments[].filters", "MCPModelExposure.spec.questions[].call.arguments",
}

// anyNames reports whether a path has room for the name of any Secret, so that naming one that may be read allows nothing.
func anyNames(path string) bool { return strings.HasSuffix(path, ".podTemplate") }

func endpointWith(change func(*v1alpha1.MCPEndpoint, string)) func(string) client.Object {
	return func(secret string) client.Object {
		e := endpointOver("new", "")
		change(e, secret)
		return e
	}
}

// collectorWith is a collector whose headers are in a Secret.
func collectorWith(secret string) v1alpha1.CollectorSpec {
	return v1alpha1.CollectorSpec{Endpoint: "https://collector.example.com", HeadersSecretRef: &v1alpha1.SecretReference{Name: secret}}
}

func endpointWithVolume(change func(*v1alpha1.Volume, string)) func(string) client.Object {
	return endpointWith(func(e *v1alpha1.MCPEndpoint, secret string) {
		volume := v1alpha1.Volume{Name: "more"}
		change(&volume, secret)
		e.Spec.Server.Volumes = []v1alpha1.Volume{volume}
	})
}

// Each place of the schemas that can name a Secret is one that the admission policies are tried with.
func TestEveryPlaceThatCanNameASecretIsTriedWithTheAdmissionPolicies(t *testing.T) {
	var found []string
	files, err := filepath.Glob(root + "/config/crd/bases/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no CRDs: %v", err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(content, &crd); err != nil {
			t.Fatal(err)
		}
		spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		found = append(found, secretPaths(&spec, crd.Spec.Names.Kind+".spec", false)...)
	}
	found = slices.DeleteFunc(found, func(path string) bool { return slices.Contains(notRead, path) })
	slices.Sort(found)
	if tried := slices.Sorted(maps.Keys(naming)); !slices.Equal(found, tried) {
		t.Errorf("the schemas have these places:\n%s\n\nand these are tried:\n%s", strings.Join(found, "\n"), strings.Join(tried, "\n"))
	}
}

// secretPaths are the paths below a schema at which a Secret's name can stand: names within what is called a Secret, and
// what has any form. within reports whether the schema itself is within what is called one.
func secretPaths(s *apiextensionsv1.JSONSchemaProps, path string, within bool) []string {
	if s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields {
		return []string{path}
	}
	var found []string
	for name := range s.Properties {
		property := s.Properties[name]
		inside := within || strings.Contains(strings.ToLower(name), "secret")
		if property.Type == "string" && inside && strings.HasSuffix(strings.ToLower(name), "name") {
			found = append(found, path+"."+name)
		}
		found = append(found, secretPaths(&property, path+"."+name, inside)...)
	}
	if s.Items != nil {
		found = append(found, secretPaths(s.Items.Schema, path+"[]", within)...)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		found = append(found, secretPaths(s.AdditionalProperties.Schema, path+"{}", within)...)
	}
	return found
}
