package nodeagent

import (
	"context"
	"fmt"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// tokens keeps one pod's service account tokens and asks for new ones in good time.
type tokens struct {
	client kubernetes.Interface

	mu    sync.Mutex
	known map[tokenKey]token
}

type tokenKey struct {
	audience string
	seconds  int64
}

type token struct {
	value   string
	renewAt time.Time
}

// get returns a token for a projected source that is at most four fifths of its life old. The kubelet has the same
// rule.
func (t *tokens) get(ctx context.Context, pod *corev1.Pod, source *corev1.ServiceAccountTokenProjection) (string, error) {
	key := tokenKey{audience: source.Audience, seconds: 3600}
	if source.ExpirationSeconds != nil {
		key.seconds = *source.ExpirationSeconds
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	known, ok := t.known[key]
	if ok && time.Now().Before(known.renewAt) {
		return known.value, nil
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: &key.seconds,
		BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID},
	}}
	if key.audience != "" {
		request.Spec.Audiences = []string{key.audience}
	}
	asked := time.Now()
	answer, err := t.client.CoreV1().ServiceAccounts(pod.Namespace).CreateToken(ctx, pod.Spec.ServiceAccountName, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("token of service account %s: %w", pod.Spec.ServiceAccountName, err)
	}
	life := answer.Status.ExpirationTimestamp.Sub(asked)
	if t.known == nil {
		t.known = map[tokenKey]token{}
	}
	t.known[key] = token{value: answer.Status.Token, renewAt: asked.Add(min(life*4/5, 24*time.Hour))}
	return answer.Status.Token, nil
}

// renewAt returns when the first token must be renewed, or the zero time if there is none.
func (t *tokens) renewAt() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	var first time.Time
	for _, known := range t.known {
		if first.IsZero() || known.renewAt.Before(first) {
			first = known.renewAt
		}
	}
	return first
}
