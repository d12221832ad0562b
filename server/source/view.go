package source

import (
	"bytes"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// A view is what has been seen of each Secret, through the API and in its mount, and what follows from it. It does no
// I/O. Its rules are those of docs/design/controllers.md, "How a change reaches the pods":
//
//   - What the API says is so, whatever the mount says and whatever the revision.
//   - Until the API was heard the mount is what there is; of two mounted Configs the higher revision wins.
//   - While the API is away after it was heard, what it said last stays. Only a mounted Config of a revision higher
//     than any seen before replaces it, because that must be newer; a file that comes late cannot.
//   - A Config Secret that the API says does not exist closes the endpoint, and only the API opens it again.
//   - A Config that the manager did not sign, or that does not decode or validate, is refused, and the last good one stays.
type view struct {
	parts []*copies
	// verify refuses parts that the manager did not write.
	verify                                        func([]contract.Part) error
	connection, replicas, ca, client, certificate *copies
	// followed are the Secrets among them that exist, so that the API will report on them.
	followed []*copies

	// booting reports whether the API still has time to answer first: the mount is read but not used.
	booting bool
	config  *contract.Config
	refused *contract.Refusal
	// highest is the highest revision seen in any Config, used or not.
	highest int64
}

// copies are the two copies of one Secret.
type copies struct {
	// heard reports whether the API ever said what the Secret holds, away whether it stopped answering since.
	heard, away  bool
	api, mounted Secret
}

// newView returns the view of a Config in that many parts. It has seen nothing yet.
func newView(parts int, verify func([]contract.Part) error) *view {
	v := &view{
		verify: verify, connection: &copies{}, replicas: &copies{}, ca: &copies{}, client: &copies{}, certificate: &copies{},
		booting: true,
	}
	for range parts {
		v.parts = append(v.parts, &copies{})
	}
	v.followed = append(v.followed, v.parts...)
	return v
}

// follow notes that the API will report on a Secret beside the Config's parts.
func (v *view) follow(c *copies) { v.followed = append(v.followed, c) }

// hear notes what the API says of a Secret; nil means that it does not exist.
func (v *view) hear(of *copies, data Secret) {
	of.heard, of.away, of.api = true, false, data
	if !v.isPart(of) || !v.apiHeard() {
		return
	}
	parts := make([]contract.Part, len(v.parts))
	for i, part := range v.parts {
		if part.api == nil {
			v.config, v.refused = nil, nil
			return
		}
		parts[i] = contract.Part(part.api)
	}
	v.accept(v.decode(parts))
}

// lose notes that the API stopped answering for a Secret.
func (v *view) lose(of *copies) { of.away = true }

// mount notes what the mount of a Secret holds; nil means nothing.
func (v *view) mount(of *copies, data Secret) {
	of.mounted = data
	if v.isPart(of) {
		v.useMount()
	}
}

// boot ends the time in which only the API counts.
func (v *view) boot() {
	v.booting = false
	v.useMount()
}

func (v *view) useMount() {
	parts := make([]contract.Part, len(v.parts))
	away, closed := false, false
	for i, part := range v.parts {
		away = away || part.away
		closed = closed || part.heard && part.api == nil
		if part.mounted == nil {
			if !v.booting && !v.apiHeard() {
				v.config, v.refused = nil, nil
			}
			return
		}
		parts[i] = contract.Part(part.mounted)
	}
	config, refused := v.decode(parts)
	seen := v.highest
	if config != nil {
		v.highest = max(v.highest, config.Revision)
	}
	switch {
	case v.booting || closed:
	case !v.apiHeard():
		if config == nil || v.config == nil || config.Revision > v.config.Revision {
			v.accept(config, refused)
		}
	case away && config != nil && config.Revision > seen:
		v.accept(config, nil)
	}
}

// accept puts a Config in force, or notes why it is refused.
func (v *view) accept(config *contract.Config, refused *contract.Refusal) {
	v.refused = refused
	if config == nil {
		return
	}
	v.highest = max(v.highest, config.Revision)
	if !reflect.DeepEqual(config, v.config) {
		v.config = config
	}
}

func (v *view) isPart(of *copies) bool { return slices.Contains(v.parts, of) }

// apiHeard reports whether the API has told all of a Config.
func (v *view) apiHeard() bool {
	for _, part := range v.parts {
		if !part.heard {
			return false
		}
	}
	return true
}

// allHeard reports whether the API has told of every Secret that is followed.
func (v *view) allHeard() bool {
	for _, c := range v.followed {
		if !c.heard {
			return false
		}
	}
	return true
}

// update returns what follows from all that was seen.
func (v *view) update() Update {
	return Update{
		Config: v.config, Refused: v.refused,
		Connection: v.connection.newest(), Replicas: v.replicas.newest(), CA: v.ca.newest(),
		ClientCertificate: v.client.newest(), Certificate: v.certificate.newest(),
	}
}

// newest returns the copy that counts: what the API said last, or the mount if the API never answered.
func (c *copies) newest() Secret {
	if c.heard {
		return c.api
	}
	return c.mounted
}

// decode returns the Config of the parts, or why it is refused.
func (v *view) decode(parts []contract.Part) (*contract.Config, *contract.Refusal) {
	if err := v.verify(parts); err != nil {
		return nil, &contract.Refusal{Message: err.Error()} // the revision cannot be trusted either
	}
	config, err := contract.Decode(parts)
	if err == nil {
		return config, nil
	}
	revision, _ := strconv.ParseInt(string(parts[0][contract.PartKeyRevision]), 10, 64)
	return nil, &contract.Refusal{Revision: revision, Message: err.Error()}
}

// equal reports whether two updates say the same. Configs are compared as pointers, because view keeps the old Config
// if a new one is alike.
func (u Update) equal(other Update) bool {
	return u.Config == other.Config && reflect.DeepEqual(u.Refused, other.Refused) &&
		u.Connection.equal(other.Connection) && u.Replicas.equal(other.Replicas) && u.CA.equal(other.CA) &&
		u.ClientCertificate.equal(other.ClientCertificate) && u.Certificate.equal(other.Certificate)
}

func (s Secret) equal(other Secret) bool {
	return (s == nil) == (other == nil) && maps.EqualFunc(s, other, bytes.Equal)
}
