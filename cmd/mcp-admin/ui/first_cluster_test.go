package ui

import (
	"errors"
	"net/http"
	"path/filepath"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page/pagetest"
	"github.com/mcp-admin/mcp-admin-operator/test/apiserver"
)

// fill makes the endpoints in a cluster.
func fill(t testing.TB, config *rest.Config) {
	t.Helper()
	k, err := cluster.New(config, "many")
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "many"}}); err != nil {
		t.Fatal(err)
	}
	const workers = 8
	items := many().Items
	var running sync.WaitGroup
	var failed [workers]error
	for w := range workers {
		running.Go(func() {
			for i := w; i < len(items) && failed[w] == nil; i += workers {
				e := &items[i]
				told := e.DeepCopy()
				e.ManagedFields, e.UID, e.ResourceVersion = nil, "", ""
				if failed[w] = k.Create(t.Context(), e); failed[w] == nil {
					e.Status = told.Status
					failed[w] = k.Status().Update(t.Context(), e)
				}
			}
		})
	}
	running.Wait()
	if err := errors.Join(failed[:]...); err != nil {
		t.Fatal(err)
	}
}

// What the first screen costs over 1,003 endpoints, with the API server's own work: as long as they are not known, and then.
func BenchmarkTheFirstScreenOfACluster(b *testing.B) {
	_, config := apiserver.Start(b, filepath.Join("..", "..", "..", "config", "crd", "bases"))
	config.QPS = -1
	fill(b, config)
	look := func(b *testing.B, browser *pagetest.Browser) {
		if code, _ := browser.Get(""); code != http.StatusOK {
			b.Fatal(code)
		}
	}
	b.Run("unknown", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			browser := openAt(b, config)
			b.StartTimer()
			look(b, browser)
		}
	})
	b.Run("known", func(b *testing.B) {
		browser := openAt(b, config)
		look(b, browser)
		for b.Loop() {
			look(b, browser)
		}
	})
}
