CREATE TABLE `draft_orders` (
	`id` text PRIMARY KEY NOT NULL,
	`shop_id` text NOT NULL,
	`cart_id` text NOT NULL,
	`note` text,
	`sends` integer DEFAULT 0 NOT NULL,
	`sent_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`cart_id`) REFERENCES `carts`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `draft_orders_cart` ON `draft_orders` (`cart_id`);--> statement-breakpoint
CREATE INDEX `draft_orders_shop` ON `draft_orders` (`shop_id`,`id`);--> statement-breakpoint
CREATE TABLE `erasures` (
	`customer_id` text PRIMARY KEY NOT NULL,
	`shop_id` text NOT NULL,
	`at` integer NOT NULL,
	`order_ids` text NOT NULL,
	`other_ids` text NOT NULL,
	`finished_at` integer,
	`listed_at` integer
) STRICT;
--> statement-breakpoint
CREATE INDEX `erasures_at` ON `erasures` (`at`);--> statement-breakpoint
CREATE INDEX `erasures_open` ON `erasures` (`at`) WHERE finished_at is null or listed_at is null;--> statement-breakpoint
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
CREATE TABLE `staff` (
	`id` text PRIMARY KEY NOT NULL,
	`shop_id` text NOT NULL,
	`user_id` text,
	`email` text,
	`name` text,
	`role` text NOT NULL,
	`invited_at` integer,
	`joined_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `staff_user_shop` ON `staff` (`user_id`,`shop_id`) WHERE user_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `staff_shop_email` ON `staff` (`shop_id`,`email`) WHERE email is not null;--> statement-breakpoint
CREATE INDEX `staff_shop` ON `staff` (`shop_id`,`id`);--> statement-breakpoint
DROP INDEX `customers_shop_name`;--> statement-breakpoint
ALTER TABLE `customers` ADD `erased_at` integer;--> statement-breakpoint
DROP INDEX `orders_customer`;--> statement-breakpoint
DROP INDEX `orders_created`;--> statement-breakpoint
DROP INDEX `orders_status_number`;--> statement-breakpoint
DROP INDEX `orders_email`;--> statement-breakpoint
CREATE INDEX `orders_customer_number` ON `orders` (`customer_id`,`shop_id`,`number`,`id`);--> statement-breakpoint
CREATE INDEX `orders_state_number` ON `orders` (`shop_id`,`status`,`payment_status`,`number`);--> statement-breakpoint
CREATE INDEX `orders_email_number` ON `orders` (`shop_id`,lower("email"),`number`);--> statement-breakpoint
ALTER TABLE `carts` ADD `draft` text;--> statement-breakpoint
CREATE INDEX `addresses_entered` ON `addresses` (`entered_by`) WHERE entered_by is not null;--> statement-breakpoint
CREATE INDEX `gift_cards_customer` ON `gift_cards` (`customer_id`) WHERE customer_id is not null;--> statement-breakpoint
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
--> statement-breakpoint
-- by hand: whoever opened a shop owns it
INSERT INTO `staff` (`id`, `shop_id`, `user_id`, `role`, `joined_at`, `created_at`, `updated_at`)
SELECT 'staff_' || substr(`id`, 6), `id`, `merchant_id`, 'OWNER', `created_at`, `created_at`, `created_at` FROM `shops`;
