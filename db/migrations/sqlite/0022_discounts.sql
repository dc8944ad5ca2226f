CREATE TABLE `discount_uses` (
	`discount_id` text NOT NULL,
	`order_id` text NOT NULL,
	`customer` text NOT NULL,
	`mode` text NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`order_id`, `discount_id`),
	FOREIGN KEY (`discount_id`) REFERENCES `discounts`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `discount_uses_customer` ON `discount_uses` (`discount_id`,`mode`,`customer`);--> statement-breakpoint
CREATE TABLE `discounts` (
	`id` text PRIMARY KEY NOT NULL,
	`shop_id` text NOT NULL,
	`title` text NOT NULL,
	`code` text,
	`code_key` text,
	`kind` text NOT NULL,
	`value_bps` integer,
	`amount` integer,
	`min_subtotal` integer,
	`currency` text,
	`product_ids` text,
	`collection_ids` text,
	`starts_at` integer,
	`ends_at` integer,
	`usage_limit` integer,
	`per_customer_limit` integer,
	`status` text NOT NULL,
	`used` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`removed_at` integer,
	`version` integer DEFAULT 1 NOT NULL,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `discounts_code` ON `discounts` (`shop_id`,`code_key`);--> statement-breakpoint
CREATE INDEX `discounts_shop` ON `discounts` (`shop_id`,`id`) WHERE removed_at is null;--> statement-breakpoint
CREATE INDEX `discounts_automatic` ON `discounts` (`shop_id`,`id`) WHERE code_key is null and status = 'ACTIVE' and removed_at is null;--> statement-breakpoint
CREATE INDEX `discounts_removed` ON `discounts` (`removed_at`) WHERE removed_at is not null;--> statement-breakpoint
ALTER TABLE `carts` ADD `discount_code` text;--> statement-breakpoint
ALTER TABLE `carts` ADD `shown_discounts` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `order_lines` ADD `discount` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `orders` ADD `discounts` text DEFAULT '[]' NOT NULL;