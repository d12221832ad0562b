package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/mcp-admin/mcp-admin-operator/config/rbac"
	"github.com/mcp-admin/mcp-admin-operator/controllers"
	"github.com/mcp-admin/mcp-admin-operator/test/apiserver"
)

const (
	ownNamespaceName = "mcp-admin-system"
	managerUser      = "system:serviceaccount:mcp-admin-system:mcp-admin-manager"
	crdFolder        = "../../config/crd/bases"
)

// testCluster is a real API server, an administrator's client, and a user who has what a test grants.
type testCluster struct {
	environment *envtest.Environment
	config      *rest.Config
	admin       client.Client
	user        *envtest.AuthenticatedUser
}

// startCluster starts an API server with the namespaces mcp-admin-system, shop and crm, and without the kinds.
func startCluster(t *testing.T) *testCluster {
	t.Helper()
	c := &testCluster{}
	c.environment, c.config = apiserver.Start(t)
	scheme, err := controllers.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	if c.admin, err = client.New(c.config, client.Options{Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
	if c.user, err = c.environment.AddUser(envtest.User{Name: managerUser, Groups: []string{"system:serviceaccounts"}}, nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{ownNamespaceName, "shop", "crm"} {
		c.create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	return c
}

func (c *testCluster) create(t *testing.T, o client.Object) {
	t.Helper()
	if err := c.admin.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

// grant gives the user a role's rules in a namespace, but for one verb of one resource.
func (c *testCluster) grant(t *testing.T, namespace string, role []byte, butVerb, butResource string) {
	t.Helper()
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "manager"}
	want := &rbacv1.Role{ObjectMeta: meta}
	var parsed rbacv1.ClusterRole
	if err := yaml.Unmarshal(role, &parsed); err != nil {
		t.Fatal(err)
	}
	for _, rule := range parsed.Rules {
		for _, resource := range rule.Resources {
			one := *rule.DeepCopy()
			one.Resources, one.Verbs = []string{resource}, nil
			for _, verb := range rule.Verbs {
				if verb != butVerb || resource != butResource {
					one.Verbs = append(one.Verbs, verb)
				}
			}
			want.Rules = append(want.Rules, one)
		}
	}
	if err := c.admin.Patch(t.Context(), want, client.Merge); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	} else if err == nil {
		return
	}
	c.create(t, want)
	c.create(t, &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "manager"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: managerUser}},
	})
}

// install installs the kinds, as change leaves them.
func (c *testCluster) install(t *testing.T, change func(*apiextensionsv1.CustomResourceDefinition)) {
	t.Helper()
	paths, err := filepath.Glob(crdFolder + "/*.yaml")
	if err != nil || len(paths) != 4 {
		t.Fatalf("got %q, want 4 files: %v", paths, err)
	}
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(text, crd); err != nil {
			t.Fatal(err)
		}
		change(crd)
		crds = append(crds, crd)
	}
	if _, err := envtest.InstallCRDs(c.config, envtest.CRDInstallOptions{CRDs: crds}); err != nil {
		t.Fatal(err)
	}
}

func TestTheStartSaysWhatIsWrongWithTheCluster(t *testing.T) {
	c := startCluster(t)
	scheme, err := controllers.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	config := c.user.Config()
	config.QPS = -1 // as the manager's
	limited, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	// expect waits, because the API server takes a moment to publish kinds and rights.
	expect := func(want string, namespaces ...string) {
		t.Helper()
		check := func(ctx context.Context) error {
			return checkCluster(ctx, config, limited, namespaces, ownNamespaceName)
		}
		var err error
		for range 100 {
			if err = check(t.Context()); want == "" && err == nil || want != "" && err != nil && strings.Contains(err.Error(), want) {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Fatalf("it says %v, want %q", err, want)
	}
	for name, want := range map[string]bool{"shop": true, "shpo": false} {
		if err := checkNamespace(t.Context(), c.admin, name); (err == nil) != want || !want && !strings.Contains(err.Error(), `the namespace "shpo" does not exist`) {
			t.Errorf("of namespace %s it says %v", name, err)
		}
	}
	expect("does not serve mcpadmin.dev/v1alpha1: install the CustomResourceDefinitions")
	c.install(t, func(crd *apiextensionsv1.CustomResourceDefinition) {
		if crd.Spec.Names.Kind == "MCPToken" {
			delete(crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"].Properties, "publicID")
		}
	})
	expect("CustomResourceDefinition of MCPToken is older than this manager, it has no status.publicID")
	c.install(t, func(*apiextensionsv1.CustomResourceDefinition) {})
	expect("the manager lacks rights: create ")

	// An empty watch list is the whole cluster; the user has Roles alone.
	c.grant(t, ownNamespaceName, rbac.OwnNamespaceRole, "", "")
	c.grant(t, "shop", rbac.ManagerRole, "", "")
	expect("", "shop")
	expect("list mcptokens.mcpadmin.dev in namespace crm", "shop", "crm")
	expect("list mcptokens.mcpadmin.dev in all namespaces")
	c.grant(t, "crm", rbac.ManagerRole, "patch", "deployments")
	expect("the manager lacks rights: patch deployments.apps in namespace crm; bind the roles of config/rbac", "shop", "crm")
	c.grant(t, "crm", rbac.ManagerRole, "", "")
	expect("", "shop", "crm")
	c.grant(t, ownNamespaceName, rbac.OwnNamespaceRole, "update", "leases")
	expect("the manager lacks rights: update leases.coordination.k8s.io in namespace "+ownNamespaceName, "shop")
}
