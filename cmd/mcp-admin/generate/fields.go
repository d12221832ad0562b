package generate

import (
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// guessFields decides which columns are hidden, masked and read-only.
func (m *Model) guessFields() {
	f := &m.Exposure.Spec.Fields
	for _, c := range m.Table.Columns {
		personal, keepLast := personalData(c)
		switch {
		case !c.Privileges.Has(database.MaySelect):
		case catalog.LooksSecret(m.Table, c):
			f.Exclude = append(f.Exclude, c.Name)
			m.because("fields.exclude."+c.Name, "named like a secret")
		case personal && (m.isKey(c) || m.isReferenced(c)):
			m.because("fields", "%s looks like personal data, and stays visible: rows are told apart by it", c.Name)
		case personal:
			f.Masked = append(f.Masked, v1alpha1.MaskedField{Name: c.Name, KeepLast: keepLast})
			reason := "personal data, by its name"
			if isCode(c) {
				reason += "; if you show it, its numbers are codes: reads: Text in fields.overrides"
			}
			m.because("fields.masked."+c.Name, "%s", reason)
		case c.Generated || m.isKey(c): // nobody writes it anyway, or a new row may need it
		case m.recordsTime(c):
			f.ReadOnly = append(f.ReadOnly, c.Name)
			m.because("fields.readOnly."+c.Name, "a time that the database keeps")
		}
	}
}

// isReferenced reports whether rows of other tables may name this table's rows by a column.
func (m *Model) isReferenced(c *database.Column) bool {
	return slices.ContainsFunc(m.Table.Unique, func(key []*database.Column) bool { return len(key) == 1 && key[0] == c }) &&
		len(m.Table.PrimaryKey) == 0
}

// The words of personal data. A column holds it if its name ends in one, but for qualifiers behind it. Names of people are
// none of them: without names, nobody can tell rows apart.
var (
	personalWords = []string{
		"email", "emails", "mail", "phone", "phones", "telephone", "tel", "telefon", "mobile", "cellphone", "fax", "msisdn", "whatsapp",
		"address", "addresses", "addr", "street", "streetname", "postcode", "postalcode", "zip", "zipcode", "adresse", "strasse", "plz", "postleitzahl", "handynummer", "telefonnummer", "geburtsdatum", "geburtstag", "telefono", "correo", "direccion", "courriel", "naissance",
		"birthdate", "birthday", "dob", "birthdt", "ssn", "sin", "nino", "nin", "cpf", "curp", "bsn", "pesel", "aadhaar", "passport", "iban",
		"ip", "ipaddress", "ipaddr", "emailaddress", "phonenumber", "faxnumber", "mobilenumber",
		"salary", "wage", "religion", "ethnicity", "diagnosis", "disability",
	}
	// personalPairs are two words that end a name.
	personalPairs = []string{
		"postal code", "zip code", "post code", "birth date", "date birth", "of birth", "national id", "tax id", "tax number", "personal id",
		"passport number", "passport no", "license number", "licence number", "account number", "account no", "card number", "card no",
		"credit card", "social security", "security number", "identity number", "insurance number",
	}
	// endNumbers are words that show the end of the number, by which people know their own.
	endNumbers = []string{"iban", "card", "account"}
	qualifiers = []string{"number", "no", "nr", "num", "line", "home", "work", "office", "private", "primary", "secondary", "alternate",
		"alt", "new", "old", "main", "full", "raw", "value", "text", "1", "2", "3", "4"}
)

// personalData reports whether a column is named like personal data, and how many characters at its end may be shown.
func personalData(c *database.Column) (personal bool, keepLast int32) {
	switch c.Kind {
	case database.Boolean, database.Enum, database.Float, database.TimestampTZ, database.Time, database.Interval:
		return false, 0
	}
	words := catalog.Words(c.Name)
	if len(words) == 0 {
		return false, 0
	}
	if slices.ContainsFunc(words, func(word string) bool { return slices.Contains(endNumbers, word) }) {
		keepLast = 4
	}
	for {
		pair := strings.Join(words[max(0, len(words)-2):], " ")
		if slices.Contains(personalWords, strings.TrimRight(last(words), "0123456789")) || slices.Contains(personalPairs, pair) {
			return c.Kind != database.Timestamp || strings.Contains(c.Name, "irth"), keepLast
		}
		if len(words) == 1 || !slices.Contains(qualifiers, last(words)) {
			return false, 0
		}
		words = words[:len(words)-1]
	}
}

// timeWords are the words of the times at which rows are made and changed.
var timeWords = []string{"created", "updated", "modified", "inserted", "changed", "creation", "modification", "ctime", "mtime"}

// recordsTime reports whether the database itself keeps in a column when its row was made or changed, so that nobody
// should set it by hand. A new row that the database gives no time must get one from its caller.
func (m *Model) recordsTime(c *database.Column) bool {
	if c.Kind != database.Timestamp && c.Kind != database.TimestampTZ {
		return false
	}
	words := catalog.Words(c.Name)
	named := slices.ContainsFunc(words, func(word string) bool { return slices.Contains(timeWords, word) }) || strings.Join(words, " ") == "last update"
	return c.HasDefault && c.Default == nil || named && m.Table.InsertTrigger
}
