package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page/pagetest"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// pageHost is the name that the page's certificate is for.
const pageHost = "example.com"

// The page in a cluster, as the command serves it: pods' logs, ports and Secrets are asked for in the person's name, by an account that may
// impersonate and nothing else.
func (w *world) testPageServer(t *testing.T) {
	account, err := w.env.AddUser(envtest.User{Name: "page"}, nil)
	w.check(err)
	kubeconfig, err := account.KubeConfig()
	w.check(err)
	grant := func(name string, subject rbacv1.Subject, rules ...rbacv1.PolicyRule) {
		subject.APIGroup = rbacv1.GroupName
		w.create(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name},
			Subjects: []rbacv1.Subject{subject}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}})
	}
	grant("page-impersonates", rbacv1.Subject{Kind: rbacv1.UserKind, Name: "page"}, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"users", "groups"}, Verbs: []string{"impersonate"}})
	reads := []rbacv1.PolicyRule{
		{APIGroups: []string{"mcpadmin.dev"}, Resources: []string{"mcpendpoints", "mcptokens", "mcpmodelexposures"}, Verbs: []string{"get", "list"}},
		{APIGroups: []string{""}, Resources: []string{"pods", "secrets"}, Verbs: []string{"get", "list"}},
	}
	grant("page-watchers", rbacv1.Subject{Kind: rbacv1.GroupKind, Name: "oidc:watchers"}, reads...)
	grant("page-callers", rbacv1.Subject{Kind: rbacv1.GroupKind, Name: "oidc:on-call"}, append(reads,
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods/log"}, Verbs: []string{"get"}},
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods/portforward"}, Verbs: []string{"create"}})...)

	issuer := harness.NewIssuer(t)
	people := issuer.AddClient(&harness.Client{ID: "page", Secret: "secret", Redirects: []string{"https://" + pageHost + "/callback"}})
	browse := w.startPageServer(t, issuer, w.file("kubeconfig", kubeconfig))
	w.expect(t, false, nil, "call", "agent", "update_order", "id=3", "data.total=34", "-n", "shop", "--port-forward")

	people.LogIn("1", map[string]any{"email": "olga@example.com", "groups": []string{"on-call"}})
	b := browse()
	w.shows(b, "", "/e/shop/shop", "as olga@example.com, of oidc:on-call")
	w.shows(b, "e/shop/shop", "Calls in order", "shop-0")
	w.shows(b, "e/shop/shop/activity", "update_order", "1 changed")
	w.shows(b, "e/shop/shop/see-as?token=agent", "<bdi>update_order</bdi> <span")
	w.shows(b, "e/shop/shop/see-as/shop/agent/list_order?arguments=%7B%22limit%22%3A1%7D", "<bdi>north</bdi>")
	if audit := w.serverPod("shop-0").audit.String(); !strings.Contains(audit, "of olga@example.com") {
		t.Errorf("the audit lines do not name the person: %s", audit)
	}

	people.LogIn("2", map[string]any{"email": "walt@example.com", "groups": []string{"watchers"}})
	b = browse()
	w.shows(b, "e/shop/shop/who", `data-cell="v-c-- own-region"`)
	for path, want := range map[string]string{"e/shop/shop/activity": "You may not get pods/log in namespace shop.", "e/shop/shop/see-as?token=agent": "You may not create pods/portforward in namespace shop."} {
		if code, text := b.Get(path); code == http.StatusOK || !strings.Contains(text, want) || strings.Contains(text, "update_order") {
			t.Errorf("%s: %d, without %q\n%s", path, code, want, text)
		}
	}
	var list corev1.SecretList
	as, err := client.New(account.Config(), client.Options{})
	w.check(err)
	if err := as.List(t.Context(), &list); err == nil {
		t.Error("the account itself may list Secrets")
	}
}

// startPageServer runs the command, and returns what opens a browser of whoever logs in.
func (w *world) startPageServer(t *testing.T, issuer *harness.Issuer, kubeconfig string) func() *pagetest.Browser {
	certificate := httptest.NewUnstartedServer(nil) // net/http's own, for example.com
	certificate.StartTLS()
	defer certificate.Close()
	chain := certificate.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(chain.PrivateKey)
	w.check(err)
	settings := issuer.Settings("page")
	args := []string{"page-server", "--listen", "127.0.0.1:0", "--health-probe-bind-address", "127.0.0.1:0", "--host", pageHost, "--kubeconfig", kubeconfig,
		"--tls-cert-file", w.file("tls.crt", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: chain.Certificate[0]})), "--tls-private-key-file", w.file("tls.key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})),
		"--oidc-issuer-url", settings.URL, "--oidc-client-id", "page", "--oidc-client-secret-file", w.file("secret", []byte("secret\n")), "--oidc-signing-algs", "ES256",
		"--oidc-ca-file", w.file("ca.crt", []byte(settings.CertificateAuthority)), "--oidc-username-claim", "email", "--oidc-groups-claim", "groups", "--oidc-groups-prefix", "oidc:",
		"--session-key-file", w.file("key", []byte(strings.Repeat("k", 64)))}
	var log harness.Log
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	command := newCommand("mcp-admin")
	command.SetArgs(args)
	command.SetErr(&log)
	go func() { ended <- command.ExecuteContext(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("page-server ends with %v", err)
		}
	})
	var told struct{ Address string }
	w.eventually("the address", func() bool {
		w.printed = log.String()
		line, _, _ := strings.Cut(w.printed, "\n")
		return json.Unmarshal([]byte(line), &told) == nil && told.Address != ""
	})
	roots := certificate.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	roots.AppendCertsFromPEM([]byte(settings.CertificateAuthority))
	return func() *pagetest.Browser {
		jar, err := cookiejar.New(nil)
		w.check(err)
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
		transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			if address == pageHost+":443" {
				address = told.Address
			}
			return (&net.Dialer{Timeout: time.Minute}).DialContext(ctx, network, address)
		}
		t.Cleanup(transport.CloseIdleConnections)
		return pagetest.LogIn(t, &http.Client{Jar: jar, Transport: transport}, "https://"+pageHost)
	}
}
