CREATE TABLE `processor_accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`shop_id` text NOT NULL,
	`account_id` text NOT NULL,
	`processor` text NOT NULL,
	`mode` text NOT NULL,
	`identity` text,
	`publishable` text NOT NULL,
	`sealed_settings` text NOT NULL,
	`api_url` text,
	`names` text NOT NULL,
	`version` integer NOT NULL,
	`checked_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`retired_at` integer,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `processor_accounts_live` ON `processor_accounts` (`shop_id`,`processor`,`mode`) WHERE retired_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX `processor_accounts_version` ON `processor_accounts` (`shop_id`,`processor`,`mode`,`version`);--> statement-breakpoint
CREATE INDEX `processor_accounts_account` ON `processor_accounts` (`account_id`,`version`);--> statement-breakpoint
ALTER TABLE `customer_totals` ADD `live_orders` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `customer_totals` ADD `live_spent` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `orders` ADD `mode` text DEFAULT 'TEST' NOT NULL;