package nodeagent

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// tokenIssuer answers TokenRequests with token-1, token-2 and so on, unless it is away.
type tokenIssuer struct {
	requests []authenticationv1.TokenRequestSpec
	away     bool
}

func (i *tokenIssuer) issue(action clienttesting.Action) (bool, runtime.Object, error) {
	if i.away {
		return true, nil, errors.New("connection refused")
	}
	request := action.(clienttesting.CreateAction).GetObject().(*authenticationv1.TokenRequest).DeepCopy()
	i.requests = append(i.requests, request.Spec)
	request.Status.Token = fmt.Sprintf("token-%d", len(i.requests))
	request.Status.ExpirationTimestamp = metav1.NewTime(time.Now().Add(time.Duration(*request.Spec.ExpirationSeconds) * time.Second))
	return true, request, nil
}

func TestTokensAreBoundToThePodAndRenewedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		issuer := &tokenIssuer{}
		client := fake.NewClientset()
		client.PrependReactor("create", "serviceaccounts", issuer.issue)
		kept := tokens{client: client}
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "clerk-1", UID: "123"},
			Spec:       corev1.PodSpec{ServiceAccountName: "clerk"},
		}
		const audience = "http://shop-mcp.shop.svc/mcp/"
		short := &corev1.ServiceAccountTokenProjection{Audience: audience, ExpirationSeconds: new(int64(600)), Path: "token"}
		usual := &corev1.ServiceAccountTokenProjection{Path: "token"}
		want := func(source *corev1.ServiceAccountTokenProjection, want string) {
			t.Helper()
			if got, err := kept.get(t.Context(), pod, source); err != nil || got != want {
				t.Errorf("%q, %v; want %s", got, err, want)
			}
		}

		want(short, "token-1")
		want(usual, "token-2")
		for i, spec := range issuer.requests {
			if ref := spec.BoundObjectRef; ref == nil || ref.Kind != "Pod" || ref.Name != "clerk-1" || ref.UID != "123" {
				t.Errorf("token %d is bound to %v", i+1, ref)
			}
		}
		if a := issuer.requests[0]; len(a.Audiences) != 1 || a.Audiences[0] != audience || *a.ExpirationSeconds != 600 {
			t.Errorf("asked for %v", a)
		}
		if b := issuer.requests[1]; len(b.Audiences) != 0 || *b.ExpirationSeconds != 3600 {
			t.Errorf("asked for %v", b)
		}

		if at := time.Until(kept.renewAt()); at != 480*time.Second {
			t.Errorf("the first renewal is in %s", at)
		}
		time.Sleep(479 * time.Second)
		want(short, "token-1")
		issuer.away = true
		time.Sleep(time.Second)
		if _, err := kept.get(t.Context(), pod, short); err == nil {
			t.Error("nobody says that the token cannot be renewed")
		}
		issuer.away = false
		want(short, "token-3")
		want(usual, "token-2")
	})
}
