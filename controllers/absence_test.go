package controllers

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

func TestPodsThatAreAwayForAMomentKeepWhatTheyHad(t *testing.T) {
	at := func(revision int64) podReport {
		return podReport{counted: true, status: &contract.Status{Revision: revision}}
	}
	endpoint, began := types.NamespacedName{Namespace: "shop", Name: "shop"}, time.Unix(1000, 0)
	away := podReports{{counted: false, status: &contract.Status{Revision: 9}}}
	for name, tc := range map[string]struct {
		before podReports
		after  time.Duration
		want   int64
	}{
		"for a moment":                         {podReports{at(7), at(5)}, time.Second, 5},
		"for too long":                         {podReports{at(7)}, absenceGrace, 0},
		"where one had not said what it has":   {podReports{at(7), {counted: true}}, time.Second, 0},
		"where none was ever there":            {nil, time.Second, 0},
		"where one that counts not had little": {podReports{at(7), {status: &contract.Status{Revision: 3}}}, time.Second, 7},
	} {
		t.Run(name, func(t *testing.T) {
			var a absences
			if tc.before != nil {
				if revision, left := a.note(endpoint, tc.before, began); revision != 0 || left != 0 {
					t.Errorf("while a pod is there: %d for %v", revision, left)
				}
			}
			a.note(endpoint, away, began)
			revision, left := a.note(endpoint, away, began.Add(tc.after))
			if revision != tc.want || tc.want > 0 && left != absenceGrace-tc.after {
				t.Errorf("taken for applied: %d for %v, want %d", revision, left, tc.want)
			}
		})
	}
}
