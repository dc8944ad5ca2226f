CREATE TABLE `stock_history` (
	`id` text PRIMARY KEY NOT NULL,
	`shop_id` text NOT NULL,
	`variant_id` text NOT NULL,
	`delta` integer NOT NULL,
	`on_hand` integer NOT NULL,
	`reason` text,
	`actor` text NOT NULL,
	`at` integer NOT NULL,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `stock_history_variant` ON `stock_history` (`variant_id`,`id`);--> statement-breakpoint
ALTER TABLE `affiliates` ADD `version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `blogs` ADD `version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `collections` ADD `version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `gift_cards` ADD `version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `products` ADD `version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `shops` ADD `version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `shops` ADD `tax_rates_version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `shops` ADD `shipping_methods_version` integer DEFAULT 1 NOT NULL;