package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// The objects that are created. They are of a common size: an endpoint with three groups over PostgreSQL, models with a
// description and lists, tokens of a group with an attribute.

// endpointsPerNamespace is how many endpoints share a namespace.
const endpointsPerNamespace = 10

func namespaceOf(endpoint int) string {
	return fmt.Sprintf("scale-%03d", endpoint/endpointsPerNamespace)
}

func newNamespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// newConnection is the Secret that the endpoints of a namespace reach their database with.
func newConnection(namespace string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "database"},
		StringData: map[string]string{"uri": "postgres://shop:secret@database." + namespace + ".svc:5432/shop"},
	}
}

func newEndpoint(namespace, name string) *v1alpha1.MCPEndpoint {
	e := &v1alpha1.MCPEndpoint{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	e.Spec.Database.ConnectionSecretRef = &v1alpha1.ConnectionSecretReference{Name: "database"}
	for group, verbs := range map[string][]v1alpha1.Verb{
		"readers": {v1alpha1.VerbView},
		"editors": {v1alpha1.VerbView, v1alpha1.VerbAdd, v1alpha1.VerbChange},
		"owners":  {v1alpha1.VerbAll},
	} {
		e.Spec.Groups = append(e.Spec.Groups, v1alpha1.Group{
			Name: group, Permissions: []v1alpha1.PermissionRule{{Models: []string{"*"}, Verbs: verbs}},
		})
	}
	return e
}

func newExposure(namespace, endpoint string, i int) *v1alpha1.MCPModelExposure {
	table := fmt.Sprintf("table_%d", i)
	e := &v1alpha1.MCPModelExposure{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("%s-table-%d", endpoint, i)}}
	e.Spec.EndpointRef.Name, e.Spec.Table.Name, e.Spec.Model = endpoint, table, table
	e.Spec.Description = "What the shop knows of its " + table + ", one row each, with its price and state."
	e.Spec.SearchFields, e.Spec.Ordering = []string{"name", "note"}, []string{"-created_at"}
	return e
}

func newToken(namespace, endpoint, name string) *v1alpha1.MCPToken {
	t := &v1alpha1.MCPToken{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	t.Spec.EndpointRef.Name, t.Spec.Groups = endpoint, []string{"readers"}
	t.Spec.Attributes = map[string]v1alpha1.AttributeValue{"team": v1alpha1.AttributeValue(name)}
	return t
}
