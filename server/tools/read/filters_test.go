package read

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// readerOfAll is the text of a token that may view everything.
const readerOfAll = "reader-token-of-at-least-thirty-two-characters"

// scopes are what a viewer sees of a track on an album, whose key is of two columns, and which has a field that is named
// like a lookup and one that is computed.
func scopes(t *testing.T) (track, album access.Scope) {
	t.Helper()
	integer := func(name string) *database.Column { return &database.Column{Name: name, Kind: database.Integer} }
	artist, number, year := integer("artist"), integer("number"), integer("year")
	computed := &database.Column{Name: "digest", Kind: database.Text, HasDefault: true, Generated: true}
	albums := &database.Table{Name: "album", Columns: []*database.Column{artist, number, year, computed}, PrimaryKey: []*database.Column{artist, number}, Unique: [][]*database.Column{{number}}}
	id, no, genre := integer("id"), integer("no"), &database.Column{Name: "genre", Kind: database.Text, HasDefault: true, Default: new("jazz")}
	albumNumber := integer("album_id")
	tracks := &database.Table{Name: "track", Columns: []*database.Column{id, no, genre, albumNumber}, PrimaryKey: []*database.Column{id},
		ForeignKeys: []*database.ForeignKey{{Columns: []*database.Column{albumNumber}, References: albums, ReferencedColumns: []*database.Column{number}}}}
	model := func(name string) contract.Model {
		return contract.Model{Exposure: name, Name: name, Table: name, DefaultPageSize: 1, MaxPageSize: 1}
	}
	config := &contract.Config{
		Models: []contract.Model{model("album"), model("track")},
		Tokens: []contract.Token{{Hashes: []string{contract.HashToken(readerOfAll)}, Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view"}}}}},
	}
	models := catalog.Build(config, (&database.Schema{Tables: []*database.Table{albums, tracks}}).GrantAll())
	token := access.TokensOf(config, models).Authenticate("Bearer "+readerOfAll, time.Now())
	track, seesTracks := token.Scope(models.Model("track"))
	album, seesAlbums := token.Scope(models.Model("album"))
	if !seesTracks || !seesAlbums {
		t.Fatal("the viewer does not see the models")
	}
	return track, album
}

// filter reads a condition object of one member.
func filter(scope access.Scope, key, value string) (database.And, error) {
	return (&RowSet{Scope: scope}).conditions("filters", json.RawMessage(`{"`+key+`":`+value+`}`))
}

func TestFilterKeys(t *testing.T) {
	track, album := scopes(t)
	year := album.Field("year").Column
	equal := func(c *database.Column, n int64) database.Condition {
		return database.Compare{Column: c, Op: database.Equal, Value: n}
	}
	is1970 := equal(year, 1970)
	through := func(c database.Condition) database.Condition {
		relation, target, _ := track.Follow("album")
		return database.Joined{Join: &database.Join{From: target.Source(), Ours: relation.Ours, Theirs: relation.Theirs}, Condition: c}
	}
	key := func(artist, number int64) database.Condition {
		return database.And{equal(album.Field("artist").Column, artist), equal(album.Field("number").Column, number)}
	}
	for _, c := range []struct {
		name, key, value string
		scope            access.Scope
		want             database.Condition
	}{
		{"a field named like a lookup", "year", "1970", album, is1970},
		{"the same through a relation", "album__year", "1970", track, through(is1970)},
		{"the same with a lookup", "album__year__exact", "1970", track, through(is1970)},
		{"in, of a key of two columns", "id__in", `["1,2","3,4"]`, album, database.Or{key(1, 2), key(3, 4)}},
		{"ne, of a key of two columns", "id__ne", `"1,2"`, album, database.Not{Condition: key(1, 2)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := filter(c.scope, c.key, c.value)
			if err != nil || !reflect.DeepEqual(got, database.And{c.want}) {
				t.Errorf("got %+v and %v, want %+v", got, err, c.want)
			}
		})
	}
	for key, want := range map[string]string{
		"album__title":    `album has no field "title" to filter by`,
		"label__year":     `track has no field "label"`,
		"genre__colour":   `genre__colour: genre has no lookup "colour"; its lookups are exact, iexact`,
		"colour":          `track has no field "colour"`,
		"album__yr__gte":  `album has no field "yr"`,
		"album__year__no": `album__year__no: year has no lookup "no"; its lookups are exact, gt`,
		"album__isnull":   `album is a relation to album, and only fields have values; use album_id__isnull or album__artist__isnull`,
		"album":           `album is a relation to album, and only fields have values; use album_id or album__artist`,
		"id__no":          `id__no: id has no lookup "no"; its lookups are exact`,
	} {
		if _, err := filter(track, key, "1"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", key, err, want)
		}
	}
}
