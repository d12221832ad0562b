// Package serviceaccounts checks tokens that a real API server issues to ServiceAccounts, and to their pods.
package serviceaccounts

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/identity"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
	"github.com/mcp-admin/mcp-admin-operator/test/apiserver"
)

const (
	audience  = "https://books.example.com/mcp/"
	namespace = "default"
)

// A cluster is a real API server, with a ServiceAccount of the server's pods.
type cluster struct {
	t      *testing.T
	client *kubernetes.Clientset
	// pods is how the server's pods reach the API; requests counts theirs. While it is cut off, none arrives.
	pods     *rest.Config
	requests atomic.Int64
	cutOff   atomic.Bool
}

func TestServiceAccounts(t *testing.T) {
	c := startCluster(t)
	t.Run("keys", c.testKeys)
	t.Run("keys while the API is away", c.testAPIAway)
	t.Run("reviews forbidden", c.testForbidden)
	c.allowReviews()
	t.Run("reviews", c.testReviews)
	t.Run("deleted pod", c.testDeletedPod)
	t.Run("deleted ServiceAccount", c.testDeletedAccount)
}

func startCluster(t *testing.T) *cluster {
	_, config := apiserver.Start(t)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, client: client}
	c.account("books-mcp")
	c.pods = rest.AnonymousClientConfig(config)
	c.pods.BearerToken = c.token(t, "books-mcp", &authenticationv1.TokenRequestSpec{})
	c.pods.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if c.cutOff.Load() {
				return nil, errors.New("cut off")
			}
			c.requests.Add(1)
			return next.RoundTrip(r)
		})
	})
	return c
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (c *cluster) account(name string) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := c.client.CoreV1().ServiceAccounts(namespace).Create(c.t.Context(), account, metav1.CreateOptions{}); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) pod(name, account string) *corev1.Pod {
	pod, err := c.client.CoreV1().Pods(namespace).Create(c.t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{ServiceAccountName: account, Containers: []corev1.Container{{Name: "agent", Image: "agent"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return pod
}

// token asks for a token as the kubelet does.
func (c *cluster) token(t *testing.T, account string, spec *authenticationv1.TokenRequestSpec) string {
	t.Helper()
	made, err := c.client.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), account,
		&authenticationv1.TokenRequest{Spec: *spec}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made.Status.Token
}

func audiences(names ...string) *authenticationv1.TokenRequestSpec {
	return &authenticationv1.TokenRequestSpec{Audiences: names}
}

// start returns a Verifier in a pod of the server.
func (c *cluster) start(t *testing.T, check string) *identity.Verifier {
	t.Helper()
	client, err := source.Client(c.pods)
	if err != nil {
		t.Fatal(err)
	}
	v := identity.NewVerifier(identity.Options{API: &identity.API{URL: c.pods.Host, Client: client}, Log: slog.New(slog.DiscardHandler)})
	v.Configure(contract.Authentication{ServiceAccounts: contract.ServiceAccounts{Check: check, Audiences: []string{audience}}}, true)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		v.Run(t.Context())
	}()
	t.Cleanup(func() { <-ended })
	eventually(t, "the cluster was asked", func() bool { return len(v.Status()) == 1 })
	return v
}

func eventually(t *testing.T, what string, happens func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Minute); !happens(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never happens that %s", what)
		}
	}
}

func verify(t *testing.T, v *identity.Verifier, text string, at time.Time) (*identity.Caller, identity.Refusal) {
	t.Helper()
	return v.Verify(t.Context(), text, sha256.Sum256([]byte(text)), at)
}

func mustRefuse(t *testing.T, v *identity.Verifier, text string, want identity.Refusal) {
	t.Helper()
	if caller, refusal := verify(t, v, text, time.Now()); refusal != want || caller != nil {
		t.Errorf("refused as %q (%v), want %q", refusal, caller, want)
	}
}

func mustAccept(t *testing.T, v *identity.Verifier, text, account string) {
	t.Helper()
	caller, refusal := verify(t, v, text, time.Now())
	if refusal != identity.Accepted {
		t.Fatalf("refused as %q: %+v", refusal, v.Status())
	}
	if caller.ServiceAccount != namespace+"/"+account || caller.Subject != "system:serviceaccount:"+namespace+":"+account || caller.Issuer != "" {
		t.Errorf("%+v", caller)
	}
}

func mustReport(t *testing.T, v *identity.Verifier, want contract.IssuerStatus) {
	t.Helper()
	status := v.Status()
	if len(status) != 1 {
		t.Fatalf("%+v", status)
	}
	message := status[0].Message
	status[0].Message = want.Message
	if status[0] != want || !strings.Contains(message, want.Message) {
		t.Errorf("%+v %q", status, message)
	}
}

// whatCannotBe are tokens that are refused whatever the check is.
func (c *cluster) whatCannotBe(t *testing.T, v *identity.Verifier) {
	good := c.token(t, "clerk", audiences(audience))
	mustRefuse(t, v, c.token(t, "clerk", audiences("https://cars.example.com/mcp/")), identity.Audience)
	mustRefuse(t, v, c.token(t, "clerk", audiences()), identity.Audience) // that of the API server itself
	mustRefuse(t, v, c.legacyToken(t), identity.UnknownIssuer)
	parts := strings.Split(good, ".")
	mustRefuse(t, v, parts[0]+"."+parts[1]+".", identity.Signature)
	mustRefuse(t, v, parts[0]+"."+parts[1]+"."+strings.Repeat("A", len(parts[2])), identity.Signature)
	mustRefuse(t, v, parts[0]+"."+changed(t, parts[1])+"."+parts[2], identity.Signature)
	mustRefuse(t, v, base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`))+"."+parts[1]+".", identity.Algorithm)
	if _, refusal := verify(t, v, good, time.Now().Add(2*time.Hour)); refusal != identity.Expired {
		t.Errorf("refused as %q, want %q", refusal, identity.Expired)
	}
	if _, refusal := verify(t, v, good, time.Now().Add(-time.Hour)); refusal != identity.NotYetValid {
		t.Errorf("refused as %q, want %q", refusal, identity.NotYetValid)
	}
}

// changed is a payload that says it is another ServiceAccount's.
func changed(t *testing.T, payload string) string {
	t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(strings.ReplaceAll(string(text), "clerk", "boss")))
}

// legacyToken is like a token in a Secret of the type kubernetes.io/service-account-token: without an end and an
// audience.
func (c *cluster) legacyToken(t *testing.T) string {
	t.Helper()
	header := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256"}`))
	payload, err := json.Marshal(map[string]any{
		"iss": "kubernetes/serviceaccount", "sub": "system:serviceaccount:default:clerk",
		"kubernetes.io/serviceaccount/namespace": namespace, "kubernetes.io/serviceaccount/service-account.name": "clerk",
	})
	if err != nil {
		t.Fatal(err)
	}
	return header + "." + base64.RawURLEncoding.EncodeToString(payload) + "." + strings.Repeat("A", 342)
}

func (c *cluster) testKeys(t *testing.T) {
	c.account("clerk")
	v := c.start(t, contract.CheckKeys)
	mustReport(t, v, contract.IssuerStatus{Reason: contract.ReasonKeysKnown, Usable: true})
	mustAccept(t, v, c.token(t, "clerk", audiences(audience)), "clerk")
	mustAccept(t, v, c.token(t, "clerk", audiences("other", audience)), "clerk")
	pod := c.pod("clerk-1", "clerk")
	spec := audiences(audience)
	spec.BoundObjectRef = &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod.Name, UID: pod.UID}
	mustAccept(t, v, c.token(t, "clerk", spec), "clerk")
	c.whatCannotBe(t, v)
}

func (c *cluster) testAPIAway(t *testing.T) {
	v := c.start(t, contract.CheckKeys)
	text := c.token(t, "clerk", audiences(audience))
	c.cutOff.Store(true)
	defer c.cutOff.Store(false)
	mustAccept(t, v, text, "clerk")
}

func (c *cluster) testForbidden(t *testing.T) {
	v := c.start(t, contract.CheckTokenReview)
	forbidden := contract.IssuerStatus{Reason: contract.ReasonTokenReviewForbidden, Message: "kubectl create clusterrolebinding " +
		"default-books-mcp-tokenreviews --clusterrole=system:auth-delegator --serviceaccount=default:books-mcp"}
	for end := time.Now().Add(10 * time.Minute); v.Status()[0].Reason != forbidden.Reason && time.Now().Before(end); {
		time.Sleep(time.Millisecond) // the server asks by itself whether it may
	}
	mustReport(t, v, forbidden)
	mustRefuse(t, v, c.token(t, "clerk", audiences(audience)), identity.Unavailable)
	mustReport(t, v, forbidden)
}

// allowReviews does what the message says.
func (c *cluster) allowReviews() {
	_, err := c.client.RbacV1().ClusterRoleBindings().Create(c.t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "default-books-mcp-tokenreviews"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "system:auth-delegator"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "books-mcp"}},
	}, metav1.CreateOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) testReviews(t *testing.T) {
	v := c.start(t, contract.CheckTokenReview)
	text := c.token(t, "clerk", audiences(audience))
	// The API server's authorizer sees the new binding a moment later.
	eventually(t, "the server may ask", func() bool {
		_, refusal := verify(t, v, text, time.Now())
		return refusal == identity.Accepted
	})
	mustReport(t, v, contract.IssuerStatus{Reason: contract.ReasonKeysKnown, Usable: true})
	before := c.requests.Load()
	for range 100 {
		mustAccept(t, v, text, "clerk")
	}
	c.whatCannotBe(t, v)
	if n := c.requests.Load() - before; n != 0 {
		t.Errorf("tokens that are known or forged made %d requests to the API server", n)
	}
	c.cutOff.Store(true)
	defer c.cutOff.Store(false)
	mustRefuse(t, v, c.token(t, "clerk", audiences(audience)), identity.Unavailable)
}

func (c *cluster) testDeletedPod(t *testing.T) {
	pod := c.pod("clerk-2", "clerk")
	spec := audiences(audience)
	spec.BoundObjectRef = &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod.Name, UID: pod.UID}
	text := c.token(t, "clerk", spec)
	v := c.start(t, contract.CheckTokenReview)
	mustAccept(t, v, text, "clerk")
	now := int64(0)
	if err := c.client.CoreV1().Pods(namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
		t.Fatal(err)
	}
	c.mustEnd(t, v, text)
	mustAccept(t, v, c.token(t, "clerk", audiences(audience)), "clerk")
}

func (c *cluster) testDeletedAccount(t *testing.T) {
	c.account("temporary")
	text := c.token(t, "temporary", audiences(audience))
	v := c.start(t, contract.CheckTokenReview)
	mustAccept(t, v, text, "temporary")
	if err := c.client.CoreV1().ServiceAccounts(namespace).Delete(t.Context(), "temporary", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.mustEnd(t, v, text)
	keys := c.start(t, contract.CheckKeys)
	mustAccept(t, keys, text, "temporary") // what the documents say: keys alone do not tell
}

// mustEnd waits until a token is refused that was accepted: the API server itself remembers for some seconds, too.
func (c *cluster) mustEnd(t *testing.T, v *identity.Verifier, text string) {
	t.Helper()
	began := time.Now()
	eventually(t, "the token is refused", func() bool {
		_, refusal := verify(t, v, text, time.Now())
		return refusal == identity.Reviewed
	})
	t.Logf("refused after %v", time.Since(began).Round(time.Millisecond))
}
