package config

import (
	"context"
	"errors"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// oneSecret is a reader of one Secret, or of its metadata.
type oneSecret struct {
	client.Reader
	secret *corev1.Secret // nil if there is none
	err    error
	reads  int
}

func (o *oneSecret) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	o.reads++
	switch {
	case o.err != nil:
		return o.err
	case o.secret == nil || o.secret.Name != key.Name || o.secret.Namespace != key.Namespace:
		return apierrors.NewNotFound(corev1.Resource("secrets"), key.Name)
	}
	switch into := into.(type) {
	case *metav1.PartialObjectMetadata:
		into.UID, into.ResourceVersion = o.secret.UID, o.secret.ResourceVersion
	case *corev1.Secret:
		o.secret.DeepCopyInto(into)
	}
	return nil
}

func TestTheSecretOfAWebhookIsReadWhenItChanged(t *testing.T) {
	secret := func(version, host string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "hook", UID: "u", ResourceVersion: version, Annotations: map[string]string{v1alpha1.WebhookHostAnnotation: host},
		}}
	}
	exposures := []*v1alpha1.MCPModelExposure{{}, {}}
	for i := range exposures { // both name the Secret, one of them twice
		for range i + 1 {
			exposures[i].Spec.Actions = append(exposures[i].Spec.Actions, v1alpha1.ActionSpec{Webhook: &v1alpha1.WebhookSpec{
				HeadersSecretRef: &v1alpha1.SecretReference{Name: "hook"},
			}})
		}
	}
	endpoint := &v1alpha1.MCPEndpoint{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "shop"}}
	cached, live := &oneSecret{}, &oneSecret{}
	w := &WebhookSecrets{Cached: cached, Live: live}
	for _, step := range []struct {
		name   string
		change func()
		host   string
		unsure bool
		// reads is how often the API server was asked so far.
		reads int
	}{
		{"that is not there", func() {}, "", false, 1},
		{"that the cache has not seen yet", func() { live.secret = secret("1", "a") }, "a", false, 2},
		{"that is as it was", func() { cached.secret = live.secret }, "a", false, 2},
		{"that changed", func() { live.secret = secret("2", "b"); cached.secret = live.secret }, "b", false, 3},
		{"that cannot be read", func() { cached.secret, live.err = secret("3", "b"), errors.New("away") }, "", true, 4},
		{"that can be read again", func() { live.secret, live.err = secret("3", "c"), nil }, "c", false, 5},
		{"that nobody names any more", func() { exposures = nil }, "", false, 5},
	} {
		step.change()
		found, err := w.resolve(t.Context(), endpoint, exposures)
		if got := found["hook"]; got.Host != step.host || got.Unsure != step.unsure || (err != nil) != step.unsure || live.reads != step.reads {
			t.Errorf("a Secret %s: %+v, error %v, after %d reads", step.name, got, err, live.reads)
		}
	}
	if len(w.read.Of) != 0 {
		t.Errorf("still in memory: %d", len(w.read.Of))
	}
}
