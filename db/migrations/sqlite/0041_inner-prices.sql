CREATE TABLE `product_inner_prices` (
	`product_id` text NOT NULL,
	`price` integer NOT NULL,
	`shop_id` text NOT NULL,
	PRIMARY KEY(`product_id`, `price`),
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
INSERT INTO product_inner_prices (product_id, price, shop_id)
  SELECT DISTINCT v.product_id, v.price, d.shop_id FROM product_documents d JOIN variants v ON v.product_id = d.product_id
  WHERE d.spread > 0 AND v.price > d.min_price AND v.price < d.max_price;--> statement-breakpoint
CREATE INDEX `product_inner_prices_price` ON `product_inner_prices` (`shop_id`,`price`,`product_id`);--> statement-breakpoint
DROP INDEX `product_documents_spread`;--> statement-breakpoint
CREATE INDEX `product_documents_spread` ON `product_documents` (`shop_id`,`spread`,`max_price`,`min_price`,`newest_key`,`visible_from`,`vendor`,`type`,`available`,`tag_bits`,`title_key`) WHERE spread > 0;