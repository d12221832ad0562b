package admin

// get answers the one row that has the id, with the rows that belong to it where they are asked for.
func (c *call) get() ([]byte, error) {
	args, err := parseArguments(c.raw, idName, "include_inlines", "include_related")
	if err != nil {
		return nil, err
	}
	where, err := c.wantedRow(args)
	if err != nil {
		return nil, err
	}
	inlines, err := args.flag("include_inlines")
	if err != nil {
		return nil, err
	}
	related, err := args.flag("include_related")
	if err != nil {
		return nil, err
	}
	if !inlines && !related {
		row, _, err := c.readRow(c.db, c.scope, where, false)
		if err == nil && len(row) > c.settings.MaxResultBytes {
			return nil, c.tooLarge()
		}
		return row, err
	}
	k := &kin{call: c, parent: c.scope, where: where}
	if inlines {
		k.addInlines()
	}
	if related {
		k.addRelations()
	}
	return k.answer()
}

// tooLarge is a row that is larger than an answer may be, though each of its values was cut.
func (c *call) tooLarge() error {
	name := c.scope.Model().Name
	return failf(CodeTooLarge, `%s is larger than an answer may be; list_%s with filters {"id": …} and only the fields that you need shows it in pieces`, name, name)
}
