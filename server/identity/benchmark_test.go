package identity_test

import (
	"context"
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/identity"
)

func sumOf(text string) [sha256.Size]byte { return sha256.Sum256([]byte(text)) }

func cancelled(t testing.TB) (context.Context, context.CancelFunc) {
	return context.WithCancel(t.Context())
}

// BenchmarkVerify checks tokens of about 1 KiB: a known one, with the hash that the caller makes, and new ones.
func BenchmarkVerify(b *testing.B) {
	now := time.Now()
	var keys []*signer
	for _, algorithm := range []string{"RS256", "ES256", "EdDSA"} {
		keys = append(keys, newSigner(b, algorithm, algorithm))
	}
	p := newProvider(b, keys...)
	v := start(b, identity.Options{}, settings(p.issuer(func(i *contract.Issuer) { i.Algorithms = contract.Algorithms })), false)
	claims := p.claims(now, map[string]any{"x": strings.Repeat("x", 300)})
	text := keys[0].sign(b, claims, nil)
	mustAccept(b, v, text, now)
	b.Run("known", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, refusal := v.Verify(b.Context(), text, sumOf(text), now); refusal != identity.Accepted {
				b.Fatalf("the answer is %v", refusal)
			}
		}
		b.ReportMetric(float64(len(text)), "bytes")
	})
	for _, key := range keys {
		text := key.sign(b, claims, nil)
		b.Run("unseen/"+key.algorithm, func(b *testing.B) {
			b.ReportAllocs()
			sum := sumOf(text)
			for i := 0; b.Loop(); i++ {
				sum[0], sum[1], sum[2] = byte(i), byte(i>>8), byte(i>>16) // as if it were another token
				if _, refusal := v.Verify(b.Context(), text, sum, now); refusal != identity.Accepted {
					b.Fatalf("the answer is %v", refusal)
				}
			}
		})
	}
	forged := text[:len(text)-4] + "AAAA"
	b.Run("forged", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, refusal := v.Verify(b.Context(), forged, sumOf(forged), now); refusal != identity.Signature {
				b.Fatalf("the answer is %v", refusal)
			}
		}
	})
}
