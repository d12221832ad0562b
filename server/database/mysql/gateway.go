package mysql

import (
	"regexp"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// A gateway before MySQL (vtgate) speaks its protocol and passes most on. It has its own names for schemas, and puts its own words
// around the answers of the server behind it.

// wrapped is a server's message with the gateway's words around it. Behind it come the statement and its values.
var wrapped = regexp.MustCompile(`(?s)^(?:target: [^:]*: )?vttablet: rpc error: code = \w+ desc = (.*?) \(errno \d+\) \(sqlstate \w{5}\)`)

// beyondIt matches the messages about a statement that it made of ours and does not understand itself, tooMany those about more rows
// than it puts together (--queryserver-config-max-result-size).
var (
	beyondIt = regexp.MustCompile(` desc = syntax error at position `)
	tooMany  = regexp.MustCompile(` desc = Row count exceeded `)
)

// severalShards begins the message about a transaction that would need a second shard, and may not have one (refusesMode).
const severalShards = "multi-db transaction attempted"

// oneShardAlone is the message to a caller whose transaction was refused so.
const oneShardAlone = "the database allows no transaction over several of its servers, and nothing was changed; the rows, the journal and the idempotency keys of a call " +
	"may lie on several: whoever administers the endpoint can allow it (" + modeOption + ")"

// ownColumn matches the words of a server about a column that only our statements have: the gateway has cut one into parts that do
// not fit. Without them it would look as if somebody had changed the tables.
var ownColumn = regexp.MustCompile(`^Unknown column '(?:t\d+\.)?[ckm]\d+' in `)

// ownCode is the gateway's own name of an error (VT10002), which its documents explain. It stands at the beginning of its words.
var ownCode = regexp.MustCompile(`^(?:(?:target: [^:]*: )?vttablet: rpc error: code = \w+ desc = )?(VT\d{5})(?:: |$)`)

// codeOf returns the gateway's own name of an error; "" if it has none.
func codeOf(answer *mysql.MySQLError) string {
	if found := ownCode.FindStringSubmatch(answer.Message); found != nil {
		return found[1]
	}
	return ""
}

// unwrap leaves the server's own words in an error.
func unwrap(answer *mysql.MySQLError) {
	if words := wrapped.FindStringSubmatch(answer.Message); words != nil {
		answer.Message = words[1]
		if ownColumn.MatchString(answer.Message) {
			answer.Number = errNotSupported
		}
	} else if strings.HasPrefix(answer.Message, "target: ") && beyondIt.MatchString(answer.Message) {
		answer.Number, answer.Message = errNotSupported, ""
	} else if strings.HasPrefix(answer.Message, "target: ") && tooMany.MatchString(answer.Message) {
		answer.Number, answer.Message = errTooBigSelect, ""
	} else if strings.HasPrefix(answer.Message, "target: ") || strings.HasPrefix(answer.Message, "vttablet: ") {
		answer.Message = codeOf(answer) // the rest is of a form that is not known
	}
}

// notOverAll is the message to a caller whose question the gateway does not compute over several shards.
const notOverAll = "the database keeps these rows on several servers, and does not compute this over all of them; ask without values of related rows " +
	"(their counts and sums), medians, texts, windows and shares, with one count_distinct and without groups of long texts, or list the ids first and filter by them"

// asked is the name by which a schema that an error names is asked for.
func (d *db) asked(told string) string {
	if names := d.told.Load(); names != nil {
		if name, known := (*names)[told]; known {
			return name
		}
	}
	return told
}
