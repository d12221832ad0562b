package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// revocationLimit is how long a revocation may take.
const revocationLimit = time.Second

// takeAway deletes an MCPToken, or sets it inactive.
func (w *world) takeAway(ctx context.Context, token *v1alpha1.MCPToken, forGood bool) error {
	if forGood {
		return w.objects.Delete(ctx, token)
	}
	return w.objects.Patch(ctx, token, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"active":false}}`)))
}

// revoke takes MCPTokens away of callers who were let in, while their own tokens go on for minutes.
func revoke(ctx context.Context, w *world, r *report) error {
	r.part("Revocation")
	delays := make([]time.Duration, revocations)
	for i := range delays {
		token, err := w.company.token(ctx, visitor(i), w.shop.url())
		if err != nil {
			return err
		}
		if _, err := w.settle(ctx, w.shop, token); err != nil {
			return err
		}
		object := &v1alpha1.MCPToken{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: visitor(i)}}
		began := time.Now()
		if err := w.takeAway(ctx, object, i%2 == 0); err != nil {
			return err
		}
		if _, refused := within(ctx, func() bool { return w.shop.status(ctx, token) == 401 }); !refused {
			return fmt.Errorf("%s is let in %s after its MCPToken was taken away", visitor(i), patience)
		}
		delays[i] = time.Since(began)
	}
	slices.Sort(delays)
	median, worst := delays[revocations/2].Round(time.Millisecond), delays[revocations-1].Round(time.Millisecond)
	problem := ""
	if timed() && worst >= revocationLimit {
		problem = fmt.Sprintf("the slowest took %s", worst)
	}
	r.out401(fmt.Sprintf("%d times: an MCPToken is deleted, or set inactive, until its caller gets the first 401", revocations),
		fmt.Sprintf("median %s, worst %s", median, worst), problem)
	return nil
}
