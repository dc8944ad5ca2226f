CREATE TABLE `order_days` (
	`shop_id` text NOT NULL,
	`day` integer NOT NULL,
	`first` integer NOT NULL,
	`last` integer NOT NULL,
	PRIMARY KEY(`shop_id`, `day`),
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `search_fills` (
	`subject` text PRIMARY KEY NOT NULL,
	`below` text NOT NULL,
	`done` integer NOT NULL
) STRICT;
--> statement-breakpoint
DROP INDEX `customers_shop_name`;--> statement-breakpoint
DROP INDEX `orders_customer`;--> statement-breakpoint
DROP INDEX `orders_created`;--> statement-breakpoint
DROP INDEX `orders_status_number`;--> statement-breakpoint
DROP INDEX `orders_email`;--> statement-breakpoint
CREATE INDEX `orders_customer_number` ON `orders` (`customer_id`,`shop_id`,`number`,`id`);--> statement-breakpoint
CREATE INDEX `orders_state_number` ON `orders` (`shop_id`,`status`,`payment_status`,`number`);--> statement-breakpoint
CREATE INDEX `orders_email_number` ON `orders` (`shop_id`,lower("email"),`number`);--> statement-breakpoint
-- by hand: what orders and products are found by, which a job fills in for those that are there already; and the days of orders
CREATE TABLE `search_shops` (
	`serial` integer PRIMARY KEY NOT NULL,
	`shop_id` text NOT NULL,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `search_shops_shop` ON `search_shops` (`shop_id`);
--> statement-breakpoint
CREATE TABLE `managed_ranks` (
	`rank` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	FOREIGN KEY (`id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE restrict
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `managed_ranks_id` ON `managed_ranks` (`id`);
--> statement-breakpoint
CREATE TABLE `customer_ranks` (
	`rank` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	FOREIGN KEY (`id`) REFERENCES `customers`(`id`) ON UPDATE no action ON DELETE restrict
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `customer_ranks_id` ON `customer_ranks` (`id`);
--> statement-breakpoint
CREATE VIRTUAL TABLE `order_words` USING fts5(words, content='', contentless_delete=1, detail=none, tokenize='ascii tokenchars _');
--> statement-breakpoint
CREATE VIRTUAL TABLE `managed_words` USING fts5(words, content='', contentless_delete=1, detail=none, tokenize='ascii tokenchars _');
--> statement-breakpoint
CREATE VIRTUAL TABLE `customer_words` USING fts5(words, content='', contentless_delete=1, detail=none, tokenize='ascii tokenchars _');
--> statement-breakpoint
INSERT INTO `order_days` (`shop_id`, `day`, `first`, `last`)
SELECT `shop_id`, `created_at` / 86400000, min(`number`), max(`number`) FROM `orders` GROUP BY `shop_id`, `created_at` / 86400000;
--> statement-breakpoint
INSERT INTO `search_fills` (`subject`, `below`, `done`) SELECT 'ORDERS', '~', 0 WHERE EXISTS (SELECT 1 FROM `orders`);
--> statement-breakpoint
INSERT INTO `search_fills` (`subject`, `below`, `done`) SELECT 'PRODUCTS', '~', 0 WHERE EXISTS (SELECT 1 FROM `products`);
--> statement-breakpoint
INSERT INTO `search_fills` (`subject`, `below`, `done`) SELECT 'CUSTOMERS', '~', 0 WHERE EXISTS (SELECT 1 FROM `customers`);
