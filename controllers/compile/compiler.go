package compile

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// Compiler compiles one endpoint again and again. It keeps what it made of every object, and compiles an object again
// only if that object, or something that it depends on, has changed. So a change of one token costs the compiling of one,
// if the caller names it. It has no client, clock or randomness. It is not safe for concurrent use.
type Compiler struct {
	// keys are made once, and then taken from the stored Config.
	statusKey, sealKey string
	// counter is the highest revision that was given to anything.
	counter int64

	// most is how many models fit into the main part; 0 is all of them.
	most int
	// again makes the main part be compiled again, whatever has changed.
	again bool
	// compiled holds the last sources of the main part.
	compiled mainSources
	// main is the main part as it should be; nil if the endpoint was never valid.
	main      *contract.Config
	endpoint  Verdict
	exposures map[types.NamespacedName]Verdict
	// Tokens also depend on groups, issuers and registry; each new main part brings them.
	groups   []string
	issuers  map[string]string // the URLs, by name
	registry registry
	// problems says of expressions what is wrong with them; "" if nothing is.
	problems map[expression]string

	tokens  map[types.NamespacedName]*tokenState
	inParts tokensInParts
	// lookAgain is the earliest moment at which a token may be another for the clock alone; zero is never.
	lookAgain time.Time
	// owners are the tokens by what only one can have, in force or not.
	owners map[string][]*tokenState
	rights rightsClasses
	// stored are the entries of tokens in the stored Config. An entry is taken out when its object is seen.
	stored map[tokenID]contract.Token

	layout layoutState
}

// mainSources are the sources of a main part. Of the exposures it has only which they were: their objects change with each
// status, and to hold on to old ones would keep all of them in memory twice.
type mainSources struct {
	endpoint  *v1alpha1.MCPEndpoint
	exposures []asked
	webhooks  map[string]WebhookSecret
}

// Objects are the sources of an endpoint's Config. None of them is changed, then or later.
type Objects struct {
	Endpoint *v1alpha1.MCPEndpoint
	// Exposures and Tokens are the objects that refer to the endpoint, in any order. Objects that are being deleted are
	// passed over.
	Exposures []*v1alpha1.MCPModelExposure
	Tokens    []*v1alpha1.MCPToken
	// Changed are the names of the tokens that may be others, or have other credentials, than at the update before. Tokens
	// are then the tokens of these names that still exist. Nil is not known: Tokens are all that there are.
	Changed []types.NamespacedName
	// Credential returns the known facts about a token's text, as the same pointer as long as they are the same; nil if the
	// token was not looked up yet. Such a token keeps the hashes that the stored Config has for it, so that a manager that
	// has just started drops no living token.
	Credential func(*v1alpha1.MCPToken) *Credential
	// Webhooks are the Secrets that webhooks of the endpoint and its exposures name, by their names. One without an entry does not exist.
	Webhooks map[string]WebhookSecret
	// Decisions are what people decided about calls of the tokens, the oldest first.
	Decisions map[types.NamespacedName][]contract.Decision
	// Pods are the endpoint's pods; nil if nobody has counted them yet.
	Pods *contract.Pods
	// Now decides what has expired.
	Now time.Time
}

// Stored is the Config that is written at present.
type Stored struct {
	// Main is nil if there is none that can be read.
	Main *contract.Config
	// Parts are the token parts that can be read.
	Parts []*contract.TokenPart
	// Floor is the highest revision that any pod may have applied, or any object's status may name.
	Floor int64
	// StatusKey and SealKey are for a Config without a Main.
	StatusKey, SealKey string
}

// NewCompiler returns a Compiler that continues from the stored Config.
func NewCompiler(stored Stored) *Compiler {
	c := &Compiler{
		statusKey: stored.StatusKey, sealKey: stored.SealKey, counter: stored.Floor,
		exposures: map[types.NamespacedName]Verdict{},
		tokens:    map[types.NamespacedName]*tokenState{},
		owners:    map[string][]*tokenState{},
		stored:    map[tokenID]contract.Token{},
	}
	if main := stored.Main; main != nil {
		c.main = main
		c.statusKey, c.sealKey = main.Endpoint.StatusKey, main.Endpoint.SealKey
		c.counter = max(c.counter, main.Revision)
	}
	c.layout.load(c, stored)
	return c
}

// Outcome is the result of an update.
type Outcome struct {
	// Tokens are the tokens whose verdict or entry changed, or that are gone.
	Tokens []types.NamespacedName
	// Main reports whether the main part or a verdict on the endpoint or an exposure changed.
	Main bool
	// LookAgain is the earliest moment at which the outcome would be another for the clock alone; zero is never.
	LookAgain time.Time
}

// Update compiles what has changed. A main part or token part that differs from before has a new revision then; Pending
// tells which those are.
func (c *Compiler) Update(in Objects) Outcome {
	var out Outcome
	next := c.counter + 1
	before := c.main
	out.Main = c.updateMain(in, next)
	if before == nil {
		in = c.withAllTokens(in)
	}
	if c.main == nil {
		out.Tokens = c.withoutEndpoint(in)
		return out
	}
	if before == nil {
		clear(c.tokens) // all of them were waiting
		c.inParts = nil
	}
	out.Tokens, out.LookAgain = c.updateTokens(in, next, c.main != before), c.lookAgain
	if out.Main || len(out.Tokens) > 0 {
		c.noteEndpoint(in.Endpoint)
	}
	c.layout.fit(c, next)
	c.updateDecisions(in, next)
	c.updatePods(in.Pods, next)
	return out
}

// use notes that a revision was given to something.
func (c *Compiler) use(revision int64) int64 {
	c.counter = max(c.counter, revision)
	return revision
}

// updateMain compiles the main part if something that it depends on has changed, and reports whether anything came of it.
func (c *Compiler) updateMain(in Objects, next int64) bool {
	exposed := living(in.Exposures)
	sources := mainSources{in.Endpoint, allAsked(exposed), in.Webhooks}
	edited := c.compiled.endpoint == nil || !sameObject(c.compiled.endpoint, in.Endpoint)
	if !c.again && !edited && slices.Equal(c.compiled.exposures, sources.exposures) &&
		reflect.DeepEqual(c.compiled.webhooks, sources.webhooks) {
		return false
	}
	if !c.again {
		c.most = 0 // perhaps all of them fit now
	}
	c.compiled, c.again = sources, false
	entry, groups := c.endpointEntry(in.Endpoint), groupEntries(in.Endpoint)
	previous := c.main
	hooks := newWebhooks(sources.webhooks, previous)
	untold := hooks.notifyEntries(in.Endpoint, entry.Approvals)
	endpoint := judgeEndpoint(in.Endpoint, &entry, groups)
	if endpoint.Accepted {
		endpoint.Lack = untold
	}
	exposures := map[types.NamespacedName]Verdict{}
	if !endpoint.Accepted && previous == nil {
		changed := edited || !reflect.DeepEqual(endpoint, c.endpoint)
		c.endpoint = endpoint
		waiting := waitsFor(in.Endpoint, endpoint)
		for _, e := range exposed {
			exposures[types.NamespacedName{Namespace: e.Namespace, Name: e.Name}] = waiting
		}
		changed = changed || !maps.EqualFunc(exposures, c.exposures, sameVerdict)
		c.exposures = exposures
		return changed
	}
	main := &contract.Config{Version: contract.Version, Revision: 0, Layout: c.layout.published}
	if previous != nil {
		main.Pods = previous.Pods
	}
	if endpoint.Accepted {
		main.Endpoint, main.Groups = entry, groups
	} else {
		main.Endpoint, main.Groups = previous.Endpoint, previous.Groups
	}
	if len(main.Endpoint.Approvals) > 0 {
		main.Requires = []string{contract.RequiresApprovals}
	}
	main.Models, main.Endpoint.WithheldTables = compileModels(in.Endpoint, exposed, hooks, c.most, served(previous), exposures)
	if endpoint.Accepted {
		judgeApprovals(main.Endpoint.Approvals, main.Models, groupNames(in.Endpoint))
	}
	urgent := c.assignRevisions(main, previous, next)
	endpoint.Revision = main.Endpoint.Revision
	for i := range main.Models {
		key := types.NamespacedName{Namespace: in.Endpoint.Namespace, Name: main.Models[i].Exposure}
		verdict := exposures[key]
		verdict.Revision = main.Models[i].Revision
		exposures[key] = verdict
	}
	changed := edited || main.Revision != c.main.Revision || !sameVerdict(endpoint, c.endpoint) ||
		!maps.EqualFunc(exposures, c.exposures, sameVerdict)
	c.main, c.endpoint, c.exposures = main, endpoint, exposures
	c.layout.main.changed(main.Revision, urgent)
	c.groups, c.issuers = groupNames(in.Endpoint), issuerURLs(main)
	c.registry = newRegistry(main)
	c.rights.forget()
	return changed
}

// MainTooLarge notes that the main part does not fit into a Secret: the youngest models are left out of the next one.
func (c *Compiler) MainTooLarge() {
	c.most = max(1, len(c.main.Models)-1-len(c.main.Models)/20)
	c.again = true
}

// assignRevisions gives each entry its previous revision if it is the same but for that, and next otherwise. It reports
// whether the main part takes anything away that the previous one gives.
func (c *Compiler) assignRevisions(main, previous *contract.Config, next int64) (urgent bool) {
	if previous == nil {
		previous = &contract.Config{}
	}
	changed := main.Version != previous.Version || len(main.Models) != len(previous.Models) || main.Layout != previous.Layout ||
		!slices.Equal(main.Requires, previous.Requires)
	main.Endpoint.Revision = previous.Endpoint.Revision
	if !equal(main.Endpoint, previous.Endpoint) || !equal(main.Groups, previous.Groups) {
		main.Endpoint.Revision, changed, urgent = next, true, true
	}
	kept := 0
	for i := range main.Models {
		m := &main.Models[i]
		before := previous.FindModel(m.Exposure, m.UID)
		if before == nil {
			before = &contract.Model{}
		} else {
			kept++
		}
		if m.Revision = before.Revision; !equal(*m, *before) {
			urgent = urgent || before.Revision > 0
			m.Revision, changed = next, true
		}
	}
	urgent = urgent || kept < len(previous.Models)
	if main.Revision = previous.Revision; changed || main.Revision == 0 {
		main.Revision = c.use(next)
	}
	return urgent && previous.Revision > 0
}

// served reports whether a main part has an exposure. If there is none, the revision in the exposure's status tells that it
// was in one.
func served(main *contract.Config) func(*v1alpha1.MCPModelExposure) bool {
	return func(e *v1alpha1.MCPModelExposure) bool {
		if main == nil {
			return e.Status.Revision > 0
		}
		return main.FindModel(e.Name, string(e.UID)) != nil
	}
}

// asked tells two states of an object apart if they ask for different things.
type asked struct {
	uid        types.UID
	generation int64
	paused     bool
}

func askedBy(o metav1.Object) asked {
	return asked{o.GetUID(), o.GetGeneration(), v1alpha1.IsPaused(o)}
}

func allAsked(exposures []*v1alpha1.MCPModelExposure) []asked {
	all := make([]asked, len(exposures))
	for i, e := range exposures {
		all[i] = askedBy(e)
	}
	return all
}

// sameObject reports whether two states of an object ask for the same.
func sameObject[O metav1.Object](a, b O) bool { return askedBy(a) == askedBy(b) }

// living are the exposures that are not being deleted, by name.
func living(exposures []*v1alpha1.MCPModelExposure) []*v1alpha1.MCPModelExposure {
	all := slices.DeleteFunc(slices.Clone(exposures), func(e *v1alpha1.MCPModelExposure) bool { return !e.DeletionTimestamp.IsZero() })
	slices.SortFunc(all, func(a, b *v1alpha1.MCPModelExposure) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Main is the main part as it should be; nil if the endpoint was never valid. It must not be changed.
func (c *Compiler) Main() *contract.Config { return c.main }

// Endpoint is the verdict on the endpoint.
func (c *Compiler) Endpoint() Verdict { return c.endpoint }

// Exposures are the verdicts on the endpoint's exposures. They must not be changed.
func (c *Compiler) Exposures() map[types.NamespacedName]Verdict { return c.exposures }

// InForce is the number of tokens that the Config lets in.
func (c *Compiler) InForce() int {
	n := 0
	for _, t := range c.tokens {
		if t.verdict.InForce {
			n++
		}
	}
	return n
}

func sameVerdict(a, b Verdict) bool { return reflect.DeepEqual(a, b) }

// CompiledFor reports whether an endpoint asks for the same as when it was compiled last.
func (c *Compiler) CompiledFor(e *v1alpha1.MCPEndpoint) bool {
	return c.compiled.endpoint != nil && sameObject(c.compiled.endpoint, e)
}

// Source is the endpoint that was compiled last; nil if none was.
func (c *Compiler) Source() *v1alpha1.MCPEndpoint { return c.compiled.endpoint }
