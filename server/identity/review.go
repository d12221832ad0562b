package identity

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"time"
)

// The limits of asking the API server about tokens.
const (
	reviewTimeout = 5 * time.Second
	// reviewedFor is for how long an answer holds.
	reviewedFor = 10 * time.Second
	// maxReviews is how many are under way at a time.
	maxReviews = 16
	// lingering is for how long a flight can be joined after its end, by those who have looked into the cache before it.
	lingering = time.Second
)

// A reviewer asks the API server whether tokens, whose signatures were checked already, are still good: tokens of a deleted
// ServiceAccount or pod are not.
type reviewer struct {
	api       *API
	audiences []string
	places    chan struct{}

	mutex   sync.Mutex
	flights map[[sha256.Size]byte]*flight
	// denied says what would let the server ask; "" if it may.
	denied string
}

// A flight is a review under way; all who show the same token wait for the same one.
type flight struct {
	// asked is the moment for which the answer is right.
	asked   time.Time
	done    chan struct{}
	refusal Refusal
}

func newReviewer(api *API, audiences []string) *reviewer {
	return &reviewer{
		api: api, audiences: audiences, places: make(chan struct{}, maxReviews),
		flights: map[[sha256.Size]byte]*flight{},
	}
}

// review returns Accepted if the API server knows the token as one of this subject, Reviewed if not, and Unavailable if it
// does not say; and for which moment.
func (r *reviewer) review(ctx context.Context, text string, sum [sha256.Size]byte, subject string, now time.Time) (Refusal, time.Time) {
	r.mutex.Lock()
	f := r.flights[sum]
	if f == nil || now.Sub(f.asked) >= reviewedFor {
		f = &flight{asked: now, done: make(chan struct{})}
		r.flights[sum] = f
		go func() { // it outlives a caller who goes away: others may wait for it
			f.refusal = r.take(context.WithoutCancel(ctx), text, subject)
			if f.refusal == Unavailable {
				r.land(sum, f)
			} else {
				time.AfterFunc(lingering, func() { r.land(sum, f) })
			}
			close(f.done)
		}()
	}
	r.mutex.Unlock()
	select {
	case <-f.done:
		return f.refusal, f.asked
	case <-ctx.Done():
		return Unavailable, now
	}
}

func (r *reviewer) land(sum [sha256.Size]byte, f *flight) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.flights[sum] == f {
		delete(r.flights, sum)
	}
}

// take waits for a place and asks.
func (r *reviewer) take(ctx context.Context, text, subject string) Refusal {
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	select {
	case r.places <- struct{}{}:
	case <-ctx.Done():
		return Unavailable
	}
	defer func() { <-r.places }()
	answer, err := r.ask(ctx, text)
	switch {
	case err != nil:
		return Unavailable
	case !answer.Authenticated, answer.User.Username != subject, !r.among(answer.Audiences):
		return Reviewed
	}
	return Accepted
}

func (r *reviewer) among(audiences []string) bool {
	return slices.ContainsFunc(audiences, func(name string) bool { return slices.Contains(r.audiences, name) })
}

// The parts of a TokenReview that matter here.
type (
	reviewSpec struct {
		Token     string   `json:"token"`
		Audiences []string `json:"audiences"`
	}
	reviewStatus struct {
		Authenticated bool `json:"authenticated"`
		User          struct {
			Username string `json:"username"`
		} `json:"user"`
		Audiences []string `json:"audiences"`
	}
	tokenReview struct {
		APIVersion string       `json:"apiVersion"`
		Kind       string       `json:"kind"`
		Spec       reviewSpec   `json:"spec"`
		Status     reviewStatus `json:"status,omitzero"`
	}
)

func (r *reviewer) ask(ctx context.Context, text string) (*reviewStatus, error) {
	body, err := json.Marshal(tokenReview{"authentication.k8s.io/v1", "TokenReview", reviewSpec{text, r.audiences}, reviewStatus{}})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.api.URL+"/apis/authentication.k8s.io/v1/tokenreviews", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	code, answer, err := do(r.api.Client, request)
	if err != nil {
		return nil, err
	}
	r.noteAccess(code, answer)
	if code != http.StatusCreated && code != http.StatusOK {
		return nil, fmt.Errorf("the API server answers %d", code)
	}
	var review tokenReview
	err = json.Unmarshal(answer, &review)
	return &review.Status, err
}

// probe finds out whether the server may ask, before the first caller comes: what it asks about is no token.
func (r *reviewer) probe(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	_, _ = r.ask(ctx, "none") // whether the API server answers at all, the reading of its keys has told
}

// noteAccess notes whether the API server lets us ask.
func (r *reviewer) noteAccess(code int, answer []byte) {
	denied := ""
	if code == http.StatusForbidden {
		denied = deniedMessage(answer)
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.denied = denied
}

func (r *reviewer) forbidden() string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.denied
}

// The API server names who may not do what.
var deniedUser = regexp.MustCompile(`"system:serviceaccount:([a-z0-9-]+):([a-z0-9.-]+)"`)

func deniedMessage(answer []byte) string {
	var status struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(answer, &status) // an answer in another form names nobody
	namespace, name := "<namespace>", "<endpoint>-mcp"
	if found := deniedUser.FindStringSubmatch(status.Message); found != nil {
		namespace, name = found[1], found[2]
	}
	return fmt.Sprintf("The server may not create TokenReviews. Allow it: kubectl create clusterrolebinding %[1]s-%[2]s-tokenreviews "+
		"--clusterrole=system:auth-delegator --serviceaccount=%[1]s:%[2]s", namespace, name)
}
