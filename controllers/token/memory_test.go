package token

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
)

// What the manager keeps for one token: the object, the metadata of its Secret, and what was found about it. The figures
// are of the live heap, for 10,000 tokens as the API server sends them.
func TestATokenTakesLittleMemory(t *testing.T) {
	const tokens = 10000
	sent := make([][2][]byte, tokens)
	for i := range sent {
		sent[i] = sentToken(t, i)
	}
	var all []any
	defer func() { runtime.KeepAlive(all); runtime.KeepAlive(sent) }()
	total := 0
	measure := func(what string, atMost int, load func() any) {
		t.Helper()
		before := liveHeap()
		all = append(all, load())
		each := int(int64(liveHeap())-int64(before)) / tokens
		total += each
		t.Logf("%s: %d bytes a token", what, each)
		if each > atMost {
			t.Errorf("%s: %d bytes a token, want at most %d", what, each, atMost)
		}
	}
	measure("the MCPToken", 1800, func() any {
		return cached(t, tokens, cluster.Slim, func(i int) any { return decoded(t, sent[i][0], &v1alpha1.MCPToken{}) })
	})
	measure("the metadata of its Secret", 1200, func() any {
		return cached(t, tokens, cluster.KeepIdentity, func(i int) any { return decoded(t, sent[i][1], &metav1.PartialObjectMetadata{}) })
	})
	measure("what was found about it", 1000, func() any {
		texts := &Texts{Now: time.Now}
		for i := range tokens {
			mcpToken := decoded(t, sent[i][0], &v1alpha1.MCPToken{}).(*v1alpha1.MCPToken)
			hash := fmt.Sprintf("%064d", i)
			texts.remember(mcpToken, &v1alpha1.MCPEndpoint{}, Text{credential: compile.HashCredential(hash)}, mcpToken.ResourceVersion)
		}
		return texts
	})
	t.Logf("in all: %d bytes a token", total)
}

// sentToken is a token in use and its Secret, as JSON.
func sentToken(t *testing.T, i int) [2][]byte {
	t.Helper()
	token := &v1alpha1.MCPToken{ObjectMeta: sentMeta(i, "agent")}
	token.Spec.EndpointRef.Name, token.Spec.Groups = "shop", []string{"readers"}
	token.Status = v1alpha1.MCPTokenStatus{
		ObservedGeneration: 1, PublicID: fmt.Sprintf("mcp_%016d", i), GroupsDisplay: "readers", Revision: int64(i),
		Conditions: condition.TokenConditions.Summarise(token, nil, condition.Findings{
			v1alpha1.ConditionAccepted: condition.Holds(v1alpha1.ReasonAccepted, ""), v1alpha1.ConditionIssued: condition.Holds(v1alpha1.ReasonIssued, "the token is in Secret "+cluster.Quote(token.EffectiveSecretName())),
			v1alpha1.ConditionProgrammed: condition.Holds(v1alpha1.ReasonProgrammed, fmt.Sprintf("every server pod has applied revision %d", i)),
		}, condition.Holds(v1alpha1.ReasonReady, "the token works")),
	}
	token.Status.Secret.Name = token.EffectiveSecretName()
	secret := &metav1.PartialObjectMetadata{ObjectMeta: sentMeta(i, "agent")}
	secret.Labels = cluster.ChildLabels(&v1alpha1.MCPEndpoint{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}, cluster.ComponentToken)
	secret.Annotations = map[string]string{
		cluster.AppliedAnnotation: fmt.Sprintf("%032d", i), "mcpadmin.dev/token-hash": fmt.Sprintf("%064d", i), "mcpadmin.dev/issued-by": fmt.Sprintf("%064d", i),
	}
	secret.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(token, cluster.KindOf("MCPToken"))}
	var both [2][]byte
	for j, o := range []any{token, secret} {
		text, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		both[j] = text
	}
	return both
}

func sentMeta(i int, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: "shop", Name: fmt.Sprintf("%s-%05d", name, i), UID: types.UID(fmt.Sprintf("9f0c2f8e-0000-4000-8000-%012d", i)),
		ResourceVersion: fmt.Sprint(100000 + i), Generation: 1, CreationTimestamp: metav1.Now(),
		Annotations: map[string]string{corev1.LastAppliedConfigAnnotation: strings.Repeat("x", 400)},
		ManagedFields: []metav1.ManagedFieldsEntry{
			{Manager: "kubectl", Operation: "Apply", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:endpointRef":{"f:name":{}},"f:groups":{}}}`)},
			{Manager: "mcp-admin-manager", Operation: "Apply", Subresource: "status", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:status":` + strings.Repeat(" ", 800) + `{}}`)},
		},
	}
}

func decoded(t *testing.T, text []byte, into any) any {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
	return into
}

// cached puts objects into a store as the cache does.
func cached(t *testing.T, n int, transform toolscache.TransformFunc, object func(int) any) any {
	t.Helper()
	store := toolscache.NewIndexer(toolscache.DeletionHandlingMetaNamespaceKeyFunc, toolscache.Indexers{"namespace": toolscache.MetaNamespaceIndexFunc})
	for i := range n {
		kept, err := transform(object(i))
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Add(kept); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

func liveHeap() uint64 {
	for range 3 {
		runtime.GC()
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
