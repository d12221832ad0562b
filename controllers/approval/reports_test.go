package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

var shop = types.NamespacedName{Namespace: "shop", Name: "shop"}

// told is a call as a pod tells of it, so many seconds after the beginning.
func told(text, state string, seconds int) contract.Approval {
	sum := sha256.Sum256([]byte(text))
	at := time.Unix(int64(seconds), 0)
	a := contract.Approval{Digest: hex.EncodeToString(sum[:]), State: state, Asked: at}
	a.Name = contract.ApprovalName(a.Digest)
	if state != contract.ApprovalWaiting {
		a.Asked, a.Ended = time.Unix(0, 0), &at
	}
	return a
}

func key(a contract.Approval) types.NamespacedName {
	return types.NamespacedName{Namespace: "shop", Name: "shop-" + a.Name}
}

// Whatever order two pods' words come in, the same counts.
func TestTheOrderInWhichPodsTellDoesNotMatter(t *testing.T) {
	const waiting, executed, withdrawn, superseded = contract.ApprovalWaiting, contract.ApprovalExecuted, contract.ApprovalWithdrawn, contract.ApprovalSuperseded
	for name, tt := range map[string]struct {
		a, b contract.Approval
		want string
		at   int
	}{
		"asked on two pods":              {told("x", waiting, 1), told("x", waiting, 2), waiting, 2},
		"withdrawn after it":             {told("x", waiting, 1), told("x", withdrawn, 2), withdrawn, 2},
		"asked again after":              {told("x", waiting, 3), told("x", withdrawn, 2), waiting, 3},
		"it ran, another pod waits":      {told("x", waiting, 1), told("x", executed, 2), executed, 2},
		"it ran, and was superseded":     {told("x", superseded, 3), told("x", executed, 2), executed, 2},
		"it ran, and is asked for again": {told("x", waiting, 3), told("x", executed, 2), executed, 2},
	} {
		t.Run(name, func(t *testing.T) {
			for _, order := range [][]contract.Approval{{tt.a, tt.b}, {tt.b, tt.a}} {
				r := NewReports()
				for _, a := range order {
					r.Take(shop, []contract.Approval{a})
				}
				got, known := r.of(key(tt.a))
				if !known || got.State != tt.want || moment(&got.Approval) != time.Unix(int64(tt.at), 0) {
					t.Errorf("%s first: %s at %s", order[0].State, got.State, moment(&got.Approval))
				}
			}
		})
	}
}

// A pod is a stranger: what is not in form is passed over, and what has no room is asked for later.
func TestWhatAPodTellsIsBounded(t *testing.T) {
	r := NewReports()
	wrong := told("a", contract.ApprovalWaiting, 1)
	wrong.Name = "another"
	if !r.Take(shop, []contract.Approval{wrong, told("b", contract.ApprovalApproved, 1)}) || len(r.told) != 0 {
		t.Errorf("taken: %v", r.told)
	}
	var many []contract.Approval
	for i := range maxReports {
		many = append(many, told(fmt.Sprint(i), contract.ApprovalWaiting, 1))
	}
	one, ran := told("one more", contract.ApprovalWaiting, 1), told("ran", contract.ApprovalExecuted, 2)
	if !r.Take(shop, many) || r.Take(shop, []contract.Approval{one}) || !r.Take(shop, []contract.Approval{ran}) {
		t.Error("the bound is another one, or holds for what ended")
	}
	first, _ := r.of(key(many[0]))
	r.done(key(many[0]), first)
	second, _ := r.of(key(ran))
	r.done(key(ran), second)
	if !r.Take(shop, []contract.Approval{one}) {
		t.Error("there is room now")
	}
}

// What came after something was looked at is not forgotten with it.
func TestWhatIsDoneIsForgottenUnlessThereIsNews(t *testing.T) {
	r := NewReports()
	r.Take(shop, []contract.Approval{told("x", contract.ApprovalWaiting, 1)})
	seen, _ := r.of(key(told("x", "", 0)))
	r.Take(shop, []contract.Approval{told("x", contract.ApprovalWithdrawn, 2)})
	r.done(key(told("x", "", 0)), seen)
	if now, known := r.of(key(told("x", "", 0))); !known || now.State != contract.ApprovalWithdrawn {
		t.Error("the withdrawal is lost")
	}
	now, _ := r.of(key(told("x", "", 0)))
	r.done(key(told("x", "", 0)), now)
	if _, known := r.of(key(told("x", "", 0))); known || len(r.count) != 0 {
		t.Error("it is kept")
	}
}
