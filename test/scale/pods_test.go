package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// A pod loses no part of a Config, however many come at once.
func TestAPodAppliesEveryPart(t *testing.T) {
	const parts, tries = 64, 100
	var names []string
	var secrets []*corev1.Secret
	for i := range parts {
		name := nameInPart(i, parts)
		data, err := contract.EncodeTokens(&contract.TokenPart{Version: contract.Version, Revision: 1, Index: i, Tokens: []contract.Token{
			{Namespace: "shop", Name: name, UID: name, Hashes: []string{strings.Repeat("0", 64)}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
		secrets = append(secrets, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: contract.TokensSecret("shop-mcp-config", i), Labels: map[string]string{"mcpadmin.dev/endpoint": "shop"}},
			Data:       data,
		})
	}
	for range tries {
		p := &pods{decoding: make(chan *pod, parts), byEndpoint: map[types.NamespacedName]*pod{}}
		for range 2 {
			go p.decode(t.Context())
		}
		of := p.of(types.NamespacedName{Namespace: "shop", Name: "shop"})
		of.config.main = &contract.Config{Layout: contract.Layout{Parts: parts}}
		for _, secret := range secrets {
			p.hear(secret, false)
			time.Sleep(time.Microsecond)
		}
		of.awaitApplied(t)
		for i, name := range names {
			if !of.config.lets("shop", name) {
				t.Fatalf("the pod does not let in what part %d has", i)
			}
		}
	}
}

// awaitApplied waits until the pod has read all that it was given.
func (p *pod) awaitApplied(t *testing.T) {
	t.Helper()
	for began := time.Now(); time.Since(began) < 10*time.Minute; time.Sleep(time.Millisecond) {
		p.mu.Lock()
		idle := !p.queued && len(p.pending) == 0
		p.mu.Unlock()
		if idle {
			return
		}
	}
	t.Fatal("the pod is not done")
}

// nameInPart is the name of a token that lies in the part of that index.
func nameInPart(index, parts int) string {
	for n := 0; ; n++ {
		if name := fmt.Sprint("t", n); contract.PartOf("shop", name, parts) == index {
			return name
		}
	}
}
