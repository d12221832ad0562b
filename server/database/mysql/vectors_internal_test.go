package mysql

import (
	"fmt"
	"testing"
)

func TestIndexDistances(t *testing.T) {
	for _, test := range []struct{ definition, want string }{
		{"CREATE TABLE `t` (\n  `place` vector(3) NOT NULL,\n  VECTOR KEY `near` (`place`)\n) ENGINE=InnoDB", "map[place:Euclidean distance]"},
		{"CREATE TABLE `t` (\n  VECTOR KEY `near` (`place`) `distance`='cosine' `M`='8'\n)", "map[place:cosine distance]"},
		{"CREATE TABLE `t` (\n  VECTOR KEY `near` (`place`) `M`='8' `DISTANCE`='COSINE',\n  KEY `x` (`y`)\n)", "map[place:cosine distance]"},
		{"CREATE TABLE `t` (\n  VECTOR KEY `near` (`place`) `distance`='euclidean'\n) `distance`='cosine'", "map[place:Euclidean distance]"},
		{"CREATE TABLE t (\n  VECTOR KEY near (place) distance='cosine'\n)", "map[place:cosine distance]"},
		{"CREATE TABLE `t` (\n  `a` text COMMENT 'it''s VECTOR KEY near (a) \\' distance=''cosine''',\n  VECTOR KEY `ne(``ar` (`p``l'ace`) COMMENT '`distance`=''cosine'''\n)", "map[p`l'ace:Euclidean distance]"},
		{"CREATE TABLE `t` (\n  VECTOR KEY `near` (`place`) `distance`=", "map[place:Euclidean distance]"},
		{"CREATE TABLE `t` (\n  VECTOR KEY `near` (", "map[]"}, {"", "map[]"},
	} {
		if got := fmt.Sprint(indexDistances(test.definition)); got != test.want {
			t.Errorf("%s: got %s, want %s", test.definition, got, test.want)
		}
	}
}
