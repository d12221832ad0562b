package main

// reading are the actions that read.
var reading = map[string]func(shop, *arguments) error{
	"find_user_id_by_email": func(s shop, a *arguments) error {
		return s.call("list_users", object{"filters": object{"email__iexact": a.Email}, "fields": []string{"user_id"}, "total": "none"}, nil)
	},
	"find_user_id_by_name_zip": func(s shop, a *arguments) error {
		return s.call("list_users", object{"fields": []string{"user_id"}, "total": "none",
			"filters": object{"first_name__iexact": a.FirstName, "last_name__iexact": a.LastName, "address__zip": a.Zip}}, nil)
	},
	"get_user_details": func(s shop, a *arguments) error {
		return s.call("get_users", object{"id": a.UserID, "include_related": true}, nil)
	},
	"get_order_details": func(s shop, a *arguments) error {
		return s.call("get_orders", object{"id": a.OrderID, "include_related": true}, nil)
	},
	"get_product_details": func(s shop, a *arguments) error {
		return s.call("list_variant_options", object{"filters": object{"item__product_id": a.ProductID}, "total": "none", "format": "columns", "limit": 1000,
			"fields": []string{"item_id", "option_name", "option_value", "item__price", "item__available"}}, nil)
	},
	"list_all_product_types": func(s shop, _ *arguments) error {
		return s.call("list_products", object{"total": "none", "format": "columns", "limit": 1000}, nil)
	},
}
