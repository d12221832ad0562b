package main

import (
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/controllers"
)

// The user of the check has the right to get the one Lease, as the chart's test gives it.
func TestTheCheckFindsAManagerThatLeads(t *testing.T) {
	c := startCluster(t)
	meta := metav1.ObjectMeta{Namespace: ownNamespaceName, Name: "check"}
	c.create(t, &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, ResourceNames: []string{leaseName}, Verbs: []string{"get"},
	}}})
	c.create(t, &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "check"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: managerUser}},
	})
	scheme, err := controllers.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	user, err := client.New(c.user.Config(), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	expect := func(want string) {
		t.Helper()
		var err error
		for range 100 {
			if err = checkKinds(c.user.Config()); err == nil {
				err = checkLease(t.Context(), user, ownNamespaceName, now)
			}
			if want == "" && err == nil || want != "" && err != nil && strings.Contains(err.Error(), want) {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Fatalf("it says %v, want %q", err, want)
	}
	expect("does not serve mcpadmin.dev/v1alpha1")
	c.install(t, func(*apiextensionsv1.CustomResourceDefinition) {})
	expect(`"` + leaseName + `" not found`)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: ownNamespaceName, Name: leaseName}}
	c.create(t, lease)
	expect("no manager leads in namespace " + ownNamespaceName + ": look at the log")
	holder, seconds := "manager", int32(3)
	lease.Spec = coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, RenewTime: &metav1.MicroTime{Time: now.Add(-2 * time.Minute)}}
	if err := c.admin.Update(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	expect("the last one was silent for 2m0s")
	lease.Spec.RenewTime = &metav1.MicroTime{Time: now}
	if err := c.admin.Update(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	expect("")
}
