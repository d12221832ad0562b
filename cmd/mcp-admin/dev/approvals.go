package dev

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/acts"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/laptop"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/approval"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// decisionsEvery is how often decisions are taken, and what has expired is noted.
const decisionsEvery = 200 * time.Millisecond

// keepEnded is how long an approval that has ended is shown.
const keepEnded = time.Hour

// byNobody decides with --approve-all.
const byNobody = "--approve-all"

// approvals keeps what waits for people, as the MCPApprovals of a cluster do, in a file of the state folder. Who can write into that folder
// decides.
type approvals struct {
	state *State
	// all allows every call, by nobody.
	all bool
	// now is what is served; nil before it is known.
	now func() *outcome
	// told is called with each call that begins to wait.
	told func(*v1alpha1.MCPApproval)
	// changed has one value if decisions came or went.
	changed chan struct{}

	// fetch reads the server's approvals after a cursor.
	fetch  func(ctx context.Context, after string) (*contract.ApprovalPage, error)
	cursor string

	mu      sync.Mutex
	objects []v1alpha1.MCPApproval
}

// openApprovals reads what waited when dev ran last.
func openApprovals(state *State) (*approvals, error) {
	a := &approvals{state: state, changed: make(chan struct{}, 1)}
	content, err := state.root.ReadFile(laptop.ApprovalsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err == nil {
		err = json.Unmarshal(content, &a.objects)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; remove the file: what waits is then asked for again", laptop.ApprovalsFile, err)
	}
	return a, nil
}

// decisions are what people decided, for a Config.
func (a *approvals) decisions(e *v1alpha1.MCPEndpoint, m *Manifests, now time.Time) []contract.Decision {
	a.mu.Lock()
	defer a.mu.Unlock()
	var objects []*v1alpha1.MCPApproval
	for i := range a.objects {
		if approval.EndpointOf(&a.objects[i]) == cluster.Key(e) {
			objects = append(objects, &a.objects[i])
		}
	}
	var all []contract.Decision
	for _, of := range compile.Decisions(objects, e, m.token, compile.PolicyForce{}, now) {
		all = append(all, of...)
	}
	return all
}

// run takes decisions until ctx ends.
func (a *approvals) run(ctx context.Context) {
	for ticker := time.NewTicker(decisionsEvery); ; {
		select {
		case <-ctx.Done():
			ticker.Stop()
			return
		case <-ticker.C:
			a.look(time.Now())
		}
	}
}

// look takes the decisions that were left in the folder, and notes what has expired.
func (a *approvals) look(now time.Time) {
	o := a.now()
	if o == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, left := range a.state.takeDecisions() {
		_ = a.add(left.Approval, left.Decision, now) // who left it reads what became of it in the file
	}
	a.judge(o, nil, now)
}

// decide adds a decision of the person at this machine.
func (a *approvals) decide(name string, decision v1alpha1.ApprovalDecision, now time.Time) error {
	o := a.now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.add(name, decision, now); err != nil {
		return err
	}
	a.judge(o, nil, now)
	return nil
}

// add adds a decision, if it may still be decided. The caller holds the lock.
func (a *approvals) add(name string, decision v1alpha1.ApprovalDecision, now time.Time) error {
	i := slices.IndexFunc(a.objects, func(o v1alpha1.MCPApproval) bool { return o.Name == name })
	if i < 0 {
		return fmt.Errorf("there is no MCPApproval %q", name)
	}
	object := &a.objects[i]
	if err := acts.Undecided(object, decision.DecidedBy, now); err != nil {
		return err
	}
	decision.Groups = nil // here a person is in each group that a policy asks for
	for at := range object.Spec.Request.Policies {
		decision.Groups = append(decision.Groups, object.Spec.Request.Policies[at].ApproverGroups...)
	}
	slices.Sort(decision.Groups)
	decision.Groups = slices.Compact(decision.Groups)
	object.Spec.Decisions = append(object.Spec.Decisions, decision)
	object.Generation++
	return nil
}

// take takes what the server tells of calls that wait, or waited.
func (a *approvals) take(told []contract.Approval, now time.Time) {
	o := a.now()
	if o == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range told {
		a.judge(o, &told[i], now)
	}
}

// judge brings the objects up to date with what the server tells of one call; nil: of none. The caller holds the lock.
func (a *approvals) judge(o *outcome, told *contract.Approval, now time.Time) {
	changed := told != nil && a.begin(o, told, now)
	for i := range a.objects {
		object := &a.objects[i]
		of := told
		if told != nil && v1alpha1.ApprovalName(o.endpoint.Name, told.Name) != object.Name {
			of = nil
		}
		if approval.EndpointOf(object) != cluster.Key(o.endpoint) || of == nil && object.Ended() {
			continue
		}
		ref := object.Spec.Request.TokenRef
		status := approval.Judge(object, o.endpoint, o.manifests.token(types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}), of, now)
		if !equality.Semantic.DeepEqual(status, object.Status) {
			object.Status, changed = status, true
		}
	}
	before := len(a.objects)
	a.objects = slices.DeleteFunc(a.objects, func(o v1alpha1.MCPApproval) bool {
		return o.Status.EndTime != nil && now.Sub(o.Status.EndTime.Time) > keepEnded && now.After(o.Spec.Request.ExpiryTime.Time)
	})
	if !changed && before == len(a.objects) {
		return
	}
	a.keep()
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

// begin makes the object of a call that waits, and reports whether it did. The caller holds the lock.
func (a *approvals) begin(o *outcome, told *contract.Approval, now time.Time) bool {
	name := v1alpha1.ApprovalName(o.endpoint.Name, told.Name)
	i := slices.IndexFunc(a.objects, func(other v1alpha1.MCPApproval) bool { return other.Name == name })
	if told.State != contract.ApprovalWaiting || i >= 0 && (!a.objects[i].Ended() || a.objects[i].Status.EndTime == nil || !told.Asked.After(a.objects[i].Status.EndTime.Time)) {
		return false
	}
	namespace, token, _ := strings.Cut(told.Token, "/")
	object, err := approval.New(o.endpoint, o.manifests.token(types.NamespacedName{Namespace: namespace, Name: token}), told, now)
	if err != nil {
		return false
	}
	object.CreationTimestamp, object.Generation = metav1.NewTime(now), 1
	object.Status.State = v1alpha1.ApprovalWaiting
	if i >= 0 {
		a.objects = slices.Delete(a.objects, i, i+1)
	}
	a.objects = append(a.objects, *object)
	if a.all {
		_ = a.add(object.Name, v1alpha1.ApprovalDecision{DecidedBy: byNobody, Decision: v1alpha1.VerdictOverride, Comment: "allowed by " + byNobody + ", without any person"}, now)
	} else if a.told != nil {
		a.told(object)
	}
	return true
}

// list returns the approvals, the oldest first.
func (a *approvals) list() []v1alpha1.MCPApproval {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := make([]v1alpha1.MCPApproval, len(a.objects))
	for i := range a.objects {
		a.objects[i].DeepCopyInto(&all[i])
	}
	return all
}

// keep writes the file. What cannot be written is asked for again after a restart. The caller holds the lock.
func (a *approvals) keep() {
	slices.SortStableFunc(a.objects, func(x, y v1alpha1.MCPApproval) int {
		return cmp.Or(x.Spec.Request.AskTime.Compare(y.Spec.Request.AskTime.Time), strings.Compare(x.Name, y.Name))
	})
	if content, err := json.MarshalIndent(a.objects, "", "  "); err == nil {
		_ = a.state.write(laptop.ApprovalsFile, append(content, '\n'))
	}
}

// follow reads what the server tells of calls that wait.
func (a *approvals) follow(ctx context.Context) error {
	for {
		page, err := a.fetch(ctx, a.cursor)
		if err != nil {
			return err
		}
		a.take(page.Approvals, time.Now())
		if a.cursor = page.Cursor; !page.More {
			return nil
		}
	}
}

// fetchApprovals returns how the server at an admin port is asked for its approvals.
func fetchApprovals(client *http.Client, admin, key string) func(context.Context, string) (*contract.ApprovalPage, error) {
	return func(ctx context.Context, after string) (*contract.ApprovalPage, error) {
		page := &contract.ApprovalPage{}
		return page, getJSON(ctx, client, admin+"/approvals?after="+url.QueryEscape(after), key, page)
	}
}

// takeDecisions returns the decisions that were left in the folder, and removes them. What is no decision is removed, too.
func (s *State) takeDecisions() (left []laptop.Decision) {
	folder, err := s.root.Open(laptop.DecisionsFolder)
	if err != nil {
		return nil // nobody has decided anything yet
	}
	defer folder.Close()
	names, err := folder.Readdirnames(-1)
	if err != nil {
		return nil
	}
	slices.Sort(names)
	for _, name := range names {
		if path.Ext(name) != ".json" {
			continue
		}
		file := path.Join(laptop.DecisionsFolder, name)
		content, err := s.root.ReadFile(file)
		var d laptop.Decision
		if err == nil && json.Unmarshal(content, &d) == nil {
			left = append(left, d)
		}
		_ = s.root.Remove(file)
	}
	return left
}
