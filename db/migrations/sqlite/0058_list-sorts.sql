ALTER TABLE `products` ADD `title_key` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `products` ADD `price_key` text DEFAULT '' NOT NULL;--> statement-breakpoint
UPDATE products SET
  title_key = coalesce((select d.title_key from product_documents d where d.product_id = products.id), lower(substr(title, 1, 80)) || char(1) || substr(id, 6)),
  price_key = printf('%015d', coalesce((select min(v.price) from variants v where v.product_id = products.id), 0)) || '.' || substr(id, 6);--> statement-breakpoint
CREATE INDEX `products_title` ON `products` (`shop_id`,`title_key`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `products_price` ON `products` (`shop_id`,`price_key`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `customers_name` ON `customers` (`shop_id`,lower(case when "name" = '' then "email" else "name" end),`id`);