package generate

import (
	"path/filepath"
	"strings"
	"testing"
)

// Tables as they are where nobody declares foreign keys.
const loose = `
CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(80));
CREATE TABLE films (film_id INTEGER PRIMARY KEY, title VARCHAR(80));
CREATE TABLE rentals (id INTEGER PRIMARY KEY, customer_id INTEGER, paying_customer_id BIGINT, film_id INTEGER, film VARCHAR(20), clerk_id INTEGER, customer_name VARCHAR(80));
CREATE TABLE notes (id INTEGER PRIMARY KEY, customer_id VARCHAR(20), rental_id INTEGER REFERENCES rentals (id));
`

func TestColumnsThatAreNamedLikeKeysAreProposedAsRelations(t *testing.T) {
	file := filepath.Join(t.TempDir(), "loose.sqlite")
	execute(t, file, loose)
	got := run(t, "--sqlite", file)
	const want = `  relations:
  - {name: customer, columns: [customer_id], model: customers} # customer_id is named like the key of customers
  - {name: paying_customer, columns: [paying_customer_id], model: customers} # paying_customer_id is named like the key of customers
  - {name: films, columns: [film_id], model: films} # film_id is named like the key of films
`
	if !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant in it\n%s", got, want)
	}
	if n := strings.Count(got, "relations:"); n != 1 {
		t.Errorf("%d models have relations, want one: a foreign key needs none, and texts are no numbers", n)
	}
}
