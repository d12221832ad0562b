package v1alpha1_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

func TestPluralNames(t *testing.T) {
	for name, want := range map[string]string{
		"book": "books", "box": "boxes", "category": "categories", "day": "days", "address": "addresses", "status": "statuses",
		"analysis": "analysises", "bus": "buses", "alias": "aliases", "branch": "branches",
		"customers": "customers", "addresses": "addresses", "orders": "orders", "categories": "categories", "order-lines": "order lines",
		"areas": "areas", "people": "people", "news": "news", "s": "ses",
	} {
		e := v1alpha1.MCPModelExposure{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if got := e.EffectiveVerboseNamePlural(); got != want {
			t.Errorf("the plural of %q is %q, want %q", name, got, want)
		}
	}
}
