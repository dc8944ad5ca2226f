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
ALTER TABLE `carts` ADD `draft` text;