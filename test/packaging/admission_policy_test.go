package packaging

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers"
	"github.com/mcp-admin/mcp-admin-operator/test/apiserver"
)

// Who may do what under the admission policies, with users of their own and the API server's own RBAC. Every user may
// create the three kinds; what else they may is in their rules.
func TestTheAdmissionPolicies(t *testing.T) {
	environment, config := apiserver.Start(t, root+"/config/crd/bases")
	scheme, err := controllers.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	admin, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	create := func(o client.Object) {
		t.Helper()
		if err := admin.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}})
	for _, o := range renderKustomization(t, root+"/config/admission-policy") {
		create(&o)
	}
	create(endpointOver("books", "books-db"))
	create(endpointOver("staff", "staff-db"))
	create(endpointOver("notes", ""))

	may := func(group, resource, verb string, names ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{verb}, ResourceNames: names}
	}
	readBooks, useBooks := may("", "secrets", "get", "books-db"), may("mcpadmin.dev", "mcpendpoints", "use", "books")
	clients := map[string]client.Client{}
	for name, rules := range map[string][]rbacv1.PolicyRule{
		"reads-all":            {may("", "secrets", "get")},
		"reads-and-uses-books": {readBooks, useBooks},
		"reads-books":          {readBooks},
		"uses-books":           {useBooks},
		"uses-all":             {may("mcpadmin.dev", "mcpendpoints", "use")},
		"reads-all-of-books":   {may("", "secrets", "get", "books-db", "books-ca", "books-client", "books-tls", "books-pull-0", "books-pull-1")},
		"only-creates":         nil,
	} {
		all := rbacv1.PolicyRule{APIGroups: []string{"mcpadmin.dev"}, Resources: []string{"*"}, Verbs: []string{"create", "update", "get"}}
		create(&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Rules: append(rules, all)})
		create(&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: name}},
		})
		user, err := environment.AddUser(envtest.User{Name: name}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if clients[name], err = client.New(user.Config(), client.Options{Scheme: scheme}); err != nil {
			t.Fatal(err)
		}
	}
	waitUntil(t, "the policies are in force", func() bool {
		return apierrors.IsForbidden(clients["only-creates"].Create(t.Context(), tokenOf("books"), client.DryRunAll)) &&
			apierrors.IsForbidden(clients["uses-books"].Create(t.Context(), tokenOf("books"), client.DryRunAll)) &&
			apierrors.IsForbidden(clients["only-creates"].Create(t.Context(), endpointOver("new", "books-db"), client.DryRunAll))
	})

	for _, row := range []struct {
		what    string
		object  client.Object
		allowed []string
	}{
		{"an endpoint over books-db", endpointOver("new", "books-db"), []string{"reads-all", "reads-and-uses-books", "reads-books", "reads-all-of-books"}},
		{"an endpoint over staff-db", endpointOver("new", "staff-db"), []string{"reads-all"}},
		{"an endpoint over SQLite", endpointOver("new", ""), slices.Collect(maps.Keys(clients))},
		{"a token of books", tokenOf("books"), []string{"reads-all", "reads-and-uses-books"}},
		{"an exposure of books", exposureOf("books", ""), []string{"reads-all", "reads-and-uses-books"}},
		{"an exposure whose webhook sends staff-db", exposureOf("books", "staff-db"), []string{"reads-all"}},
		{"a token of staff", tokenOf("staff"), []string{"reads-all"}},
		{"a token of notes, which has no Secret", tokenOf("notes"), []string{"reads-all", "uses-all"}},
		{"a token of an endpoint that does not exist yet", tokenOf("later"), []string{"reads-all", "uses-all"}},
	} {
		for name, user := range clients {
			err := user.Create(t.Context(), row.object.DeepCopyObject().(client.Object), client.DryRunAll)
			if want := slices.Contains(row.allowed, name); want && err != nil || !want && !apierrors.IsForbidden(err) {
				t.Errorf("%s makes %s: %v, want allowed: %v", name, row.what, err, want)
			}
		}
	}

	// Whatever names a Secret asks for the right to get that one; what can name any, for the right to get all.
	for path, naming := range naming {
		for secret, allowed := range map[string][]string{"books-db": {"reads-all", "reads-and-uses-books"}, "staff-db": {"reads-all"}} {
			if anyNames(path) {
				allowed = []string{"reads-all"}
			}
			for _, name := range []string{"reads-all", "reads-and-uses-books", "only-creates"} {
				err := clients[name].Create(t.Context(), naming(secret), client.DryRunAll)
				if want := slices.Contains(allowed, name); want && err != nil || !want && !apierrors.IsForbidden(err) {
					t.Errorf("%s names %s in %s: %v, want allowed: %v", name, secret, path, err, want)
				}
			}
		}
	}
	// The API server bounds what a policy may ask: who may get all Secrets can name many, others two in each list.
	many := endpointOver("new", "books-db")
	many.Spec.Database.TLS = &v1alpha1.DatabaseTLS{
		Mode: "VerifyFull", CASecretRef: &v1alpha1.SecretKeyReference{Name: "books-ca", Key: "ca.crt"}, ClientCertificateSecretRef: &v1alpha1.SecretReference{Name: "books-client"},
	}
	many.Spec.Server = v1alpha1.ServerSpec{TLS: &v1alpha1.ServerTLS{CertificateSecretRef: v1alpha1.SecretReference{Name: "books-tls"}}}
	for i := range 2 {
		many.Spec.Server.ImagePullSecrets = append(many.Spec.Server.ImagePullSecrets, v1alpha1.SecretReference{Name: fmt.Sprint("books-pull-", i)})
	}
	for _, name := range []string{"reads-all", "reads-all-of-books"} {
		if err := clients[name].Create(t.Context(), many, client.DryRunAll); err != nil {
			t.Errorf("%s names many: %v", name, err)
		}
	}
	many.Spec.Server.ImagePullSecrets = append(many.Spec.Server.ImagePullSecrets, v1alpha1.SecretReference{Name: "books-tls"})
	if err := clients["reads-all"].Create(t.Context(), many, client.DryRunAll); err != nil {
		t.Errorf("who may get all Secrets names a third: %v", err)
	}
	if err := clients["reads-all-of-books"].Create(t.Context(), many, client.DryRunAll); !apierrors.IsForbidden(err) {
		t.Errorf("a third of a list was not refused: %v", err)
	}

	// Labels and the like are everybody's; another endpoint is not.
	token := tokenOf("books")
	create(token)
	token.Labels = map[string]string{"team": "data"}
	if err := clients["only-creates"].Update(t.Context(), token); err != nil {
		t.Errorf("a label was refused: %v", err)
	}
	token.Spec.Groups = []string{"writers"}
	if err := clients["only-creates"].Update(t.Context(), token); !apierrors.IsForbidden(err) {
		t.Errorf("more rights were not refused: %v", err)
	}
}

func endpointOver(name, secret string) *v1alpha1.MCPEndpoint {
	e := &v1alpha1.MCPEndpoint{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	if e.Spec.Database.SQLite = (&v1alpha1.SQLiteSpec{EmptyDir: &v1alpha1.SQLiteEmptyDir{}}); secret != "" {
		e.Spec.Database = v1alpha1.DatabaseSpec{ConnectionSecretRef: &v1alpha1.ConnectionSecretReference{Name: secret}}
	}
	return e
}

func tokenOf(endpoint string) *v1alpha1.MCPToken {
	token := &v1alpha1.MCPToken{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "agent"}}
	token.Spec.EndpointRef.Name, token.Spec.Groups = endpoint, []string{"readers"}
	return token
}

// exposureOf has an action whose webhook sends a Secret's content, if one is named.
func exposureOf(endpoint, headers string) *v1alpha1.MCPModelExposure {
	exposure := &v1alpha1.MCPModelExposure{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "book"}}
	exposure.Spec.EndpointRef.Name, exposure.Spec.Table.Name = endpoint, "book"
	if headers != "" {
		exposure.Spec.Actions = []v1alpha1.ActionSpec{{Name: "publish", Webhook: &v1alpha1.WebhookSpec{
			URL: "https://example.com/publish", HeadersSecretRef: &v1alpha1.SecretReference{Name: headers},
		}}}
	}
	return exposure
}

func waitUntil(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 300 {
		if holds() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("it never came to this: %s", what)
}
