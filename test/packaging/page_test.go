package packaging

import (
	"encoding/base64"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pageName is the name of what belongs to the page.
const pageName = "mcp-admin-mcp-admin-operator-page"

// ofPage are the objects of the page.
func ofPage(objects []object) []object {
	return slices.DeleteFunc(objects, func(o object) bool { return o.GetLabels()["app.kubernetes.io/component"] != "page" })
}

// ofRelease renders the page of testdata/page.yaml.
func ofRelease(t *testing.T, values ...string) []object {
	t.Helper()
	return ofPage(renderWith(t, "testdata/page.yaml", values...))
}

// The page is there on request alone, and may impersonate and nothing else.
func TestChartServesThePageOnRequest(t *testing.T) {
	if found := ofPage(renderChart(t)); len(found) > 0 {
		t.Errorf("without page.enabled there are %v", found)
	}
	objects := ofRelease(t)
	rules := func(objects []object) any { return nested(t, the(t, objects, "ClusterRole"), "rules") }
	rule := func(resource string, names ...any) any {
		r := map[string]any{"apiGroups": []any{""}, "resources": []any{resource}, "verbs": []any{"impersonate"}}
		if len(names) > 0 {
			r["resourceNames"] = names
		}
		return r
	}
	if diff := cmp.Diff([]any{rule("users"), rule("groups")}, rules(objects)); diff != "" {
		t.Errorf("the rights (-want +got):\n%s", diff)
	}
	few := ofRelease(t, "page.impersonate.groups={oidc:ops,oidc:dev}", "page.impersonate.users={oidc:ann}")
	if diff := cmp.Diff([]any{rule("users", "oidc:ann"), rule("groups", "oidc:ops", "oidc:dev")}, rules(few)); diff != "" {
		t.Errorf("the rights for few (-want +got):\n%s", diff)
	}
	for _, want := range []any{"--impersonate-user=oidc:ann", "--impersonate-group=oidc:ops", "--impersonate-group=oidc:dev"} {
		if args := managerContainer(t, few)["args"].([]any); !slices.Contains(args, want) {
			t.Errorf("the arguments lack %v: %v", want, args)
		}
	}
	for _, kind := range []string{"Role", "RoleBinding"} {
		if found := ofKind(objects, kind); len(found) > 0 {
			t.Errorf("there are %v", found)
		}
	}
	checkBindings(t, objects)
	if got := ofKind(ofRelease(t, "rbac.create=false"), "ClusterRole"); len(got) > 0 {
		t.Errorf("with rbac.create=false there are %v", got)
	}
}

func TestChartRunsThePageAsItRunsTheManager(t *testing.T) {
	objects := ofRelease(t)
	pod := nested(t, the(t, objects, "Deployment"), "spec", "template", "spec").(map[string]any)
	container := managerContainer(t, objects)
	manager := nested(t, the(t, renderChart(t), "Deployment"), "spec", "template", "spec").(map[string]any)
	if diff := cmp.Diff(manager["securityContext"], pod["securityContext"]); diff != "" {
		t.Errorf("the pod (-manager +page):\n%s", diff)
	}
	if diff := cmp.Diff(manager["containers"].([]any)[0].(map[string]any)["securityContext"], container["securityContext"]); diff != "" {
		t.Errorf("the container (-manager +page):\n%s", diff)
	}
	for _, want := range []any{"--host=mcp.example.com", "--oidc-issuer-url=https://login.example.com/realms/one", "--oidc-groups-prefix=oidc:",
		"--oidc-client-secret-file=/etc/mcp-admin/client/client-secret", "--oidc-ca-file=/etc/mcp-admin/ca/ca.crt", "--tls-cert-file=/etc/mcp-admin/tls/tls.crt"} {
		if !slices.Contains(container["args"].([]any), want) {
			t.Errorf("the arguments lack %v: %v", want, container["args"])
		}
	}
	if diff := cmp.Diff([]any{map[string]any{"name": "pull"}}, pod["imagePullSecrets"]); diff != "" {
		t.Error(diff)
	}
	selected := nested(t, the(t, objects, "Deployment"), "spec", "selector", "matchLabels")
	for kind, path := range map[string][]string{"NetworkPolicy": {"spec", "podSelector", "matchLabels"}, "Service": {"spec", "selector"}, "Deployment": {"spec", "template", "metadata", "labels"}} {
		if diff := cmp.Diff(selected, nested(t, the(t, objects, kind), path...)); diff != "" {
			t.Errorf("the %s selects other pods:\n%s", kind, diff)
		}
	}
	if key, err := base64.StdEncoding.DecodeString(nested(t, the(t, objects, "Secret"), "data", "key").(string)); err != nil || len(key) != 64 {
		t.Errorf("the key has %d bytes: %v", len(key), err)
	}
	own := ofRelease(t, "page.sessionKeySecretRef.name=mine", "page.tls.secretName=", "page.namespaces={shop}", "watchNamespaces={crm}")
	if len(ofKind(own, "Secret")) > 0 {
		t.Error("the chart makes a key beside the given one")
	}
	if port := nested(t, the(t, own, "Service"), "spec", "ports").([]any)[0].(map[string]any); port["name"] != "http" || fmt.Sprint(port["port"]) != "80" {
		t.Errorf("without a certificate the port is %v", port)
	}
	if args := managerContainer(t, own)["args"].([]any); !slices.Contains(args, any("--namespace=shop")) || slices.Contains(args, any("--namespace=crm")) {
		t.Errorf("the arguments are %v", args)
	}
}

// testPage installs the page, and asks the API server what its ServiceAccount may do.
func testPage(t *testing.T, api client.Client, config *rest.Config) {
	ctx := t.Context()
	objects := ofRelease(t)
	if err := applyStrictly(ctx, api, the(t, renderKustomization(t, root+"/config/default"), "Namespace")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, o := range objects {
			if err := applyStrictly(ctx, api, o); err != nil {
				t.Fatalf("%s %s: %v", o.GetKind(), o.GetName(), err)
			}
		}
	}
	if err := api.Create(ctx, podOf(t, the(t, objects, "Deployment")), client.DryRunAll); err != nil {
		t.Errorf("the page's pod was not admitted: %v", err)
	}
	asked := &authenticationv1.TokenRequest{}
	if err := api.SubResource("token").Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: pageName}}, asked); err != nil {
		t.Fatal(err)
	}
	page := rest.AnonymousClientConfig(config)
	page.BearerToken = asked.Status.Token
	as := func(person string, groups ...string) client.Client {
		t.Helper()
		c := rest.CopyConfig(page)
		c.Impersonate = rest.ImpersonationConfig{UserName: person, Groups: groups}
		k8s, err := client.New(c, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return k8s
	}
	review := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace}}
	if err := as("").Create(ctx, review); err != nil {
		t.Fatal(err)
	}
	for _, rule := range review.Status.ResourceRules {
		self := slices.Equal(rule.Verbs, []string{"create"}) && (slices.Equal(rule.APIGroups, []string{"authorization.k8s.io"}) || slices.Equal(rule.APIGroups, []string{"authentication.k8s.io"}))
		trust := slices.Equal(rule.Resources, []string{"clustertrustbundles"}) && slices.Equal(rule.Verbs, []string{"get", "list", "watch"})
		// Everybody may ask about themselves, and since Kubernetes 1.37 each ServiceAccount may read whom the cluster trusts.
		if !slices.Equal(rule.Verbs, []string{"impersonate"}) && !self && !trust {
			t.Errorf("the page's ServiceAccount may %v %v", rule.Verbs, rule.Resources)
		}
	}
	if err := as("").List(ctx, &corev1.SecretList{}, client.InNamespace(namespace)); !apierrors.IsForbidden(err) {
		t.Errorf("the page's ServiceAccount lists Secrets: %v", err)
	}
	for what, list := range map[string]client.ObjectList{"pods": &corev1.PodList{}, "roles": &rbacv1.RoleList{}, "namespaces": &corev1.NamespaceList{}} {
		if err := as("").List(ctx, list); !apierrors.IsForbidden(err) {
			t.Errorf("the page's ServiceAccount lists %s: %v", what, err)
		}
		if err := as("oidc:nobody", "oidc:x").List(ctx, list); !apierrors.IsForbidden(err) {
			t.Errorf("somebody without rights lists %s: %v", what, err)
		}
		if err := as("oidc:ann", "system:masters").List(ctx, list); err != nil { // this is why the program itself refuses such groups
			t.Errorf("the right to impersonate does not reach as far as the document says: %v", err)
		}
	}
	if err := as("system:serviceaccount:kube-system:default").List(ctx, &corev1.PodList{}); !apierrors.IsForbidden(err) {
		t.Errorf("the page may impersonate a ServiceAccount: %v", err)
	}
	narrowed := ofRelease(t, "page.impersonate.users={oidc:ann}", "page.impersonate.groups={oidc:ops}")
	if err := applyStrictly(ctx, api, the(t, narrowed, "ClusterRole")); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, "the narrower role counts", func() bool {
		return apierrors.IsForbidden(as("oidc:ann", "system:masters").List(ctx, &corev1.PodList{}))
	})
	self := &authenticationv1.SelfSubjectReview{}
	if err := as("oidc:ann", "oidc:ops").Create(ctx, self); err != nil || self.Status.UserInfo.Username != "oidc:ann" || !slices.Contains(self.Status.UserInfo.Groups, "oidc:ops") {
		t.Errorf("%v is who the API server sees: %v", self.Status.UserInfo, err)
	}
	if err := as("oidc:bob").Create(ctx, &authenticationv1.SelfSubjectReview{}); !apierrors.IsForbidden(err) {
		t.Errorf("another user than the named one: %v", err)
	}
}
